// A small perception application: a camera, a detector whose kernel is sliced, a planner, and a logger that may be
// late.
//
//   perception [SECONDS] [--trace FILE] [--normal]
//
// The camera draws a bright square that moves. The detector copies the frame to the device, finds the square there in
// two kernels, and posts where it is. The planner steers towards it. Everything is computed for real, on the emulated
// device, and checked: the program ends with 1 if a detection is wrong. --normal asks for no real-time scheduling.
#include "examples/perception/mailbox.h"
#include "runtime/runtime.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace perception {
namespace {

using namespace std::chrono_literals;
using rtgpu::Duration;
using rtgpu::Job;

constexpr int kWidth = 320;
constexpr int kHeight = 240;
constexpr int kSquare = 16;
constexpr std::int64_t kRowsOfSlice = 64;

struct Frame {
  std::int64_t number = -1;  // none yet
  int square_x = 0;          // the truth, to check the detector with
  int square_y = 0;
  std::array<std::uint8_t, std::size_t{kWidth} * kHeight> pixels{};
};

struct Detection {
  std::int64_t frame = -1;
  int x = 0;
  int y = 0;
};

// What the tasks share, and what they found.
struct World {
  Mailbox<Frame> frames;
  Mailbox<Detection> detections;
  std::atomic<std::int64_t> detected = 0;
  std::atomic<std::int64_t> wrong = 0;
  std::atomic<std::int64_t> failed = 0;
  std::atomic<int> heading = 0;
  std::atomic<std::int64_t> lines = 0;
};

void draw(Frame& frame, std::int64_t number) {
  frame.number = number;
  frame.square_x = static_cast<int>(number * 7 % (kWidth - kSquare));
  frame.square_y = static_cast<int>(number * 3 % (kHeight - kSquare));
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const bool inside =
          x >= frame.square_x && x < frame.square_x + kSquare && y >= frame.square_y && y < frame.square_y + kSquare;
      frame.pixels[static_cast<std::size_t>(y * kWidth + x)] =
          static_cast<std::uint8_t>(inside ? 200 + (x + y) % 50 : (x * 31 + y * 17) % 100);
    }
  }
}

// The detector's device memory: the frame, and for each row where brightness begins.
struct DeviceMemory {
  std::array<std::uint8_t, std::size_t{kWidth} * kHeight> pixels;
  std::array<std::int32_t, kHeight> first_bright;
  std::array<std::int32_t, 2> corner;
};

// A block is a row.
void find_in_row(DeviceMemory& memory, const rtgpu::Block& block) {
  const auto row = static_cast<std::size_t>(block.index);
  const auto begin = memory.pixels.begin() + static_cast<std::ptrdiff_t>(row * kWidth);
  const auto bright = std::find_if(begin, begin + kWidth, [](std::uint8_t pixel) { return pixel >= 200; });
  memory.first_bright[row] = bright == begin + kWidth ? -1 : static_cast<std::int32_t>(bright - begin);
}

void find_corner(DeviceMemory& memory) {
  memory.corner = {-1, -1};
  for (std::size_t row = 0; row < kHeight; ++row) {
    if (memory.first_bright[row] < 0) continue;
    memory.corner = {memory.first_bright[row], static_cast<std::int32_t>(row)};
    return;
  }
}

// Copies the frame over, finds the square, and copies its corner back. Whether all went well.
bool detect_on_device(Job& job, const Frame& frame, DeviceMemory& memory, std::array<std::int32_t, 2>& corner) {
  rtgpu::CopyRequest over;
  over.to = std::as_writable_bytes(std::span(memory.pixels)).data();
  over.from = std::as_bytes(std::span(frame.pixels)).data();
  over.bytes = frame.pixels.size();
  if (job.copy("frame", over) != rtgpu::GpuStatus::ok) return false;

  DeviceMemory* device = &memory;
  const rtgpu::GpuStatus rows =
      job.gpu("rows", rtgpu::sliced(kHeight, kRowsOfSlice), [device](rtgpu::Stream stream, rtgpu::Slice part) {
        stream.launch(
            part.blocks, [device](const rtgpu::Block& block) { find_in_row(*device, block); }, part.first_block);
      });
  if (rows != rtgpu::GpuStatus::ok) return false;
  const rtgpu::GpuStatus found = job.gpu("corner", [device](rtgpu::Stream stream) {
    stream.launch(1, [device](const rtgpu::Block&) { find_corner(*device); });
  });
  if (found != rtgpu::GpuStatus::ok) return false;

  rtgpu::CopyRequest back;
  back.direction = rtgpu::CopyDirection::to_host;
  back.to = std::as_writable_bytes(std::span(corner)).data();
  back.from = std::as_bytes(std::span(memory.corner)).data();
  back.bytes = sizeof corner;
  return job.copy("corner", back) == rtgpu::GpuStatus::ok;
}

