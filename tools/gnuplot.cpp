#include "tools/gnuplot.h"

#include "rtgpu/error.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX declares it nowhere else.

namespace rtgpu {
namespace {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OwnedFile = std::unique_ptr<std::FILE, FileCloser>;

Error gnuplot_error(std::string_view found) {
  return Error{ErrorCode::environment,
               {},
               std::string(found),
               "gnuplot, which draws the chart",
               "Install it (Debian and Ubuntu: apt install gnuplot-nox), or leave out the chart."};
}

// A file without a name, which is gone when it is closed.
OwnedFile scratch_file() {
  OwnedFile file(std::tmpfile());
  if (file == nullptr) throw std::system_error(errno, std::generic_category(), "a temporary file");
  return file;
}

std::string content_of(std::FILE* file) {
  std::rewind(file);
  std::string content;
  std::array<char, 4096> part{};
  for (std::size_t read = 1; read > 0;) {
    read = std::fread(part.data(), 1, part.size(), file);
    content.append(part.data(), read);
  }
  return content;
}

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  void connect(std::FILE* file, int descriptor) {
    posix_spawn_file_actions_adddup2(&actions_, fileno(file), descriptor);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// How a program ended; negative: it could not be started.
int spawn_and_wait(const SpawnActions& actions) {
  std::string name = "gnuplot";
  const std::array<char*, 2> arguments = {name.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, name.c_str(), actions.get(), nullptr, arguments.data(), environ) != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

}  // namespace

Result<std::string> run_gnuplot(const std::string& script) {
  const OwnedFile input = scratch_file();
  const OwnedFile output = scratch_file();
  const OwnedFile complaints = scratch_file();
  if (std::fwrite(script.data(), 1, script.size(), input.get()) != script.size()) {
    throw std::system_error(errno, std::generic_category(), "a temporary file");
  }
  std::rewind(input.get());  // which writes out what is buffered as well
  SpawnActions actions;
  actions.connect(input.get(), STDIN_FILENO);
  actions.connect(output.get(), STDOUT_FILENO);
  actions.connect(complaints.get(), STDERR_FILENO);
  const int status = spawn_and_wait(actions);
  if (status < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) return gnuplot_error("no program gnuplot");
  if (status != 0) return gnuplot_error(fmt::format("gnuplot failed: {}", content_of(complaints.get())));
  return content_of(output.get());
}

std::optional<Error> missing_gnuplot() {
  const Result<std::string> result = run_gnuplot("print ''\n");
  if (result) return std::nullopt;
  return result.errors().front();
}

}  // namespace rtgpu
