#include "tools/plan_request.h"

#include "tools/choice.h"
#include "tools/option_values.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

namespace rtgpu {
namespace {

std::vector<ChangeKind> parse_allowed(const std::vector<std::string>& words, Errors& errors) {
  const auto all = all_change_kinds();
  if (words.empty()) return {all.begin(), all.end()};
  std::vector<OptionChoice<ChangeKind>> choices;
  for (const ChangeKind kind : all) choices.push_back({to_string(kind), kind});
  std::vector<ChangeKind> allowed;
  for (const std::string& word : words) {
    const ChangeKind kind = value_or_report(choose<ChangeKind>("--allow", word, choices), errors);
    if (std::ranges::count(allowed, kind) == 0) allowed.push_back(kind);
  }
  return allowed;
}

void check_folder(const std::string& folder, Errors& errors) {
  std::error_code ignored;
  if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return;
  errors.push_back(option_error(ErrorCode::conflict, "--output", fmt::format("'{}'", folder), "a folder that exists",
                                "Proposals are written into it."));
}

}  // namespace

Result<PlanRequest> make_request(const PlanArguments& arguments) {
  Errors errors;
  PlanRequest request;
  // As `analyze` understands these options.
  AnalyzeArguments analyze;
  analyze.policies = arguments.policies;
  analyze.wait = arguments.wait;
  Result<AnalyzeRequest> made = make_request(analyze);
  if (made) {
    request.analyses = std::move(made->analyses);
  } else {
    errors = made.errors();
  }
  request.allowed = parse_allowed(arguments.allowed, errors);
  request.limit = static_cast<std::size_t>(whole_number("--limit", arguments.limit, 1, kMaxProposals, errors));
  check_folder(arguments.output, errors);
  request.output = arguments.output;
  if (!arguments.format.empty()) {
    request.format =
        value_or_report(choose<Format>("--format", arguments.format,
                                       {{"table", Format::table}, {"json", Format::json}, {"ndjson", Format::ndjson}}),
                        errors);
  }
  if (!errors.empty()) return errors;
  return request;
}

}  // namespace rtgpu
