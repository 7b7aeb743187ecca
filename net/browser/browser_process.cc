#include "net/browser/browser_process.h"

#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <uv.h>

#include "net/browser/byte_stream.h"
#include "net/browser/process_memory.h"

namespace vedette::net {
namespace {

using std::chrono::milliseconds;

// How often the memory of its processes is looked at.
constexpr milliseconds kMemoryEvery{1000};
// Commands that wait in the pipe; over it the browser hangs, and is ended.
constexpr std::size_t kCommandBytesMax = 16 << 20;

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
      "CertificateTransparencyComponentUpdater,NetworkTimeServiceQuerying,WebBluetooth,WebUSB",
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

// A folder for the profile of one browser, its user's alone.
std::string NewFolder(const passwd* user) {
  std::string path = (std::filesystem::temp_directory_path() / "vedette-browser-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    throw std::runtime_error("no folder for the browser: " +
                             std::generic_category().message(errno));
  }
  if (user != nullptr && chown(path.c_str(), user->pw_uid, user->pw_gid) != 0) {
    throw std::runtime_error("no folder for the browser's user: " +
                             std::generic_category().message(errno));
  }
  return path;
}

struct Child {
  uv_process_t process{};
  std::function<void(std::int64_t status, int signal)> exited;  // empty: nobody waits for it
  std::string folder;
};

void DropFolder(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
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
  const passwd* user = geteuid() == 0 ? getpwnam("nobody") : nullptr;
  if (geteuid() == 0 && user == nullptr) {
    throw std::runtime_error("the browser needs a user: there is no user nobody");
  }
  auto made = std::make_unique<Child>();
  made->folder = NewFolder(user);
  commands = std::make_unique<ByteStream>(
      loop, ByteStream::Kind::kPipe, ByteStream::Events{{}, {}, [this] { End("it hung up"); }, {}});
  answers = std::make_unique<ByteStream>(
      loop, ByteStream::Kind::kPipe,
      ByteStream::Events{{},
                         [this](std::string_view bytes) { OnData(bytes); },
                         [this] { End("it ended its pipe"); },
                         {}});
  std::vector<std::string> flags = Flags(config, made->folder);
  std::vector<char*> arguments;
  for (std::string& flag : flags) arguments.push_back(flag.data());
  arguments.push_back(nullptr);
  std::array<std::string, 5> variables = {"PATH=/usr/bin:/bin", "HOME=" + made->folder,
                                          "TMPDIR=" + made->folder, "LANG=C.UTF-8",
                                          "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent"};
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  std::array<uv_stdio_container_t, 5> stdio{};
  stdio[0].flags = stdio[1].flags = stdio[2].flags = UV_IGNORE;
  stdio[3].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_READABLE_PIPE);
  stdio[3].data.stream = commands->raw();
  stdio[4].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_WRITABLE_PIPE);
  stdio[4].data.stream = answers->raw();
  uv_process_options_t options{};
  options.file = config.executable.c_str();
  options.args = arguments.data();
  options.env = environment.data();
  options.cwd = made->folder.c_str();
  options.stdio = stdio.data();
  options.stdio_count = static_cast<int>(stdio.size());
  options.flags = UV_PROCESS_DETACHED;  // a session of its own, which is killed as one
  if (user != nullptr) {
    options.flags |= UV_PROCESS_SETUID | UV_PROCESS_SETGID;
    options.uid = user->pw_uid;
    options.gid = user->pw_gid;
  }
  options.exit_cb = [](uv_process_t* process, std::int64_t status, int signal) {
    auto* one = static_cast<Child*>(process->data);
    if (one->exited) one->exited(status, signal);
    KillSession(process->pid);
    DropFolder(one->folder);
    uv_close(reinterpret_cast<uv_handle_t*>(process),
             [](uv_handle_t* handle) { delete static_cast<Child*>(handle->data); });
  };
  child = made.release();
  child->process.data = child;
  const int status = uv_spawn(loop.raw(), &child->process, &options);
  if (status != 0) {
    DropFolder(child->folder);
    uv_close(reinterpret_cast<uv_handle_t*>(&child->process),
             [](uv_handle_t* handle) { delete static_cast<Child*>(handle->data); });
    child = nullptr;
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

// A page that takes everything is ended before the browser is, and the largest is the likeliest.
void BrowserProcess::Impl::LookAtMemory() {
  const SessionMemory seen = MemoryOfSession(pid);
  memory = seen.bytes;
  if (memory <= config.memory_bytes_max) return;
  if (seen.largest_page != 0 && memory <= config.memory_bytes_max * 3 / 2) {
    kill(seen.largest_page, SIGKILL);
    return;
  }
  End("it took more memory than it may");
}

void BrowserProcess::Impl::Kill() {
  memory_timer.Stop();
  if (child == nullptr) return;
  KillSession(pid);
  DropFolder(child->folder);
  child->exited = nullptr;
  child = nullptr;
}

void BrowserProcess::Impl::End(std::string why) {
  if (std::exchange(is_gone, true)) return;
  Kill();
  waiting.clear();
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

}  // namespace vedette::net
