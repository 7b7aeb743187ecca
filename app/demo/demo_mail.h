#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace vedette::app {

// The mail server of the demo's companies, and the DNS that leads to it: on loopback, one thread.
// It knows the mailbox of each lead and postmaster, refuses every other, and takes no mail.
class DemoMail {
 public:
  struct Lead {
    std::string name;
    std::string domain;
    std::string address;  // what is to be found
  };
  static const std::vector<Lead>& leads();

  // Serves at once. Throws std::runtime_error where a port cannot be had.
  DemoMail();
  ~DemoMail();
  DemoMail(const DemoMail&) = delete;
  DemoMail& operator=(const DemoMail&) = delete;

  int smtp_port() const { return smtp_port_; }
  std::string dns_server() const;  // "127.0.0.1:5353"
  // RCPT commands so far. Any thread.
  int recipients() const { return recipients_; }

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

  std::unique_ptr<Socket> dns_;
  std::unique_ptr<Socket> smtp_;
  int dns_port_ = 0;
  int smtp_port_ = 0;
  std::atomic<int> recipients_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

// The name servers that the system asks, as [net] dns_servers writes them; from the text of
// /etc/resolv.conf. Pure.
std::vector<std::string> NameServersOf(std::string_view resolv_conf);

}  // namespace vedette::app
