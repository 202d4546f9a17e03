#include "taskset/generators/preset.h"

#include "taskset/generators/bounded_split.h"
#include "taskset/generators/random.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"gcaps-table3", "uunifast", "uunifast-discard", "randfixedsum"};

// Bounds of a value: of whole numbers themselves, of ratios in millionths.
struct Limits {
  std::int64_t low;
  std::int64_t high;
};
constexpr Limits kShare{0, kMillion};

// Where a parameter is kept decides how it is read and shown.
template <class P>
using Member = std::variant<int P::*, std::int64_t P::*, Range P::*, Duration P::*, bool P::*>;

enum class Scale : std::uint8_t { whole, ratio };

// What a bool is called.
struct Words {
  std::string_view no;
  std::string_view yes;
};
constexpr Words kLogUniformOrUniform = {"log-uniform", "uniform"};
constexpr Words kPaperOrProgram = {"paper", "program"};

template <class P>
struct Parameter {
  std::string_view key;
  std::string_view meaning;
  Member<P> member;
  Scale scale = Scale::whole;
  Limits limits = {0, 0};
  Words words = kLogUniformOrUniform;  // of a bool
};

// The parameters that every generator has, in the order of the help.
template <class P>
std::vector<Parameter<P>> shape_parameters() {
  return {{"gpu_share", "tasks that use the GPU, drawn once a taskset", &P::gpu_share, Scale::ratio, kShare},
          {"gpu_segments", "GPU segments of such a task", &P::gpu_segments, Scale::whole, {1, 100}},
          {"gpu_to_cpu", "GPU time of such a task / its CPU time", &P::gpu_to_cpu, Scale::ratio, {0, 1000 * kMillion}},
          {"misc_share", "misc / all of each GPU segment", &P::misc_share, Scale::ratio, kShare},
          {"best_effort_share", "tasks that are best-effort, drawn once a taskset", &P::best_effort_share, Scale::ratio,
           kShare},
          {"runlist_update", "overhead of the platform", &P::runlist_update},
          {"context_switch", "likewise", &P::context_switch},
          {"time_slice", "likewise", &P::time_slice},
          {"lock", "likewise", &P::lock},
          {"stream_priorities", "of the GPU; 0: not given", &P::stream_priorities, Scale::whole, {0, kMillion}},
          {"sms", "of the GPU, with work on each GPU segment; 0: not given", &P::sms, Scale::whole, {0, 1000}}};
}

std::vector<Parameter<GcapsTable3>> table_of(const GcapsTable3& /*parameters*/) {
  using P = GcapsTable3;
  std::vector<Parameter<P>> table = {
      {"cpus", "cores", &P::cpus, Scale::whole, {1, 1000}},
      {"tasks_per_cpu", "tasks drawn for each core", &P::tasks_per_cpu, Scale::whole, {1, 1000}},
      {"utilisation_per_cpu", "CPU and GPU time drawn for each core", &P::utilisation_per_cpu, Scale::ratio, kShare},
      {"tasks",
       "tasks in all, each with a task_utilisation; 0: as the two above say",
       &P::tasks,
       Scale::whole,
       {0, static_cast<std::int64_t>(kMaxTasks)}},
      {"task_utilisation", "CPU and GPU time drawn for each task, with tasks", &P::task_utilisation, Scale::ratio,
       kShare},
      {"period_ms", "whole milliseconds", &P::period_ms, Scale::whole, {1, kMillion}},
      {"drawn_as", "the paper says, or as its program does", &P::as_program, Scale::whole, {0, 0}, kPaperOrProgram}};
  const auto shape = shape_parameters<P>();
  table.insert(table.end(), shape.begin(), shape.end());
  return table;
}

std::vector<Parameter<UUniFast>> table_of(const UUniFast& parameters) {
  using P = UUniFast;
  std::vector<Parameter<P>> table = {
      {"cpus", "cores", &P::cpus, Scale::whole, {1, 1000}},
      {"tasks", "tasks in all", &P::tasks, Scale::whole, {1, static_cast<std::int64_t>(kMaxTasks)}},
      {"utilisation_per_cpu", "CPU and GPU time drawn for each core", &P::utilisation_per_cpu, Scale::ratio, kShare},
      {"periods", "log-uniform or uniform", &P::uniform_periods},
      {"period_ms", "whole milliseconds", &P::period_ms, Scale::whole, {1, kMillion}}};
  if (parameters.discards) {
    table.push_back({"task_utilisation",
                     "the most that a task may have; splits with more are drawn again",
                     &P::task_utilisation,
                     Scale::ratio,
                     {1, kMillion}});
  }
  const auto shape = shape_parameters<P>();
  table.insert(table.end(), shape.begin(), shape.end());
  return table;
}

