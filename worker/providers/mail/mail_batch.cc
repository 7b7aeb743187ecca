#include "worker/providers/mail/mail_batch.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace vedette::worker {

using domain::AddressFacts;
using domain::ReplyClass;

MailBatch::MailBatch(MailBatchLimits limits, domain::MailClass mail_class, net::SmtpPath control,
                     net::SmtpPath postmaster)
    : limits_(limits),
      mail_class_(mail_class),
      control_path_(std::move(control)),
      postmaster_path_(std::move(postmaster)) {}

// A host that takes one recipient a connection is asked its control on the next one.
int MailBatch::Reserved() const {
  return std::min(2, limits_.recipients_max - 1);
}

bool MailBatch::HasRoom() const {
  const int taken = asked_ + static_cast<int>(queued_.size());
  return control_ == ReplyClass::kNone && asking_ != Asking::kControl &&
         asking_ != Asking::kPostmaster && !spent_after_ && refusals_ < limits_.refusals_max &&
         taken + std::max(Reserved(), accepted_.empty() ? 0 : 1) < limits_.recipients_max;
}

void MailBatch::Add(AskId id, net::SmtpPath path) {
  base::Assert(HasRoom(), "an address is added where there is room");
  queued_.emplace_back(id, std::move(path));
}

void MailBatch::Carry(AskId id) {
  Entry entry{id, {}, {}};
  entry.facts.reply = ReplyClass::kAccepted;
  entry.evidence.address.code = 250;
  accepted_.push_back(std::move(entry));
}

bool MailBatch::IsOver() const {
  const bool may_ask = refusals_ < limits_.refusals_max && !spent_after_;
  if (!queued_.empty() && may_ask) return false;
  const bool control_helps = !accepted_.empty() || greylisted_ > 0;
  const bool has_place = asked_ < limits_.recipients_max && !spent_after_;
  if (control_ == ReplyClass::kNone) return !control_helps || !has_place;
  return control_ != ReplyClass::kBareRefusal || accepted_.empty() || !has_place ||
         witness_codes_.code != 0;
}

std::optional<net::SmtpPath> MailBatch::Next(bool closing) {
  base::Assert(asking_ == Asking::kNobody, "one recipient is asked at a time");
  const bool may_ask = refusals_ < limits_.refusals_max && !spent_after_;
  if (!queued_.empty() && may_ask && control_ == ReplyClass::kNone) {
    current_ = std::move(queued_.front());
    queued_.pop_front();
    asking_ = Asking::kAddress;
    ++asked_;
    return current_->second;
  }
  if (IsOver() || (!closing && HasRoom())) return std::nullopt;
  ++asked_;
  if (control_ == ReplyClass::kNone) {
    asking_ = Asking::kControl;
    return control_path_;
  }
  asking_ = Asking::kPostmaster;
  return postmaster_path_;
}

ReplyClass MailBatch::OnReply(const domain::ReplyCodes& reply) {
  const bool after_accepted = accepted_count_ > 0;
  const ReplyClass reply_class =
      ClassifyReply(domain::ReplyStage::kRecipient, reply, mail_class_, after_accepted);
  switch (std::exchange(asking_, Asking::kNobody)) {
    case Asking::kAddress:
      OnAddress(reply, reply_class);
      break;
    case Asking::kControl:
      if (reply_class == ReplyClass::kClosing) break;  // it was not answered: End carries
      control_ = reply_class;
      control_codes_ = reply;
      // A bare refusal waits for postmaster, if there is a place for it.
      if (IsOver()) DecideAccepted();
      break;
    case Asking::kPostmaster:
      witness_codes_ = reply;
      DecideAccepted();
      break;
    case Asking::kNobody:
      base::Assert(false, "a reply belongs to a recipient");
  }
  return reply_class;
}

void MailBatch::OnAddress(const domain::ReplyCodes& reply, ReplyClass reply_class) {
  Entry entry{current_->first, {}, {}};
  entry.facts.reply = reply_class;
  entry.evidence.address = reply;
  auto asked = std::exchange(current_, std::nullopt);
  switch (reply_class) {
    case ReplyClass::kAccepted:
      ++accepted_count_;
      accepted_.push_back(std::move(entry));
      // An ordinary recipient of the domain is accepted: the refusals before it were about their
      // addresses.
      for (Entry& refused : bare_) {
        refused.facts.witness = true;
        refused.evidence.witness = reply;
        Decide(std::move(refused));
      }
      bare_.clear();
      return;
    case ReplyClass::kBareRefusal:
      ++refusals_;
      bare_.push_back(std::move(entry));
      return;
    case ReplyClass::kRecipientsSpent:
      spent_after_ = accepted_count_;
      queued_.push_front(std::move(*asked));
      return;
    case ReplyClass::kClosing:
      current_ = std::move(asked);  // nothing was said of it
      return;
    case ReplyClass::kGreylisted:
      ++greylisted_;
      break;
    default:
      ++refusals_;
      break;
  }
  Decide(std::move(entry));
}

void MailBatch::Decide(Entry entry) {
  decided_.push_back({entry.id, entry.facts, std::move(entry.evidence)});
}

bool MailBatch::WitnessAccepted() const {
  return ClassifyReply(domain::ReplyStage::kRecipient, witness_codes_, mail_class_, false) ==
         ReplyClass::kAccepted;
}

bool MailBatch::ControlRefused() const {
  AddressFacts facts;
  facts.control = control_;
  facts.control_witness = WitnessAccepted();
  return domain::IsControlRefused(facts);
}

void MailBatch::DecideAccepted() {
  for (Entry& entry : accepted_) {
    entry.facts.control = control_;
    entry.facts.control_witness = WitnessAccepted();
    entry.evidence.control = control_codes_;
    entry.evidence.witness = witness_codes_;
    Decide(std::move(entry));
  }
  accepted_.clear();
}

std::vector<MailBatch::Decided> MailBatch::TakeDecided() {
  return std::exchange(decided_, {});
}

MailBatch::Rest MailBatch::End() {
  Rest rest;
  // The control said something and nothing more will come: it decides as it stands.
  if (control_ != ReplyClass::kNone) DecideAccepted();
  for (Entry& entry : bare_) Decide(std::move(entry));
  bare_.clear();
  rest.decided = TakeDecided();
  // The control has to come after the acceptance on the same connection. Only a host that takes
  // one recipient, or that hung up, is asked it on the next one.
  const bool host_takes_more = spent_after_.value_or(0) > 1;
  for (const Entry& entry : accepted_) {
    (host_takes_more ? rest.unasked : rest.carried).push_back(entry.id);
  }
  for (const auto& [id, path] : queued_) rest.unasked.push_back(id);
  if (current_) rest.broken = current_->first;
  return rest;
}

}  // namespace vedette::worker
