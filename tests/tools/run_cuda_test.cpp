// `rtgpu run --device cuda` end to end, on the fake CUDA driver: runs, what they say, and why there is none.
#include "tests/tools/documents.h"
#include "tests/tools/process.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Where the program finds the fake driver under the name of the real one.
class DriverFolder {
 public:
  DriverFolder() : path_((std::filesystem::temp_directory_path() / "rtgpu-driver-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
    std::filesystem::create_symlink(RTGPU_FAKE_DRIVER, path_ + "/libcuda.so.1");
  }
  DriverFolder(const DriverFolder&) = delete;
  DriverFolder& operator=(const DriverFolder&) = delete;
  ~DriverFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  // The settings are those of FakeCuda, separated by spaces.
  std::vector<std::string> environment(const std::string& settings) const {
    const char* before = std::getenv("LD_LIBRARY_PATH");
    return {"LD_LIBRARY_PATH=" + path_ + (before != nullptr ? std::string(":") + before : std::string()),
            "RTGPU_FAKE_CUDA=" + settings};
  }

 private:
  std::string path_;
};

// A job each: the next one is much later.
const std::string kThreeTasks = taskset_of(
    R"({"name": "a", "period": "100s", "priority": 3, "segments": [{"cpu": "10us"}, {"gpu": {"misc": 0, "exec": "300us"}}]},
       {"name": "b", "period": "100s", "priority": 2, "segments": [{"gpu": {"misc": 0, "exec": "300us"}}]},
       {"name": "c", "period": "100s", "priority": 1, "cpu": 1, "segments": [{"gpu": {"misc": 0, "exec": "300us"}}]})");

std::vector<std::string> on_device(const std::string& device, const std::vector<std::string>& further) {
  std::vector<std::string> arguments = {"run",      "-",           "--device", device,          "--duration",
                                        "1ms",      "--scheduler", "normal",   "--share-cores", "--no-memory-lock",
                                        "--format", "json"};
  arguments.insert(arguments.end(), further.begin(), further.end());
  return arguments;
}

ProcessResult run_on_fake(const std::string& settings, const std::string& device,
                          const std::vector<std::string>& further = {}) {
  const DriverFolder folder;
  return run_rtgpu(on_device(device, further), {.input = kThreeTasks, .environment = folder.environment(settings)});
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::vector<std::string> notes_of(const json& answer) {
  return answer.contains("notes") ? answer["notes"].get<std::vector<std::string>>() : std::vector<std::string>();
}

TEST(RunOnCuda, Runs) {
  for (const char* policy : {"mpcp", "fmlp+", "stream-priority"}) {
    SCOPED_TRACE(policy);
    const ProcessResult run = run_on_fake("clock=monotonic devices=2", "cuda:1", {"--policy", policy});
    ASSERT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.err, std::string("rtgpu: running - under ") + policy + " on cuda:1 for 1ms\n");
    const json answer = json::parse(run.out);
    const json& result = answer["results"][0];
    EXPECT_EQ(result["device"], "cuda:1");
    EXPECT_EQ(result["device_name"], "Fake GPU 1 (cuda:1)");
    EXPECT_EQ(result["device_lost"], false);
    ASSERT_EQ(result["tasks"].size(), 3U);
    for (const json& task : result["tasks"]) {
      EXPECT_EQ(task["jobs"], 1);
      EXPECT_EQ(task["gpu_failures"], 0);
      EXPECT_GE(task["min_response_ns"], 300'000);  // on the driver's clock, too
    }
    EXPECT_THAT(notes_of(answer), Not(Contains(HasSubstr("stream"))));
  }
}

TEST(RunOnCuda, SharedLevelsAreTold) {
  const ProcessResult run = run_on_fake("levels=2", "cuda", {"--policy=stream-priority"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(notes_of(json::parse(run.out)), Contains(StartsWith("3 tasks share 2 stream levels: ")));
}

TEST(RunOnCuda, LevelsThatWereNotGrantedAreTold) {
  const ProcessResult run = run_on_fake("levels=3 granted_levels=2", "cuda:0", {"--policy=stream-priority"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(notes_of(json::parse(run.out)), Contains("stream 0: asked for priority -2, got -1"));
}

TEST(RunOnCuda, ADeviceThatIsLostIsANo) {
  const ProcessResult run = run_on_fake("clock=monotonic fail=cuEventRecord:700:2", "cuda");
  EXPECT_EQ(run.status, 1) << run.err;
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["results"][0]["device_lost"], true);
  EXPECT_THAT(notes_of(answer), Contains(StartsWith("the device was lost: CUDA_ERROR_ILLEGAL_ADDRESS (700)")));
}

struct RefusedDevice {
  const char* settings;
  const char* device;
  std::vector<std::string> further;
  int status;
  const char* told;  // the first line of standard error, after "rtgpu: error: "
};

void PrintTo(const RefusedDevice& refused, std::ostream* out) {
  *out << refused.device << " with " << refused.settings;
}

class RefusedCudaRun : public testing::TestWithParam<RefusedDevice> {};

TEST_P(RefusedCudaRun, SaysWhy) {
  const RefusedDevice& refused = GetParam();
  const ProcessResult run = run_on_fake(refused.settings, refused.device, refused.further);
  EXPECT_EQ(run.status, refused.status);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(first_line(run.err), std::string("rtgpu: error: ") + refused.told);
}

INSTANTIATE_TEST_SUITE_P(
    Reasons, RefusedCudaRun,
    testing::Values(
        RefusedDevice{"version=12020",
                      "cuda",
                      {},
                      3,
                      "found a driver for CUDA 12.2; expected 12.4 or later. Install a newer NVIDIA driver."},
        RefusedDevice{"devices=0",
                      "cuda",
                      {},
                      3,
                      "found a CUDA driver without a device; expected an NVIDIA GPU. See whether nvidia-smi lists one, "
                      "and whether CUDA_VISIBLE_DEVICES or the container hides it."},
        RefusedDevice{"devices=2",
                      "cuda:2",
                      {},
                      3,
                      "found device cuda:2; expected cuda:0 to cuda:1. See which there are with nvidia-smi, and "
                      "whether CUDA_VISIBLE_DEVICES hides some."},
        RefusedDevice{"",
                      "cuda",
                      {"--policy=gcaps"},
                      2,
                      "found policy gcaps on Fake GPU 0 (cuda:0); expected mpcp, fmlp+ or stream-priority. From user "
                      "space, work that runs there can be interrupted at the ends of slices alone."},
        RefusedDevice{"",
                      "cuda",
                      {"--virtual-time"},
                      2,
                      "found virtual time on a device that computes; expected a length, and a device whose work takes "
                      "its declared time"}));

TEST(RunOnCuda, SaysThatThereIsNoDriver) {
  if (void* library = dlopen("libcuda.so.1", RTLD_LAZY); library != nullptr) {
    dlclose(library);
    GTEST_SKIP() << "there is a libcuda.so.1";
  }
  const ProcessResult run = run_rtgpu(on_device("cuda", {}), {.input = kThreeTasks});
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(first_line(run.err),
            "rtgpu: error: found no CUDA driver (libcuda.so.1: cannot open shared object file: No such file or "
            "directory); expected the library of the NVIDIA driver. Install the NVIDIA driver; in a container, let it "
            "have the host's.");
}

// A machine without a GPU can run the program all the same.
TEST(RunOnCuda, NoCudaLibraryIsLinked) {
  const ProcessResult ldd = run_process("/usr/bin/ldd", {rtgpu_program()});
  ASSERT_EQ(ldd.status, 0) << ldd.err;
  EXPECT_THAT(ldd.out, HasSubstr("libc.so"));
  EXPECT_THAT(ldd.out, AllOf(Not(HasSubstr("libcu")), Not(HasSubstr("libnv"))));
}

TEST(RunOnCuda, HelpSaysWhatThereIs) {
  const ProcessResult help = run_rtgpu({"run", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("cuda or cuda:N"), HasSubstr("mpcp, fmlp+ or stream-priority\n")));
}

}  // namespace
}  // namespace rtgpu