std::vector<Parameter<RandFixedSum>> table_of(const RandFixedSum& /*parameters*/) {
  using P = RandFixedSum;
  std::vector<Parameter<P>> table = {
      {"cpus", "cores", &P::cpus, Scale::whole, {1, 1000}},
      {"tasks", "tasks in all", &P::tasks, Scale::whole, {1, static_cast<std::int64_t>(kMaxBoundedShares)}},
      {"utilisation_per_cpu", "CPU and GPU time drawn for each core", &P::utilisation_per_cpu, Scale::ratio, kShare},
      {"task_utilisation", "the least and the most that a task may have", &P::task_utilisation, Scale::ratio, kShare},
      {"periods", "log-uniform or uniform", &P::uniform_periods},
      {"period_ms", "whole milliseconds", &P::period_ms, Scale::whole, {1, kMillion}}};
  const auto shape = shape_parameters<P>();
  table.insert(table.end(), shape.begin(), shape.end());
  return table;
}

// --- showing

std::string show(std::int64_t value, Scale scale) {
  // A millisecond has a million nanoseconds.
  return scale == Scale::whole ? std::to_string(value) : to_milliseconds(Duration::nanoseconds(value));
}

std::string show(int value, Scale scale) {
  return show(std::int64_t{value}, scale);
}

std::string show(Range range, Scale scale) {
  if (range.low == range.high) return show(range.low, scale);
  return show(range.low, scale) + ':' + show(range.high, scale);
}

std::string show(Duration time, Scale /*scale*/) {
  return to_string(time);
}

template <class P>
std::string show(const Parameter<P>& parameter, const P& values) {
  return std::visit(
      [&](auto member) {
        if constexpr (std::is_same_v<decltype(member), bool P::*>) {
          return std::string(values.*member ? parameter.words.yes : parameter.words.no);
        } else {
          return show(values.*member, parameter.scale);
        }
      },
      parameter.member);
}

// --- reading; each says whether it could

std::optional<std::int64_t> read_number(std::string_view text, Scale scale, Limits limits) {
  std::int64_t number = 0;
  if (scale == Scale::whole) {
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc{} || end.ptr != text.data() + text.size()) return std::nullopt;
  } else {
    const Result<Duration> up = duration_from_decimal(text, TimeUnit::ms, Rounding::up);
    const Result<Duration> down = duration_from_decimal(text, TimeUnit::ms, Rounding::down);
    if (!up || !down || *up != *down) return std::nullopt;
    number = up->count();
  }
  if (number < limits.low || number > limits.high) return std::nullopt;
  return number;
}

bool read(std::string_view text, Scale scale, Limits limits, int& out) {
  const auto number = read_number(text, scale, limits);
  if (number) out = static_cast<int>(*number);
  return number.has_value();
}

bool read(std::string_view text, Scale scale, Limits limits, std::int64_t& out) {
  const auto number = read_number(text, scale, limits);
  if (number) out = *number;
  return number.has_value();
}

bool read(std::string_view text, Scale scale, Limits limits, Range& out) {
  const std::size_t colon = text.find(':');
  const auto low = read_number(text.substr(0, colon), scale, limits);
  const auto high = colon == std::string_view::npos ? low : read_number(text.substr(colon + 1), scale, limits);
  if (!low || !high || *low > *high) return false;
  out = {*low, *high};
  return true;
}

bool read(std::string_view text, Scale /*scale*/, Limits /*limits*/, Duration& out) {
  const Result<Duration> time = parse_duration(text, Rounding::up);
  if (!time || *time > kMaxTime) return false;
  out = *time;
  return true;
}

bool read(std::string_view text, Words words, bool& out) {
  if (text != words.yes && text != words.no) return false;
  out = text == words.yes;
  return true;
}

template <class P>
bool read(std::string_view text, const Parameter<P>& parameter, P& values) {
  return std::visit(
      [&](auto member) {
        if constexpr (std::is_same_v<decltype(member), bool P::*>) {
          return read(text, parameter.words, values.*member);
        } else {
          return read(text, parameter.scale, parameter.limits, values.*member);
        }
      },
      parameter.member);
}

// --- what is expected

std::string expected_number(Scale scale, Limits limits) {
  return fmt::format("{} from {} to {}", scale == Scale::whole ? "a whole number" : "a number with at most 6 decimals",
                     show(limits.low, scale), show(limits.high, scale));
}

template <class P>
std::string expected(const Parameter<P>& parameter) {
  if (std::holds_alternative<Duration P::*>(parameter.member)) {
    return fmt::format("a time with its unit, such as 200us, up to {}", to_string(kMaxTime));
  }
  if (std::holds_alternative<bool P::*>(parameter.member)) {
    return fmt::format("{} or {}", parameter.words.no, parameter.words.yes);
  }
  std::string number = expected_number(parameter.scale, parameter.limits);
  if (!std::holds_alternative<Range P::*>(parameter.member)) return number;
  return number + ", or a range low:high of two";
}

Error unknown_key(std::string_view key, const std::vector<std::string_view>& known) {
  Error error;
  error.code = ErrorCode::unknown_key;
  error.found = fmt::format("the unknown key '{}'", key);
  error.expected = fmt::format("one of {}", fmt::join(known, ", "));
  const std::string_view near = nearest(key, known);
  if (!near.empty()) error.advice = fmt::format("Did you mean '{}'?", near);
  return error;
}

