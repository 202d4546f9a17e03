// `rtgpu convert`: files of other programs, end to end.
#include "tests/tools/process.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kImports = RTGPU_CASES "/import/";

TEST(Convert, ACaseStudyCanBeAnalysed) {
  const ProcessResult run = run_rtgpu({"convert", kImports + "case-study.csv", "--from", "gcaps-csv", "--cpus", "2"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.err, HasSubstr("rtgpu: note: priorities are assigned rate-monotonically"));
  EXPECT_EQ(json::parse(run.out)["tasks"].size(), 5U);
  const ProcessResult bounds = run_rtgpu({"analyze", "-", "--policy=gcaps", "--format=json"}, {.input = run.out});
  EXPECT_EQ(bounds.status, 0) << bounds.err;
}

TEST(Convert, ATaskSystemBecomesJobs) {
  const ProcessResult run = run_rtgpu({"convert", kImports + "tasks.xml", "--from=schedcat-xml", "--to=jobs-csv"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("\n1,1,0,0,2501,2501,9000,1\n1,2,10000,10000,2501,2501,19000,1\n"));
  EXPECT_THAT(run.err, HasSubstr("note: times without a unit are taken as us (--unit)"));
  EXPECT_THAT(run.err, HasSubstr("note: times are in us"));
}

TEST(Convert, StandardInputAndSeveralTasksets) {
  const ProcessResult sets = run_rtgpu({"generate", "--preset=randfixedsum", "--count=3"});
  const ProcessResult system =
      run_rtgpu({"convert", "-", "--from=json", "--to=schedcat-xml", "--unit=ns"}, {.input = sets.out});
  EXPECT_EQ(system.status, 0) << system.err;
  const ProcessResult back =
      run_rtgpu({"convert", "-", "--from=schedcat-xml", "--unit=ns", "--gpu-resource=0"}, {.input = system.out});
  EXPECT_EQ(back.status, 0) << back.err;
  EXPECT_EQ(std::count(back.out.begin(), back.out.end(), '\n'), 3);
  EXPECT_THAT(back.out, HasSubstr("\"gpu\""));
}

TEST(Convert, TheOwnFormatStaysWhatItWas) {
  const ProcessResult set = run_rtgpu({"generate", "--preset=uunifast"});
  const ProcessResult once = run_rtgpu({"convert", "-", "--from=json"}, {.input = set.out});
  const ProcessResult twice = run_rtgpu({"convert", "-", "--from=json"}, {.input = once.out});
  EXPECT_EQ(json::parse(once.out)["tasks"], json::parse(set.out)["tasks"]);
  EXPECT_EQ(once.out, twice.out);
  EXPECT_EQ(once.err, "");
}

struct RefusedConversion {
  std::vector<std::string> arguments;
  std::string input;
  std::string told;  // part of standard error
};

void PrintTo(const RefusedConversion& refused, std::ostream* out) {
  *out << refused.told;
}

class RefusedConversions : public testing::TestWithParam<RefusedConversion> {};

TEST_P(RefusedConversions, EndWithStatus2AndNoOutput) {
  std::vector<std::string> arguments = {"convert"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const ProcessResult run = run_rtgpu(arguments, {.input = GetParam().input});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, StartsWith("rtgpu: error: "));
  EXPECT_THAT(run.err, HasSubstr(GetParam().told));
}

const std::vector<RefusedConversion> kRefusedConversions = {
    {{"-"}, "", "--from"},
    {{"-", "--from=jsn"}, "", "--from: found 'jsn'; expected one of json, jobs-csv, schedcat-xml, gcaps-csv"},
    {{"-", "--from=json", "--to=gcaps-csv"},
     "",
     "--to: found 'gcaps-csv'; expected one of json, jobs-csv, schedcat-xml"},
    {{"-", "--from=gcaps-csv", "--unit=ms"}, "", "--unit: found 'ms'; expected none"},
    {{"-", "--from=jobs-csv", "--unit=min"}, "", "--unit: found \"min\"; expected one of the units"},
    {{"-", "--from=json", "--cpus=2"}, "", "--cpus: found '2'; expected none"},
    {{"-", "--from=gcaps-csv", "--cpus=0"}, "", "--cpus: found '0'; expected a whole number from 1 to 100000"},
    {{"-", "--from=jobs-csv", "--gpu-resource=1"}, "", "--gpu-resource: found '1'; expected none"},
    {{"-", "--from=json"}, "{}", "-:1:1: "},
    {{"-", "--from=gcaps-csv"}, "taskid,workload,period,wcet\n1,2,3,x\n", "-:2:7: found \"x\" as the wcet"},
    {{"/nowhere/tasks.xml", "--from=schedcat-xml"}, "", "/nowhere/tasks.xml: found No such file or directory"},
    {{"/", "--from=schedcat-xml"}, "", "/: found Is a directory; expected a readable file"},
    {{"-", "--from=schedcat-xml", "--to=jobs-csv"},
     "<testpoint><taskset><task period='1' wcet='1'/></taskset><taskset><task period='1' "
     "wcet='1'/></taskset></testpoint>",
     "-: found 2 tasksets; expected one"},
};

INSTANTIATE_TEST_SUITE_P(Convert, RefusedConversions, testing::ValuesIn(kRefusedConversions));

TEST(Convert, HelpNamesFormatsAndOptions) {
  const ProcessResult run = run_rtgpu({"convert", "--help"});
  EXPECT_EQ(run.status, 0);
  for (const char* part : {"--from", "--to", "--unit", "--cpus", "--gpu-resource", "gcaps-csv", "jobs-csv",
                           "schedcat-xml", "Examples:", "Exit status:"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
}

}  // namespace
}  // namespace rtgpu
