#include "tools/progress.h"

#include <string_view>

#include <fmt/format.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kEraseLine = "\r\033[K";

}  // namespace

Progress::Progress(std::ostream& out, bool visible, Clock::time_point start)
    : out_(out), visible_(visible), start_(start), next_(start + 1s) {}

Progress::~Progress() {
  clear();
}

void Progress::update(std::size_t documents, Clock::time_point now) {
  if (!visible_ || now < next_) return;
  next_ = now + 100ms;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  out_ << fmt::format("{}{} documents, {:.0f} per second", kEraseLine, documents,
                      static_cast<double>(documents) / seconds)
       << std::flush;
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  out_ << kEraseLine << std::flush;
  shown_ = false;
}

}  // namespace rtgpu
