// A line on a terminal that is renewed while something runs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>

namespace rtgpu {

// By a thread of its own; nothing else may write to `out` meanwhile.
class LiveLine {
 public:
  struct Timing {
    std::chrono::milliseconds first;  // until the line is first shown
    std::chrono::milliseconds every;
  };

  // `text` is asked on that thread. Nothing happens unless `visible`. What is referred to outlives the object.
  LiveLine(std::ostream& out, bool visible, Timing timing, std::function<std::string()> text);
  // Ends the thread at once, and removes the line.
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

 private:
  void show(Timing timing);

  std::ostream& out_;
  std::function<std::string()> text_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool ended_ = false;
  bool shown_ = false;
  std::thread thread_;
};

}  // namespace rtgpu
