#include "app/demo/demo_mail.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/crypto.h"
#include "base/text.h"
#include "net/public_address.h"

namespace vedette::app {
namespace {

constexpr int kPollMs = 100;  // how long a stop may take
constexpr std::size_t kLineBytesMax = 1024;
constexpr std::size_t kMessageBytesMax = std::size_t{256} << 10;
constexpr std::size_t kTakenMax = 500;  // messages that are kept
constexpr std::size_t kClientsMax = 64;
constexpr std::size_t kQueryBytesMax = 512;
constexpr std::size_t kDnsHeaderBytes = 12;
constexpr std::string_view kMailHost = "mx.";  // before a domain
constexpr std::uint16_t kTypeA = 1;
constexpr std::uint16_t kTypeMx = 15;
constexpr std::uint16_t kRefused = 5;  // the DNS's RCODE

sockaddr_in Loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

enum class Whose { kNobodys, kDomain, kHost, kBelow };

// What a name is to the leads' domains.
Whose WhoseName(const std::string& name) {
  for (const DemoMail::Lead& lead : DemoMail::leads()) {
    if (name == lead.domain) return Whose::kDomain;
    if (name == std::string(kMailHost) + lead.domain) return Whose::kHost;
    if (name.ends_with("." + lead.domain)) return Whose::kBelow;
  }
  return Whose::kNobodys;
}

std::string Two(std::uint16_t value) {
  return {static_cast<char>(value >> 8), static_cast<char>(value & 0xFF)};
}

// A name as the DNS writes it: each label behind its length.
std::string Labels(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('.'), name.size());
    out += static_cast<char>(end);
    out += name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return out + '\0';
}

struct Question {
  std::string name;  // in lower case
  std::uint16_t type = 0;
  std::string_view bytes;  // as it stands in the query
};

std::optional<Question> ReadQuestion(std::string_view query) {
  Question question;
  std::size_t at = kDnsHeaderBytes;
  while (at < query.size() && query[at] != 0) {
    const auto length = static_cast<unsigned char>(query[at]);
    if (length > 63 || at + 1 + length >= query.size()) return std::nullopt;
    if (!question.name.empty()) question.name += '.';
    question.name += base::AsciiLower(query.substr(at + 1, length));
    at += 1 + length;
  }
  if (at + 5 > query.size()) return std::nullopt;
  question.type = static_cast<std::uint16_t>(static_cast<unsigned char>(query[at + 1]) << 8 |
                                             static_cast<unsigned char>(query[at + 2]));
  question.bytes = query.substr(kDnsHeaderBytes, at + 5 - kDnsHeaderBytes);
  return question;
}

// One record about the name of the question, good for no time.
std::string Record(std::uint16_t type, const std::string& data) {
  return std::string("\xC0\x0C", 2) + Two(type) + Two(1) + std::string(4, '\0') +
         Two(static_cast<std::uint16_t>(data.size())) + data;
}

}  // namespace

struct DemoMail::Socket {
  explicit Socket(int opened) : fd(opened) {}
  ~Socket() {
    if (fd >= 0) close(fd);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // On a free port of loopback, which is returned.
  int Bind() const {
    sockaddr_in address = Loopback();
    socklen_t size = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (fd < 0 || bind(fd, plain, size) != 0 || getsockname(fd, plain, &size) != 0) {
      throw std::runtime_error("the demo's mail server finds no free port");
    }
    return ntohs(address.sin_port);
  }

  const int fd;
};

struct DemoMail::Client {
  std::unique_ptr<Socket> socket;
  std::string text;    // of a line or a message that is not complete
  std::string reader;  // the last recipient, if it is one of the demo's readers
  bool sends = false;  // a message is under way
};

const std::vector<DemoMail::Lead>& DemoMail::leads() {
  // Each company writes its addresses in a way of its own.
  static const std::vector<Lead> kLeads = {
      {"Ines Okafor", "aurora-robotics.example", "ines.okafor@aurora-robotics.example"},
      {"Tomas Lindqvist", "blue-harbor-foods.example", "tlindqvist@blue-harbor-foods.example"},
      {"Mara Delacroix", "cinder-analytics.example", "mara@cinder-analytics.example"}};
  return kLeads;
}

DemoMail::DemoMail()
    : dns_(std::make_unique<Socket>(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))),
      smtp_(
          std::make_unique<Socket>(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))),
      dns_port_(dns_->Bind()),
      smtp_port_(smtp_->Bind()) {
  if (listen(smtp_->fd, kClientsMax) != 0) {
    throw std::runtime_error("the demo's mail server cannot listen");
  }
  thread_ = std::thread([this] { Serve(); });
}

