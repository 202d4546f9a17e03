// Is the attack able to find an error in an analysis? Each safe analysis with one of its terms left out has to be
// exceeded.
#include "analysis/falsification/attack.h"
#include "analysis/rta/federated_safe.h"
#include "analysis/rta/fmlp_plus_safe.h"
#include "analysis/rta/gcaps_safe.h"
#include "analysis/rta/mpcp_safe.h"
#include "analysis/rta/server_safe.h"
#include "analysis/rta/stream_priority_safe.h"
#include "analysis/rta/tsg_rr_safe.h"
#include "analysis/safe.h"
#include "analysis/simulation/simulator.h"
#include "tests/support/attack_targets.h"
#include "tests/support/build.h"

#include <algorithm>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

void leave_out_groups(Term term, WindowedRecurrence& recurrence) {
  std::erase_if(recurrence.groups, [&](const Group& group) { return group.term == term; });
}

void leave_out_constants_and_blockers(Term term, WindowedRecurrence& recurrence) {
  Duration amount;
  for (const Constant& constant : recurrence.constants) {
    if (constant.term == term) amount += constant.amount;
  }
  std::erase_if(recurrence.constants, [&](const Constant& constant) { return constant.term == term; });
  std::erase_if(recurrence.blockers, [&](const Blocker& blocker) { return blocker.term == term; });
  for (Window& window : recurrence.windows) {
    const Duration part = std::min(amount, window.blocking);
    window.blocking -= part;
    amount -= part;
  }
}

template <BuildWindowed build, Term term>
void without_term(const SafeInput& input, TaskIndex task, WindowedRecurrence& recurrence) {
  build(input, task, recurrence);
  leave_out_groups(term, recurrence);
  leave_out_constants_and_blockers(term, recurrence);
}

// What arrives late in one job and early in the next.
template <BuildWindowed build>
void without_carry_in(const SafeInput& input, TaskIndex task, WindowedRecurrence& recurrence) {
  build(input, task, recurrence);
  for (JobStream& stream : recurrence.streams) stream.on_host = stream.on_device = stream.whole = {};
  for (Group& group : recurrence.groups) {
    group.together.on_host = group.together.on_device = group.together.whole = {};
  }
  for (Joint& joint : recurrence.joints) joint.carry = {};
  for (Blocker& blocker : recurrence.blockers) blocker.latest = {};
}

struct Mutation {
  Policy policy;
  std::string left_out;
  BuildWindowed build;
};

void PrintTo(const Mutation& mutation, std::ostream* out) {
  *out << to_string(mutation.policy) << " without " << mutation.left_out;
}

template <BuildWindowed build, Term... terms>
void add_mutations(Policy policy, std::vector<Mutation>& mutations) {
  (mutations.push_back({policy, std::string(to_string(terms)), &without_term<build, terms>}), ...);
}

std::vector<Mutation> all_mutations() {
  using enum Term;
  std::vector<Mutation> all;
  add_mutations<&build_gcaps_safe, cpu_preemption, cpu_blocking, gpu_preemption, copy, overhead>(Policy::gcaps, all);
  add_mutations<&build_gcaps_wc_safe, cpu_preemption, cpu_blocking, gpu_preemption, copy, overhead>(Policy::gcaps_wc,
                                                                                                    all);
  add_mutations<&build_tsg_rr_safe, cpu_preemption, gpu_interleaving, copy, overhead>(Policy::tsg_rr, all);
  add_mutations<&build_mpcp_safe, cpu_preemption, cpu_blocking, gpu_preemption, gpu_blocking, copy, overhead>(
      Policy::mpcp, all);
  add_mutations<&build_fmlp_plus_safe, cpu_preemption, cpu_blocking, gpu_blocking, copy, overhead>(Policy::fmlp_plus,
                                                                                                   all);
  add_mutations<&build_stream_priority_safe, cpu_preemption, gpu_preemption, gpu_blocking, gpu_interleaving, copy,
                overhead>(Policy::stream_priority, all);
  add_mutations<&build_server_safe, cpu_preemption, cpu_blocking, gpu_preemption, gpu_blocking, copy, overhead>(
      Policy::server, all);
  add_mutations<&build_federated_safe, cpu_preemption, copy, overhead>(Policy::federated, all);
  return all;
}

