#include "tests/tools/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace rtgpu {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{60};

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {
    if (fd_ < 0) fail("open");
  }
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }

  int get() const { return fd_; }
  void reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// Two ends; neither is inherited by other processes.
struct Channel {
  Descriptor ours;
  Descriptor theirs;
};

Channel pipe_from_child() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Channel pipe_to_child() {
  Channel channel = pipe_from_child();
  std::swap(channel.ours, channel.theirs);
  if (fcntl(channel.ours.get(), F_SETFL, O_NONBLOCK) != 0) fail("fcntl");
  return channel;
}

Channel terminal() {
  Channel channel;
  channel.ours = Descriptor(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (grantpt(channel.ours.get()) != 0 || unlockpt(channel.ours.get()) != 0) fail("unlockpt");
  std::array<char, 128> name{};
  if (ptsname_r(channel.ours.get(), name.data(), name.size()) != 0) fail("ptsname_r");
  channel.theirs = Descriptor(open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  return channel;
}

Channel output_channel(OutputTo output) {
  switch (output) {
    case OutputTo::pipe:
      return pipe_from_child();
    case OutputTo::terminal:
      return terminal();
    case OutputTo::full_device:
      return {Descriptor(), Descriptor(open("/dev/full", O_WRONLY | O_CLOEXEC))};
    case OutputTo::nobody: {
      Channel channel = pipe_from_child();
      channel.ours.reset();
      return channel;
    }
    case OutputTo::closed:
      break;
  }
  return {};
}

// How a child is started: its standard streams, its folder, and signals as usual although some are ignored here.
class SpawnSetup {
 public:
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t defaults;
    sigemptyset(&defaults);
    // Also what is ignored by programs in the background.
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  void stream(int number, const Descriptor& descriptor) {
    if (descriptor.get() >= 0) {
      posix_spawn_file_actions_adddup2(&actions_, descriptor.get(), number);
    } else {
      posix_spawn_file_actions_addclose(&actions_, number);
    }
  }
  void directory(const std::string& path) {
    if (!path.empty()) posix_spawn_file_actions_addchdir_np(&actions_, path.c_str());
  }

  pid_t spawn(const std::string& program, const std::vector<std::string>& arguments,
              std::vector<std::string> environment) const {
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const std::size_t own = environment.size();
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string inherited = *variable;
      const std::string name = inherited.substr(0, inherited.find('=') + 1);
      const bool is_replaced = std::any_of(environment.begin(), environment.begin() + static_cast<std::ptrdiff_t>(own),
                                           [&](const std::string& other) { return other.starts_with(name); });
      if (!is_replaced) environment.push_back(inherited);
    }
    const std::vector<char*> argv = pointers_to(words);
    const std::vector<char*> envp = pointers_to(environment);
    pid_t pid = -1;
    errno = posix_spawn(&pid, program.c_str(), &actions_, &attributes_, argv.data(), envp.data());
    if (errno != 0) fail("posix_spawn");
    return pid;
  }

 private:
  static std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Feeds and drains the streams of a child at once, so that no pipe can fill up and stop both.
class Conversation {
 public:
  Conversation(Descriptor in, Descriptor out, Descriptor err, std::string_view input)
      : in_(std::move(in)), out_(std::move(out)), err_(std::move(err)), input_(input) {
    if (input_.empty()) in_.reset();
  }

  // Until both outputs have ended; false if that takes too long. `heard` is called whenever there is more.
  template <class Heard>
  bool hold(ProcessResult& result, Heard heard) {
    const Clock::time_point end = Clock::now() + kPatience;
    while (out_.get() >= 0 || err_.get() >= 0) {
      // A negative descriptor is skipped by poll.
      std::array<pollfd, 3> ready{pollfd{in_.get(), POLLOUT, 0}, pollfd{out_.get(), POLLIN, 0},
                                  pollfd{err_.get(), POLLIN, 0}};
      poll(ready.data(), ready.size(), 100);
      if (ready[0].revents != 0) feed();
      if (ready[1].revents != 0) drain(out_, result.out);
      if (ready[2].revents != 0) drain(err_, result.err);
      heard();
      if (Clock::now() > end) return false;
    }
    return true;
  }

 private:
  void feed() {
    const ssize_t count = write(in_.get(), input_.data(), input_.size());
    if (count > 0) input_.remove_prefix(static_cast<std::size_t>(count));
    const bool reader_is_gone = count < 0 && errno != EAGAIN && errno != EINTR;
    if (input_.empty() || reader_is_gone) in_.reset();
  }

  static void drain(Descriptor& from, std::string& to) {
    std::array<char, 65536> piece{};
    const ssize_t count = read(from.get(), piece.data(), piece.size());
    if (count > 0) {
      to.append(piece.data(), static_cast<std::size_t>(count));
    } else {
      from.reset();  // its end; of a terminal that is an error
    }
  }

  Descriptor in_;
  Descriptor out_;
  Descriptor err_;
  std::string_view input_;
};

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) fail("waitpid");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

ProcessResult run_process(const std::string& program, const std::vector<std::string>& arguments,
                          const ProcessOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  Channel in = pipe_to_child();
  Channel out = output_channel(options.output);
  Channel err = pipe_from_child();
  SpawnSetup setup;
  setup.stream(STDIN_FILENO, in.theirs);
  setup.stream(STDOUT_FILENO, out.theirs);
  setup.stream(STDERR_FILENO, err.theirs);
  setup.directory(options.directory);
  const pid_t pid = setup.spawn(program, arguments, options.environment);
  for (Channel* channel : {&in, &out, &err}) channel->theirs.reset();

  ProcessResult result;
  Conversation conversation(std::move(in.ours), std::move(out.ours), std::move(err.ours), options.input);
  bool to_interrupt = !options.interrupt_after.empty();
  const auto heard = [&] {
    if (!to_interrupt || result.err.find(options.interrupt_after) == std::string::npos) return;
    kill(pid, SIGINT);
    to_interrupt = false;
  };
  if (!conversation.hold(result, heard)) kill(pid, SIGKILL);
  result.status = wait_for(pid);
  return result;
}

std::string rtgpu_program() {
  // Another build of the program, with sanitizers for instance, may be tested by the same tests.
  const char* other = std::getenv("RTGPU_TEST_PROGRAM");
  return other == nullptr ? RTGPU_PROGRAM : other;
}

ProcessResult run_rtgpu(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  return run_process(rtgpu_program(), arguments, options);
}

TemporaryFile::TemporaryFile(const std::string& content, const std::string& suffix)
    : path_((std::filesystem::temp_directory_path() / "rtgpu-test-XXXXXX").string() + suffix) {
  const Descriptor file(mkostemps(path_.data(), static_cast<int>(suffix.size()), O_CLOEXEC));
  std::ofstream out(path_, std::ios::binary);
  out << content;
  if (!out.flush()) throw std::runtime_error("cannot write " + path_);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace rtgpu
