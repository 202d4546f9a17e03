#include "tools/format/ndjson.h"

#include "tools/format/json.h"

#include <array>
#include <charconv>
#include <concepts>
#include <vector>

namespace rtgpu {
namespace {

void append_number(std::string& out, std::integral auto number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_bounds(std::string& out, const AnalysisResult& result) {
  out += R"("bounds_ns":[)";
  const char* separator = "";
  for (const TaskResult& task : result.tasks) {
    out += separator;
    if (task.bound) {
      append_number(out, task.bound->count());
    } else {
      out += "null";
    }
    separator = ",";
  }
  out += ']';
}

// Names of policies and the like need no escapes.
void append_answer(std::string& out, const Answer& answer) {
  out.append(R"({"policy":")").append(to_string(answer.options.policy));
  out.append(R"(","wait":")").append(wait_label(answer));
  out.append(R"(","variant":")").append(to_string(answer.options.variant));
  out.append(R"(","label":")").append(trust_label(answer.options.variant));
  out.append(R"(","schedulable":)").append(answer.schedulable() ? "true," : "false,");
  if (answer.result) {
    append_bounds(out, *answer.result);
  } else {
    out += error_members(answer.result.errors());
  }
  out += '}';
}

void append_notes(std::string& out, const LoadedTaskset& loaded) {
  const std::vector<std::string> told = notes(loaded);
  if (told.empty()) return;
  out += R"(,"notes":[)";
  const char* separator = "";
  for (const std::string& note : told) {
    out.append(separator).append(json_string(note));
    separator = ",";
  }
  out += ']';
}

void append_index(std::string& out, std::size_t index) {
  out += R"({"index":)";
  append_number(out, index);
}

}  // namespace

void append_ndjson(std::string& out, const DocumentReport& report) {
  append_index(out, report.id.index);
  out += R"(,"results":[)";
  const char* separator = "";
  for (const Answer& answer : report.answers) {
    out += separator;
    append_answer(out, answer);
    separator = ",";
  }
  out += ']';
  append_notes(out, report.loaded);
  out += "}\n";
}

void append_ndjson(std::string& out, const DocumentFailure& failure) {
  append_index(out, failure.id.index);
  out.append(",").append(error_members(failure.errors)).append("}\n");
}

}  // namespace rtgpu
