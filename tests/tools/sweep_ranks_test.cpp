// A sweep by several processes: the same counts and errors as by one, and what is left if one dies.
#include "tools/sweep_ranks.h"

#include "analysis/experiments/paper_sweeps.h"
#include "analysis/experiments/run_chunks.h"
#include "analysis/experiments/sweep_state.h"
#include "tests/tools/process.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::HasSubstr;

// The messages that wait for each of some threads, which stand for processes.
struct Mailboxes {
  std::mutex mutex;
  std::vector<std::deque<RankMessage>> of_rank;
};

class ThreadRanks final : public Ranks {
 public:
  ThreadRanks(Mailboxes& mailboxes, int rank) : mailboxes_(mailboxes), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(mailboxes_.of_rank.size()); }
  int on_this_machine() const override { return size(); }

  void send(int to, std::string_view text) override {
    const std::lock_guard lock(mailboxes_.mutex);
    mailboxes_.of_rank[static_cast<std::size_t>(to)].push_back({rank_, std::string(text)});
  }

  std::optional<RankMessage> receive() override {
    const std::lock_guard lock(mailboxes_.mutex);
    std::deque<RankMessage>& mine = mailboxes_.of_rank[static_cast<std::size_t>(rank_)];
    if (mine.empty()) return std::nullopt;
    RankMessage message = std::move(mine.front());
    mine.pop_front();
    return message;
  }

  [[noreturn]] void abort(ExitStatus /*status*/) override { std::abort(); }

 private:
  Mailboxes& mailboxes_;
  int rank_;
};

struct LedSweep {
  Errors errors;
  SweepCounts counts;
};

// Counts with a leader and three workers, whose sweep is `of_workers`.
LedSweep lead(const Sweep& sweep, const Sweep& of_workers, SweepCounts before, const RunChunksOptions& options = {}) {
  Mailboxes mailboxes;
  mailboxes.of_rank.resize(4);
  std::vector<std::jthread> workers;
  for (int rank = 1; rank < 4; ++rank) {
    workers.emplace_back([&mailboxes, &of_workers, rank] {
      ThreadRanks ranks(mailboxes, rank);
      const std::atomic<bool> stop = false;
      EXPECT_TRUE(work_for_leader(ranks, of_workers, 1, stop));
    });
  }
  ThreadRanks ranks(mailboxes, 0);
  LedSweep led;
  led.counts = std::move(before);
  SweepLeader leader(ranks, sweep, 2);
  led.errors = leader.count(options, {}, led.counts);
  return led;
}

Sweep sweep_of(const char* paper, std::int64_t tasksets) {
  SweepExperiment experiment = *paper_sweep(paper);
  experiment.tasksets = tasksets;
  return *Sweep::of(experiment);
}

TEST(SweepLeader, GivesTheCountsOfOneProcess) {
  const Sweep sweep = sweep_of("gcaps-fig8b", 55);
  SweepCounts alone = sweep.no_counts();
  SweepCounts before = sweep.no_counts();
  ChunkSet some(0, 1);
  some.add(ChunkRange{4, 11});
  some.add(sweep.chunks() - 1);
  ASSERT_TRUE(run_chunks(sweep, ChunkSet(0, sweep.chunks()), {}, alone).empty());
  ASSERT_TRUE(run_chunks(sweep, some, {}, before).empty());
  std::int64_t seen = 0;
  RunChunksOptions options;
  options.after_chunk = [&seen](const SweepCounts& counts) {
    EXPECT_GT(counts.done.size(), seen);
    seen = counts.done.size();
  };
  const LedSweep led = lead(sweep, sweep, before, options);
  EXPECT_TRUE(led.errors.empty());
  EXPECT_EQ(led.counts, alone);
  EXPECT_EQ(seen, sweep.chunks());
  EXPECT_EQ(lead(sweep, sweep, alone).counts, alone);  // nothing left to count
}

