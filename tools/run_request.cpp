#include "tools/run_request.h"

#include "runtime/runnable_policies.h"
#include "tools/choice.h"
#include "tools/option_values.h"
#include "tools/output_file.h"
#include "tools/simulate_request.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

Policy parse_policy_option(const std::vector<std::string>& names, Errors& errors) {
  if (names.empty()) return kDefaultRunPolicy;
  if (names.size() > 1) {
    errors.push_back(option_error(ErrorCode::conflict, "--policy", fmt::format("{}", fmt::join(names, ", ")),
                                  "one policy", "A run has one; run the taskset again under another."));
    return kDefaultRunPolicy;
  }
  std::vector<std::string_view> known;
  for (const Policy policy : runnable_policies()) {
    if (names.front() == to_string(policy)) return policy;
    known.push_back(to_string(policy));
  }
  Error error = choice_error("--policy", names.front(), known);
  if (const auto policy = parse_policy(names.front())) {
    if (const auto missing = missing_for(*policy)) error.advice = missing->advice;
  }
  errors.push_back(std::move(error));
  return kDefaultRunPolicy;
}

// Whether there is such a device is for the runtime to say.
void check_device(std::string_view word, Errors& errors) {
  const std::vector<std::string_view> known = {"host", "host:compute", "cuda", "cuda:N"};
  if (word != known.back() && std::find(known.begin(), known.end(), word) != known.end()) return;
  constexpr std::string_view kNumbered = "cuda:";
  const std::string_view number = word.substr(std::min(word.size(), kNumbered.size()));
  const bool is_number =
      !number.empty() && number.size() <= 3 && number.find_first_not_of("0123456789") == std::string_view::npos;
  if (word.substr(0, kNumbered.size()) == kNumbered && is_number) return;
  errors.push_back(choice_error("--device", word, known));
}

TrialChoices parse_choices(const RunArguments& arguments, Errors& errors) {
  TrialChoices choices;
  choices.seed = seed_number("--seed", arguments.seed, errors);
  choices.releases =
      value_or_report(choose<Releases>("--releases", arguments.releases,
                                       {{"periodic", Releases::periodic}, {"sporadic", Releases::sporadic}}),
                      errors);
  choices.execution = value_or_report(choose<Execution>("--execution", arguments.execution,
                                                        {{"worst", Execution::worst}, {"random", Execution::random}}),
                                      errors);
  return choices;
}

RealtimeOptions parse_realtime(const RunArguments& arguments, Errors& errors) {
  RealtimeOptions realtime;
  realtime.scheduler = value_or_report(choose<Scheduler>("--scheduler", arguments.scheduler,
                                                         {{"fifo", Scheduler::fifo},
                                                          {"rr", Scheduler::rr},
                                                          {"deadline", Scheduler::deadline},
                                                          {"normal", Scheduler::normal}}),
                                       errors);
  realtime.allow_degraded = arguments.allow_degraded;
  realtime.share_cores = arguments.share_cores;
  // Who asks for no real-time scheduling needs no privileges for the rest either.
  realtime.lock_memory = !arguments.no_memory_lock && realtime.scheduler != Scheduler::normal;
  return realtime;
}

std::optional<Format> run_format(const std::string& word, Errors& errors) {
  if (word.empty()) return std::nullopt;
  return value_or_report(
      choose<Format>("--format", word, {{"table", Format::table}, {"json", Format::json}, {"csv", Format::csv}}),
      errors);
}

void check_combinations(const RunArguments& arguments, const RunRequest& request, Errors& errors) {
  const std::string_view other = request.without_bounds();
  if (arguments.check_bounds && !other.empty()) {
    errors.push_back(option_error(ErrorCode::conflict, "--check-bounds",
                                  fmt::format("both {} and --check-bounds", other), "one of them",
                                  fmt::format("With {} no bound holds.", other)));
  }
  if (!arguments.report.empty()) {
    errors.push_back(option_error(ErrorCode::unsupported, "--report", fmt::format("'{}'", arguments.report),
                                  "no such option", "Reports are not there yet; use --format json, or --trace."));
  }
}

}  // namespace

std::string_view RunRequest::without_bounds() const {
  if (realtime.share_cores) return "--share-cores";
  if (!virtual_time && realtime.scheduler == Scheduler::deadline) return "--scheduler deadline";
  // Declared work is one block there, and never interrupted.
  if (device == "host:compute") return "--device host:compute";
  return {};
}

Result<RunRequest> make_request(const RunArguments& arguments) {
  Errors errors;
  RunRequest request;
  request.policy = parse_policy_option(arguments.policies, errors);
  check_device(arguments.device, errors);
  request.device = arguments.device;
  request.duration = time_above_zero("--duration", arguments.duration, errors);
  request.wait = value_or_report(
      choose<WaitChoice>("--wait", arguments.wait,
                         {{"suspend", WaitChoice::suspend}, {"busy", WaitChoice::busy}, {"file", WaitChoice::file}}),
      errors);
  request.choices = parse_choices(arguments, errors);
  request.trial = static_cast<std::uint64_t>(whole_number("--trial", arguments.trial, 0, kMaxTrials - 1, errors));
  request.realtime = parse_realtime(arguments, errors);
  check_output_file("--trace", arguments.trace, arguments.file, errors);
  request.trace = arguments.trace;
  request.check_bounds = arguments.check_bounds;
  request.virtual_time = arguments.virtual_time;
  check_combinations(arguments, request, errors);
  request.format = run_format(arguments.format, errors);
  if (!errors.empty()) return errors;
  return request;
}

}  // namespace rtgpu
