#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/net/support.h"

// A mail server on 127.0.0.1 that says what a test wants, and remembers what it was told.
namespace vedette::test {

// Instead of a reply.
inline const std::string kHangUp = "<hang up>";
inline const std::string kSilence = "<silence>";

struct MxScript {
  std::string banner = "220 mx.test ready";
  std::string ehlo = "250-mx.test\r\n250 SIZE 1000";
  std::string helo = "250 mx.test";
  std::string starttls = "502 no";
  std::string mail = "250 ok";
  // By local part, then by the kind of local part: "control" and "postmaster"; "*" for any other.
  std::map<std::string, std::string> rcpt{};
  // Instead of these; `nth` counts from 1 on the connection.
  std::function<std::string(const std::string& local, int nth)> on_rcpt{};
};

class ScriptedMx {
 public:
  using Plan = std::function<MxScript(int connection)>;  // counted from 1

  explicit ScriptedMx(Plan plan)
      : plan_(std::move(plan)), server_([this](net::test::Socket& socket) { Serve(socket); }) {}
  explicit ScriptedMx(MxScript script) : ScriptedMx([script](int) { return script; }) {}

  int port() const { return server_.port(); }
  int connections() const { return connections_; }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  int Count(const std::string& prefix) {
    int n = 0;
    for (const std::string& line : lines()) n += line.starts_with(prefix) ? 1 : 0;
    return n;
  }

 private:
  static std::string KindOf(const std::string& local) {
    return local.size() == 16 && local.find('.') == std::string::npos ? "control" : local;
  }

  static std::string Rcpt(const MxScript& script, const std::string& line, int nth) {
    const std::size_t begin = line.find('<') + 1;
    const std::string local = KindOf(line.substr(begin, line.rfind('@') - begin));
    if (script.on_rcpt) return script.on_rcpt(local, nth);
    const auto found = script.rcpt.find(local);
    if (found != script.rcpt.end()) return found->second;
    const auto any = script.rcpt.find("*");
    if (any != script.rcpt.end() && local != "control" && local != "postmaster") return any->second;
    return local == "postmaster" ? "250 ok" : "550 5.1.1 unknown";
  }

  // False: the connection is over.
  static bool Say(net::test::Socket& socket, const std::string& reply) {
    if (reply == kHangUp) return false;
    if (reply == kSilence) {
      while (!socket.Receive().empty()) {
      }
      return false;
    }
    return socket.Send(reply + "\r\n");
  }

  void Serve(net::test::Socket& socket) {
    const MxScript script = plan_(++connections_);
    if (!Say(socket, script.banner)) return;
    std::string buffer;
    int nth = 0;
    while (true) {
      const std::size_t end = buffer.find("\r\n");
      if (end == std::string::npos) {
        const std::string more = socket.Receive();
        if (more.empty()) return;
        buffer += more;
        continue;
      }
      const std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 2);
      {
        const std::lock_guard lock(mutex_);
        lines_.push_back(line);
      }
      std::string reply = "250 ok";
      if (line.starts_with("EHLO")) reply = script.ehlo;
      if (line.starts_with("HELO")) reply = script.helo;
      if (line == "STARTTLS") reply = script.starttls;
      if (line.starts_with("MAIL")) reply = script.mail;
      if (line.starts_with("RCPT")) reply = Rcpt(script, line, ++nth);
      if (line == "QUIT") reply = "221 bye";
      if (!Say(socket, reply) || line == "QUIT") return;
    }
  }

  const Plan plan_;
  std::atomic<int> connections_{0};
  std::mutex mutex_;
  std::vector<std::string> lines_;
  net::test::RawServer server_;
};

}  // namespace vedette::test
