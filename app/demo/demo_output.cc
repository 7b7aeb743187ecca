#include "app/demo/demo_output.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/crypto.h"

namespace vedette::app {
namespace {

constexpr std::chrono::seconds kLongWait{5};
constexpr std::string_view kBold = "1";
constexpr std::string_view kDim = "2";
constexpr std::string_view kRed = "1;31";
constexpr std::string_view kGreen = "32";
constexpr std::string_view kCyan = "1;36";

}  // namespace

Narrator::Narrator(std::FILE* stream, bool terminal)
    : stream_(stream), terminal_(terminal), start_(std::chrono::steady_clock::now()) {}

Narrator Narrator::ForStandardOutput() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  const bool plain = dumb || (no_color != nullptr && *no_color != '\0');
  return Narrator(stdout, isatty(STDOUT_FILENO) == 1 && !plain);
}

void Narrator::Line(std::string_view text) {
  const std::string line = fmt::format("{}{}\n", waiting_ ? "\r\x1b[K" : "", text);
  waiting_ = false;
  waited_.clear();
  std::fwrite(line.data(), 1, line.size(), stream_);
  std::fflush(stream_);
}

std::string Narrator::Paint(std::string_view code, std::string_view text) const {
  return terminal_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

void Narrator::Title(std::string_view text) {
  Line(Paint(kBold, text));
}

void Narrator::Step(int number, int of, std::string_view text) {
  Line("");
  Line(Paint(kCyan, fmt::format("{}/{} {}", number, of, text)));
}

void Narrator::Observed(std::string_view text) {
  const auto elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_);
  Line(fmt::format("  {} {}  {}", Paint(kDim, fmt::format("{:5.1f} s", elapsed.count())),
                   Paint(kGreen, terminal_ ? "✓" : "ok"), text));
}

void Narrator::Note(std::string_view text) {
  Line(fmt::format("  {:>7} {}  {}", "", terminal_ ? " " : "  ", Paint(kDim, text)));
}

void Narrator::Waiting(std::string_view text, std::chrono::seconds so_far) {
  if (terminal_) {
    const std::string line = fmt::format(
        "\r\x1b[K  {}", Paint(kDim, fmt::format("{:>5} s …  {}", so_far.count(), text)));
    std::fwrite(line.data(), 1, line.size(), stream_);
    std::fflush(stream_);
    waiting_ = true;
  } else if (so_far >= kLongWait && waited_ != text) {
    Note(fmt::format("waiting for {}", text));
    waited_ = text;
  }
}

void Narrator::Failed(std::string_view text) {
  Line(Paint(kRed, text));
}

void Narrator::Success(std::string_view text) {
  Line(Paint(kGreen, text));
}

void Narrator::Blank() {
  Line("");
}

void Narrator::Fact(std::string_view label, std::string_view value) {
  Line(fmt::format("  {}  {}", Paint(kDim, fmt::format("{:<9}", label)), value));
}

namespace {

constexpr const char* kFileName = "state.json";

}  // namespace

DemoState LoadDemoState(const std::filesystem::path& dir) {
  DemoState state;
  const std::filesystem::path path = dir / kFileName;
  if (!std::filesystem::exists(path)) {
    state.encryption_key = base::HexEncode(base::RandomBytes(32));
    state.admin_token = "vd_admin_" + base::RandomBase62(32);
    return state;
  }
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  try {
    const base::Json json = base::ParseJsonOrThrow(text.str());
    state.encryption_key = json.at("encryption_key").get<std::string>();
    state.admin_token = json.at("admin_token").get<std::string>();
    state.org_id = json.at("org_id").get<std::string>();
    state.api_key = json.at("api_key").get<std::string>();
    state.signing_secret = json.at("signing_secret").get<std::string>();
    state.monitor_id = json.at("monitor_id").get<std::string>();
    state.site_port = json.at("site_port").get<int>();
    state.receiver_port = json.at("receiver_port").get<int>();
    state.changes = json.at("changes").get<int>();
    state.site = json.at("site");
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{} cannot be read ({}); remove {} to start from nothing",
                                         path.native(), error.what(), dir.native()));
  }
  return state;
}

void SaveDemoState(const std::filesystem::path& dir, const DemoState& state) {
  const base::Json json = {{"encryption_key", state.encryption_key},
                           {"admin_token", state.admin_token},
                           {"org_id", state.org_id},
                           {"api_key", state.api_key},
                           {"signing_secret", state.signing_secret},
                           {"monitor_id", state.monitor_id},
                           {"site_port", state.site_port},
                           {"receiver_port", state.receiver_port},
                           {"changes", state.changes},
                           {"site", state.site}};
  WritePrivateFile(dir / kFileName, json.dump(2) + "\n");
}

void WritePrivateFile(const std::filesystem::path& path, const std::string& text) {
  const std::string unfinished = path.native() + ".new";
  const auto fail = [&](const std::string& what) {
    const std::string reason = std::strerror(errno);
    unlink(unfinished.c_str());
    throw std::runtime_error(fmt::format("cannot write {}: {}", what, reason));
  };
  unlink(unfinished.c_str());
  const int fd = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) fail(unfinished);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      close(fd);
      fail(unfinished);
    }
    written += static_cast<std::size_t>(n);
  }
  if (close(fd) != 0 || rename(unfinished.c_str(), path.c_str()) != 0) fail(path.native());
}

}  // namespace vedette::app
