#include "tools/progress.h"

#include <string_view>

#include <fmt/format.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kEraseLine = "\r\033[K";

}  // namespace

Progress::Progress(std::ostream& out, bool visible, Clock::time_point start, std::string_view things)
    : out_(out), visible_(visible), things_(things), start_(start), next_(start + 1s) {}

Progress::~Progress() {
  clear();
}

void Progress::update(std::size_t done, Clock::time_point now) {
  if (!visible_ || now < next_) return;
  next_ = now + 100ms;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  out_ << fmt::format("{}{} {}, {:.0f} per second", kEraseLine, done, things_, static_cast<double>(done) / seconds)
       << std::flush;
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  out_ << kEraseLine << std::flush;
  shown_ = false;
}

}  // namespace rtgpu
