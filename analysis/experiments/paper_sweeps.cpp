#include "analysis/experiments/paper_sweeps.h"

#include <array>
#include <string>
#include <vector>

namespace rtgpu {
namespace {

constexpr std::array<std::string_view, 12> kPaperSweepNames = {
    "gcaps-fig8a", "gcaps-fig8b", "gcaps-fig8c", "gcaps-fig8d", "gcaps-fig8e", "gcaps-fig8f",
    "gcaps-fig9a", "gcaps-fig9b", "gcaps-fig9c", "gcaps-fig9d", "gcaps-fig9e", "gcaps-fig9f",
};

void add_published(std::vector<Approach>& approaches, Policy policy, GpuPriorities gpu_priorities) {
  for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy}) {
    approaches.push_back({policy, wait, Variant::published, gpu_priorities, JitterSource::response});
  }
}

std::vector<Approach> approaches_of(char figure) {
  std::vector<Approach> approaches;
  add_published(approaches, Policy::gcaps, GpuPriorities::file);
  if (figure == '9') {
    add_published(approaches, Policy::gcaps, GpuPriorities::search);
    return approaches;
  }
  for (const Policy policy : {Policy::tsg_rr, Policy::mpcp, Policy::fmlp_plus}) {
    add_published(approaches, policy, GpuPriorities::file);
  }
  return approaches;
}

// "0.1" ... "0.9".
std::vector<std::string> tenths() {
  std::vector<std::string> values;
  for (int tenth = 1; tenth <= 9; ++tenth) values.push_back("0." + std::to_string(tenth));
  return values;
}

void set_varied(SweepExperiment& experiment, char letter) {
  switch (letter) {
    case 'a':
      experiment.parameter = "tasks";
      for (int tasks = 2; tasks <= 20; tasks += 2) experiment.values.push_back(std::to_string(tasks));
      break;
    case 'b':
      experiment.parameter = "utilisation_per_cpu";
      experiment.values = tenths();
      break;
    case 'c':
      experiment.parameter = "cpus";
      for (int cpus = 1; cpus <= 10; ++cpus) experiment.values.push_back(std::to_string(cpus));
      break;
    case 'd':
      experiment.parameter = "gpu_share";
      experiment.values = tenths();
      experiment.values.emplace_back("1");
      break;
    case 'e':
      experiment.parameter = "gpu_to_cpu";
      experiment.values = {"0", "0.2", "0.4", "0.6", "0.8", "1", "1.2", "1.4", "1.6", "1.8", "2"};
      break;
    default:
      experiment.parameter = "best_effort_share";
      experiment.values = tenths();
      experiment.settings.emplace_back("tasks_per_cpu=6");
      break;
  }
}

}  // namespace

std::span<const std::string_view> paper_sweep_names() {
  return kPaperSweepNames;
}

std::optional<SweepExperiment> paper_sweep(std::string_view name) {
  for (const std::string_view known : kPaperSweepNames) {
    if (known != name) continue;
    SweepExperiment experiment;
    experiment.settings = {"drawn_as=program"};
    set_varied(experiment, name.back());
    experiment.approaches = approaches_of(name[name.size() - 2]);
    return experiment;
  }
  return std::nullopt;
}

}  // namespace rtgpu
