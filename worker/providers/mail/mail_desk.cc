#include "worker/providers/mail/mail_desk.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/crypto.h"
#include "config/lookup_config.h"

namespace vedette::worker {
namespace {

using domain::AddressFacts;
using domain::MailDomainKind;
using std::chrono::milliseconds;

constexpr int kHostsTriedMax = 3;
constexpr std::size_t kControlCharacters = 16;
// The shortest and the longest wait for permits that are spent.
constexpr std::chrono::seconds kRateWaitMin{1};
constexpr std::chrono::hours kRateWaitMax{24};

std::string RandomControl() {
  constexpr std::string_view kBase32 = "abcdefghijklmnopqrstuvwxyz234567";
  std::string control;
  for (const char byte : base::RandomBytes(kControlCharacters)) {
    control += kBase32[static_cast<unsigned char>(byte) % kBase32.size()];
  }
  return control;
}

// The network that hosts of no known class share a breaker and a budget by.
std::string Network(const net::IpAddress& ip) {
  net::IpAddress network = ip;
  const std::size_t kept = ip.v6 ? 6 : 3;
  std::fill(network.bytes.begin() + static_cast<std::ptrdiff_t>(kept), network.bytes.end(),
            std::uint8_t{0});
  return network.ToString() + (ip.v6 ? "/48" : "/24");
}

}  // namespace

MailDesk::MailDesk(MailOffice& office, std::string domain, bool utf8, std::function<void()> idle)
    : office_(office),
      domain_(std::move(domain)),
      utf8_(utf8),
      idle_(std::move(idle)),
      rest_timer_(office.exchange.loop,
                  [this] {
                    const auto idle_call = idle_;  // it may destroy this object
                    if (IsIdle()) idle_call();
                  }),
      ends_timer_(office.exchange.loop, [this] { AnswerOverdue(); }) {}

MailDesk::~MailDesk() {
  exchange_.reset();
  if (!room_key_.empty()) ReleaseRoom();
}

void MailDesk::Push(Ask ask) {
  const AskId id = ++last_id_;
  const std::chrono::nanoseconds until = office_.clock.SinceBoot() + ask.timeout;
  asks_.emplace(id, Held{std::move(ask), 0, until});
  ends_.emplace(until, id);
  WakeAt(until);
  queue_.push_back(id);
  if (state_ == State::kIdle) {
    Begin();
  } else if (state_ == State::kExchange) {
    TopUp();
  }
}

void MailDesk::WakeAt(std::chrono::nanoseconds until) {
  if (ends_timer_.active() && wakes_at_ <= until) return;
  wakes_at_ = until;
  ends_timer_.Start(std::chrono::ceil<milliseconds>(until - office_.clock.SinceBoot()));
}

// The timer is not moved when an ask is answered: it may find that nobody's time is over.
void MailDesk::AnswerOverdue() {
  const auto now = office_.clock.SinceBoot();
  while (!ends_.empty() && ends_.begin()->first <= now) {
    Answer(ends_.begin()->second, Course(AddressFacts::Course::kTimeout), {});
  }
  if (!ends_.empty()) WakeAt(ends_.begin()->first);
}

void MailDesk::Begin() {
  state_ = State::kFacts;
  facts_ = domain::MailDomainFacts{domain_};  // what was true an hour ago decides nothing now
  last_ = Course(AddressFacts::Course::kDnsFailed);
  hosts_tried_ = closes_ = timeouts_ = 0;
  office_.book.ReadDomain(domain_, IfAlive([this](auto facts) { OnFacts(std::move(facts)); }));
}

void MailDesk::OnFacts(std::optional<domain::MailDomainFacts> facts) {
  facts_ = facts.value_or(domain::MailDomainFacts{domain_});
  const auto age = office_.clock.Now() - facts_.mx_at;
  if (facts && age <= domain::kMxLife) return WithHosts();
  state_ = State::kMx;
  office_.names.mx(domain_,
                   IfAlive([this](const net::DnsRecords<net::MxRecord>& answer) { OnMx(answer); }));
}

void MailDesk::OnMx(const net::DnsRecords<net::MxRecord>& answer) {
  net::MxChoice choice = ChooseMx(answer, domain::kMailHostsMax, office_.random);
  switch (choice.kind) {
    case net::MxKind::kHosts:
      return Keep(MailDomainKind::kServed, std::move(choice.hosts));
    case net::MxKind::kNull:
      return Keep(MailDomainKind::kNullMx, {});
    case net::MxKind::kNoName:
      return Keep(MailDomainKind::kUnknownDomain, {});
    case net::MxKind::kNone:
      return Keep(MailDomainKind::kServed, {domain_});
    case net::MxKind::kFailed:
      AnswerAll(Course(AddressFacts::Course::kDnsFailed));
      return Rest();
  }
}

void MailDesk::Keep(MailDomainKind kind, std::vector<std::string> hosts) {
  facts_.kind = kind;
  facts_.hosts = std::move(hosts);
  facts_.mail_class =
      facts_.hosts.empty() ? domain::MailClass::kOther : domain::MailClassOf(facts_.hosts.front());
  facts_.mx_at = office_.clock.Now();
  RenewControl();
  office_.book.SaveDomain(facts_);
  WithHosts();
}

void MailDesk::RenewControl() {
  const auto now = office_.clock.Now();
  if (!facts_.control.empty() && now - facts_.control_at <= domain::kControlLife) return;
  facts_.control = RandomControl();
  facts_.control_at = now;
}

void MailDesk::WithHosts() {
  RenewControl();
  if (facts_.kind != MailDomainKind::kServed) {
    AnswerAll(Course(AddressFacts::Course::kReplied));
    return Rest();
  }
  if (AcceptedItsControl(facts_, office_.clock.Now())) {
    // A guess would be accepted whatever it is. Who is asked about a stated address asks again.
    std::vector<AskId> guesses;
    for (const auto& [id, held] : asks_) {
      if (held.ask.guess) guesses.push_back(id);
    }
    AddressFacts facts = Course(AddressFacts::Course::kReplied);
    facts.domain_accepts_all = true;
    for (const AskId id : guesses) Answer(id, facts, {});
  }
  hosts_.assign(facts_.hosts.begin(), facts_.hosts.end());
  NextHost();
}

void MailDesk::NextHost() {
  AnswerCarried();
  host_.reset();
  spare_permits_ = 0;
  tls_ = Tls::kOffered;
  if (asks_.empty()) return Rest();
  if (hosts_.empty() || hosts_tried_ == kHostsTriedMax) {
    last_.domain = facts_.kind;
    AnswerAll(last_);
    return Rest();
  }
  state_ = State::kHosts;
  const std::string name = hosts_.front();
  hosts_.pop_front();
  office_.names.addresses(
      name, IfAlive([this, name](const net::ResolveResult& result) { OnAddresses(name, result); }));
}

void MailDesk::OnAddresses(const std::string& name, const net::ResolveResult& result) {
  const bool own = facts_.hosts.size() == 1 && name == domain_;
  if (result.addresses.empty() && own && result.missing) {
    return Keep(MailDomainKind::kNoMx, {});  // there was no MX either
  }
  const bool with_v6 = office_.exchange.config.ip == "46";
  const net::IpAddress* chosen = nullptr;
  for (const net::IpAddress& ip : result.addresses) {
    if ((ip.v6 && !with_v6) || !office_.exchange.policy.Allows(ip)) continue;
    if (chosen == nullptr || (chosen->v6 && !ip.v6)) chosen = &ip;
  }
  if (chosen == nullptr) {
    if (!result.addresses.empty() && last_.course == AddressFacts::Course::kDnsFailed) {
      last_.course = AddressFacts::Course::kNotPublic;
    }
    return NextHost();
  }
  ++hosts_tried_;
  host_ = Host{name, *chosen};
  facts_.mail_class = domain::MailClassOf(name);
  TakeRoom();
}

std::string MailDesk::HostKey() const {
  const bool other = facts_.mail_class == domain::MailClass::kOther;
  return office_.exchange.config.hello_name + " " +
         (other ? Network(host_->address) : std::string(MailClassName(facts_.mail_class)));
}

int MailDesk::RecipientsMax() const {
  const int usual =
      domain::RecipientsMax(facts_.mail_class, office_.exchange.config.recipients_max);
  const bool shown = facts_.recipients_max && facts_.recipients_at &&
                     office_.clock.Now() - *facts_.recipients_at <= domain::kRecipientsLife;
  return shown ? std::clamp(*facts_.recipients_max, 1, usual) : usual;
}

milliseconds MailDesk::Window(milliseconds usual) const {
  return office_.window.count() == 0 ? usual : office_.window;
}

std::vector<store::MailPermit> MailDesk::Permits() const {
  const config::SmtpConfig& config = office_.exchange.config;
  return {{"domain " + domain_, config.per_domain_hour, Window(std::chrono::hours(1))},
          {"class " + HostKey(), config.per_class_minute, Window(std::chrono::minutes(1))},
          {"hello " + config.hello_name, config.per_day, Window(std::chrono::hours(24))}};
}

// How many asks are queued; the first one is there to be asked. Some behind it may have been
// answered meanwhile and are still counted: whole queues are not walked at every step.
std::size_t MailDesk::QueuedAsks() {
  while (!queue_.empty() && !asks_.contains(queue_.front())) queue_.pop_front();
  return queue_.size();
}

void MailDesk::TakeRoom() {
  std::erase_if(carried_, [this](const Carried& one) { return !asks_.contains(one.id); });
  if (QueuedAsks() == 0 && carried_.empty()) return Rest();
  const std::string key = HostKey();
  int& open = office_.connections[key];
  if (open >= office_.exchange.config.connections_per_class) {
    state_ = State::kRoom;
    office_.waiting[key].emplace_back(IfAlive([this] { TakeRoom(); }));
    return;
  }
  ++open;
  room_key_ = key;
  const int reserved = std::min(2, RecipientsMax() - 1);
  AskAdmission(static_cast<int>(
      std::min(QueuedAsks(), static_cast<std::size_t>(RecipientsMax() - reserved))));
}

void MailDesk::ReleaseRoom() {
  const std::string key = std::exchange(room_key_, "");
  const auto open = office_.connections.find(key);
  base::Assert(open != office_.connections.end() && open->second > 0, "a connection is counted");
  if (--open->second == 0) office_.connections.erase(open);
  if (!office_.waiting.contains(key)) return;
  // Later: the desk that let go may want the connection again, behind those that wait.
  office_.exchange.loop.Post([&office = office_, key, alive = std::weak_ptr<bool>(office_.alive)] {
    if (!alive.expired()) WakeWaiting(office, key);
  });
}

// As many as there is room for. One that is gone, or whose asks were answered meanwhile, takes
// none.
void MailDesk::WakeWaiting(MailOffice& office, const std::string& key) {
  const auto at = office.waiting.find(key);
  if (at == office.waiting.end()) return;
  std::deque<std::function<void()>>& waiting = at->second;
  while (!waiting.empty() &&
         office.connections[key] < office.exchange.config.connections_per_class) {
    const auto first = std::move(waiting.front());
    waiting.pop_front();
    first();
  }
  if (waiting.empty()) office.waiting.erase(at);
  if (office.connections[key] == 0) office.connections.erase(key);
}

// Permits for some addresses, the control and postmaster. Those that the last connection did not
// use are used first.
void MailDesk::AskAdmission(int addresses) {
  state_ = State::kAdmission;
  const int reserved = std::min(2, RecipientsMax() - (addresses == 0 ? 0 : 1));
  const int recipients = std::max(1, addresses + reserved - spare_permits_);
  office_.book.Admit(HostKey(), Permits(), recipients,
                     IfAlive([this, addresses, recipients](const store::MailAdmission& admission) {
                       if (admission.granted) spare_permits_ += recipients;
                       OnAdmission(addresses, admission);
                     }));
}

void MailDesk::OnAdmission(int addresses, const store::MailAdmission& admission) {
  if (admission.granted) return StartExchange(addresses);
  // Fewer may still fit.
  if (!admission.blocked_until && addresses > 1) return AskAdmission(1);
  rate_wait_ = std::clamp<milliseconds>(admission.wait, kRateWaitMin, kRateWaitMax);
  if (office_.window.count() != 0) rate_wait_ = std::max(admission.wait, milliseconds(1));
  ReleaseRoom();
  AnswerCarried();
  AnswerAll(Course(admission.blocked_until ? AddressFacts::Course::kBlocked
                                           : AddressFacts::Course::kNoPermit));
  Rest();
}

AddressFacts MailDesk::Course(AddressFacts::Course course) const {
  AddressFacts facts;
  facts.domain = facts_.kind;
  facts.course = course;
  return facts;
}

void MailDesk::Answer(AskId id, const AddressFacts& facts, domain::MailEvidence evidence) {
  auto node = asks_.extract(id);
  if (node.empty()) return;  // its time was over
  Held& held = node.mapped();
  ends_.erase({held.until, id});
  AddressFacts own = facts;
  own.guess = held.ask.guess;
  domain::AddressVerdict verdict = JudgeAddress(own);
  verdict.evidence = std::move(evidence);
  if (verdict.evidence.address.code != 0) {
    verdict.checked_at = office_.clock.Now();
    if (host_) verdict.evidence.mx_host = host_->name;
  }
  std::optional<milliseconds> wait;
  if (held.ask.may_wait) {
    wait = GreylistWait(own, held.ask.attempt);
    if (wait) wait = Window(*wait);
    if (verdict.reason == domain::VerdictReason::kRate) wait = rate_wait_;
  }
  if (wait) return held.ask.done(Later{*wait, std::move(verdict)});
  held.ask.done(std::move(verdict));
}

void MailDesk::AnswerAll(const AddressFacts& facts, const domain::ReplyCodes& codes) {
  AnswerCarried();
  queue_.clear();
  std::vector<AskId> ids;
  for (const auto& [id, held] : asks_) ids.push_back(id);
  domain::MailEvidence evidence;
  evidence.address = codes;
  for (const AskId id : ids) Answer(id, facts, evidence);
}

// They were accepted, and nothing showed that others are not.
void MailDesk::AnswerCarried() {
  AddressFacts facts = Course(AddressFacts::Course::kReplied);
  facts.reply = domain::ReplyClass::kAccepted;
  domain::MailEvidence evidence;
  evidence.address.code = 250;
  for (const Carried& one : std::exchange(carried_, {})) Answer(one.id, facts, evidence);
}

void MailDesk::Rest() {
  state_ = State::kIdle;
  host_.reset();
  spare_permits_ = 0;
  if (QueuedAsks() > 0) return Begin();
  rest_timer_.Start(milliseconds(0));
}

}  // namespace vedette::worker
