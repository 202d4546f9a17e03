#include "tools/sweep_request.h"

#include "analysis/experiments/paper_sweeps.h"
#include "tools/choice.h"
#include "tools/format/sweep_chart.h"
#include "tools/option_values.h"
#include "tools/output_file.h"
#include "tools/vary.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::int64_t kMaxJobs = 1024;

// What a generator is swept with unless options say otherwise.
ApproachChoices usual_choices() {
  ApproachChoices choices;
  choices.all_policies = true;
  choices.waits = {WaitChoice::suspend};
  choices.variants = {Variant::safe};
  choices.gpu_priorities = {GpuPriorities::file};
  return choices;
}

void parse_generator_sweep(const SweepArguments& arguments, SweepExperiment& experiment, Errors& errors) {
  if (std::ranges::find(Preset::names(), arguments.preset) == Preset::names().end()) {
    std::vector<std::string_view> known(paper_sweep_names().begin(), paper_sweep_names().end());
    known.insert(known.end(), Preset::names().begin(), Preset::names().end());
    errors.push_back(choice_error("--preset", arguments.preset, known));
  }
  experiment.preset = arguments.preset;
  if (arguments.vary.empty()) {
    errors.push_back(option_error(ErrorCode::missing, "--vary", "nothing to vary", "key=a:b:step",
                                  "Name a parameter of the preset, or choose gcaps-fig8a or the like as the preset."));
  } else if (std::optional<Variation> variation = parse_variation("--vary", arguments.vary, errors)) {
    experiment.parameter = std::move(variation->key);
    experiment.values = std::move(variation->values);
  }
}

// The options that the members of an experiment come from.
std::string_view option_of(std::string_view member, bool is_paper_sweep) {
  if (member == "settings") return "--set";
  if (member == "values") return is_paper_sweep ? "--set" : "--vary";
  if (member == "tasksets") return "--tasksets";
  if (member == "approaches") return "--policy";
  return "--preset";
}

// Why the analysis of an approach covers neither the first nor the last point; generated tasksets of a point do not
// differ in what an analysis needs.
std::optional<Error> cover_error(const Sweep& sweep, const Approach& approach) {
  std::optional<Error> error;
  for (const std::size_t point : {std::size_t{0}, sweep.experiment().values.size() - 1}) {
    const Result<Taskset> taskset = sweep.taskset(point, 0);
    if (!taskset) return std::nullopt;
    const Result<AnalysisResult> result = analyze(*taskset, analysis_options(approach));
    if (result) return std::nullopt;
    error = result.errors().front();
  }
  return error;
}

class SweepParser {
 public:
  explicit SweepParser(const SweepArguments& arguments) : arguments_(arguments) {}

  Result<SweepRequest> parse() {
    parse_experiment();
    check_output_file("--csv", arguments_.csv, "", errors_);
    if (arguments_.resume && arguments_.csv.empty()) {
      errors_.push_back(option_error(ErrorCode::conflict, "--resume", "no --csv FILE",
                                     "the file of the sweep to go on with", "What is done is kept beside that file."));
    }
    check_plot();
    const int jobs =
        arguments_.jobs.empty() ? 0 : static_cast<int>(whole_number("--jobs", arguments_.jobs, 1, kMaxJobs, errors_));
    const std::optional<Format> format = parse_format();
    if (!errors_.empty()) return errors_;
    std::optional<Sweep> sweep = make_sweep();
    if (!sweep) return errors_;
    return SweepRequest{arguments_.preset, *std::move(sweep), jobs,   arguments_.csv,
                        arguments_.resume, arguments_.plot,   format, notes_};
  }

 private:
  void check_plot() {
    const std::string& plot = arguments_.plot;
    if (plot.empty()) return;
    if (!plot.ends_with(".svg") && !plot.ends_with(".html")) {
      errors_.push_back(option_error(ErrorCode::value, "--plot", fmt::format("'{}'", plot),
                                     "the name of a file that ends in .svg or .html"));
    }
    if (!can_be_drawn(experiment_)) {
      errors_.push_back(option_error(ErrorCode::conflict, "--plot", fmt::format("values of {}", experiment_.parameter),
                                     "numbers, or times with their unit, to draw over"));
    }
  }

  void parse_experiment() {
    const std::optional<SweepExperiment> paper = paper_sweep(arguments_.preset);
    is_paper_sweep_ = paper.has_value();
    choices_ = paper ? choices_of(paper->approaches) : usual_choices();
    if (paper) {
      experiment_ = *paper;
      if (!arguments_.vary.empty()) {
        errors_.push_back(option_error(ErrorCode::conflict, "--vary",
                                       fmt::format("'{}' with {}", arguments_.vary, arguments_.preset),
                                       fmt::format("nothing: that preset varies {}", paper->parameter),
                                       fmt::format("Use --preset {} --vary.", paper->preset)));
      }
    } else {
      parse_generator_sweep(arguments_, experiment_, errors_);
    }
    experiment_.settings.insert(experiment_.settings.end(), arguments_.settings.begin(), arguments_.settings.end());
    experiment_.seed = seed_number("--seed", arguments_.seed, errors_);
    if (!arguments_.tasksets.empty()) {
      experiment_.tasksets = whole_number("--tasksets", arguments_.tasksets, 1, kMaxTasksetsPerPoint, errors_);
    }
    choose_approaches(choices_, arguments_.approaches, errors_);
    experiment_.approaches = combine(choices_, notes_, errors_);
  }

  std::optional<Format> parse_format() {
    if (arguments_.format.empty()) return std::nullopt;
    return value_or_report(choose<Format>("--format", arguments_.format,
                                          {{"table", Format::table}, {"json", Format::json}, {"csv", Format::csv}}),
                           errors_);
  }

  std::optional<Sweep> checked() {
    Result<Sweep> sweep = Sweep::of(experiment_);
    if (sweep) return *std::move(sweep);
    for (Error error : sweep.errors()) {
      error.place.source = option_of(error.place.source, is_paper_sweep_);
      errors_.push_back(std::move(error));
    }
    return std::nullopt;
  }

  // Without the approaches that cover no taskset, where not each one was asked for by name.
  std::optional<Sweep> make_sweep() {
    const std::optional<Sweep> sweep = checked();
    if (!sweep) return std::nullopt;
    Errors uncovered;
    std::vector<Approach> covered;
    for (const Approach& approach : experiment_.approaches) {
      if (auto error = cover_error(*sweep, approach)) {
        if (choices_.all_policies)
          notes_.push_back(fmt::format("without {}: {}", to_string(approach), to_string(*error)));
        uncovered.push_back(*std::move(error));
      } else {
        covered.push_back(approach);
      }
    }
    if (!uncovered.empty() && (covered.empty() || !choices_.all_policies)) {
      errors_.insert(errors_.end(), uncovered.begin(), uncovered.end());
      return std::nullopt;
    }
    experiment_.approaches = std::move(covered);
    return checked();
  }

  const SweepArguments& arguments_;
  bool is_paper_sweep_ = false;
  SweepExperiment experiment_;
  ApproachChoices choices_;
  std::vector<std::string> notes_;
  Errors errors_;
};

}  // namespace

Result<SweepRequest> make_request(const SweepArguments& arguments) {
  return SweepParser(arguments).parse();
}

}  // namespace rtgpu
