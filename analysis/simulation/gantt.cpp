#include "analysis/simulation/gantt.h"

#include "analysis/simulation/activity.h"
#include "analysis/simulation/gantt_marks.h"
#include "analysis/simulation/gantt_window.h"
#include "analysis/simulation/svg.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr Centipixels kLabels = pixels(186);
constexpr Centipixels kPlot = pixels(1190);
constexpr Centipixels kWidth = kLabels + kPlot + pixels(24);
constexpr Centipixels kHeader = pixels(72);
constexpr Centipixels kRow = pixels(44);   // of a task
constexpr Centipixels kBase = pixels(38);  // of the bars, below the top of their row
constexpr Centipixels kLane = pixels(30);  // of the GPU and of a copy engine
constexpr Centipixels kLaneBase = pixels(25);
constexpr Centipixels kArrow = pixels(27);
constexpr Centipixels kClose = pixels(3);  // marks nearer to each other are drawn as one
constexpr Centipixels kShortTurn = pixels(6);
constexpr std::int64_t kCharacter = pixels(6);

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;

struct Span {
  Centipixels begin = 0;
  Centipixels end = 0;
  Centipixels width() const { return end - begin; }
};

class Chart {
 public:
  Chart(const Schedule& schedule, const Taskset& taskset, const GanttOptions& options)
      : schedule_(schedule),
        taskset_(taskset),
        options_(options),
        rows_(gantt_rows(taskset, options.task)),
        job_(gantt_job(schedule, options)),
        window_(gantt_window(schedule, taskset, rows_, job_)),
        axis_(gantt_axis(window_)),
        row_of_(taskset.tasks.size(), rows_.size()) {
    for (std::size_t row = 0; row < rows_.size(); ++row) row_of_[rows_[row]] = row;
  }

