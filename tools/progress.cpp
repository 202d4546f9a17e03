#include "tools/progress.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kEraseLine = "\r\033[K";
constexpr std::size_t kBarWidth = 20;

// "9 s", "3 min 20 s", "5 h 3 min".
std::string time_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::min(seconds, 1e9) + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

Progress::Progress(std::ostream& out, bool visible, Clock::time_point start, std::string_view things)
    : out_(out), visible_(visible), things_(things), start_(start), next_(start + 1s) {}

Progress::~Progress() {
  clear();
}

void Progress::expect(std::size_t total, std::size_t done_before) {
  total_ = total;
  done_before_ = done_before;
}

std::string Progress::text(std::size_t done, double seconds) const {
  const double rate = static_cast<double>(done - done_before_) / seconds;
  if (total_ == 0) return fmt::format("{} {}, {:.0f} per second", done, things_, rate);
  const std::size_t full = kBarWidth * done / total_;
  std::string line = fmt::format("[{:#<{}}{:-<{}}] {} of {} {}, {:.0f} per second", "", full, "", kBarWidth - full,
                                 done, total_, things_, rate);
  if (rate > 0) line += fmt::format(", {} left", time_text(static_cast<double>(total_ - done) / rate));
  return line;
}

void Progress::update(std::size_t done, Clock::time_point now) {
  if (!visible_ || now < next_) return;
  next_ = now + 100ms;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  out_ << kEraseLine << text(done, seconds) << std::flush;
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  out_ << kEraseLine << std::flush;
  shown_ = false;
}

}  // namespace rtgpu
