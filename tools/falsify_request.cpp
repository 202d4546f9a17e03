#include "tools/falsify_request.h"

#include "tools/analyze_request.h"
#include "tools/choice.h"
#include "tools/generate_request.h"
#include "tools/option_values.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::int64_t kMaxRuns = 1'000'000'000;

void add_errors(Errors& errors, const Errors& more) {
  errors.insert(errors.end(), more.begin(), more.end());
}

// A file, or a preset with its parameters.
void parse_source(const FalsifyArguments& arguments, FalsifyRequest& request, Errors& errors) {
  if (arguments.file.empty() == arguments.preset.empty()) {
    errors.push_back(option_error(ErrorCode::conflict, "FILE",
                                  arguments.file.empty() ? "neither a file nor a preset" : "a file and a preset",
                                  "one of them", "Name a taskset file, or --preset P --count N."));
    return;
  }
  request.file = arguments.file;
  if (arguments.preset.empty()) return;
  const GenerateArguments generate{arguments.preset, arguments.count, "0", arguments.seed, arguments.settings};
  Result<GenerateRequest> made = make_request(generate);
  if (made) {
    request.generated = GeneratedTasksets{made->preset, made->count};
  } else {
    add_errors(errors, made.errors());
  }
}

// As `analyze` understands these options.
void parse_analyses(const FalsifyArguments& arguments, FalsifyRequest& request, Errors& errors) {
  AnalyzeArguments analyze;
  analyze.policies = arguments.policies;
  analyze.wait = arguments.wait;
  analyze.variant = arguments.variant;
  Result<AnalyzeRequest> made = make_request(analyze);
  if (made) {
    request.analyses = std::move(made->analyses);
  } else {
    add_errors(errors, made.errors());
  }
}

void check_output(const std::string& folder, Errors& errors) {
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return;
  errors.push_back(option_error(ErrorCode::conflict, "--output", fmt::format("'{}'", folder), "a folder that exists",
                                "Counterexamples are written into it."));
}

}  // namespace

Result<FalsifyRequest> make_request(const FalsifyArguments& arguments) {
  Errors errors;
  FalsifyRequest request;
  parse_source(arguments, request, errors);
  parse_analyses(arguments, request, errors);
  request.runs = whole_number("--runs", arguments.runs, 1, kMaxRuns, errors);
  if (!arguments.horizon.empty()) request.horizon = time_above_zero("--horizon", arguments.horizon, errors);
  // A preset has checked the seed already.
  if (arguments.preset.empty()) {
    request.seed = seed_number("--seed", arguments.seed, errors);
  } else {
    Errors told;
    request.seed = seed_number("--seed", arguments.seed, told);
  }
  check_output(arguments.output, errors);
  request.output = arguments.output;
  if (!arguments.format.empty()) {
    request.as_table =
        value_or_report(choose<bool>("--format", arguments.format, {{"table", true}, {"json", false}}), errors);
    request.as_json = !request.as_table;
  }
  if (!errors.empty()) return errors;
  return request;
}

}  // namespace rtgpu
