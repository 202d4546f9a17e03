#include "tools/analyze_request.h"

#include "tools/choice.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// A value, or a harmless one after its errors have been added to `errors`.
template <class T>
T take(Result<T> result, Errors& errors) {
  if (result) return *std::move(result);
  errors.insert(errors.end(), result.errors().begin(), result.errors().end());
  return T{};
}

Variant parse_variant(const std::string& word, Errors& errors) {
  if (word.empty()) return Variant::safe;
  return take(choose<Variant>("--variant", word, {{"safe", Variant::safe}, {"published", Variant::published}}), errors);
}

// What all analyses of a request have in common.
AnalysisOptions common_options(const AnalyzeArguments& arguments, Errors& errors) {
  AnalysisOptions options;
  options.variant = parse_variant(arguments.variant, errors);
  options.wait = take(
      choose<WaitChoice>("--wait", arguments.wait,
                         {{"suspend", WaitChoice::suspend}, {"busy", WaitChoice::busy}, {"file", WaitChoice::file}}),
      errors);
  options.jitter =
      take(choose<JitterSource>("--jitter", arguments.jitter,
                                {{"response", JitterSource::response}, {"deadline", JitterSource::deadline}}),
           errors);
  options.gpu_priorities =
      take(choose<GpuPriorities>("--gpu-priorities", arguments.gpu_priorities,
                                 {{"file", GpuPriorities::file}, {"search", GpuPriorities::search}}),
           errors);
  options.beyond_deadline = arguments.beyond_deadline;
  options.explain = arguments.explain;
  return options;
}

std::optional<Format> parse_format(const std::string& word, Errors& errors) {
  if (word.empty()) return std::nullopt;
  return take(choose<Format>(
                  "--format", word,
                  {{"table", Format::table}, {"json", Format::json}, {"ndjson", Format::ndjson}, {"csv", Format::csv}}),
              errors);
}

void add_once(std::vector<Policy>& policies, Policy policy) {
  if (std::find(policies.begin(), policies.end(), policy) == policies.end()) policies.push_back(policy);
}

// Every policy that has an analysis of the variant; if there is none, why.
void add_all(std::vector<Policy>& policies, Variant variant, Errors& errors) {
  const std::size_t before = policies.size();
  for (const AnalysisEntry& entry : analyses()) {
    if (entry.variant == variant) add_once(policies, entry.policy);
  }
  if (policies.size() > before) return;
  if (const auto error = availability_error(all_policies().front(), variant)) errors.push_back(*error);
}

void add_named(std::vector<Policy>& policies, std::string_view name, Variant variant, Errors& errors) {
  const std::optional<Policy> policy = parse_policy(name);
  if (!policy) {
    std::vector<std::string_view> known;
    for (const Policy each : all_policies()) known.push_back(to_string(each));
    known.emplace_back("all");
    errors.push_back(choice_error("--policy", name, known));
  } else if (auto error = availability_error(*policy, variant)) {
    errors.push_back(*std::move(error));
  } else {
    add_once(policies, *policy);
  }
}

std::vector<Policy> parse_policies(const std::vector<std::string>& names, Variant variant, Errors& errors) {
  std::vector<Policy> policies;
  if (names.empty()) add_all(policies, variant, errors);
  for (const std::string& name : names) {
    if (name == "all") {
      add_all(policies, variant, errors);
    } else {
      add_named(policies, name, variant, errors);
    }
  }
  return policies;
}

bool can_search(Policy policy, Variant variant) {
  const std::span<const AnalysisEntry> all = analyses();
  return std::any_of(all.begin(), all.end(), [&](const AnalysisEntry& entry) {
    return entry.policy == policy && entry.variant == variant && entry.gpu_priority_search;
  });
}

std::string names_of(const std::vector<Policy>& policies) {
  std::vector<std::string_view> names;
  for (const Policy policy : policies) names.push_back(to_string(policy));
  return fmt::format("{}", fmt::join(names, ", "));
}

Error no_search_error(const std::vector<Policy>& policies) {
  Error error;
  error.code = ErrorCode::unsupported;
  error.place.source = "--gpu-priorities";
  error.found = fmt::format("'search' for {}", names_of(policies));
  error.expected = "a policy whose analysis can search GPU priorities";
  error.advice = "Leave the option out, or choose another policy.";
  return error;
}

// The search where there is one; elsewhere the file's order, with a note.
void restrict_search(AnalyzeRequest& request, Errors& errors) {
  std::vector<Policy> without;
  for (AnalysisOptions& options : request.analyses) {
    if (options.gpu_priorities == GpuPriorities::file || can_search(options.policy, options.variant)) continue;
    options.gpu_priorities = GpuPriorities::file;
    without.push_back(options.policy);
  }
  if (without.empty()) return;
  if (without.size() == request.analyses.size()) {
    errors.push_back(no_search_error(without));
  } else {
    request.notes.push_back(fmt::format(
        "there is no search of GPU priorities for {}: the file's priorities are used there", names_of(without)));
  }
}

}  // namespace

Result<AnalyzeRequest> make_request(const AnalyzeArguments& arguments) {
  Errors errors;
  AnalyzeRequest request;
  request.format = parse_format(arguments.format, errors);
  AnalysisOptions options = common_options(arguments, errors);
  for (const Policy policy : parse_policies(arguments.policies, options.variant, errors)) {
    options.policy = policy;
    request.analyses.push_back(options);
  }
  restrict_search(request, errors);
  if (!errors.empty()) return errors;
  return request;
}

}  // namespace rtgpu
