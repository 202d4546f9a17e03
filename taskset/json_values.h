// Reads the values of a taskset document: times, numbers, names, choices. Internal to the library.
#pragma once

#include "rtgpu/time.h"
#include "taskset/json_document.h"
#include "taskset/json_report.h"
#include "taskset/json_text.h"
#include "taskset/taskset.h"
#include "taskset/validate.h"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

// A word of the format and what it stands for.
template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};

// Each read_... stores the value, or reports what is wrong and leaves `out` alone.
class JsonValues {
 public:
  JsonValues(JsonReport& report, TimeUnit unit) : report_(report), unit_(unit) {}

  JsonReport& report() { return report_; }
  void set_unit(TimeUnit unit) { unit_ = unit; }

  void read_time(JsonValue value, Duration& out, Rounding rounding);
  // A cost: one worst case, or {"min", "max"}.
  void read_execution_time(JsonValue value, ExecutionTime& out);
  void read_integer(JsonValue value, std::int64_t& out, const IntRange& range);
  void read_integer(JsonValue value, int& out, const IntRange& range);
  // Up to 2^64 - 1.
  void read_unsigned(JsonValue value, std::uint64_t& out);
  void read_boolean(JsonValue value, bool& out);
  void read_string(JsonValue value, std::string& out);
  // Bytes, or text with a unit such as "256MiB".
  void read_memory(JsonValue value, std::int64_t& out);
  // A decimal number in millionths, rounded up.
  void read_millionths(JsonValue value, std::int64_t& out, const IntRange& range);

  template <class Value, std::size_t N>
  void read_choice(JsonValue value, Value& out, const std::array<Choice<Value>, N>& choices) {
    for (const Choice<Value>& choice : choices) {
      if (value.kind() == JsonKind::string && value.text() == choice.word) {
        out = choice.value;
        return;
      }
    }
    std::vector<std::string_view> words;
    for (const Choice<Value>& choice : choices) words.push_back(choice.word);
    reject_choice(value, words);
  }

  // Whether the value is of this kind; reports it if not. `expected` says what the value stands for.
  bool expect(JsonValue value, JsonKind kind, std::string_view expected);
  void reject(JsonValue value, ErrorCode code, std::string expected, std::string advice = "");
  void reject_key(JsonValue member, const std::vector<std::string_view>& known);

 private:
  void reject_choice(JsonValue value, const std::vector<std::string_view>& words);
  // The time as it is written, or nullopt and a report.
  std::optional<Duration> time(JsonValue value, Rounding rounding);
  std::optional<std::int64_t> integer(JsonValue value, const IntRange& range);

  JsonReport& report_;
  TimeUnit unit_;
};

// A key of an object, and how its value is read into a Target.
template <class Target>
struct Field {
  std::string_view key;
  void (*read)(JsonValues&, JsonValue, Target&);
  std::string_view required = {};  // what is expected if the key may not be left out
};

// Reads the members of an object by its fields; reports unknown and missing keys. Returns which fields there are.
// Of a key that is given twice the first value counts; the document reports the second. `faulty`, if given, receives
// the fields whose value could not be read or is missing.
template <class Target, std::size_t N>
std::bitset<N> read_fields(JsonValues& values, JsonValue object, const std::array<Field<Target>, N>& fields,
                           Target& target, std::bitset<N>* faulty = nullptr) {
  std::bitset<N> seen;
  std::bitset<N> bad;
  for (const JsonValue member : object) {
    const std::string_view key = member.key();
    std::size_t i = 0;
    while (i < N && fields[i].key != key) ++i;
    if (i == N) {
      std::vector<std::string_view> known;
      for (const Field<Target>& field : fields) known.push_back(field.key);
      values.reject_key(member, known);
    } else if (!seen[i]) {
      const std::size_t errors = values.report().size();
      seen.set(i);
      fields[i].read(values, member, target);
      bad[i] = values.report().size() != errors;
    }
  }
  for (std::size_t i = 0; i < N; ++i) {
    if (!seen[i] && !fields[i].required.empty()) {
      values.report().add_missing(object, fields[i].key, std::string(fields[i].required));
      bad.set(i);
    }
  }
  if (faulty != nullptr) *faulty = bad;
  return seen;
}

}  // namespace rtgpu