int DemoMail::FreePort() {
  return Socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)).Bind();
}

DemoMail::~DemoMail() {
  stopping_ = true;
  thread_.join();
}

std::string DemoMail::dns_server() const {
  return fmt::format("127.0.0.1:{}", dns_port_);
}

std::optional<DemoMail::Letter> DemoMail::LetterTo(const std::string& address,
                                                   std::size_t n) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [recipient, message] : taken_) {
    if (recipient == address && n-- == 0) return ReadLetter(message);
  }
  return std::nullopt;
}

namespace {

std::string HeaderOf(std::string_view message, std::string_view name) {
  const std::string begin = "\r\n" + std::string(name) + ": ";
  const std::size_t at = message.find(begin);
  if (at == message.npos) return {};
  const std::size_t from = at + begin.size();
  return std::string(message.substr(from, message.find("\r\n", from) - from));
}

// What a base64 part says; empty where it is none.
std::string Decoded(std::string_view part) {
  std::string text;
  for (const char c : part) {
    if (c == '+') {
      text += '-';
    } else if (c == '/') {
      text += '_';
    } else if (c != '=' && c != '\r' && c != '\n') {
      text += c;
    }
  }
  return base::Base64UrlDecode(text).value_or("");
}

std::string AddressIn(std::string_view line) {
  const std::size_t begin = line.find('<') + 1;
  return base::AsciiLower(line.substr(begin, line.rfind('>') - begin));
}

bool IsReader(std::string_view address) {
  return address.ends_with("@" + std::string(DemoMail::kReaderDomain));
}

}  // namespace

DemoMail::Letter DemoMail::ReadLetter(std::string_view message) {
  constexpr std::string_view kPlain = "Content-Type: text/plain";
  constexpr std::string_view kBlank = "\r\n\r\n";
  Letter letter{HeaderOf(message, "From"), HeaderOf(message, "Subject"), {}};
  const std::size_t part = message.find(kPlain);
  if (part == message.npos) return letter;
  const std::size_t begin = message.find(kBlank, part);
  if (begin == message.npos) return letter;
  const std::string text = Decoded(message.substr(begin, message.find("\r\n--", begin) - begin));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) letter.lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return letter;
}

std::string DemoMail::SmtpReply(std::string_view line) {
  const std::string verb = base::AsciiLower(line.substr(0, 4));
  if (verb == "ehlo") return "250-demo mail\r\n250 ENHANCEDSTATUSCODES";
  if (verb == "quit") return "221 2.0.0 bye";
  if (verb == "data") return "554 5.7.1 no mail is taken here";
  if (verb != "rcpt") return "250 2.0.0 ok";
  const std::string address = AddressIn(line);
  const bool is_known = std::any_of(leads().begin(), leads().end(),
                                    [&](const Lead& lead) { return lead.address == address; });
  return is_known || IsReader(address) || address.starts_with("postmaster@") ? "250 2.1.5 ok"
                                                                             : "550 5.1.1 unknown";
}

std::string DemoMail::DnsReply(std::string_view query) {
  const auto question = ReadQuestion(query);
  if (!question) return "";
  const Whose whose = WhoseName(question->name);
  std::string record;
  if (whose == Whose::kHost && question->type == kTypeA) {
    record = Record(kTypeA, std::string("\x7F\0\0\1", 4));
  }
  if (whose == Whose::kDomain && question->type == kTypeMx) {
    record = Record(kTypeMx, Two(10) + Labels(std::string(kMailHost) + question->name));
  }
  const std::uint16_t flags = 0x8180 | (whose == Whose::kNobodys ? kRefused : 0);
  return std::string(query.substr(0, 2)) + Two(flags) + Two(1) + Two(record.empty() ? 0 : 1) +
         std::string(4, '\0') + std::string(question->bytes) + record;
}

