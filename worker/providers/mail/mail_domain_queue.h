#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "lease/live.h"
#include "net/dns_records.h"
#include "net/resolver.h"
#include "worker/providers/mail/mail_exchange.h"
#include "worker/providers/mail/mail_server_memory.h"
#include "worker/providers/provider.h"

namespace vedette::worker {

// How names are looked up; net::Resolver in a process, tables in tests.
struct MailNames {
  std::function<void(const std::string& domain,
                     std::function<void(net::DnsRecords<net::MxRecord>)> done)>
      mx;
  std::function<void(const std::string& host, std::function<void(net::ResolveResult)> done)>
      addresses;
};

// What the queues of a process share. Loop thread only.
struct MailSharedState {
  MailExchange::Dependencies exchange;
  const base::Clock& clock;
  const MailNames names;
  MailServerMemory& memory;
  std::optional<net::SmtpPeer> proxy{};
  std::chrono::milliseconds window{};        // of every budget, block and greylist; 0: as they are
  std::map<std::string, int> connections{};  // by host key
  // Queues that wait for a connection to end, by host key, first come first served. Each call
  // either takes a connection or needs none any more.
  std::map<std::string, std::deque<std::function<void()>>> waiting{};
  std::mt19937 random{std::random_device{}()};
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

// All that this process asks the mail servers of one domain, for all rows and organisations: facts
// first, then one connection at a time, shared by everybody who asks.
//
//   idle --> facts --> mx --> hosts --> admission --> exchange --ended--> idle, if nobody is left
//              |        |       |        ^  |            |
//              |        |       |        |  |            +--asks are left--> hosts, the next one
//              |        |       |        |  +--no connection of the class is free: waits
//              +--------+-------+--------+--the DNS, the breaker or the budget decides--> idle
//
// Every ask is answered once: by a verdict, by Later, or when its time is over.
class MailDomainQueue {
 public:
  struct Ask {
    net::SmtpPath path;
    bool guess = false;
    int attempt = 0;
    bool may_wait = true;
    std::chrono::milliseconds timeout{};
    std::function<void(LookupAnswer)> done;
  };

  // `domain`: A-labels. `utf8`: the asks need SMTPUTF8. `shared` must outlive it. `idle` is called,
  // later, when it has nothing left to do; it may destroy the queue.
  MailDomainQueue(MailSharedState& shared, std::string domain, bool utf8,
                  std::function<void()> idle);
  ~MailDomainQueue();

  void Push(Ask ask);
  bool IsIdle() const { return asks_.empty() && state_ == State::kIdle; }

 private:
  using AskId = MailBatch::AskId;
  enum class State : std::uint8_t { kIdle, kFacts, kMx, kHosts, kRoom, kAdmission, kExchange };
  struct Held {
    Ask ask;
    int connections = 0;  // that it was part of
    std::chrono::nanoseconds until{};
  };
  // Accepted, its control to be asked on the next connection to the same host.
  struct Carried {
    AskId id;
    std::chrono::nanoseconds at;
  };
  struct Host {
    std::string name;
    net::IpAddress address;
  };

  // Up to the permits.
  void Begin();
  void OnFacts(std::optional<domain::MailDomainFacts> facts);
  void OnMx(const net::DnsRecords<net::MxRecord>& answer);
  void Keep(domain::MailDomainKind kind, std::vector<std::string> hosts);
  void WithHosts();
  void RenewControl();
  void NextHost();
  void OnAddresses(const std::string& name, const net::ResolveResult& result);
  void TakeRoom();
  void ReleaseRoom();
  static void WakeWaiting(MailSharedState& shared, const std::string& key);
  void AskAdmission(int addresses);
  void OnAdmission(int addresses, const store::MailAdmission& admission);
  void WakeAt(std::chrono::nanoseconds until);
  void AnswerOverdue();
  void Answer(AskId id, const domain::AddressFacts& facts, domain::MailEvidence evidence);
  void AnswerAll(const domain::AddressFacts& facts, const domain::ReplyCodes& codes = {});
  void AnswerCarried();
  void Rest();
  std::size_t QueuedAsks();
  int RecipientsMax() const;
  std::string HostKey() const;
  std::vector<store::MailPermit> Permits() const;
  std::chrono::milliseconds Window(std::chrono::milliseconds usual) const;
  domain::AddressFacts Course(domain::AddressFacts::Course course) const;
  // What is asked elsewhere may be answered when the queue is gone: it is dropped then.
  template <typename F>
  auto IfAlive(F f) {
    return live_.Guard(std::move(f));
  }

  // The connections.
  void StartExchange(int addresses);
  MailBatch MakeBatch();
  void TopUp();
  void OnTopUp(int addresses, const store::MailAdmission& admission);
  void OnDecided(std::vector<MailBatch::Decided> decided);
  void OnEnded(MailExchangeEnd end);
  void LearnFrom(const MailExchangeEnd& end);
  void NoteRefusal(const std::string& reply_text);
  void NoteTrouble(const store::MailTrouble& trouble);
  void CountForBreaker(const MailExchangeEnd& end);
  void Requeue(const MailExchangeEnd& end);
  void GoOnAfterRefusal(const MailExchangeEnd& end);
  void GoOnAfterFault(const MailExchangeEnd& end);

  MailSharedState& shared_;
  const std::string domain_;
  const bool utf8_;
  const std::function<void()> idle_;
  State state_ = State::kIdle;
  AskId last_id_ = 0;
  std::map<AskId, Held> asks_;
  std::set<std::pair<std::chrono::nanoseconds, AskId>> ends_;  // of their time
  std::chrono::nanoseconds wakes_at_{};                        // ends_timer_, where it is active
  std::deque<AskId> queue_;  // to be asked; ids that were answered meanwhile are passed over
  std::vector<Carried> carried_;
  domain::MailDomainFacts facts_;
  std::deque<std::string> hosts_;  // names that were not tried
  std::optional<Host> host_;       // that is asked now
  domain::AddressFacts last_;      // what asks end as where no host is left
  int hosts_tried_ = 0;
  int closes_ = 0;
  int timeouts_ = 0;
  enum class Tls : std::uint8_t { kOffered, kFailed } tls_ = Tls::kOffered;
  enum class TopUpState : std::uint8_t { kNone, kAsked } top_up_ = TopUpState::kNone;
  int spare_permits_ = 0;                  // taken and not used
  std::chrono::milliseconds rate_wait_{};  // until permits are there again
  std::string room_key_;                   // whose connection this queue counts against
  std::unique_ptr<MailExchange> exchange_;
  base::Timer rest_timer_;
  base::Timer ends_timer_;  // one for all asks
  lease::Live live_;
};

}  // namespace vedette::worker
