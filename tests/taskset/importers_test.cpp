// Importers: what becomes of each format's tasks, and what is said of files that are wrong.
#include "taskset/exporters/jobs_csv.h"
#include "taskset/exporters/schedcat_xml.h"
#include "taskset/importers/gcaps_csv.h"
#include "taskset/importers/jobs_csv.h"
#include "taskset/importers/schedcat_xml.h"
#include "taskset/importers/xml.h"

#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <ostream>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string import_file(const std::string& name) {
  std::ifstream file(std::string(RTGPU_TEST_DATA "/import/") + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The only taskset of an import that succeeds.
Taskset only(const Result<Imported>& imported) {
  if (!imported) {
    ADD_FAILURE() << to_string(imported.errors().front());
    return {};
  }
  EXPECT_EQ(imported->tasksets.size(), 1U);
  return imported->tasksets.front();
}

template <class Member>
auto each(const Taskset& taskset, Member member) {
  std::vector<std::decay_t<decltype(std::invoke(member, taskset.tasks.front()))>> values;
  for (const Task& task : taskset.tasks) values.push_back(std::invoke(member, task));
  return values;
}

ExecutionTime cpu_time(const Task& task) {
  return std::get<CpuSegment>(task.segments.front()).time;
}

ExecutionTime ms(std::int64_t min, std::int64_t max) {
  return {Duration::milliseconds(min), Duration::milliseconds(max)};
}

ExecutionTime us(std::int64_t min, std::int64_t max) {
  return {Duration::microseconds(min), Duration::microseconds(max)};
}

// The cores are those of the published case study (tests/data/gcaps-case-study.json), counted from 0.
TEST(ImportGcapsCsv, GivesTheTasksOfTheCaseStudy) {
  const auto imported = import_gcaps_csv(import_file("case-study.csv"), "case-study.csv", {.cpus = 2});
  const Taskset taskset = only(imported);
  EXPECT_EQ(taskset.platform.cpus, 2);
  EXPECT_THAT(each(taskset, &Task::name), ElementsAre("task1", "task2", "task3", "task4", "task5"));
  EXPECT_THAT(each(taskset, &Task::cpu), ElementsAre(0, 1, 1, 0, 0));
  EXPECT_THAT(each(taskset, &Task::priority), ElementsAre(5, 4, 3, 2, 1));
  EXPECT_THAT(each(taskset, uses_gpu), ElementsAre(true, true, false, true, true));
  EXPECT_EQ(taskset.tasks[3].period, Duration::milliseconds(300));
  EXPECT_EQ(taskset.tasks[3].deadline, Duration::milliseconds(300));
  EXPECT_EQ(std::get<GpuSegment>(taskset.tasks[3].segments.at(0)).exec, ms(27, 27));
  EXPECT_EQ(cpu_time(taskset.tasks[2]), ms(68, 68));
  EXPECT_THAT(imported->notes, Contains(HasSubstr("exec of one GPU segment (4 tasks)")));
}

TEST(ImportGcapsCsv, SaysWhatBecomesOfTheBestEffortTask) {
  const auto imported = import_gcaps_csv("taskid,workload,period,wcet\r\n6,3,200,44.5\r\n", "", {});
  EXPECT_EQ(std::get<GpuSegment>(only(imported).tasks[0].segments[0]).exec->max, Duration::microseconds(44'500));
  EXPECT_THAT(imported->notes, Contains(HasSubstr("runs task6 as best-effort")));
}

TEST(ImportJobsCsv, MakesSporadicTasksThatMayReleaseAllJobs) {
  const auto imported = import_jobs_csv(import_file("jobs.csv"), "jobs.csv", {});
  const Taskset taskset = only(imported);
  EXPECT_EQ(taskset.platform.cpus, 1);
  EXPECT_THAT(each(taskset, &Task::name), ElementsAre("task1", "task2", "task3"));
  EXPECT_THAT(each(taskset, &Task::period),
              ElementsAre(Duration::microseconds(2'000), Duration::microseconds(6'000), Duration::microseconds(1'000)));
  EXPECT_THAT(each(taskset, &Task::deadline),
              ElementsAre(Duration::microseconds(1'900), Duration::microseconds(5'000), Duration::microseconds(1'000)));
  EXPECT_THAT(each(taskset, &Task::jitter), ElementsAre(Duration::microseconds(150), Duration(), Duration()));
  EXPECT_THAT(each(taskset, &Task::priority), ElementsAre(2, 1, 3));  // there a smaller number is higher
  EXPECT_THAT(each(taskset, cpu_time), ElementsAre(us(100, 500), us(300, 800), us(50, 50)));
  EXPECT_THAT(imported->notes, Contains(HasSubstr("1 of 3 tasks have a single job")));
}

TEST(ImportJobsCsv, PrioritiesOfJobsBecomeDeadlineMonotonic) {
  const auto imported = import_jobs_csv("header\n1,1,0,0,1,1,10,10\n1,2,20,20,1,1,30,30\n2,1,0,0,1,1,5,5\n", "",
                                        {.unit = TimeUnit::ms, .cpus = 2});
  const Taskset taskset = only(imported);
  EXPECT_THAT(each(taskset, &Task::priority), ElementsAre(1, 2));
  EXPECT_THAT(each(taskset, &Task::cpu), ElementsAre(0, 1));
  EXPECT_EQ(taskset.tasks[1].period, Duration::milliseconds(5));
  EXPECT_THAT(imported->notes, Contains(HasSubstr("priorities differ between jobs of a task")));
}

TEST(ImportSchedcatXml, WithoutAGpuCriticalSectionsAreTimeOnTheCore) {
  const auto imported = import_schedcat_xml(import_file("tasks.xml"), "tasks.xml", {});
  const Taskset taskset = only(imported);
  EXPECT_EQ(taskset.platform.cpus, 3);
  EXPECT_THAT(each(taskset, &Task::cpu), ElementsAre(0, 2, 0));
  EXPECT_THAT(each(taskset, &Task::priority), ElementsAre(3, 2, 1));
  EXPECT_THAT(each(taskset, cpu_time), ElementsAre(us(2'501, 2'501), us(5'000, 5'000), us(10'000, 10'000)));
  EXPECT_EQ(taskset.tasks[0].deadline, Duration::microseconds(9'000));
  EXPECT_THAT(imported->notes, Contains(HasSubstr("7 critical sections are time on the core")));
  EXPECT_THAT(imported->notes, Contains("left out, without a counterpart: wss"));
}

TEST(ImportSchedcatXml, TheCriticalSectionsOfTheGpuBecomeSegments) {
  const auto imported = import_schedcat_xml(import_file("tasks.xml"), "tasks.xml", {.gpu_resource = 3});
  const Taskset taskset = only(imported);
  const Task& task = taskset.tasks[0];
  ASSERT_EQ(task.segments.size(), 5U);
  EXPECT_EQ(std::get<GpuSegment>(task.segments[1]).exec, us(500, 500));
  EXPECT_EQ(std::get<GpuSegment>(task.segments[3]).exec, us(500, 500));
  Duration on_core;
  for (const std::size_t index : {0U, 2U, 4U}) on_core += std::get<CpuSegment>(task.segments[index]).time.max;
  EXPECT_EQ(on_core, Duration::microseconds(1'501));
  EXPECT_EQ(taskset.tasks[1].segments.size(), 3U);
  EXPECT_EQ(taskset.tasks[2].segments.size(), 1U);
  EXPECT_THAT(imported->notes, Contains(HasSubstr("4 critical sections are time on the core")));
  EXPECT_THAT(imported->notes, Contains(HasSubstr("in equal parts around it")));
}

TEST(ImportSchedcatXml, ATestpointHoldsSeveral) {
  const auto imported = import_schedcat_xml(
      "<testpoint><config x='1'/><taskset><task period='4' wcet='1'/><task period='8' wcet='2'/></taskset>"
      "<taskset><task id='1' period='4' wcet='1'/></taskset></testpoint>",
      "", {.unit = TimeUnit::ms, .cpus = 2});
  ASSERT_TRUE(imported);
  ASSERT_EQ(imported->tasksets.size(), 2U);
  EXPECT_THAT(each(imported->tasksets[0], &Task::name), ElementsAre("task1", "task2"));
  EXPECT_THAT(each(imported->tasksets[0], &Task::cpu), ElementsAre(0, 1));
  EXPECT_EQ(imported->tasksets[1].tasks[0].period, Duration::milliseconds(4));
}

struct WrongFile {
  Result<Imported> (*import_text)(std::string_view, const std::string&, const ImportOptions&);
  std::string text;
  std::string told;
};

void PrintTo(const WrongFile& wrong, std::ostream* out) {
  *out << wrong.text;
}

class WrongFiles : public testing::TestWithParam<WrongFile> {};

TEST_P(WrongFiles, AreRefusedWithThePlace) {
  const auto imported = GetParam().import_text(GetParam().text, "file", {});
  ASSERT_FALSE(imported);
  std::string told;
  for (const Error& error : imported.errors()) told += to_string(error) + "\n";
  EXPECT_THAT(told, HasSubstr(GetParam().told));
}

const std::string kGcapsTitle = "taskid,workload,period,wcet\n";

INSTANTIATE_TEST_SUITE_P(
    GcapsCsv, WrongFiles,
    testing::Values(
        WrongFile{import_gcaps_csv, "", "file:1:1: found no table; expected the header taskid,workload,period,wcet"},
        WrongFile{import_gcaps_csv, "1,4,100,11\n", "file:1:1: found another header"},
        WrongFile{import_gcaps_csv, kGcapsTitle, "found no task"},
        WrongFile{import_gcaps_csv, kGcapsTitle + "1,4,100\n", "file:2:1: found 3 fields; expected 4 fields"},
        WrongFile{import_gcaps_csv, kGcapsTitle + "1,4,100,11,5\n", "file:2:12: found 5 fields; expected 4"},
        WrongFile{import_gcaps_csv, kGcapsTitle + "\n1,4,x,11\n",
                  R"(file:3:5: found "x" as the period; expected a number of ms above 0)"},
        WrongFile{import_gcaps_csv, kGcapsTitle + "1,4,0,11\n", R"(found "0" as the period)"},
        WrongFile{import_gcaps_csv, kGcapsTitle + "1,7,100,11\n", "expected 0, 1 (on a core) or 2, 3, 4, 5, 8 (on the"},
        WrongFile{import_gcaps_csv, kGcapsTitle + "1,4,9,1\n1,2,9,1\n", "file:3:1: found the taskid 1 a second time"}));

INSTANTIATE_TEST_SUITE_P(
    JobsCsv, WrongFiles,
    testing::Values(
        WrongFile{import_jobs_csv, "\n\n", "file:1:1: found no table"},
        WrongFile{import_jobs_csv, "1,1,0,0,1,1,9,1\n", R"(file:1:1: found "1" as the task on the first line)"},
        WrongFile{import_jobs_csv, "a,b,c,d,e,f,g,h\n", "found no job"},
        WrongFile{import_jobs_csv, "h,,,,,,,\n1, 1, 5, 4, 1, 1, 9, 1\n",
                  R"(file:2:10: found "4" as the latest release)"},
        WrongFile{import_jobs_csv, "h,,,,,,,\n1,1,0,0,3,2,9,1\n",
                  R"(found "2" as the greatest cost; expected at least)"},
        WrongFile{import_jobs_csv, "h,,,,,,,\n1,1,5,5,1,1,5,1\n",
                  R"(found "5" as the deadline; expected a time after)"},
        WrongFile{import_jobs_csv, "h,,,,,,,\n1,1,0,0,1,1,9,1\n1,2,0,0,1,1,9,1\n",
                  "file:3:5: found two jobs of task 1"},
        WrongFile{import_jobs_csv, "h,,,,,,,\n1,1,0,0,1,1,9,1\n1,1,20,20,1,1,29,1\n", "found job 1 of task 1 a second"},
        WrongFile{import_jobs_csv, "h,,,,,,,\n1,1,0,0,1,1,9,1\n1,2,5,5,1,1,14,1\n",
                  "file:2:13: found a deadline 9us after the release"},
        WrongFile{import_jobs_csv, "h,,,,,,,\n1,1,0,0,1,1,1e30,1\n", "at most 1000000s"},
        WrongFile{import_jobs_csv, "h,,,,,,,\n1,1,0,0,1,1,9,1.5\n", R"(found "1.5" as the priority)"}));

INSTANTIATE_TEST_SUITE_P(
    SchedcatXml, WrongFiles,
    testing::Values(
        WrongFile{import_schedcat_xml, "", "file:1:1: found the end; expected an element"},
        WrongFile{import_schedcat_xml, "<task period='1' wcet='1'/>", R"(found the element "task"; expected taskset)"},
        WrongFile{import_schedcat_xml, "<taskset/>", "file:1:1: found no task; expected at least one"},
        WrongFile{import_schedcat_xml, "<testpoint/>", "found no taskset"},
        WrongFile{import_schedcat_xml, "<taskset>\n <task period='4'/></taskset>",
                  "file:2:2: found no wcet of the task; expected wcet"},
        WrongFile{import_schedcat_xml, "<taskset><task period='4' wcet='1' deadline='5'/></taskset>",
                  R"(file:1:46: found "5" as the deadline; expected at most the period, 4us)"},
        WrongFile{import_schedcat_xml,
                  "<taskset><task period='4' wcet='1' partition='0'/>\n<task period='4' wcet='1'/></taskset>",
                  "file:2:1: found no partition of the task"},
        WrongFile{import_schedcat_xml,
                  "<taskset><task id='a' period='4' wcet='1'/><task id='a' period='4' wcet='1'/></taskset>",
                  R"(found "taska" a second time)"},
        WrongFile{import_schedcat_xml, "<taskset><task></taskset>", "the end </task> of that of line 1"},
        WrongFile{import_schedcat_xml, "<taskset>\n12</taskset>", R"(file:2:1: found "1"; expected an element)"},
        WrongFile{import_schedcat_xml, "<taskset><task period=4/></taskset>", "expected a value in quotes"},
        WrongFile{import_schedcat_xml, "<taskset a='1' a='2'/>", "file:1:16: found the attribute a a second time"},
        WrongFile{import_schedcat_xml, "<taskset a='&x;'/>", "expected an entity"},
        WrongFile{import_schedcat_xml, "<!DOCTYPE taskset>", "found a document type"},
        WrongFile{import_schedcat_xml, "<taskset/><taskset/>", "expected nothing after the root element"},
        WrongFile{import_schedcat_xml, "<!-- taskset", "found no end of a comment"}));

TEST(ReadXml, DecodesEntitiesAndLimitsDepth) {
  const auto element = read_xml("\xEF\xBB\xBF<?x y?><a b = \"&lt;&amp;&quot;\">\n<c/></a ><!-- end -->\n", "");
  ASSERT_TRUE(element);
  EXPECT_EQ(element->attribute("b")->text, "<&\"");
  EXPECT_EQ(element->children.at(0).line, 2U);
  std::string deep;
  for (std::size_t level = 0; level <= kMaxXmlDepth; ++level) deep += "<a>";
  EXPECT_THAT(to_string(read_xml(deep, "").errors().front()), HasSubstr("expected at most 32 levels"));
}

// --- exporters

Taskset two_tasks() {
  return only(import_schedcat_xml(
      "<taskset><task period='4' wcet='2' deadline='3' partition='0'><resources><requirement res_id='0' "
      "max_write_length='1'/></resources></task><task period='6' wcet='3' partition='1'/></taskset>",
      "", {.unit = TimeUnit::ms, .gpu_resource = 0}));
}

TEST(ExportJobsCsv, GivesTheJobsOfAHyperperiod) {
  Taskset taskset = two_tasks();
  taskset.tasks[1].jitter = Duration::milliseconds(1);
  const auto exported = export_jobs_csv(taskset, {});
  ASSERT_TRUE(exported);
  EXPECT_EQ(exported->text,
            "Task ID, Job ID, Arrival min, Arrival max, Cost min, Cost max, Deadline, Priority\n"
            "1,1,0,0,2,2,3,1\n1,2,4,4,2,2,7,1\n1,3,8,8,2,2,11,1\n2,4,0,1,3,3,6,2\n2,5,6,7,3,3,12,2\n");
  EXPECT_THAT(exported->notes, Contains("times are in ms"));
  const Taskset back = only(import_jobs_csv(exported->text, "", {.unit = TimeUnit::ms}));
  EXPECT_EQ(each(back, &Task::period), each(taskset, &Task::period));
  EXPECT_EQ(each(back, &Task::jitter), each(taskset, &Task::jitter));
  EXPECT_EQ(each(back, &Task::priority), each(taskset, &Task::priority));
}

TEST(ExportJobsCsv, RefusesWhatCannotBeWritten) {
  Taskset taskset = two_tasks();
  EXPECT_THAT(to_string(export_jobs_csv(taskset, {TimeUnit::s}).errors().front()), HasSubstr("not whole numbers of s"));
  taskset.tasks[1].period = Duration::nanoseconds(999'999'999'989);  // a prime
  EXPECT_THAT(to_string(export_jobs_csv(taskset, {}).errors().front()), HasSubstr("more than 1000000 jobs"));
  for (Task& task : taskset.tasks) task.best_effort = true;
  EXPECT_THAT(to_string(export_jobs_csv(taskset, {}).errors().front()), HasSubstr("best-effort tasks only"));
}

TEST(ExportSchedcatXml, IsReadBackToTheSameTasks) {
  const Taskset taskset = two_tasks();
  const auto exported = export_schedcat_xml(std::vector<Taskset>{taskset}, {TimeUnit::us});
  ASSERT_TRUE(exported);
  EXPECT_THAT(exported->text,
              HasSubstr("<task id=\"1\" period=\"4000\" wcet=\"2000\" deadline=\"3000\" partition=\"0\">"));
  EXPECT_THAT(exported->text, HasSubstr("max_writes=\"1\" max_read_length=\"0\" max_write_length=\"1000\""));
  EXPECT_EQ(only(import_schedcat_xml(exported->text, "", {.gpu_resource = 0})), taskset);
  const auto twice = export_schedcat_xml(std::vector<Taskset>{taskset, taskset}, {});
  EXPECT_EQ(import_schedcat_xml(twice->text, "", {.unit = TimeUnit::ms, .gpu_resource = 0})->tasksets.size(), 2U);
}

// Sections are all taken as long as the longest, so that together they may be longer than all of the task.
TEST(ExportSchedcatXml, UnevenSectionsAreBoundedByTheLongest) {
  Taskset taskset = two_tasks();
  GpuSegment longer;
  longer.misc = ms(1, 1);
  longer.exec = ms(1, 2);
  taskset.tasks[0].segments.emplace_back(longer);
  const auto exported = export_schedcat_xml(std::vector<Taskset>{taskset}, {});
  ASSERT_TRUE(exported);
  EXPECT_THAT(exported->text, HasSubstr("wcet=\"5\""));
  EXPECT_THAT(exported->text, HasSubstr("max_writes=\"2\" max_read_length=\"0\" max_write_length=\"3\""));
  const auto back = import_schedcat_xml(exported->text, "", {.unit = TimeUnit::ms, .gpu_resource = 0});
  ASSERT_TRUE(back);
  EXPECT_EQ(back->tasksets[0].tasks[0].segments.size(), 5U);
  EXPECT_EQ(cpu_time(back->tasksets[0].tasks[0]), ms(0, 0));
}

}  // namespace
}  // namespace rtgpu