template <class P>
std::optional<Error> set_in(P& parameters, std::string_view key, std::string_view value) {
  std::vector<std::string_view> known;
  for (const Parameter<P>& each : table_of(parameters)) {
    known.push_back(each.key);
    if (each.key != key) continue;
    if (read(value, each, parameters)) return std::nullopt;
    return Error{ErrorCode::value, {}, fmt::format("{}={}", key, value), expected(each), ""};
  }
  return unknown_key(key, known);
}

template <class P>
std::vector<ParameterText> texts_of(const P& parameters) {
  std::vector<ParameterText> texts;
  for (const Parameter<P>& each : table_of(parameters)) {
    texts.push_back({each.key, show(each, parameters), each.meaning});
  }
  return texts;
}

Error conflict(std::string found, std::string expected) {
  return Error{ErrorCode::conflict, {}, std::move(found), std::move(expected), ""};
}

// What is set, but of no consequence beside the others.
Errors unused_of(const GcapsTable3& parameters) {
  const GcapsTable3 defaults;
  Errors errors;
  if (parameters.tasks == 0 && parameters.task_utilisation != defaults.task_utilisation) {
    errors.push_back(conflict("task_utilisation without tasks", "the number of tasks in all beside it"));
  }
  if (parameters.tasks > 0 && parameters.tasks_per_cpu != defaults.tasks_per_cpu) {
    errors.push_back(conflict("tasks_per_cpu and tasks", "one of them"));
  }
  if (parameters.tasks > 0 && parameters.utilisation_per_cpu != defaults.utilisation_per_cpu) {
    errors.push_back(
        conflict("utilisation_per_cpu and tasks", "task_utilisation, the utilisation of each, with tasks"));
  }
  return errors;
}

Errors check_of(const GcapsTable3& parameters) {
  if (Errors unused = unused_of(parameters); !unused.empty() || parameters.tasks > 0) return unused;
  const std::int64_t most = parameters.cpus * parameters.tasks_per_cpu.high;
  if (most <= static_cast<std::int64_t>(kMaxTasks)) return {};
  return {conflict(fmt::format("up to {} tasks (cpus x tasks_per_cpu)", most), fmt::format("at most {}", kMaxTasks))};
}

Errors check_of(const UUniFast& parameters) {
  const std::int64_t least = parameters.cpus * parameters.utilisation_per_cpu.low;
  const std::int64_t most = parameters.tasks * parameters.task_utilisation;
  if (!parameters.discards || least <= most) return {};
  return {conflict(fmt::format("a utilisation of at least {} (cpus x utilisation_per_cpu)", show(least, Scale::ratio)),
                   fmt::format("at most {} (tasks x task_utilisation)", show(most, Scale::ratio)))};
}

Errors check_of(const RandFixedSum& parameters) {
  Errors errors;
  const Range total = requested_utilisation(parameters);
  const Range possible = possible_utilisation(parameters);
  if (total.low < possible.low) {
    errors.push_back(
        conflict(fmt::format("a utilisation of {} (cpus x utilisation_per_cpu)", show(total.low, Scale::ratio)),
                 fmt::format("at least {} (tasks x the least task_utilisation)", show(possible.low, Scale::ratio))));
  }
  if (total.high > possible.high) {
    errors.push_back(
        conflict(fmt::format("a utilisation of {} (cpus x utilisation_per_cpu)", show(total.high, Scale::ratio)),
                 fmt::format("at most {} (tasks x the most task_utilisation)", show(possible.high, Scale::ratio))));
  }
  return errors;
}

}  // namespace

std::span<const std::string_view> Preset::names() {
  return kNames;
}

std::optional<Preset> Preset::named(std::string_view name) {
  if (name == "gcaps-table3") return Preset(GcapsTable3{});
  if (name == "randfixedsum") return Preset(RandFixedSum{});
  UUniFast parameters;
  parameters.discards = name == "uunifast-discard";
  if (parameters.discards || name == "uunifast") return Preset(parameters);
  return std::nullopt;
}

std::vector<ParameterText> Preset::parameters() const {
  return std::visit([](const auto& generator) { return texts_of(generator); }, generator_);
}

std::optional<Error> Preset::set(std::string_view key, std::string_view value) {
  auto error = std::visit([&](auto& generator) { return set_in(generator, key, value); }, generator_);
  if (!error) changed_.push_back(fmt::format("{}={}", key, value));
  return error;
}

Errors Preset::check() const {
  return std::visit([](const auto& generator) { return check_of(generator); }, generator_);
}

Result<Taskset> Preset::generate(std::uint64_t run_seed, std::int64_t index) const {
  const std::uint64_t seed = seed_of(run_seed, static_cast<std::uint64_t>(index));
  Result<Taskset> made =
      std::visit([&](const auto& generator) { return Result<Taskset>(rtgpu::generate(generator, seed)); }, generator_);
  if (!made) return made;
  made->origin->seed = run_seed;
  made->origin->index = index;
  made->origin->parameters = changed_;
  return made;
}

}  // namespace rtgpu
