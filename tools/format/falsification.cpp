#include "tools/format/falsification.h"

#include "tools/format/printable.h"
#include "tools/format/text_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using Json = nlohmann::ordered_json;

bool is_worse(const FalsificationWorst& a, const FalsificationWorst& b) {
  __extension__ using Int128 = __int128;
  return Int128{a.observed.count()} * std::max<std::int64_t>(b.bound.count(), 1) >
         Int128{b.observed.count()} * std::max<std::int64_t>(a.bound.count(), 1);
}

Json worst_as_json(const FalsificationRow& row) {
  if (!row.worst) return nullptr;
  Json object;
  object["policy"] = to_string(row.policy);
  object["wait"] = row.wait;
  object["variant"] = to_string(row.variant);
  object["index"] = row.worst->index;
  object["task"] = row.worst->task;
  object["bound_ns"] = row.worst->bound.count();
  object["observed_ns"] = row.worst->observed.count();
  if (!row.worst->file.empty()) object["counterexample"] = row.worst->file;
  return object;
}

Json row_as_json(const FalsificationRow& row) {
  Json object;
  object["policy"] = to_string(row.policy);
  object["wait"] = row.wait;
  object["variant"] = to_string(row.variant);
  object["tasksets"] = row.tasksets;
  object["schedulable"] = row.schedulable;
  object["bounds"] = row.bounds;
  object["runs"] = row.runs;
  object["exceeded"] = row.exceeded;
  object["worst"] = worst_as_json(row);
  return object;
}

// How far observed is of a bound, in thousandths rounded down: "0.987".
std::string ratio(const FalsificationWorst& worst) {
  __extension__ using Int128 = __int128;
  const Int128 thousandths = Int128{worst.observed.count()} * 1000 / std::max<std::int64_t>(worst.bound.count(), 1);
  const auto shown = static_cast<std::int64_t>(std::min<Int128>(thousandths, 1'000'000'000));
  return fmt::format("{}.{:03}", shown / 1000, shown % 1000);
}

std::vector<std::string> cells(const FalsificationRow& row) {
  std::vector<std::string> all = {std::string(to_string(row.policy)), std::string(row.wait),
                                  std::string(to_string(row.variant))};
  for (const std::int64_t count : {row.tasksets, row.schedulable, row.bounds, row.runs, row.exceeded}) {
    all.push_back(std::to_string(count));
  }
  all.push_back(row.worst ? ratio(*row.worst) : "-");
  all.push_back(row.worst ? fmt::format("{} of taskset {}: {} of {}", printable(row.worst->task), row.worst->index,
                                        to_milliseconds(row.worst->observed), to_milliseconds(row.worst->bound))
                          : "");
  return all;
}

}  // namespace

void FalsificationRow::note(FalsificationWorst other) {
  if (!worst || is_worse(other, *worst)) worst = std::move(other);
}

std::int64_t FalsificationReport::exceeded() const {
  std::int64_t sum = 0;
  for (const FalsificationRow& row : rows) sum += row.exceeded;
  return sum;
}

const FalsificationRow* FalsificationReport::worst() const {
  const FalsificationRow* found = nullptr;
  for (const FalsificationRow& row : rows) {
    if (row.worst && (found == nullptr || is_worse(*row.worst, *found->worst))) found = &row;
  }
  return found;
}

void append_table(std::string& out, const FalsificationReport& report) {
  out += fmt::format("{}: {} taskset{} attacked\n\n", printable(report.source), report.tasksets,
                     report.tasksets == 1 ? "" : "s");
  TextTable table({{"policy", Align::left},
                   {"wait", Align::left},
                   {"variant", Align::left},
                   {"tasksets", Align::right},
                   {"schedulable", Align::right},
                   {"bounds", Align::right},
                   {"schedules", Align::right},
                   {"exceeded", Align::right},
                   {"observed/bound", Align::right},
                   {"closest to its bound", Align::left}});
  for (const FalsificationRow& row : report.rows) table.add_row(cells(row));
  table.append_to(out);
  out += fmt::format("\ntimes in ms\n{}\n",
                     report.exceeded() == 0 ? "no bound was exceeded" : "bounds were exceeded by legal schedules");
}

void append_json(std::string& out, const FalsificationReport& report) {
  Json object;
  object["rtgpu_result"] = 1;
  object["command"] = "falsify";
  object["source"] = report.source;
  object["tasksets"] = report.tasksets;
  object["schedulable"] = report.schedulable;
  object["exceeded"] = report.exceeded();
  const FalsificationRow* worst = report.worst();
  object["worst"] = worst == nullptr ? Json(nullptr) : worst_as_json(*worst);
  object["results"] = Json::array();
  for (const FalsificationRow& row : report.rows) object["results"].push_back(row_as_json(row));
  out += object.dump(2, ' ', false, Json::error_handler_t::replace);
  out += '\n';
}

}  // namespace rtgpu