TEST(SweepLeader, GivesTheFirstErrorAndKeepsWhatIsDone) {
  SweepExperiment experiment;
  experiment.preset = "uunifast-discard";
  experiment.settings = {"tasks=4"};
  experiment.parameter = "utilisation_per_cpu";
  experiment.values = {"0.5", "0.99", "0.999"};
  experiment.tasksets = 50;
  experiment.approaches = {{Policy::gcaps, WaitChoice::suspend}};
  const Sweep sweep = *Sweep::of(experiment);
  SweepCounts alone = sweep.no_counts();
  const Errors errors = run_chunks(sweep, ChunkSet(0, sweep.chunks()), {}, alone);
  ASSERT_EQ(errors.size(), 1U);
  const LedSweep led = lead(sweep, sweep, sweep.no_counts());
  ASSERT_EQ(led.errors.size(), 1U);
  EXPECT_EQ(to_string(led.errors[0]), to_string(errors[0]));
  EXPECT_EQ(led.counts.points[0], alone.points[0]);
  EXPECT_EQ(led.counts.done.within({0, alone.done.size()}), alone.done);
}

TEST(SweepLeader, RefusesWorkersWithAnotherExperiment) {
  const LedSweep led = lead(sweep_of("gcaps-fig9d", 1'000'000), sweep_of("gcaps-fig9d", 1'000'001),
                            sweep_of("gcaps-fig9d", 1'000'000).no_counts());
  ASSERT_FALSE(led.errors.empty());
  EXPECT_THAT(to_string(led.errors[0]), HasSubstr("found tasksets 1000001; expected 1000000"));
  EXPECT_THAT(led.errors[0].place.source, HasSubstr("process "));
}

TEST(SweepLeader, KeepsWhatItHasBegunWhenItIsStopped) {
  const Sweep sweep = sweep_of("gcaps-fig9d", 1'000'000);
  std::atomic<bool> stop = false;
  RunChunksOptions options;
  options.stop = &stop;
  options.after_chunk = [&stop](const SweepCounts& counts) { stop = counts.done.size() >= 5; };
  const LedSweep led = lead(sweep, sweep, sweep.no_counts(), options);
  EXPECT_TRUE(led.errors.empty());
  EXPECT_GE(led.counts.done.size(), 5);
  SweepCounts again = sweep.no_counts();
  ASSERT_TRUE(run_chunks(sweep, led.counts.done, {}, again).empty());
  EXPECT_EQ(led.counts, again);
}

// The command under mpirun, and its files.
class SweepByMpirun : public testing::Test {
 protected:
  SweepByMpirun() : mark_("", ".mpi"), folder_(mark_.path() + ".d") { std::filesystem::create_directory(folder_); }
  ~SweepByMpirun() override { std::filesystem::remove_all(folder_); }

  void SetUp() override {
    if (std::string_view(RTGPU_MPIRUN).empty()) GTEST_SKIP() << "built without MPI";
    if (!std::filesystem::exists(RTGPU_MPIRUN)) GTEST_SKIP() << "there is no " RTGPU_MPIRUN;
    static const ProcessResult probe = mpirun({"true"});
    if (probe.status != 0) GTEST_SKIP() << "mpirun starts no processes here: " << probe.err;
  }

  std::string file(const std::string& name) const { return folder_ + "/" + name; }

