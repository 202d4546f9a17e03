#include "tools/sweep_run.h"

#include "analysis/experiments/run_chunks.h"
#include "analysis/experiments/sweep_state.h"
#include "tools/format/sweep.h"
#include "tools/format/sweep_chart.h"
#include "tools/gnuplot.h"
#include "tools/messages.h"
#include "tools/option_values.h"
#include "tools/output_file.h"
#include "tools/read_text.h"
#include "tools/stop_on_signal.h"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;

// How much work is lost at most if the process is killed.
constexpr std::chrono::seconds kSaveEvery = 2s;
// Sooner, so that short work that is killed leaves something too.
constexpr std::chrono::milliseconds kFirstSave = 200ms;

bool is_there(const std::string& file) {
  std::error_code ignored;
  return !file.empty() && std::filesystem::exists(file, ignored);
}

}  // namespace

SweepRun::SweepRun(const SweepRequest& request, StandardOutput& output, Ranks* ranks)
    : request_(request),
      output_(output),
      state_file_(request.csv.empty() ? "" : request.csv + ".partial"),
      progress_(std::cerr, isatty(STDERR_FILENO) == 1, Progress::Clock::now(), "tasksets"),
      next_save_(Progress::Clock::now() + kFirstSave) {
  if (ranks != nullptr) leader_.emplace(*ranks, request.sweep, request.jobs > 0 ? request.jobs : usual_jobs(*ranks));
}

ExitStatus SweepRun::run() {
  int signal = 0;
  ExitStatus status = ExitStatus::yes;
  {
    const StopOnSignal signals;
    status = run_until(signals.flag());
    // One that came after the last chunk changes nothing.
    if (status == ExitStatus::no) signal = signals.signal();
  }
  // As a program that does not handle the signal ends: whoever has started this one sees why.
  if (signal != 0) std::raise(signal);
  return status;
}

ExitStatus SweepRun::run_until(const std::atomic<bool>& stop) {
  for (const std::string& note : request_.notes) print_note(note);
  if (const auto error = request_.plot.empty() ? std::nullopt : missing_gnuplot()) {
    print_error(to_string(*error));
    return ExitStatus::environment;
  }
  Result<SweepCounts> before = begin();
  if (!before) {
    print_errors(before.errors());
    return ExitStatus::usage;
  }
  counts_ = *std::move(before);
  const ReservedFile csv(request_.csv);
  const ReservedFile plot(request_.plot);
  const Errors errors = count(stop);
  progress_.clear();
  if (!is_complete()) save();
  if (!errors.empty()) {
    print_errors(errors);
    return ExitStatus::usage;
  }
  const bool is_shown = show();
  if (!is_shown && !is_complete()) return ExitStatus::environment;
  if (is_complete()) {
    if (is_there(state_file_)) std::filesystem::remove(state_file_);
    return is_shown ? ExitStatus::yes : ExitStatus::environment;
  }
  print_note(fmt::format("stopped: {} of {} tasksets of all points are done. {}", counts_.tasksets(),
                         request_.sweep.tasksets_of(ChunkSet(0, request_.sweep.chunks())),
                         request_.csv.empty() ? "With --csv FILE it could be gone on with."
                                              : "Go on with the same options and --resume."));
  return ExitStatus::no;
}

Result<SweepCounts> SweepRun::begin() const {
  if (!is_there(state_file_)) {
    if (request_.resume) print_note(fmt::format("there is no {}: the sweep begins anew", state_file_));
    return request_.sweep.no_counts();
  }
  if (!request_.resume) {
    return option_error(ErrorCode::conflict, "--csv", fmt::format("{}, a sweep that was stopped", state_file_),
                        "--resume, or that file out of the way", "It holds what was counted until then.");
  }
  Result<std::string> text = read_text(state_file_);
  if (!text) return text.errors();
  Result<SweepCounts> counts = read_sweep_state(request_.sweep, *text);
  if (counts) return counts;
  Errors errors = counts.errors();
  for (Error& error : errors) {
    error.place.source = state_file_;
    if (error.advice.empty()) error.advice = "Give the options of that sweep, or move the file out of the way.";
  }
  return errors;
}

Errors SweepRun::count(const std::atomic<bool>& stop) {
  const ChunkSet all(0, request_.sweep.chunks());
  progress_.expect(static_cast<std::size_t>(request_.sweep.tasksets_of(all)),
                   static_cast<std::size_t>(counts_.tasksets()));
  RunChunksOptions options;
  options.jobs = request_.jobs;
  options.stop = &stop;
  options.after_chunk = [this](const SweepCounts& counts) { after_chunk(counts); };
  if (!leader_) return run_chunks(request_.sweep, all, options, counts_);
  // mpirun lets a process live for a second after its signal, which a chunk may outlast.
  return leader_->count(
      options, [this] { save(); }, counts_);
}

bool SweepRun::is_complete() const {
  return counts_.done.size() == request_.sweep.chunks();
}

void SweepRun::after_chunk(const SweepCounts& counts) {
  const auto now = Progress::Clock::now();
  progress_.update(static_cast<std::size_t>(counts.tasksets()), now);
  if (now < next_save_) return;
  save();
  next_save_ = Progress::Clock::now() + kSaveEvery;
}

void SweepRun::save() const {
  if (!state_file_.empty()) replace_file(state_file_, write_sweep_state(request_.sweep, counts_));
}

bool SweepRun::show() {
  const SweepResult result{request_.sweep.experiment(), counts_.points};
  if (!request_.csv.empty()) {
    std::string csv;
    append_csv(csv, result);
    replace_file(request_.csv, csv);
  }
  // mpirun gives its processes a terminal of its own, wherever its output goes.
  const Format usual = output_.is_terminal() && !leader_ ? Format::table : Format::json;
  switch (request_.format.value_or(usual)) {
    case Format::table:
      append_table(output_.buffer(), result, request_.name);
      break;
    case Format::csv:
      append_csv(output_.buffer(), result);
      break;
    default:
      append_json(output_.buffer(), result, request_.name);
      break;
  }
  output_.flush();
  tell_of_uncovered();
  return request_.plot.empty() || draw(result);
}

bool SweepRun::draw(const SweepResult& result) const {
  const LineChart chart = chart_of(result, request_.name);
  if (chart.lines.empty()) {
    print_note(fmt::format("there is nothing to draw: {} is not written", request_.plot));
    return true;
  }
  const Result<std::string> svg = run_gnuplot(gnuplot_script(chart));
  if (!svg) {
    print_errors(svg.errors());
    return false;
  }
  replace_file(request_.plot, request_.plot.ends_with(".html") ? chart_page(chart, *svg) : *svg);
  return true;
}

void SweepRun::tell_of_uncovered() const {
  const std::vector<Approach>& approaches = request_.sweep.experiment().approaches;
  for (std::size_t place = 0; place < approaches.size(); ++place) {
    std::int64_t not_covered = 0;
    for (const PointCounts& point : counts_.points) not_covered += point.approaches[place].not_covered;
    if (not_covered == 0) continue;
    print_note(fmt::format("{} of {} tasksets are not covered by the analysis of {} and left out of its rows",
                           not_covered, counts_.tasksets(), to_string(approaches[place])));
  }
}

}  // namespace rtgpu
