#include "examples/cuda/example.h"

#include <bit>
#include <charconv>
#include <exception>
#include <iostream>
#include <optional>
#include <string_view>
#include <system_error>

namespace cuda_example {
namespace {

constexpr int kNoDevice = 77;

template <class Number>
bool read_number(std::string_view word, Number least, Number& number) {
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && rest == end && number >= least;
}

// Whether they make sense.
bool read(std::span<char*> words, Arguments& arguments) {
  for (std::size_t index = 1; index < words.size(); ++index) {
    const std::string_view word = words[index];
    const bool has_value = index + 1 < words.size();
    if (word == "--normal") {
      arguments.normal = true;
    } else if (word == "--device" && has_value) {
      if (!read_number(words[++index], 0, arguments.device)) return false;
    } else if (word == "--sms" && has_value) {
      if (!read_number(words[++index], 1, arguments.sms)) return false;
    } else if (!read_number(word, std::int64_t{1}, arguments.seconds)) {
      return false;
    }
  }
  return true;
}

// Why the device cannot be used; nothing if it can.
std::optional<std::string> no_device(int device) {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess) return cudaGetErrorString(result);
  if (device >= count) return "there are " + std::to_string(count);
  return std::nullopt;
}

}  // namespace

rtgpu::RuntimeOptions options(const Arguments& arguments, const std::string& policy) {
  rtgpu::RuntimeOptions options;
  options.device = "cuda:" + std::to_string(arguments.device);
  options.policy = policy;
  options.realtime.allow_degraded = true;
  if (arguments.normal) {
    options.realtime.scheduler = rtgpu::Scheduler::normal;
    options.realtime.lock_memory = false;
    options.realtime.share_cores = true;
  }
  return options;
}

int run_example(std::span<char*> words, const std::function<bool(const Arguments&)>& run) {
  const std::string program = words.empty() ? "example" : words[0];
  Arguments arguments;
  if (!read(words, arguments)) {
    std::cerr << "usage: " << program << " [SECONDS] [--device NUMBER] [--sms SMS_OF_THE_PARTITION] [--normal]\n"
              << "--normal asks for no real-time scheduling.\n";
    return 2;
  }
  if (const std::optional<std::string> why = no_device(arguments.device)) {
    std::cerr << program << ": skipped, since there is no CUDA device " << arguments.device << ": " << *why << '\n';
    return kNoDevice;
  }
  try {
    expect(cudaSetDevice(arguments.device), "the device");
    return run(arguments) ? 0 : 1;
  } catch (const rtgpu::SetupError& error) {
    std::cerr << program << ": " << error.what() << '\n';
    return 3;
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << '\n';
    return 1;
  }
}

bool with_or_without_partition(int sms, const std::function<bool(std::optional<int>)>& run) {
  try {
    return run(sms);
  } catch (const rtgpu::SetupError& error) {
    std::cout << "without an SM partition: " << error.what() << '\n';
  }
  return run(std::nullopt);
}

bool all_equal(const std::string& name, std::span<const float> of_gpu, std::span<const float> of_cpu) {
  std::size_t equal = 0;
  for (std::size_t index = 0; index < of_cpu.size() && index < of_gpu.size(); ++index) {
    if (std::bit_cast<std::uint32_t>(of_gpu[index]) == std::bit_cast<std::uint32_t>(of_cpu[index])) ++equal;
  }
  std::cout << name << ": " << equal << " of " << of_cpu.size() << " values are those of the CPU\n";
  return equal == of_cpu.size();
}

}  // namespace cuda_example
