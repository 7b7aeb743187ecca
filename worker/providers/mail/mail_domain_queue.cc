#include "worker/providers/mail/mail_domain_queue.h"

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

MailDomainQueue::MailDomainQueue(MailSharedState& shared, std::string domain, bool utf8,
                                 std::function<void()> idle)
    : shared_(shared),
      domain_(std::move(domain)),
      utf8_(utf8),
      idle_(std::move(idle)),
      rest_timer_(shared.exchange.loop,
                  [this] {
                    const auto idle_call = idle_;  // it may destroy this object
                    if (IsIdle()) idle_call();
                  }),
      ends_timer_(shared.exchange.loop, [this] { AnswerOverdue(); }) {}

MailDomainQueue::~MailDomainQueue() {
  exchange_.reset();
  if (!room_key_.empty()) ReleaseRoom();
}

void MailDomainQueue::Push(Ask ask) {
  const AskId id = ++last_id_;
  const std::chrono::nanoseconds until = shared_.clock.SinceBoot() + ask.timeout;
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

void MailDomainQueue::WakeAt(std::chrono::nanoseconds until) {
  if (ends_timer_.active() && wakes_at_ <= until) return;
  wakes_at_ = until;
  ends_timer_.Start(std::chrono::ceil<milliseconds>(until - shared_.clock.SinceBoot()));
}

// The timer is not moved when an ask is answered: it may find that nobody's time is over.
void MailDomainQueue::AnswerOverdue() {
  const auto now = shared_.clock.SinceBoot();
  while (!ends_.empty() && ends_.begin()->first <= now) {
    Answer(ends_.begin()->second, Course(AddressFacts::Course::kTimeout), {});
  }
  if (!ends_.empty()) WakeAt(ends_.begin()->first);
}

void MailDomainQueue::Begin() {
  state_ = State::kFacts;
  facts_ = domain::MailDomainFacts{domain_};  // what was true an hour ago decides nothing now
  last_ = Course(AddressFacts::Course::kDnsFailed);
  hosts_tried_ = closes_ = timeouts_ = 0;
  shared_.memory.ReadDomain(domain_, IfAlive([this](auto facts) { OnFacts(std::move(facts)); }));
}

void MailDomainQueue::OnFacts(std::optional<domain::MailDomainFacts> facts) {
  facts_ = facts.value_or(domain::MailDomainFacts{domain_});
  const auto age = shared_.clock.Now() - facts_.mx_at;
  if (facts && age <= domain::kMxLife) return WithHosts();
  state_ = State::kMx;
  shared_.names.mx(domain_,
                   IfAlive([this](const net::DnsRecords<net::MxRecord>& answer) { OnMx(answer); }));
}

void MailDomainQueue::OnMx(const net::DnsRecords<net::MxRecord>& answer) {
  net::MxChoice choice = ChooseMx(answer, domain::kMailHostsMax, shared_.random);
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

void MailDomainQueue::Keep(MailDomainKind kind, std::vector<std::string> hosts) {
  facts_.kind = kind;
  facts_.hosts = std::move(hosts);
  facts_.mail_class =
      facts_.hosts.empty() ? domain::MailClass::kOther : domain::MailClassOf(facts_.hosts.front());
  facts_.mx_at = shared_.clock.Now();
  RenewControl();
  shared_.memory.SaveDomain(facts_);
  WithHosts();
}

void MailDomainQueue::RenewControl() {
  const auto now = shared_.clock.Now();
  if (!facts_.control.empty() && now - facts_.control_at <= domain::kControlLife) return;
  facts_.control = RandomControl();
  facts_.control_at = now;
}

void MailDomainQueue::WithHosts() {
  RenewControl();
  if (facts_.kind != MailDomainKind::kServed) {
    AnswerAll(Course(AddressFacts::Course::kReplied));
    return Rest();
  }
  if (AcceptedItsControl(facts_, shared_.clock.Now())) {
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

void MailDomainQueue::NextHost() {
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
  shared_.names.addresses(
      name, IfAlive([this, name](const net::ResolveResult& result) { OnAddresses(name, result); }));
}

void MailDomainQueue::OnAddresses(const std::string& name, const net::ResolveResult& result) {
  const bool own = facts_.hosts.size() == 1 && name == domain_;
  if (result.addresses.empty() && own && result.missing) {
    return Keep(MailDomainKind::kNoMx, {});  // there was no MX either
  }
  const bool with_v6 = shared_.exchange.config.ip == "46";
  const net::IpAddress* chosen = nullptr;
  for (const net::IpAddress& ip : result.addresses) {
    if ((ip.v6 && !with_v6) || !shared_.exchange.policy.Allows(ip)) continue;
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

std::string MailDomainQueue::HostKey() const {
  const bool other = facts_.mail_class == domain::MailClass::kOther;
  return shared_.exchange.config.hello_name + " " +
         (other ? Network(host_->address) : std::string(MailClassName(facts_.mail_class)));
}

int MailDomainQueue::RecipientsMax() const {
  const int usual =
      domain::RecipientsMax(facts_.mail_class, shared_.exchange.config.recipients_max);
  const bool shown = facts_.recipients_max && facts_.recipients_at &&
                     shared_.clock.Now() - *facts_.recipients_at <= domain::kRecipientsLife;
  return shown ? std::clamp(*facts_.recipients_max, 1, usual) : usual;
}

milliseconds MailDomainQueue::Window(milliseconds usual) const {
  return shared_.window.count() == 0 ? usual : shared_.window;
}

std::vector<store::MailPermit> MailDomainQueue::Permits() const {
  const config::SmtpConfig& config = shared_.exchange.config;
  return {{"domain " + domain_, config.per_domain_hour, Window(std::chrono::hours(1))},
          {"class " + HostKey(), config.per_class_minute, Window(std::chrono::minutes(1))},
          {"hello " + config.hello_name, config.per_day, Window(std::chrono::hours(24))}};
}

// How many asks are queued; the first one is there to be asked. Some behind it may have been
// answered meanwhile and are still counted: whole queues are not walked at every step.
std::size_t MailDomainQueue::QueuedAsks() {
  while (!queue_.empty() && !asks_.contains(queue_.front())) queue_.pop_front();
  return queue_.size();
}

void MailDomainQueue::TakeRoom() {
  std::erase_if(carried_, [this](const Carried& one) { return !asks_.contains(one.id); });
  if (QueuedAsks() == 0 && carried_.empty()) return Rest();
  const std::string key = HostKey();
  int& open = shared_.connections[key];
  if (open >= shared_.exchange.config.connections_per_class) {
    state_ = State::kRoom;
    shared_.waiting[key].emplace_back(IfAlive([this] { TakeRoom(); }));
    return;
  }
  ++open;
  room_key_ = key;
  const int reserved = std::min(config::kSmtpRecipientsReserved, RecipientsMax() - 1);
  AskAdmission(static_cast<int>(
      std::min(QueuedAsks(), static_cast<std::size_t>(RecipientsMax() - reserved))));
}

void MailDomainQueue::ReleaseRoom() {
  const std::string key = std::exchange(room_key_, "");
  const auto open = shared_.connections.find(key);
  base::Assert(open != shared_.connections.end() && open->second > 0, "a connection is counted");
  if (--open->second == 0) shared_.connections.erase(open);
  if (!shared_.waiting.contains(key)) return;
  // Later: the queue that let go may want the connection again, behind those that wait.
  shared_.exchange.loop.Post([&shared = shared_, key, alive = std::weak_ptr<bool>(shared_.alive)] {
    if (!alive.expired()) WakeWaiting(shared, key);
  });
}

// Wakes as many as there is room for. One that is gone, or whose asks were answered meanwhile,
// takes none.
void MailDomainQueue::WakeWaiting(MailSharedState& shared, const std::string& key) {
  const auto at = shared.waiting.find(key);
  if (at == shared.waiting.end()) return;
  std::deque<std::function<void()>>& waiting = at->second;
  while (!waiting.empty() &&
         shared.connections[key] < shared.exchange.config.connections_per_class) {
    const auto first = std::move(waiting.front());
    waiting.pop_front();
    first();
  }
  if (waiting.empty()) shared.waiting.erase(at);
  if (shared.connections[key] == 0) shared.connections.erase(key);
}

// Permits for some addresses, the control and postmaster. Those that the last connection did not
// use are used first.
void MailDomainQueue::AskAdmission(int addresses) {
  state_ = State::kAdmission;
  const int reserved =
      std::min(config::kSmtpRecipientsReserved, RecipientsMax() - (addresses == 0 ? 0 : 1));
  const int recipients = std::max(1, addresses + reserved - spare_permits_);
  shared_.memory.Admit(
      HostKey(), Permits(), recipients,
      IfAlive([this, addresses, recipients](const store::MailAdmission& admission) {
        if (admission.granted) spare_permits_ += recipients;
        OnAdmission(addresses, admission);
      }));
}

void MailDomainQueue::OnAdmission(int addresses, const store::MailAdmission& admission) {
  if (admission.granted) return StartExchange(addresses);
  // Fewer may still fit.
  if (!admission.blocked_until && addresses > 1) return AskAdmission(1);
  rate_wait_ = std::clamp<milliseconds>(admission.wait, kRateWaitMin, kRateWaitMax);
  if (shared_.window.count() != 0) rate_wait_ = std::max(admission.wait, milliseconds(1));
  ReleaseRoom();
  AnswerCarried();
  AnswerAll(Course(admission.blocked_until ? AddressFacts::Course::kBlocked
                                           : AddressFacts::Course::kNoPermit));
  Rest();
}

AddressFacts MailDomainQueue::Course(AddressFacts::Course course) const {
  AddressFacts facts;
  facts.domain = facts_.kind;
  facts.course = course;
  return facts;
}

void MailDomainQueue::Answer(AskId id, const AddressFacts& facts, domain::MailEvidence evidence) {
  auto node = asks_.extract(id);
  if (node.empty()) return;  // its time was over
  Held& held = node.mapped();
  ends_.erase({held.until, id});
  AddressFacts own = facts;
  own.guess = held.ask.guess;
  domain::AddressVerdict verdict = CheckAddress(own);
  verdict.evidence = std::move(evidence);
  if (verdict.evidence.address.code != 0) {
    verdict.checked_at = shared_.clock.Now();
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

void MailDomainQueue::AnswerAll(const AddressFacts& facts, const domain::ReplyCodes& codes) {
  AnswerCarried();
  queue_.clear();
  std::vector<AskId> ids;
  for (const auto& [id, held] : asks_) ids.push_back(id);
  domain::MailEvidence evidence;
  evidence.address = codes;
  for (const AskId id : ids) Answer(id, facts, evidence);
}

// They were accepted, and nothing showed that others are not.
void MailDomainQueue::AnswerCarried() {
  AddressFacts facts = Course(AddressFacts::Course::kReplied);
  facts.reply = domain::ReplyClass::kAccepted;
  domain::MailEvidence evidence;
  evidence.address.code = 250;
  for (const Carried& one : std::exchange(carried_, {})) Answer(one.id, facts, evidence);
}

void MailDomainQueue::Rest() {
  state_ = State::kIdle;
  host_.reset();
  spare_permits_ = 0;
  if (QueuedAsks() > 0) return Begin();
  rest_timer_.Start(milliseconds(0));
}

// The connections of a queue: what is asked on one, what is learnt from it, and what comes after
// it.

namespace {

using domain::ReplyClass;
using How = MailExchangeEnd::How;

// Connections that one address may be part of.
constexpr int kConnectionsMax = 4;
// An answer of the control that says what is known is written down again after that time.
constexpr std::chrono::hours kControlKnown{1};
// Within that time a control on another connection to the same host still proves something.
constexpr std::chrono::seconds kCarryMax{60};

net::SmtpPath PathOf(const std::string& local, const std::string& domain) {
  const auto path = net::SmtpPath::Of({local, domain}, domain);
  base::Assert(path.has_value(), "a local part of ours is one");
  return *path;
}

std::string MailFrom(const config::SmtpConfig& config) {
  return config.mail_from.empty() ? "postmaster@" + config.hello_name : config.mail_from;
}

}  // namespace

MailBatch MailDomainQueue::MakeBatch() {
  return MailBatch({RecipientsMax(), shared_.exchange.config.refusals_max}, facts_.mail_class,
                   PathOf(facts_.control, domain_), PathOf("postmaster", domain_));
}

void MailDomainQueue::StartExchange(int addresses) {
  state_ = State::kExchange;
  MailBatch batch = MakeBatch();
  const auto now = shared_.clock.SinceBoot();
  for (const Carried& one : std::exchange(carried_, {})) {
    const auto held = asks_.find(one.id);
    if (held == asks_.end()) continue;
    if (now - one.at > kCarryMax || ++held->second.connections > kConnectionsMax) {
      carried_.push_back(one);
    } else {
      batch.Carry(one.id);
    }
  }
  AnswerCarried();  // those whose time or connections are spent
  while (addresses > 0 && batch.HasRoom() && QueuedAsks() > 0) {
    const AskId id = queue_.front();
    queue_.pop_front();
    Held& held = asks_.at(id);
    if (++held.connections > kConnectionsMax) {
      Answer(id, Course(AddressFacts::Course::kClosed), {});
      continue;
    }
    batch.Add(id, held.ask.path);
    --addresses;
  }
  const config::SmtpConfig& config = shared_.exchange.config;
  MailExchange::Plan plan;
  plan.target.peer = {host_->address, config.port};
  plan.target.host = host_->name;
  plan.target.proxy = shared_.proxy;
  plan.dialogue = {config.hello_name, MailFrom(config), tls_ == Tls::kOffered, utf8_};
  plan.mail_class = facts_.mail_class;
  exchange_ = std::make_unique<MailExchange>(
      shared_.exchange, std::move(plan), std::move(batch),
      MailExchange::Hooks{[this](auto decided) { OnDecided(std::move(decided)); },
                          [this](MailExchangeEnd end) { OnEnded(std::move(end)); }});
}

// Asks that came while a connection is open join it, as far as permits are there.
void MailDomainQueue::TopUp() {
  const std::size_t queued = QueuedAsks();
  if (queued == 0 || top_up_ != TopUpState::kNone || !exchange_ || !exchange_->HasRoom()) return;
  top_up_ = TopUpState::kAsked;
  const int addresses =
      static_cast<int>(std::min(queued, static_cast<std::size_t>(RecipientsMax())));
  shared_.memory.Admit(HostKey(), Permits(), addresses,
                       IfAlive([this, addresses](const store::MailAdmission& admission) {
                         OnTopUp(addresses, admission);
                       }));
}

void MailDomainQueue::OnTopUp(int addresses, const store::MailAdmission& admission) {
  top_up_ = TopUpState::kNone;
  if (!admission.granted) return;  // the next connection finds out
  spare_permits_ += addresses;
  while (addresses > 0 && exchange_ && exchange_->HasRoom() && QueuedAsks() > 0) {
    const AskId id = queue_.front();
    queue_.pop_front();
    Held& held = asks_.at(id);
    ++held.connections;
    --addresses;
    exchange_->Add(id, held.ask.path);
  }
  TopUp();
}

void MailDomainQueue::OnDecided(std::vector<MailBatch::Decided> decided) {
  for (MailBatch::Decided& one : decided) {
    AddressFacts facts = Course(AddressFacts::Course::kReplied);
    facts.reply = one.facts.reply;
    facts.witness = one.facts.witness;
    facts.control = one.facts.control;
    facts.control_witness = one.facts.control_witness;
    if (RefusesUs(facts.reply)) NoteRefusal(exchange_ ? exchange_->refusal_text() : "");
    if (facts.reply == ReplyClass::kAccepted || facts.reply == ReplyClass::kUnknownMailbox) {
      shared_.memory.NoteServed(HostKey());
    }
    Answer(one.id, facts, std::move(one.evidence));
  }
}

void MailDomainQueue::OnEnded(MailExchangeEnd end) {
  LearnFrom(end);
  CountForBreaker(end);
  exchange_.reset();
  ReleaseRoom();
  if (!end.rest.decided.empty()) OnDecided(std::exchange(end.rest.decided, {}));
  switch (end.how) {
    case How::kFinished:
      Requeue(end);
      return TakeRoom();
    case How::kRefused:
      return GoOnAfterRefusal(end);
    case How::kUtf8NotOffered:
      AnswerAll(Course(AddressFacts::Course::kUtf8NotOffered));
      return Rest();
    case How::kFault:
      return GoOnAfterFault(end);
  }
}

void MailDomainQueue::LearnFrom(const MailExchangeEnd& end) {
  const MailBatch& batch = exchange_->batch();
  spare_permits_ = std::max(0, spare_permits_ - batch.asked());
  const auto now = shared_.clock.Now();
  const domain::MailDomainFacts before = facts_;
  const bool accepted = batch.control() == ReplyClass::kAccepted;
  const auto accepts_all = accepted ? domain::AcceptsAll::kYes : domain::AcceptsAll::kNo;
  const bool is_news = facts_.accepts_all != accepts_all || !facts_.accepts_all_at ||
                       now - *facts_.accepts_all_at > kControlKnown;
  if ((accepted || batch.ControlRefused()) && is_news) {
    facts_.accepts_all = accepts_all;
    facts_.accepts_all_at = now;
  }
  if (const auto spent = batch.spent_after(); spent && *spent > 0) {
    facts_.recipients_max = *spent;
    facts_.recipients_at = now;
  }
  if (end.how == How::kFinished && facts_ != before) shared_.memory.SaveDomain(facts_);
}

// Before anybody is answered, so that who asks next finds the host blocked.
void MailDomainQueue::NoteRefusal(const std::string& reply_text) {
  NoteTrouble({domain_, static_cast<int>(domain::VerdictReason::kPolicy), reply_text});
}

void MailDomainQueue::NoteTrouble(const store::MailTrouble& trouble) {
  domain::MailBlockTimes times;
  times = {Window(times.first), Window(times.max)};
  shared_.memory.NoteTrouble(HostKey(), trouble, times);
}

void MailDomainQueue::CountForBreaker(const MailExchangeEnd& end) {
  if (end.how == How::kRefused && RefusesUs(end.refusal)) NoteRefusal(end.reply_text);
  const bool no_connection = end.how == How::kFault && end.fault == net::SmtpFault::kConnect;
  if (no_connection) NoteTrouble({"", static_cast<int>(domain::VerdictReason::kConnect), ""});
}

void MailDomainQueue::Requeue(const MailExchangeEnd& end) {
  queue_.insert(queue_.begin(), end.rest.unasked.begin(), end.rest.unasked.end());
  if (end.rest.broken) queue_.push_front(*end.rest.broken);
  const auto now = shared_.clock.SinceBoot();
  // Only a host that hung up, or took one recipient, is asked the control on another connection;
  // after any other fault the address itself is asked again.
  const bool carries =
      end.how == How::kFinished || (end.how == How::kFault && end.fault == net::SmtpFault::kClosed);
  for (const AskId id : end.rest.carried) {
    if (carries) {
      carried_.push_back({id, now});
    } else {
      queue_.push_back(id);
    }
  }
}

void MailDomainQueue::GoOnAfterRefusal(const MailExchangeEnd& end) {
  Requeue(end);
  const bool early = end.stage != domain::ReplyStage::kMail;
  if (end.refusal == ReplyClass::kClosing || (end.refusal == ReplyClass::kGreylisted && early) ||
      end.refusal == ReplyClass::kNonsense) {
    last_ = Course(end.refusal == ReplyClass::kNonsense ? AddressFacts::Course::kProtocol
                                                        : AddressFacts::Course::kClosed);
    return NextHost();
  }
  AddressFacts facts = Course(AddressFacts::Course::kReplied);
  facts.reply = end.refusal;
  AnswerAll(facts, end.refusal_codes);
  Rest();
}

void MailDomainQueue::GoOnAfterFault(const MailExchangeEnd& end) {
  Requeue(end);
  const auto ends_as = [this](AddressFacts::Course course) {
    AnswerAll(Course(course));
    Rest();
  };
  const auto next_host = [this](AddressFacts::Course course) {
    last_ = Course(course);
    NextHost();
  };
  switch (end.fault) {
    case net::SmtpFault::kNotAllowed:
      return next_host(AddressFacts::Course::kNotPublic);
    case net::SmtpFault::kConnect:
      return next_host(AddressFacts::Course::kConnect);
    case net::SmtpFault::kProtocol:
      return ends_as(AddressFacts::Course::kProtocol);
    case net::SmtpFault::kTls:
      if (std::exchange(tls_, Tls::kFailed) == Tls::kFailed) {
        return ends_as(AddressFacts::Course::kTls);
      }
      return TakeRoom();  // once without it
    case net::SmtpFault::kTimeout:
      if (end.rest.broken) Answer(*end.rest.broken, Course(AddressFacts::Course::kTimeout), {});
      if (++timeouts_ > 1) return ends_as(AddressFacts::Course::kTimeout);
      return TakeRoom();
    case net::SmtpFault::kClosed:
      // Once more at the same host, then at the next one.
      if (++closes_ == 1) return TakeRoom();
      return next_host(AddressFacts::Course::kClosed);
  }
}

}  // namespace vedette::worker