  std::string draw() {
    for (const CopyInterval& copy : schedule_.copies) engines_ = std::max(engines_, copy.engine + 1);
    if (schedule_.sm_partitions) {
      for (const TaskIndex task : rows_) {
        if (uses_gpu(taskset_.tasks[task])) partitions_.push_back(task);
      }
    }
    const auto gpu_lanes = schedule_.sm_partitions ? static_cast<Centipixels>(partitions_.size()) : 1;
    bottom_ = kHeader + static_cast<Centipixels>(rows_.size()) * kRow + (gpu_lanes + engines_) * kLane;
    draw_grid();
    const auto of_tasks = activities(schedule_, taskset_.tasks.size());
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      top_ = kHeader + static_cast<Centipixels>(row) * kRow;
      draw_label(row);
      draw_activities(of_tasks[rows_[row]]);
    }
    draw_devices();
    draw_jobs();
    const Centipixels end = draw_legend(bottom_ + pixels(46));
    draw_header();
    return svg_.document(kWidth, end + pixels(12), options_.title, gantt_style());
  }

 private:
  // --- time

  Centipixels x_of(Duration time) const {
    const Duration clipped = std::clamp(time, window_.begin, window_.end);
    const auto offset = static_cast<Centipixels>(Int128{(clipped - window_.begin).count()} * kPlot /
                                                 (window_.end - window_.begin).count());
    return kLabels + offset;
  }
  bool is_in_view(Duration time) const { return window_.begin <= time && time <= window_.end; }
  template <class Interval>
  Span span_of(const Interval& interval) const {
    return {x_of(interval.begin), x_of(interval.end)};
  }
  template <class Interval>
  bool overlaps(const Interval& interval) const {
    return interval.begin < window_.end && interval.end > window_.begin;
  }

  void draw_grid() {
    svg_.rectangle({0, 0, kWidth, pixels(100'000)}, "paper");
    const std::int64_t step = axis_.step.count();
    const bool tall = rows_.size() > 10;
    for (std::int64_t mark = (window_.begin.count() + step - 1) / step; mark * step <= window_.end.count(); ++mark) {
      const Centipixels x = x_of(axis_.step * mark);
      const std::string label = std::to_string(mark * step / axis_.unit.count());
      svg_.line(x, kHeader, x, bottom_ + pixels(4), "grid");
      svg_.text(x, bottom_ + pixels(17), "tick", label);
      if (tall) svg_.text(x, kHeader - pixels(4), "tick", label);
    }
    svg_.line(kLabels, bottom_, kLabels + kPlot, bottom_, "axis");
    svg_.text(kLabels + kPlot / 2, bottom_ + pixels(33), "tick", fmt::format("time ({})", axis_.unit_name));
  }

  void draw_header() {
    svg_.text(pixels(12), pixels(24), "title", shortened(options_.title, 150));
    std::string text = fmt::format("{} to {} ms", to_milliseconds(window_.begin), to_milliseconds(window_.end));
    if (window_ != GanttWindow{Duration(), std::max(schedule_.end, Duration::nanoseconds(1))}) {
      text += fmt::format(" of {} ms: {}", to_milliseconds(schedule_.end),
                          job_ == nullptr ? "the beginning of the run" : "the part around the marked job");
    }
    if (rows_.size() < taskset_.tasks.size()) {
      text += fmt::format("; {} of {} tasks", rows_.size(), taskset_.tasks.size());
    }
    if (crowded_) text += "; marks too near to each other are drawn as one";
    svg_.text(pixels(12), pixels(44), "note", text);
  }

  // --- rows of tasks

  void draw_label(std::size_t row) {
    const Task& task = taskset_.tasks[rows_[row]];
    const bool new_core = row == 0 || taskset_.tasks[rows_[row - 1]].cpu != task.cpu;
    svg_.line(new_core ? 0 : kLabels, top_, kLabels + kPlot, top_, new_core ? "core" : "row");
    svg_.text(pixels(26), top_ + pixels(24), "number", std::to_string(row + 1));
    svg_.text(pixels(32), top_ + pixels(24), "name", shortened(task.name, 20));
    std::string about = fmt::format("core {}, ", task.cpu);
    if (task.best_effort) {
      about += "best-effort";
    } else {
      about += fmt::format("priority {}", task.priority);
      if (task.gpu_priority != task.priority) about += fmt::format(", GPU {}", task.gpu_priority);
    }
    svg_.text(pixels(32), top_ + pixels(38), "about", about);
  }

  std::string tip_of(const ActivityInterval& each, std::string_view what) const {
    return fmt::format("{}, job {}: {}{}{}{}, {} to {} ms", taskset_.tasks[each.task].name, each.job, what,
                       each.by_server ? ", by the server" : "", each.boosted ? ", boosted" : "",
                       waits(each) && each.holds_core ? ", holds its core" : "", to_milliseconds(each.begin),
                       to_milliseconds(each.end));
  }

  static bool waits(const ActivityInterval& each) {
    const bool works =
        each.activity == Activity::cpu || each.activity == Activity::misc || each.activity == Activity::call;
    return each.by_server || !works;
  }

  bool is_short_turn(const ActivityInterval& each) const {
    const bool on_gpu =
        each.activity == Activity::gpu || each.activity == Activity::gpu_wait || each.activity == Activity::gpu_switch;
    return on_gpu && span_of(each).width() < kShortTurn;
  }

  void draw_activities(const std::vector<ActivityInterval>& all) {
    last_end_ = 0;
    for (std::size_t place = 0; place < all.size(); ++place) {
      if (!overlaps(all[place])) continue;
      std::size_t last = place;
      while (last + 1 < all.size() && is_short_turn(all[last]) && is_short_turn(all[last + 1]) &&
             all[last + 1].job == all[place].job && all[last + 1].begin == all[last].end) {
        ++last;
      }
      if (last == place) {
        draw_activity(all[place], gantt_mark(all[place].activity));
      } else {
        ActivityInterval turns = all[place];
        turns.end = all[last].end;
        draw_activity(turns, gantt_turns());
        place = last;
      }
    }
  }

  void draw_activity(const ActivityInterval& each, const GanttMark& mark) {
    const Span span = visible(span_of(each));
    if (span.width() <= 0) return;
    use(mark);
    const Centipixels y = top_ + kBase;
    svg_.rectangle({span.begin, y - mark.height, span.width(), mark.height}, mark.class_name, tip_of(each, mark.text));
    if (waits(each) && each.holds_core) {
      use(gantt_holds_core());
      svg_.rectangle({span.begin, y - pixels(3), span.width(), pixels(3)}, gantt_holds_core().class_name);
    }
    if (each.boosted && each.holds_core) {
      use(gantt_boosted());
      svg_.line(span.begin, y - mark.height - pixels(1), span.end, y - mark.height - pixels(1), "boosted");
    }
  }

  // At least a quarter of a pixel, and not where the row is filled already.
  Span visible(Span span) {
    span.begin = std::max(span.begin, last_end_);
    if (span.width() < 0) return {0, 0};
    if (span.width() < 25 && span.end <= last_end_) return {0, 0};
    span.end = std::max(span.end, span.begin + 25);
    last_end_ = span.end;
    return span;
  }

  // --- the GPU and the copy engines

  void draw_lane(std::string_view name, Centipixels top) {
    top_ = top;
    last_end_ = 0;
    svg_.line(0, top, kLabels + kPlot, top, "core");
    svg_.text(pixels(32), top + pixels(20), "name", shortened(name, 20));
  }

  // With the name inside, or the short one, where there is room.
  template <class Interval>
  void draw_work(const Interval& each, const GanttMark& mark, const std::string& name, const std::string& short_name) {
    const Span span = visible(span_of(each));
    if (span.width() <= 0) return;
    use(mark);
    const std::string tip =
        fmt::format("{}, {} to {} ms", name, to_milliseconds(each.begin), to_milliseconds(each.end));
    svg_.rectangle({span.begin, top_ + kLaneBase - mark.height, span.width(), mark.height}, mark.class_name, tip);
    if (mark.class_name == gantt_mark(Activity::gpu_switch).class_name) return;
    for (const std::string* text : {&name, &short_name}) {
      if (static_cast<Centipixels>(characters_of(*text)) * kCharacter + pixels(3) > span.width()) continue;
      svg_.text(span.begin + span.width() / 2, top_ + kLaneBase - pixels(5), "inside", *text);
      break;
    }
  }

  std::string name_of(TaskIndex task) const { return taskset_.tasks[task].name; }
  // The number of its row.
  std::string number_of(TaskIndex task) const {
    return row_of_[task] == rows_.size() ? "\u2026" : std::to_string(row_of_[task] + 1);
  }

  void draw_gpu() {
    const std::vector<GpuInterval>& all = schedule_.gpu;
    const auto is_short = [&](const GpuInterval& each) { return span_of(each).width() < kShortTurn; };
    for (std::size_t place = 0; place < all.size(); ++place) {
      if (!overlaps(all[place])) continue;
      std::size_t last = place;
      while (last + 1 < all.size() && is_short(all[last]) && is_short(all[last + 1]) &&
             all[last + 1].begin == all[last].end) {
        ++last;
      }
      if (last == place) {
        const bool switching = all[place].switching;
        const std::string name = name_of(all[place].task);
        draw_work(all[place], gantt_mark(switching ? Activity::gpu_switch : Activity::gpu),
                  switching ? "context switch to " + name : name, number_of(all[place].task));
      } else {
        draw_turns(place, last);
        place = last;
      }
    }
  }

  void draw_turns(std::size_t first, std::size_t last) {
    std::vector<TaskIndex> tasks;
    for (std::size_t place = first; place <= last; ++place) {
      const TaskIndex task = schedule_.gpu[place].task;
      if (std::ranges::find(tasks, task) == tasks.end()) tasks.push_back(task);
    }
    std::ranges::sort(tasks, std::ranges::less{}, [&](TaskIndex task) { return row_of_[task]; });
    std::vector<std::string> names;
    std::vector<std::string> numbers;
    for (const TaskIndex task : tasks) {
      names.push_back(name_of(task));
      numbers.push_back(number_of(task));
    }
    GpuInterval turns = schedule_.gpu[first];
    turns.end = schedule_.gpu[last].end;
    draw_work(turns, gantt_turns(), fmt::format("{}", fmt::join(names, ", ")),
              fmt::format("{}", fmt::join(numbers, ",")));
  }

  void draw_partition(TaskIndex task) {
    for (const GpuInterval& each : schedule_.gpu) {
      if (each.task != task || !overlaps(each)) continue;
      draw_work(each, gantt_mark(Activity::gpu), name_of(task), number_of(task));
    }
  }

  void draw_devices() {
    Centipixels top = kHeader + static_cast<Centipixels>(rows_.size()) * kRow;
    if (schedule_.sm_partitions) {
      for (const TaskIndex task : partitions_) {
        draw_lane("SMs of " + name_of(task), top);
        draw_partition(task);
        top += kLane;
      }
    } else {
      draw_lane(taskset_.platform.gpus.front().name, top);
      draw_gpu();
      top += kLane;
    }
    for (int engine = 0; engine < engines_; ++engine) {
      draw_lane(fmt::format("copy engine {}", engine), top + engine * kLane);
      for (const CopyInterval& each : schedule_.copies) {
        if (each.engine != engine || !overlaps(each)) continue;
        draw_work(each, gantt_mark(Activity::copy), name_of(each.task), number_of(each.task));
      }
    }
  }

  // --- jobs

  // Whether a mark at `x` has room beside the last one of its kind in its row.
  bool has_room(std::vector<Centipixels>& last, std::size_t row, Centipixels x) {
    if (x < last[row] + kClose) {
      crowded_ = true;
      return false;
    }
    last[row] = x;
    return true;
  }

  void draw_jobs() {
    std::array<std::vector<Centipixels>, 4> last;
    last.fill(std::vector<Centipixels>(rows_.size(), 0));
    for (const JobRecord& job : schedule_.jobs) {
      const std::size_t row = row_of_[job.task];
      if (row == rows_.size()) continue;
      top_ = kHeader + static_cast<Centipixels>(row) * kRow;
      draw_job(job, row, last);
    }
    if (job_ != nullptr) {
      top_ = kHeader + static_cast<Centipixels>(row_of_[job_->task]) * kRow;
      draw_response(*job_);
    }
  }

  void draw_job(const JobRecord& job, std::size_t row, std::array<std::vector<Centipixels>, 4>& last) {
    const Task& task = taskset_.tasks[job.task];
    const Duration deadline = job.nominal_release + task.deadline;
    if (is_in_view(job.nominal_release) && has_room(last[0], row, x_of(job.nominal_release))) {
      draw_mark(gantt_release(), job.nominal_release);
    }
    if (job.release != job.nominal_release && is_in_view(job.release)) draw_jitter(job);
    if (!task.best_effort && is_in_view(deadline) && has_room(last[1], row, x_of(deadline))) {
      draw_mark(gantt_deadline(), deadline);
    }
    if (is_in_view(job.completion) && has_room(last[2], row, x_of(job.completion))) {
      draw_mark(gantt_completion(), job.completion);
    }
    if (job.missed && is_in_view(deadline) && has_room(last[3], row, x_of(deadline))) draw_miss(job, deadline);
  }

  void draw_mark(const GanttMark& mark, Duration at) {
    use(mark);
    svg_.path(gantt_path(mark, x_of(at), top_ + kBase, kArrow), mark.class_name);
  }

  void draw_jitter(const JobRecord& job) {
    use(gantt_jitter());
    const Centipixels y = top_ + kBase - kArrow;
    svg_.line(x_of(job.nominal_release), y, x_of(job.release), y, gantt_jitter().class_name);
  }

  void draw_miss(const JobRecord& job, Duration deadline) {
    use(gantt_miss());
    const Centipixels x = x_of(deadline);
    const std::string tip =
        fmt::format("{}, job {}: deadline missed at {} ms", name_of(job.task), job.job, to_milliseconds(deadline));
    const std::string path = gantt_path(gantt_miss(), x, top_ + kBase, kArrow);
    svg_.path(path, "halo");
    svg_.path(path, gantt_miss().class_name, tip);
    svg_.text(x + pixels(7), top_ + pixels(10), "missed", "missed");
  }

  // How long the job took, above its row.
  void draw_response(const JobRecord& job) {
    const bool complete = !job.completion.is_infinite();
    const Duration end = complete ? job.completion : schedule_.end;
    const Span span{x_of(job.nominal_release), x_of(end)};
    const Centipixels y = top_ + pixels(6);
    svg_.path(fmt::format("M{0} {1}v{2}M{0} {3}H{4}M{4} {1}v{2}", to_svg(span.begin), to_svg(y - pixels(4)),
                          to_svg(pixels(8)), to_svg(y), to_svg(span.end)),
              "response");
    const std::string text =
        fmt::format("response {}{} ms", complete ? "" : "above ", to_milliseconds(end - job.nominal_release));
    const auto width = static_cast<Centipixels>(characters_of(text)) * kCharacter;
    const bool right = span.end + width + pixels(6) <= kLabels + kPlot;
    const Centipixels x = right ? span.end + pixels(6) : std::max(span.begin - width - pixels(2), kLabels);
    svg_.rectangle({x - pixels(1), y - pixels(5), width + pixels(2), pixels(11)}, "behind");
    svg_.text(x, y + pixels(4), "responded", text);
  }

  // --- legend

  void use(const GanttMark& mark) {
    const auto same = [&](const GanttMark* other) { return other->class_name == mark.class_name; };
    if (std::ranges::none_of(used_, same)) used_.push_back(&mark);
  }

  // Explains the marks that occur, in the order of all marks. Returns where it ends.
  Centipixels draw_legend(Centipixels y) {
    std::ranges::sort(used_, std::ranges::less{}, &GanttMark::place);
    Centipixels x = pixels(12);
    for (const GanttMark* mark : used_) {
      const Centipixels width = pixels(46) + static_cast<Centipixels>(characters_of(mark->text)) * kCharacter;
      if (x + width > kWidth) {
        x = pixels(12);
        y += pixels(32);
      }
      draw_sample(*mark, x, y + pixels(22));
      svg_.text(x + pixels(28), y + pixels(19), "legend", mark->text);
      x += width;
    }
    return y + pixels(30);
  }

  void draw_sample(const GanttMark& mark, Centipixels x, Centipixels base) {
    switch (mark.shape) {
      case GanttShape::bar:
        svg_.rectangle({x, base - mark.height, pixels(22), mark.height}, mark.class_name);
        break;
      case GanttShape::rule:
        svg_.line(x, base - pixels(8), x + pixels(22), base - pixels(8), mark.class_name);
        break;
      default:
        svg_.path(gantt_path(mark, x + pixels(11), base, pixels(20)), mark.class_name);
    }
  }

  const Schedule& schedule_;
  const Taskset& taskset_;
  const GanttOptions& options_;
  std::vector<TaskIndex> rows_;
  const JobRecord* job_;
  GanttWindow window_;
  GanttAxis axis_;
  std::vector<std::size_t> row_of_;    // by task; of those that are not shown, the number of rows
  std::vector<TaskIndex> partitions_;  // tasks that are shown and have SMs of their own
  int engines_ = 0;
  Svg svg_;
  Centipixels top_ = 0;     // of the current row
  Centipixels bottom_ = 0;  // of all rows
  Centipixels last_end_ = 0;
  bool crowded_ = false;
  std::vector<const GanttMark*> used_;
};

}  // namespace

std::string gantt_chart(const Schedule& schedule, const Taskset& taskset, const GanttOptions& options) {
  return Chart(schedule, taskset, options).draw();
}

}  // namespace rtgpu
