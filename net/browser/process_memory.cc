#include "net/browser/process_memory.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

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

}  // namespace vedette::net