bool is_exceeded(const Taskset& given, const Mutation& mutation, std::uint64_t seed, std::int64_t runs = 60) {
  const Taskset taskset = testing::runnable(given, mutation.policy);
  const Result<StagedModel> model = StagedModel::of(taskset, WaitChoice::file);
  EXPECT_TRUE(model);
  WorkBudget budget;
  std::vector<Claim> claims;
  for (const TaskResult& result : bound_all_safe(*model, taskset, mutation.build, AnalysisOptions{}, budget)) {
    if (result.schedulable()) claims.push_back({result.task, *result.bound});
  }
  Result<Simulator> simulator = Simulator::of(taskset, mutation.policy, WaitChoice::file);
  EXPECT_TRUE(simulator);
  const AttackResult result =
      attack(simulator->taskset(), *simulator, claims,
             {.seed = seed, .runs = runs, .horizon = attack_horizon(taskset), .stop_early = true});
  return result.worst && result.worst->exceeds();
}

class Mutations : public ::testing::TestWithParam<Mutation> {};

TEST_P(Mutations, AreFound) {
  constexpr int kTasksets = 300;
  const auto seed = std::random_device{}();
  std::mt19937_64 engine(seed);
  for (int index = 0; index < kTasksets; ++index) {
    if (!is_exceeded(testing::attack_target(engine), GetParam(), seed)) continue;
    RecordProperty("tasksets", index + 1);
    return;
  }
  FAIL() << "not found in " << kTasksets << " tasksets, seed " << seed;
}

INSTANTIATE_TEST_SUITE_P(Safe, Mutations, ::testing::ValuesIn(all_mutations()), [](const auto& mutation) {
  std::string name = std::string(to_string(mutation.param.policy)) + "_without_" + mutation.param.left_out;
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '+'; }, '_');
  return name;
});

// The CPU time of a comes late in one job, and early in the next, whose exec is short: b waits for both.
Taskset with_carry_in() {
  using namespace testing;
  Taskset taskset =
      make_taskset({task("a", ms(20), {gpu(ms(0), ms(15)), cpu(ms(3))}), task("b", ms(100), {cpu(ms(4))})});
  taskset.platform.gpus[0].overheads.time_slice = ms(1);
  taskset.platform.gpus[0].stream_priorities = 2;
  return taskset;
}

TEST(CarryIn, LeftOutIsFound) {
  const std::vector<Mutation> mutations = {
      {Policy::gcaps, "carry_in", &without_carry_in<&build_gcaps_safe>},
      {Policy::gcaps_wc, "carry_in", &without_carry_in<&build_gcaps_wc_safe>},
      {Policy::tsg_rr, "carry_in", &without_carry_in<&build_tsg_rr_safe>},
      {Policy::mpcp, "carry_in", &without_carry_in<&build_mpcp_safe>},
      {Policy::fmlp_plus, "carry_in", &without_carry_in<&build_fmlp_plus_safe>},
      {Policy::stream_priority, "carry_in", &without_carry_in<&build_stream_priority_safe>},
      {Policy::federated, "carry_in", &without_carry_in<&build_federated_safe>},
      {Policy::server, "carry_in", &without_carry_in<&build_server_safe>}};
  const auto seed = std::random_device{}();
  for (const Mutation& mutation : mutations) {
    EXPECT_TRUE(is_exceeded(with_carry_in(), mutation, seed, 2000)) << to_string(mutation.policy) << ", seed " << seed;
  }
}

}  // namespace
}  // namespace rtgpu
