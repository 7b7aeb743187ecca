#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "config/lookup_config.h"
#include "worker/providers/mail/mail_desk.h"

// The connections of a queue: what is asked on one, what is learnt from it, and what comes after
// it.
namespace vedette::worker {
namespace {

using domain::AddressFacts;
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