void DemoMail::Serve() {
  std::vector<Client> clients;
  while (!stopping_) {
    std::vector<pollfd> polled = {{dns_->fd, POLLIN, 0}, {smtp_->fd, POLLIN, 0}};
    for (const Client& client : clients) polled.push_back({client.socket->fd, POLLIN, 0});
    if (poll(polled.data(), polled.size(), kPollMs) <= 0) continue;
    if (polled[0].revents != 0) AnswerDns();
    std::vector<Client> left;
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if (polled[i + 2].revents == 0 || Talk(&clients[i])) left.push_back(std::move(clients[i]));
    }
    clients = std::move(left);
    if (polled[1].revents != 0) Accept(&clients);
  }
}

void DemoMail::AnswerDns() const {
  std::array<char, kQueryBytesMax> query;
  sockaddr_in from{};
  socklen_t size = sizeof from;
  auto* peer = reinterpret_cast<sockaddr*>(&from);
  const ssize_t n = recvfrom(dns_->fd, query.data(), query.size(), 0, peer, &size);
  if (n <= 0) return;
  const std::string answer = DnsReply({query.data(), static_cast<std::size_t>(n)});
  if (!answer.empty()) sendto(dns_->fd, answer.data(), answer.size(), MSG_NOSIGNAL, peer, size);
}

void DemoMail::Accept(std::vector<Client>* clients) {
  auto accepted = std::make_unique<Socket>(accept4(smtp_->fd, nullptr, nullptr, SOCK_CLOEXEC));
  if (accepted->fd < 0 || clients->size() >= kClientsMax) return;
  constexpr std::string_view kBanner = "220 demo mail\r\n";
  send(accepted->fd, kBanner.data(), kBanner.size(), MSG_NOSIGNAL);
  clients->push_back({std::move(accepted), ""});
}

bool DemoMail::Talk(Client* client) {
  std::array<char, kLineBytesMax> bytes;
  const ssize_t n = recv(client->socket->fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (n <= 0) return false;
  client->text.append(bytes.data(), static_cast<std::size_t>(n));
  while (auto reply = Next(client)) {
    *reply += "\r\n";
    send(client->socket->fd, reply->data(), reply->size(), MSG_NOSIGNAL);
    if (reply->starts_with("221")) return false;
  }
  return client->text.size() <= (client->sends ? kMessageBytesMax : kLineBytesMax);
}

std::optional<std::string> DemoMail::Next(Client* client) {
  const std::string_view mark = client->sends ? "\r\n.\r\n" : "\r\n";
  const std::size_t end = client->text.find(mark);
  if (end == std::string::npos) return std::nullopt;
  std::string given = client->text.substr(0, end);
  client->text.erase(0, end + mark.size());
  if (client->sends) {
    client->sends = false;
    const std::lock_guard lock(mutex_);
    if (taken_.size() < kTakenMax) taken_.emplace_back(client->reader, "\r\n" + given);
    return "250 2.0.0 taken";
  }
  const std::string line = base::AsciiLower(given);
  if (line.starts_with("rcpt")) {
    ++recipients_;
    client->reader = IsReader(AddressIn(line)) ? AddressIn(line) : "";
  }
  if (line == "data" && !client->reader.empty()) {
    client->sends = true;
    return "354 go on";
  }
  return SmtpReply(given);
}

std::vector<std::string> NameServersOf(std::string_view resolv_conf) {
  constexpr std::string_view kKeyword = "nameserver";
  std::vector<std::string> servers;
  while (!resolv_conf.empty()) {
    const std::size_t end = std::min(resolv_conf.find('\n'), resolv_conf.size());
    const std::string_view line = base::Trim(resolv_conf.substr(0, end));
    resolv_conf.remove_prefix(std::min(end + 1, resolv_conf.size()));
    if (!line.starts_with(kKeyword)) continue;
    const std::string address(base::Trim(line.substr(kKeyword.size())));
    if (net::IpAddress::Parse(address)) servers.push_back(address);
  }
  return servers;
}

}  // namespace vedette::app
