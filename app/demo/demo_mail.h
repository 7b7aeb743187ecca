#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace vedette::app {

// The mail server of the demo's companies, and the DNS that leads to it: on loopback, one thread.
// It knows the mailbox of each lead and postmaster, for whom it takes no mail, and refuses every
// other; and it is the relay of the demo's service, which takes what goes to the demo's readers.
class DemoMail {
 public:
  struct Lead {
    std::string name;
    std::string domain;
    std::string address;  // what is to be found
  };
  static const std::vector<Lead>& leads();

  // A message as people read it.
  struct Letter {
    std::string from;
    std::string subject;
    std::vector<std::string> lines;  // of its text, without the empty ones
  };
  static constexpr std::string_view kReaderDomain = "reader.example";

  // Serves at once. Throws std::runtime_error where a port cannot be had.
  DemoMail();
  ~DemoMail();
  DemoMail(const DemoMail&) = delete;
  DemoMail& operator=(const DemoMail&) = delete;

  // A port of 127.0.0.1 that nothing listened on just now.
  static int FreePort();
  int smtp_port() const { return smtp_port_; }
  std::string dns_server() const;  // "127.0.0.1:5353"
  // RCPT commands so far. Any thread.
  int recipients() const { return recipients_; }
  // The n-th message that was taken for a reader's address. Any thread.
  std::optional<Letter> LetterTo(const std::string& address, std::size_t n) const;

  // What is read of a message (RFC 5322) of vedette's own; pure.
  static Letter ReadLetter(std::string_view message);
  // What the server says to a line, without its line end; pure.
  static std::string SmtpReply(std::string_view line);
  // The answer to a query: MX and addresses of the leads' domains. Of every other name it refuses
  // to say anything, so that the next server is asked. Empty for what is no query.
  static std::string DnsReply(std::string_view query);

 private:
  struct Socket;
  struct Client;

  void Serve();
  void AnswerDns() const;
  void Accept(std::vector<Client>* clients);
  // False: the connection is over.
  bool Talk(Client* client);
  // The reply to the next line or message of the client's; nothing until there is one.
  std::optional<std::string> Next(Client* client);

  std::unique_ptr<Socket> dns_;
  std::unique_ptr<Socket> smtp_;
  int dns_port_ = 0;
  int smtp_port_ = 0;
  std::atomic<int> recipients_{0};
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> taken_;  // recipient, message
  std::thread thread_;
};

// The name servers that the system asks, as [net] dns_servers writes them; from the text of
// /etc/resolv.conf. Pure.
std::vector<std::string> NameServersOf(std::string_view resolv_conf);

}  // namespace vedette::app
