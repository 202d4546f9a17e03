#include "taskset/json_segments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::string_view kExecExpected = R"(a time, {"min": ..., "max": ...} or {"by_sms": {"2": time, ...}})";

// The number of SMs that a key of by_sms stands for; 0 if it is none.
int sm_count(std::string_view key) {
  int count = 0;
  const auto end = std::from_chars(key.data(), key.data() + key.size(), count);
  const bool whole = end.ec == std::errc{} && end.ptr == key.data() + key.size();
  return whole && !key.starts_with('0') && kSmsRange.holds(count) ? count : 0;
}

void read_by_sms(JsonValues& values, JsonValue object, std::vector<ExecOnSms>& out) {
  if (!values.expect(object, JsonKind::object, "an object of SM counts and times")) return;
  if (object.empty()) return values.reject(object, ErrorCode::value, "at least one SM count with its time");
  for (const JsonValue member : object) {
    ExecOnSms& entry = out.emplace_back();
    entry.sms = sm_count(member.key());
    if (entry.sms == 0) {
      values.report().add(member, ErrorCode::value, "the key " + in_quotes(member.key()),
                          "a number of SMs: " + describe(kSmsRange));
    }
    values.read_execution_time(member, entry.time);
  }
  std::stable_sort(out.begin(), out.end(), [](const ExecOnSms& a, const ExecOnSms& b) { return a.sms < b.sms; });
  // A key that is given twice is reported as such.
  const auto same = [](const ExecOnSms& a, const ExecOnSms& b) { return a.sms == b.sms; };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
}

// What is read of a GPU segment before its parts are put together.
struct GpuDraft {
  GpuSegment segment;
  ExecutionTime work;
  ExecutionTime span;
  std::int64_t interleave_millionths = kInterleaveMillionths.low;
};

constexpr std::array kBySmsFields = {Field<GpuDraft>{
    "by_sms", [](JsonValues& v, JsonValue j, GpuDraft& d) { read_by_sms(v, j, d.segment.exec_by_sms); }}};

void read_exec(JsonValues& values, JsonValue value, GpuDraft& draft) {
  if (value.kind() == JsonKind::array || value.kind() == JsonKind::null || value.kind() == JsonKind::boolean) {
    return values.reject(value, ErrorCode::type, std::string(kExecExpected));
  }
  const auto named = [](JsonValue member) { return member.key() == "by_sms"; };
  if (value.kind() == JsonKind::object && std::any_of(value.begin(), value.end(), named)) {
    read_fields(values, value, kBySmsFields, draft);
  } else {
    values.read_execution_time(value, draft.segment.exec.emplace());
  }
}

constexpr std::size_t kExecField = 1;
constexpr std::size_t kWorkField = 4;
constexpr std::size_t kSpanField = 5;
constexpr std::size_t kInterleaveField = 6;
constexpr std::array kGpuSegmentFields = {
    Field<GpuDraft>{"misc", [](JsonValues& v, JsonValue j, GpuDraft& d) { v.read_execution_time(j, d.segment.misc); }},
    Field<GpuDraft>{"exec", read_exec},
    Field<GpuDraft>{"block", [](JsonValues& v, JsonValue j,
                                GpuDraft& d) { v.read_time(j, d.segment.block.emplace(), Rounding::up); }},
    Field<GpuDraft>{"slices",
                    [](JsonValues& v, JsonValue j, GpuDraft& d) { v.read_integer(j, d.segment.slices, kSlicesRange); }},
    Field<GpuDraft>{"work", [](JsonValues& v, JsonValue j, GpuDraft& d) { v.read_execution_time(j, d.work); }},
    Field<GpuDraft>{"span", [](JsonValues& v, JsonValue j, GpuDraft& d) { v.read_execution_time(j, d.span); }},
    Field<GpuDraft>{"interleave", [](JsonValues& v, JsonValue j, GpuDraft& d) {
                      v.read_millionths(j, d.interleave_millionths, kInterleaveMillionths);
                    }}};

static_assert(kGpuSegmentFields[kExecField].key == "exec" && kGpuSegmentFields[kWorkField].key == "work" &&
              kGpuSegmentFields[kSpanField].key == "span" && kGpuSegmentFields[kInterleaveField].key == "interleave");

void read_gpu(JsonValues& values, JsonValue object, std::vector<Segment>& out) {
  if (!values.expect(object, JsonKind::object, "an object with misc, exec, ...")) return;
  GpuDraft draft;
  const auto seen = read_fields(values, object, kGpuSegmentFields, draft);
  const bool work = seen[kWorkField];
  const bool span = seen[kSpanField];
  if (work && !span) values.report().add_missing(object, "span", "the critical path that belongs to work");
  if (!work && (span || seen[kInterleaveField])) {
    values.report().add_missing(object, "work", "the SM-time that belongs to span and interleave");
  } else if (!work && !seen[kExecField]) {
    values.report().add_missing(object, "exec", "the execution time: exec, or work and span");
  }
  if (work && span) draft.segment.parallel = ParallelWork{draft.work, draft.span, draft.interleave_millionths};
  out.emplace_back(std::move(draft.segment));
}

constexpr std::array kDirections = {Choice<CopyDirection>{"device", CopyDirection::to_device},
                                    Choice<CopyDirection>{"host", CopyDirection::to_host}};

constexpr std::array kCopyFields = {
    Field<CopySegment>{"time", [](JsonValues& v, JsonValue j, CopySegment& s) { v.read_execution_time(j, s.time); },
                       "the time of the copy"},
    Field<CopySegment>{"to",
                       [](JsonValues& v, JsonValue j, CopySegment& s) { v.read_choice(j, s.direction, kDirections); }}};

void read_copy(JsonValues& values, JsonValue object, std::vector<Segment>& out) {
  if (!values.expect(object, JsonKind::object, R"(an object with time and to ("device" or "host"))")) return;
  CopySegment segment;
  read_fields(values, object, kCopyFields, segment);
  out.emplace_back(segment);
}

void read_cpu(JsonValues& values, JsonValue value, std::vector<Segment>& out) {
  CpuSegment segment;
  values.read_execution_time(value, segment.time);
  out.emplace_back(segment);
}

constexpr std::array kSegmentFields = {Field<std::vector<Segment>>{"cpu", read_cpu},
                                       Field<std::vector<Segment>>{"gpu", read_gpu},
                                       Field<std::vector<Segment>>{"copy", read_copy}};

void read_segment(JsonValues& values, JsonValue value, std::vector<Segment>& out) {
  constexpr std::string_view kExpected = "an object with one of the keys cpu, gpu, copy";
  if (!values.expect(value, JsonKind::object, kExpected)) return;
  const std::size_t errors = values.report().size();
  const auto seen = read_fields(values, value, kSegmentFields, out);
  if (seen.count() > 1) {
    values.report().add(value, ErrorCode::conflict, fmt::format("{} of them", seen.count()), std::string(kExpected),
                        "A segment is one thing; write one object for each, in order.");
  } else if (seen.none() && values.report().size() == errors) {
    values.reject(value, ErrorCode::missing, std::string(kExpected));
  }
}

}  // namespace

void read_segments(JsonValues& values, JsonValue array, std::vector<Segment>& out) {
  if (!values.expect(array, JsonKind::array, "an array of segments")) return;
  const std::size_t count = array.size();
  if (count > kMaxSegments) {
    return values.report().add(array, ErrorCode::limit, fmt::format("{} segments", count),
                               fmt::format("at most {} segments", kMaxSegments));
  }
  out.reserve(count);
  for (const JsonValue segment : array) read_segment(values, segment, out);
}

}  // namespace rtgpu
