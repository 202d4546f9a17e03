#include "tools/simulate_request.h"

#include "tools/choice.h"
#include "tools/option_values.h"
#include "tools/output_file.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

void add_policy(std::vector<Policy>& policies, Policy policy) {
  if (std::find(policies.begin(), policies.end(), policy) == policies.end()) policies.push_back(policy);
}

void add_named(std::vector<Policy>& policies, std::string_view name, Errors& errors) {
  if (name == "all") {
    for (const Policy policy : simulated_policies()) add_policy(policies, policy);
    return;
  }
  const std::optional<Policy> policy = parse_policy(name);
  if (policy) return add_policy(policies, *policy);
  std::vector<std::string_view> known;
  for (const Policy each : simulated_policies()) known.push_back(to_string(each));
  known.emplace_back("all");
  errors.push_back(choice_error("--policy", name, known));
}

std::vector<Policy> parse_policies(const std::vector<std::string>& names, Errors& errors) {
  std::vector<Policy> policies;
  for (const std::string& name : names) add_named(policies, name, errors);
  if (names.empty()) policies = simulated_policies();
  return policies;
}

void parse_trials(const SimulateArguments& arguments, SimulateRequest& request, Errors& errors) {
  request.trials = static_cast<std::uint64_t>(whole_number("--trials", arguments.trials, 1, kMaxTrials, errors));
  if (arguments.trial.empty()) return;
  request.first_trial = static_cast<std::uint64_t>(whole_number("--trial", arguments.trial, 0, kMaxTrials - 1, errors));
  if (request.trials == 1) return;
  Error error;
  error.code = ErrorCode::conflict;
  error.place.source = "--trial";
  error.found = fmt::format("both --trials {} and --trial {}", arguments.trials, arguments.trial);
  error.expected = "one of them";
  error.advice = "--trials N makes the trials 0 to N - 1, --trial K makes trial K alone.";
  errors.push_back(std::move(error));
}

std::optional<Format> chosen_format(const std::string& word, Errors& errors) {
  if (word.empty()) return std::nullopt;
  return value_or_report(
      choose<Format>(
          "--format", word,
          {{"table", Format::table}, {"json", Format::json}, {"ndjson", Format::ndjson}, {"csv", Format::csv}}),
      errors);
}

}  // namespace

std::vector<Policy> simulated_policies() {
  return {all_policies().begin(), all_policies().end()};
}

std::optional<Error> one_run_error(const SimulateRequest& request) {
  if (!request.records() || request.policies.size() == 1) return std::nullopt;
  return option_error(ErrorCode::conflict, request.trace.empty() ? "--gantt" : "--trace",
                      fmt::format("{} policies", request.policies.size()), "one policy",
                      fmt::format("Choose one, for instance --policy {}.", to_string(request.policies[0])));
}

Result<SimulateRequest> make_request(const SimulateArguments& arguments) {
  Errors errors;
  SimulateRequest request;
  request.policies = parse_policies(arguments.policies, errors);
  request.wait = value_or_report(
      choose<WaitChoice>("--wait", arguments.wait,
                         {{"suspend", WaitChoice::suspend}, {"busy", WaitChoice::busy}, {"file", WaitChoice::file}}),
      errors);
  if (!arguments.horizon.empty()) request.horizon = time_above_zero("--horizon", arguments.horizon, errors);
  parse_trials(arguments, request, errors);
  request.choices.seed = seed_number("--seed", arguments.seed, errors);
  request.choices.releases =
      value_or_report(choose<Releases>("--releases", arguments.releases,
                                       {{"periodic", Releases::periodic}, {"sporadic", Releases::sporadic}}),
                      errors);
  request.choices.execution =
      value_or_report(choose<Execution>("--execution", arguments.execution,
                                        {{"worst", Execution::worst}, {"random", Execution::random}}),
                      errors);
  check_output_file("--trace", arguments.trace, arguments.file, errors);
  check_output_file("--gantt", arguments.gantt, arguments.file, errors);
  if (!arguments.gantt.empty() && arguments.gantt == arguments.trace) {
    errors.push_back(option_error(ErrorCode::conflict, "--gantt", "the file of --trace", "another file"));
  }
  request.trace = arguments.trace;
  request.gantt = arguments.gantt;
  request.format = chosen_format(arguments.format, errors);
  // Without --policy a counterexample has its own.
  if (const auto error = one_run_error(request); error && !arguments.policies.empty()) errors.push_back(*error);
  if (!errors.empty()) return errors;
  return request;
}

}  // namespace rtgpu