  std::string content_of(const std::string& name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // Three processes of a command.
  static ProcessResult mpirun(const std::vector<std::string>& command) {
    // One machine: no network, and no reading of another process' memory, which containers forbid.
    std::vector<std::string> arguments = {"--oversubscribe",
                                          "--allow-run-as-root",
                                          "--mca",
                                          "btl",
                                          "self,vader",
                                          "--mca",
                                          "btl_vader_single_copy_mechanism",
                                          "none",
                                          "-n",
                                          "3"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    return run_process(RTGPU_MPIRUN, arguments);
  }

 private:
  TemporaryFile mark_;
  std::string folder_;
};

std::ptrdiff_t count_of(std::string_view what, const std::string& text) {
  std::ptrdiff_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

TEST_F(SweepByMpirun, GivesTheSameBytes) {
  std::vector<std::string> command = {"sweep", "--preset=gcaps-fig8b", "--tasksets=60", "--csv=" + file("alone.csv")};
  const ProcessResult alone = run_rtgpu(command);
  ASSERT_EQ(alone.status, 0) << alone.err;
  command.back() = "--csv=" + file("several.csv");
  command.insert(command.begin(), rtgpu_program());
  const ProcessResult several = mpirun(command);
  EXPECT_EQ(several.status, 0) << several.err;
  EXPECT_THAT(several.err, testing::Not(HasSubstr("rtgpu:")));
  EXPECT_EQ(several.out, alone.out);
  EXPECT_EQ(content_of("several.csv"), content_of("alone.csv"));
  EXPECT_FALSE(std::filesystem::exists(file("several.csv.partial")));
}

TEST_F(SweepByMpirun, AnErrorIsToldOnce) {
  const ProcessResult usage = mpirun({rtgpu_program(), "sweep", "--preset=gcaps-fig8h"});
  EXPECT_EQ(usage.status, 2);
  EXPECT_EQ(usage.out, "");
  EXPECT_EQ(count_of("rtgpu: error: --preset: found 'gcaps-fig8h'", usage.err), 1) << usage.err;
  const ProcessResult taskset = mpirun({rtgpu_program(), "sweep", "--preset=uunifast-discard",
                                        "--vary=utilisation_per_cpu=0.99", "--set=tasks=4", "--tasksets=100"});
  EXPECT_EQ(taskset.status, 2);
  EXPECT_EQ(taskset.out, "");
  EXPECT_EQ(count_of("no split among 10000", taskset.err), 1) << taskset.err;
}

TEST_F(SweepByMpirun, AProcessThatDiesEndsTheSweepAndWhatWasDoneIsKept) {
  // The second process is killed as soon as something is kept. $$ is its number, since it becomes the program.
  const char* const script = R"(if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then
      (tries=0; while [ ! -e "$0" ] && [ $tries -lt 3000 ]; do sleep 0.01; tries=$((tries + 1)); done; kill -KILL $$) &
    fi
    exec "$@")";
  const ProcessResult run = mpirun({"sh", "-c", script, file("out.csv.partial"), rtgpu_program(), "sweep",
                                    "--preset=gcaps-fig9d", "--tasksets=1000000", "--csv=" + file("out.csv")});
  EXPECT_NE(run.status, 0);
  EXPECT_NE(run.status, -1) << run.err;  // mpirun ends in time, by itself
  const Sweep sweep = sweep_of("gcaps-fig9d", 1'000'000);
  const Result<SweepCounts> kept = read_sweep_state(sweep, content_of("out.csv.partial"));
  ASSERT_TRUE(kept) << run.err;
  EXPECT_GT(kept->tasksets(), 0);
  SweepCounts again = sweep.no_counts();
  ASSERT_TRUE(run_chunks(sweep, kept->done, {}, again).empty());
  EXPECT_EQ(*kept, again);
}

TEST(SweepWithoutMpi, SeveralProcessesAreRefusedWhereThereIsNoMpi) {
  if (!std::string_view(RTGPU_MPIRUN).empty()) GTEST_SKIP() << "built with MPI";
  ProcessOptions options;
  options.environment = {"OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=0"};
  const ProcessResult first = run_rtgpu({"sweep", "--preset=gcaps-fig8b", "--tasksets=1"}, options);
  EXPECT_EQ(first.status, 3);
  EXPECT_THAT(first.err, HasSubstr("built without MPI"));
  options.environment.back() = "OMPI_COMM_WORLD_RANK=1";
  const ProcessResult second = run_rtgpu({"sweep", "--preset=gcaps-fig8b", "--tasksets=1"}, options);
  EXPECT_EQ(second.status, 0);
  EXPECT_EQ(second.out + second.err, "");
}

}  // namespace
}  // namespace rtgpu
