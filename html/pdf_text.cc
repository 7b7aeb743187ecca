#include "html/pdf_text.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "html/charset.h"
#include "html/http_failure.h"

namespace vedette::html {
namespace {

using domain::Failure;
using std::chrono::milliseconds;

constexpr unsigned kNobody = 65534;  // Debian's
constexpr rlim_t kFilesMax = 32;
// How often a thread that waits for the process looks whether it shall stop.
constexpr milliseconds kLookEvery{50};
constexpr std::size_t kPieceBytes = 64 << 10;
// Exit statuses of our own, beside pdftotext's 0, 1 (it cannot be opened), 3 (its text may not be
// copied) and 99.
constexpr int kNoReader = 120;
constexpr int kNoFence = 121;
constexpr int kCannotOpen = 1;
constexpr int kMayNotCopy = 3;

Failure BadContent(std::string message) {
  return {"bad_content", std::move(message), false, {}};
}

class File {
 public:
  explicit File(int fd = -1) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// The bytes in a file without a name, from its beginning on.
std::optional<File> InFile(std::string_view bytes) {
  File file(memfd_create("pdf", MFD_CLOEXEC));
  if (file.get() < 0) return std::nullopt;
  while (!bytes.empty()) {
    const ssize_t wrote = write(file.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return std::nullopt;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (lseek(file.get(), 0, SEEK_SET) != 0) return std::nullopt;
  return file;
}

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif
constexpr std::uint32_t kOtherAbi = 0x40000000;  // x32 on x86-64

// System calls with which it would reach others: the network, other processes, the kernel's rarer
// parts.
constexpr auto kRefusedCalls = std::to_array<std::uint32_t>({
#if defined(__x86_64__)
  SYS_fork, SYS_vfork,
#endif
      SYS_socket, SYS_socketpair, SYS_clone, SYS_clone3, SYS_kill, SYS_tkill, SYS_tgkill,
      SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open, SYS_ptrace, SYS_process_vm_readv,
      SYS_process_vm_writev, SYS_unshare, SYS_setns, SYS_mount, SYS_chroot, SYS_bpf,
      SYS_perf_event_open, SYS_userfaultfd, SYS_add_key, SYS_request_key, SYS_keyctl,
      SYS_io_uring_setup, SYS_shmget, SYS_msgget, SYS_mq_open,
});

constexpr sock_filter Statement(std::uint16_t code, std::uint32_t k) {
  return {code, 0, 0, k};
}
constexpr sock_filter Jump(std::uint16_t code, std::uint32_t k, std::uint8_t yes, std::uint8_t no) {
  return {code, yes, no, k};
}

constexpr auto MakeFilter() {
  std::array<sock_filter, 7 + 2 * kRefusedCalls.size()> out{};
  std::size_t n = 0;
  out[n++] = Statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
  out[n++] = Jump(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
  out[n++] = Statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  out[n++] = Statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  out[n++] = Jump(BPF_JMP | BPF_JGE | BPF_K, kOtherAbi, 0, 1);
  out[n++] = Statement(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  for (const std::uint32_t call : kRefusedCalls) {
    out[n++] = Jump(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
    out[n++] = Statement(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }
  out[n++] = Statement(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  return out;
}
constexpr auto kFilter = MakeFilter();

// Below here, until the reader runs: a child of a process with threads, which may make system calls
// and nothing else.

constexpr std::uint64_t kReads =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kFileReads = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;
// All that its first version knows: nothing may be written or made.
constexpr std::uint64_t kAllAccess = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

void Allow(int rules, const char* path, std::uint64_t access) {
  landlock_path_beneath_attr beneath{};
  beneath.allowed_access = access;
  beneath.parent_fd = open(path, O_PATH | O_CLOEXEC);
  if (beneath.parent_fd < 0) return;
  syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
}

// A kernel without it leaves the files that this user may read readable.
void FenceFiles() {
  landlock_ruleset_attr all{};
  all.handled_access_fs = kAllAccess;
  const long made = syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
  if (made < 0) return;
  const int rules = static_cast<int>(made);
  Allow(rules, "/usr", kReads);
  Allow(rules, "/lib", kReads);
  Allow(rules, "/lib64", kReads);
  Allow(rules, "/etc/fonts", kReads);
  Allow(rules, "/etc/ld.so.cache", kFileReads);
  if (syscall(SYS_landlock_restrict_self, rules, 0) != 0) _exit(kNoFence);
}

bool Bound(__rlimit_resource what, rlim_t most) {
  const rlimit limit{most, most};
  return setrlimit(what, &limit) == 0;
}

[[noreturn]] void Become(char* const* reader, const PdfLimits& limits, int in, int out) {
  const int null = open("/dev/null", O_WRONLY);
  const bool wired = dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
                     dup2(null, STDERR_FILENO) >= 0 &&
                     syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0;
  if (!wired || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) _exit(kNoFence);
  if (geteuid() == 0 && (syscall(SYS_setgroups, 0, nullptr) != 0 ||
                         syscall(SYS_setresgid, kNobody, kNobody, kNobody) != 0 ||
                         syscall(SYS_setresuid, kNobody, kNobody, kNobody) != 0)) {
    _exit(kNoFence);
  }
  const bool bounded = Bound(RLIMIT_AS, limits.memory_bytes) && Bound(RLIMIT_FSIZE, 0) &&
                       Bound(RLIMIT_CPU, static_cast<rlim_t>(limits.cpu.count())) &&
                       Bound(RLIMIT_CORE, 0) && Bound(RLIMIT_NOFILE, kFilesMax);
  if (!bounded || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(kNoFence);
  FenceFiles();
  const sock_fprog filter{kFilter.size(), const_cast<sock_filter*>(kFilter.data())};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) _exit(kNoFence);
  char language[] = "LANG=C.UTF-8";
  char* const environment[] = {language, nullptr};
  execve(reader[0], reader, environment);
  _exit(kNoReader);
}

// The process, until it is gone.
class Reader {
 public:
  Reader(const std::vector<std::string>& command, const PdfLimits& limits, int in, int out) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) Become(arguments.data(), limits, in, out);
  }
  ~Reader() {
    if (pid_ > 0) Wait({});
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  bool started() const { return pid_ > 0; }
  // Its status as waitpid has it, once it has ended, which it does at `until` (since boot).
  int Wait(std::chrono::nanoseconds until) {
    const base::SystemClock clock;
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (clock.SinceBoot() >= until) kill(pid_, SIGKILL);
      std::this_thread::sleep_for(milliseconds(1));
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
};

enum class Ended { kItself, kStopped, kTooLong, kTooMuch };

// Everything that comes, until the stream ends or is to end.
Ended ReadAll(int from, const std::function<bool()>& stopped, std::chrono::nanoseconds until,
              std::size_t bytes_max, std::string* text) {
  const base::SystemClock clock;
  std::array<char, kPieceBytes> piece;
  for (;;) {
    if (stopped()) return Ended::kStopped;
    if (clock.SinceBoot() >= until) return Ended::kTooLong;
    pollfd ready{from, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(kLookEvery.count())) <= 0) continue;
    const ssize_t got = read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Ended::kItself;
    text->append(piece.data(), static_cast<std::size_t>(got));
    if (text->size() > bytes_max) return Ended::kTooMuch;
  }
}

Failure TooExpensive() {
  return BadContent(
      "The page is a PDF that takes more time or memory to read than a page may; watch a smaller "
      "one, or a page in HTML that says the same.");
}

// What an exit says; nothing where all is well.
std::optional<Failure> FailureOf(int status, bool encrypted) {
  if (!WIFEXITED(status)) return TooExpensive();
  const int code = WEXITSTATUS(status);
  if (code == 0) return std::nullopt;
  if (code == kNoReader) {
    return BadContent(
        "The page is of the type application/pdf, which is read by pdftotext, and this service has "
        "none; ask the operator to install Debian's poppler-utils.");
  }
  if (code == kNoFence) {
    return BadContent(
        "The page is of the type application/pdf, and this service's system does not let it be "
        "read in a fenced process; ask the operator (Linux 5.9 or newer, with seccomp).");
  }
  if (encrypted && (code == kCannotOpen || code == kMayNotCopy)) {
    return BadContent(
        "The page is a PDF that needs a password to be read, or does not let its text be copied; "
        "watch one that is open to everybody.");
  }
  if (code == kCannotOpen || code == kMayNotCopy) {
    return BadContent(
        "The page says that it is a PDF, but cannot be read as one: it is damaged, or something "
        "else; open it in a browser to see what is there.");
  }
  return TooExpensive();  // what it says when it has no memory
}

}  // namespace

bool IsPdf(std::string_view content_type) {
  return ParseMediaType(content_type).type == "application/pdf";
}

std::variant<std::string, Failure> TextOfPdf(std::string_view pdf,
                                             const std::function<bool()>& stopped,
                                             const PdfLimits& limits,
                                             const std::vector<std::string>& reader) {
  const auto in = InFile(pdf);
  int ends[2];
  if (!in || pipe2(ends, O_CLOEXEC) != 0) return OverloadedFailure();
  const File from(ends[0]);
  File to(ends[1]);
  Reader process(reader, limits, in->get(), to.get());
  to = File();
  if (!process.started()) return OverloadedFailure();
  std::string text;
  const auto until = base::SystemClock().SinceBoot() + limits.wall;
  const Ended ended = ReadAll(from.get(), stopped, until, limits.text_bytes, &text);
  const int status =
      process.Wait(ended == Ended::kItself ? until : std::chrono::nanoseconds::zero());
  if (ended == Ended::kStopped || ended == Ended::kTooLong) return OverloadedFailure();
  if (ended == Ended::kTooMuch) {
    return Failure{"body_too_large",
                   fmt::format("The text of the page, a PDF, has more than {} bytes; watch a "
                               "smaller one.",
                               limits.text_bytes),
                   false,
                   {}};
  }
  const bool encrypted = pdf.find("/Encrypt") != std::string_view::npos;
  if (auto failure = FailureOf(status, encrypted)) return std::move(*failure);
  return base::RepairUtf8(text);
}

}  // namespace vedette::html
