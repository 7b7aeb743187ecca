#include "net/browser/browser_process.h"

#include <dirent.h>
#include <linux/close_range.h>
#include <pwd.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <uv.h>

#include "config/probe_config.h"
#include "net/browser/byte_stream.h"
#include "net/browser/profile_folder.h"

namespace vedette::net {
namespace {

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::size_t KilobytesOf(std::string_view status, std::string_view name) {
  const std::size_t at = status.find(name);
  if (at == std::string_view::npos) return 0;
  status.remove_prefix(at + name.size());
  status.remove_prefix(std::min(status.find_first_not_of(" \t"), status.size()));
  std::size_t kilobytes = 0;
  std::from_chars(status.data(), status.data() + status.size(), kilobytes);
  return kilobytes;
}

void ForEachOfSession(int leader, const std::function<void(int pid, const std::string&)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc"), closedir);
  if (all == nullptr) return;
  while (const dirent* entry = readdir(all.get())) {
    int pid = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, pid).ptr != end) continue;
    if (getsid(pid) != leader) continue;
    visit(pid, "/proc/" + std::string(entry->d_name));
  }
}

}  // namespace

SessionMemory MemoryOfSession(int leader) {
  SessionMemory out;
  ForEachOfSession(leader, [&](int pid, const std::string& path) {
    const std::string status = FileText(path + "/status");
    constexpr std::size_t kKilobyte = 1024;
    const std::size_t bytes =
        (KilobytesOf(status, "RssAnon:") + KilobytesOf(status, "RssShmem:")) * kKilobyte;
    out.bytes += bytes;
    if (FileText(path + "/cmdline").find("--type=renderer") == std::string::npos) return;
    out.pages.push_back({bytes, pid});
  });
  std::sort(out.pages.begin(), out.pages.end(),
            [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return out;
}

void KillSession(int leader) {
  if (leader <= 1) return;
  kill(-leader, SIGKILL);
  ForEachOfSession(leader, [](int pid, const std::string&) { kill(pid, SIGKILL); });
}

namespace {

using std::chrono::milliseconds;

// How often the memory of its processes is looked at.
// A page takes a gigabyte a second where it wants to.
constexpr milliseconds kMemoryEvery{200};
// Commands that wait in the pipe; over it the browser hangs, and is ended.
constexpr std::size_t kCommandBytesMax = 16 << 20;

// What is destroyed before its browser has died, as at the end of the process, waits as long.
constexpr int kDeathMilliseconds = 5000;

// What the browser is told. Everything that would open a connection of its own is off, and what is
// left finds neither a name nor a proxy that would take it: only the context of a page has one.
std::vector<std::string> Flags(const config::BrowserConfig& config, const std::string& folder) {
  std::vector<std::string> flags = {
      config.executable,
      "--headless=new",
      "--remote-debugging-pipe",
      "--user-data-dir=" + folder,
      "--proxy-server=http://127.0.0.1:9",
      "--proxy-bypass-list=<-loopback>",
      "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
      "--dns-prefetch-disable",
      "--disable-quic",
      "--webrtc-ip-handling-policy=disable_non_proxied_udp",
      "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
      "--disable-features=WebRtcHideLocalIpsWithMdns,AsyncDns,DnsOverHttps,MediaRouter,"
      "DialMediaRouteProvider,Translate,OptimizationHints,AutofillServerCommunication,"
      "CertificateTransparencyComponentUpdater,NetworkTimeServiceQuerying,WebBluetooth,WebUSB,"
      "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,"
      // Parts of a window that nobody sees: each would be a page with a process of its own.
      "WebUIReloadButton,WebUIOmniboxPopup,WebUIOmniboxAimPopup",
      "--disable-background-networking",
      "--disable-breakpad",
      "--disable-client-side-phishing-detection",
      "--disable-component-extensions-with-background-pages",
      "--disable-component-update",
      "--disable-crash-reporter",
      "--disable-default-apps",
      "--disable-dev-shm-usage",
      "--disable-domain-reliability",
      "--disable-extensions",
      "--disable-file-system",
      "--disable-gpu",
      "--disable-notifications",
      "--disable-prompt-on-repost",
      "--disable-speech-api",
      "--disable-sync",
      "--deny-permission-prompts",
      "--hide-scrollbars",
      "--js-flags=--max-old-space-size=512",
      "--metrics-recording-only",
      "--mute-audio",
      "--no-default-browser-check",
      "--no-first-run",
      "--no-pings",
      "--no-service-autorun",
      "--password-store=basic",
      "--use-mock-keychain",
  };
  if (!config.sandbox) flags.emplace_back("--no-sandbox");
  return flags;
}

// Whose the browser is: nobody's, where this process is root's. Empty: this process's user.
std::optional<FolderOwner> BrowserUser() {
  if (geteuid() != 0) return std::nullopt;
  const passwd* user = getpwnam("nobody");
  if (user == nullptr) {
    throw std::runtime_error("the browser needs a user: there is no user nobody");
  }
  return FolderOwner{user->pw_uid, user->pw_gid};
}

// The members point into it: it stays where it is.
struct SpawnOptions {
  std::vector<std::string> flags;
  std::vector<std::string> variables;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::array<uv_stdio_container_t, 5> stdio{};
  uv_process_options_t options{};
};

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> out;
  for (std::string& text : *texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

void Fill(SpawnOptions* out, const config::BrowserConfig& config, const std::string& folder,
          const std::optional<FolderOwner>& user, uv_stream_t* commands, uv_stream_t* answers) {
  out->flags = Flags(config, folder);
  // Nothing of our own environment, which has secrets.
  out->variables = {"PATH=/usr/bin:/bin", "HOME=" + folder, "TMPDIR=" + folder, "LANG=C.UTF-8",
                    "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent"};
  out->arguments = Pointers(&out->flags);
  out->environment = Pointers(&out->variables);
  for (std::size_t i = 0; i < 3; ++i) out->stdio[i].flags = UV_IGNORE;
  out->stdio[3].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_READABLE_PIPE);
  out->stdio[3].data.stream = commands;
  out->stdio[4].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_WRITABLE_PIPE);
  out->stdio[4].data.stream = answers;
  uv_process_options_t& options = out->options;
  options.file = config.executable.c_str();
  options.args = out->arguments.data();
  options.env = out->environment.data();
  options.cwd = folder.c_str();
  options.stdio = out->stdio.data();
  options.stdio_count = static_cast<int>(out->stdio.size());
  options.flags = UV_PROCESS_DETACHED;  // a session of its own, which is killed as one
  if (user) {
    options.flags |= UV_PROCESS_SETUID | UV_PROCESS_SETGID;
    options.uid = user->user;
    options.gid = user->group;
  }
}

struct Child {
  uv_process_t process{};
  std::function<void(std::int64_t status, int signal)> exited;
  std::unique_ptr<ProfileFolder> folder;
};

// Waits for a process that was killed.
void AwaitExit(int pid) {
  for (int i = 0; i < kDeathMilliseconds; ++i) {
    if (waitpid(pid, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

void CloseChild(uv_process_t* process) {
  uv_close(reinterpret_cast<uv_handle_t*>(process),
           [](uv_handle_t* handle) { delete static_cast<Child*>(handle->data); });
}

void OnExit(uv_process_t* process, std::int64_t status, int signal) {
  static_cast<Child*>(process->data)->exited(status, signal);
  KillSession(process->pid);
  CloseChild(process);
}

}  // namespace

struct BrowserProcess::Impl {
  using TextDone = std::function<void(std::string text, std::string error)>;

  Impl(base::EventLoop& l, const config::BrowserConfig& c, Events e)
      : loop(l), config(c), events(std::move(e)), memory_timer(l, [this] { LookAtMemory(); }) {}

  void Start();
  void OnData(std::string_view bytes);
  void OnMessage(std::string message, bool whole);
  void LookAtMemory();
  void End(std::string why);
  void Kill();

  base::EventLoop& loop;
  const config::BrowserConfig config;
  Events events;
  Child* child = nullptr;  // deletes itself once it has exited and is closed
  int pid = 0;
  std::unique_ptr<ByteStream> commands;
  std::unique_ptr<ByteStream> answers;
  DevtoolsSplitter splitter;
  std::int64_t last_id = 0;
  std::map<std::int64_t, TextDone> waiting;
  std::size_t memory = 0;
  base::Timer memory_timer;
  bool is_gone = false;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

void BrowserProcess::Impl::Start() {
  const std::optional<FolderOwner> user = BrowserUser();
  auto made = std::make_unique<Child>();
  made->folder = std::make_unique<ProfileFolder>(user);
  commands = std::make_unique<ByteStream>(
      loop, ByteStream::Kind::kPipe, ByteStream::Events{{}, {}, [this] { End("it hung up"); }, {}});
  answers = std::make_unique<ByteStream>(
      loop, ByteStream::Kind::kPipe,
      ByteStream::Events{{},
                         [this](std::string_view bytes) { OnData(bytes); },
                         [this] { End("it ended its pipe"); },
                         {}});
  SpawnOptions spawn;
  Fill(&spawn, config, made->folder->path(), user, commands->raw(), answers->raw());
  spawn.options.exit_cb = OnExit;
  child = made.release();
  child->process.data = child;
  // libuv closes nothing in the child, and not every library opens its files to be closed there.
  // The child's own pipes are opened by uv_spawn, which takes care that they stay.
  syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  const int status = uv_spawn(loop.raw(), &child->process, &spawn.options);
  if (status != 0) {
    CloseChild(&std::exchange(child, nullptr)->process);
    throw std::runtime_error(config.executable + " cannot be started: " + uv_strerror(status));
  }
  pid = child->process.pid;
  child->exited = [this](std::int64_t, int signal) {
    child = nullptr;
    End(signal != 0 ? "signal " + std::to_string(signal) + " ended it" : "it exited");
  };
  answers->Read();
  memory_timer.Start(kMemoryEvery, kMemoryEvery);
}

void BrowserProcess::Impl::OnData(std::string_view bytes) {
  const auto still = alive;
  splitter.Add(bytes, [this, &still](std::string message, bool whole) {
    if (*still && !is_gone) OnMessage(std::move(message), whole);
  });
}

void BrowserProcess::Impl::OnMessage(std::string message, bool whole) {
  const auto id = AnswerId(message);
  if (id) {
    auto node = waiting.extract(*id);
    if (node.empty()) return;
    return node.mapped()(std::move(message), whole ? "" : "the answer is too long");
  }
  if (!whole) return;  // an event that nobody could have use for
  const auto event = ReadDevtoolsMessage(std::move(message));
  if (event && !event->method.empty()) events.event(*event);
}

// Pages are ended before the browser is, the largest first, until what is left is within the bound:
// those that are not among them go on.
void BrowserProcess::Impl::LookAtMemory() {
  const SessionMemory seen = MemoryOfSession(pid);
  memory = seen.bytes;
  std::size_t left = memory;
  for (const SessionMemory::Page& page : seen.pages) {
    if (left <= config.memory_bytes_max) return;
    kill(page.pid, SIGKILL);
    left -= page.bytes;
  }
  if (left > config.memory_bytes_max) End("it took more memory than it may");
}

void BrowserProcess::Impl::Kill() {
  memory_timer.Stop();
  waiting.clear();
  if (child != nullptr) KillSession(pid);
}

void BrowserProcess::Impl::End(std::string why) {
  if (std::exchange(is_gone, true)) return;
  Kill();
  // The owner destroys this object in here.
  const auto gone = events.gone;
  gone(std::move(why));
}

BrowserProcess::BrowserProcess(base::EventLoop& loop, const config::BrowserConfig& config,
                               Events events)
    : impl_(std::make_unique<Impl>(loop, config, std::move(events))) {
  impl_->Start();
}

BrowserProcess::~BrowserProcess() {
  *impl_->alive = false;
  impl_->Kill();
  if (impl_->child == nullptr) return;
  AwaitExit(impl_->pid);
  CloseChild(&impl_->child->process);
}

void BrowserProcess::Quit() {
  impl_->is_gone = true;
  impl_->Kill();
}

bool BrowserProcess::has_exited() const {
  return impl_->child == nullptr;
}

void BrowserProcess::Send(std::string_view method, base::Json params, const std::string& session,
                          std::function<void(Answer answer)> done) {
  SendForText(method, std::move(params), session,
              [done = std::move(done)](std::string text, std::string error) {
                if (done == nullptr) return;
                if (!error.empty()) return done({base::Json::object(), std::move(error)});
                auto message = ReadDevtoolsMessage(std::move(text));
                if (!message) return done({base::Json::object(), "the answer cannot be read"});
                done({std::move(message->body), std::move(message->error)});
              });
}

void BrowserProcess::SendForText(std::string_view method, base::Json params,
                                 const std::string& session,
                                 std::function<void(std::string text, std::string error)> done) {
  Impl& s = *impl_;
  if (s.is_gone) return;
  const std::int64_t id = ++s.last_id;
  s.waiting.emplace(id, std::move(done));
  s.commands->Write(DevtoolsCommand(id, method, std::move(params), session));
  // Not from inside: who sends goes on with this object.
  if (s.commands->waiting() > kCommandBytesMax) kill(s.pid, SIGKILL);
}

std::size_t BrowserProcess::memory_bytes() const {
  return impl_->memory;
}

int BrowserProcess::pid() const {
  return impl_->pid;
}

int BrowserProcess::RemoveLostFolders() {
  return RemoveLostProfiles(BrowserUser());
}

}  // namespace vedette::net
