#include "tools/live_line.h"

#include <string_view>
#include <utility>

namespace rtgpu {
namespace {

constexpr std::string_view kErase = "\r\033[K";

}  // namespace

LiveLine::LiveLine(std::ostream& out, bool visible, Timing timing, std::function<std::string()> text)
    : out_(out), text_(std::move(text)) {
  if (visible) thread_ = std::thread([this, timing] { show(timing); });
}

LiveLine::~LiveLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard guard(mutex_);
    ended_ = true;
  }
  end_.notify_one();
  thread_.join();
  if (shown_) out_ << kErase << std::flush;
}

void LiveLine::show(Timing timing) {
  auto next = std::chrono::steady_clock::now() + timing.first;
  std::unique_lock lock(mutex_);
  while (!end_.wait_until(lock, next, [this] { return ended_; })) {
    next = std::chrono::steady_clock::now() + timing.every;
    out_ << kErase << text_() << std::flush;
    shown_ = true;
  }
}

}  // namespace rtgpu