void detect(Job& job, World& world) {
  const Frame& frame = world.frames.take();
  if (frame.number < 0 || job.memory().size() < sizeof(DeviceMemory)) return;
  auto& memory = *reinterpret_cast<DeviceMemory*>(job.memory().data());
  std::array<std::int32_t, 2> corner{};
  if (!detect_on_device(job, frame, memory, corner)) {
    ++world.failed;
    return;
  }
  ++world.detected;
  if (corner[0] != frame.square_x || corner[1] != frame.square_y) ++world.wrong;
  world.detections.draft() = {frame.number, corner[0], corner[1]};
  world.detections.post();
}

rtgpu::ExecutionTime at_most(Duration time) {
  return {Duration(), time};
}

rtgpu::Segment kernel(Duration misc, Duration exec, int slices) {
  rtgpu::GpuSegment segment;
  segment.misc = at_most(misc);
  segment.exec = at_most(exec);
  segment.slices = slices;
  return segment;
}

rtgpu::Segment copy_to(rtgpu::CopyDirection direction, Duration time) {
  return rtgpu::CopySegment{at_most(time), direction};
}

void add_tasks(rtgpu::Runtime& runtime, World& world) {
  rtgpu::TaskHandle& detector = runtime.add_task(
      {.name = "detector",
       .period = 40ms,
       .priority = 20,
       .memory = sizeof(DeviceMemory),
       .segments = {rtgpu::CpuSegment{at_most(500us)}, copy_to(rtgpu::CopyDirection::to_device, 500us),
                    rtgpu::CpuSegment{at_most(100us)}, kernel(200us, 4ms, (kHeight + kRowsOfSlice - 1) / kRowsOfSlice),
                    rtgpu::CpuSegment{at_most(100us)}, kernel(200us, 1ms, 1), rtgpu::CpuSegment{at_most(100us)},
                    copy_to(rtgpu::CopyDirection::to_host, 100us), rtgpu::CpuSegment{at_most(500us)}},
       .released_by = rtgpu::ReleasedBy::trigger},
      [&world](Job& job) { detect(job, world); });
  runtime.add_task({.name = "camera", .period = 40ms, .priority = 30, .segments = {rtgpu::CpuSegment{at_most(2ms)}}},
                   [&world, &detector](Job& job) {
                     draw(world.frames.draft(), job.number());
                     world.frames.post();
                     detector.trigger();
                   });
  runtime.add_task({.name = "planner", .period = 20ms, .priority = 40, .segments = {rtgpu::CpuSegment{at_most(1ms)}}},
                   [&world](Job&) {
                     const Detection& seen = world.detections.take();
                     if (seen.frame >= 0) world.heading = (seen.x + kSquare / 2) - kWidth / 2;
                   });
  runtime.add_task(
      {.name = "logger", .period = 100ms, .best_effort = true, .segments = {rtgpu::CpuSegment{at_most(5ms)}}},
      [&world](Job& job) {
        ++world.lines;
        std::clog << "t = " << job.release().count() / 1'000'000 << " ms, heading " << world.heading.load() << '\n';
      });
}

struct Arguments {
  std::int64_t seconds = 2;
  std::string trace;
  bool normal = false;
};

// Whether they make sense.
bool read(std::span<char*> words, Arguments& arguments) {
  for (std::size_t index = 1; index < words.size(); ++index) {
    const std::string_view word = words[index];
    if (word == "--normal") {
      arguments.normal = true;
    } else if (word == "--trace" && index + 1 < words.size()) {
      arguments.trace = words[++index];
    } else {
      const char* end = word.data() + word.size();
      const auto [rest, error] = std::from_chars(word.data(), end, arguments.seconds);
      if (error != std::errc() || rest != end || arguments.seconds < 1) return false;
    }
  }
  return true;
}

int run(const Arguments& arguments) {
  rtgpu::RuntimeOptions options;
  options.device = "host:compute";
  options.policy = "mpcp";
  options.trace = arguments.trace;
  options.gpu.name = "emulated GPU";
  options.gpu.sms = 2;
  options.gpu.memory = 1 << 20;
  options.realtime.allow_degraded = true;
  options.measure = true;
  if (arguments.normal) {
    options.realtime.scheduler = rtgpu::Scheduler::normal;
    options.realtime.lock_memory = false;
  }
  rtgpu::Runtime runtime(options);
  World world;
  add_tasks(runtime, world);

  const rtgpu::Admission admission = runtime.admit();
  std::cout << (admission.schedulable ? "schedulable\n" : "not schedulable\n") << admission.explain() << '\n';
  runtime.run_for(Duration::seconds(arguments.seconds));
  // On a real machine the bounds need what the machine adds, as it was measured meanwhile.
  runtime.admit_as_measured();
  std::cout << runtime.report() << '\n'
            << world.detected << " detections, " << world.wrong << " wrong, " << world.failed << " failed; "
            << world.lines << " lines logged\n";
  const bool good = world.detected > 0 && world.wrong == 0 && world.failed == 0;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace perception

int main(int argc, char** argv) {
  perception::Arguments arguments;
  if (!perception::read({argv, static_cast<std::size_t>(argc)}, arguments)) {
    std::cerr << "usage: perception [SECONDS] [--trace FILE] [--normal]\n";
    return 2;
  }
  try {
    return perception::run(arguments);
  } catch (const rtgpu::SetupError& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
}
