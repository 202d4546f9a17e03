// How long it takes to read documents.
#include "taskset/json.h"
#include "tests/support/random_taskset.h"

#include <random>
#include <string>

#include <benchmark/benchmark.h>

namespace rtgpu {
namespace {

void read_document(benchmark::State& state) {
  std::mt19937_64 engine(1);
  testing::RandomOptions options;
  options.tasks = static_cast<int>(state.range(0));
  options.cpus = 4;
  const std::string text = write_taskset(testing::random_taskset(engine, options), JsonStyle::compact);
  TasksetReader reader;
  for (auto _ : state) {
    const Result<LoadedTaskset> loaded = reader.read(text);
    if (!loaded) state.SkipWithError("the document is not valid");
    benchmark::DoNotOptimize(&loaded);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_document)->Arg(16)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace rtgpu
