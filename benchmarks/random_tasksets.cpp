// rtgpu_random_tasksets COUNT TASKS SEED: COUNT random tasksets of TASKS tasks each, a line each.
#include "benchmarks/arguments.h"
#include "taskset/json.h"
#include "tests/support/random_taskset.h"

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

#include <fmt/format.h>

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: rtgpu_random_tasksets COUNT TASKS SEED\n");
    return 2;
  }
  std::mt19937_64 engine(static_cast<std::uint64_t>(rtgpu::benchmarks::number(argv[3])));
  rtgpu::testing::RandomOptions options;
  options.tasks = static_cast<int>(rtgpu::benchmarks::number(argv[2]));
  options.cpus = 4;
  options.utilisation_percent = 30;
  options.overheads = true;
  for (std::int64_t count = rtgpu::benchmarks::number(argv[1]); count > 0; --count) {
    fmt::print("{}\n", rtgpu::write_taskset(random_taskset(engine, options), rtgpu::JsonStyle::compact));
  }
  return 0;
}
