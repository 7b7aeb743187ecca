#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "domain/email/verdict.h"
#include "net/smtp/dialogue.h"

// Which recipients are asked on one connection, in which order, and what their replies prove of
// each other. Pure.
//
//   asking --no more addresses--> (the caller lingers for more) --> control --> postmaster --> over
//
// The control is an address that should not exist. It is asked once, last, if an address was
// accepted, or greylisted, so that it passes the greylist in the same batch. Postmaster is asked
// after a bare refusal of the control alone. An address that was refused barely is refused if a
// later ordinary recipient is accepted; otherwise nothing is known of it.
namespace vedette::worker {

struct MailBatchLimits {
  int recipients_max;  // commands on the connection, the control's and postmaster's included
  int refusals_max;    // of addresses, after which no further one is asked
};

class MailBatch {
 public:
  using AskId = std::uint64_t;

  // `control` and `postmaster` are of the same domain as all addresses of the batch.
  MailBatch(MailBatchLimits limits, domain::MailClass mail_class, net::SmtpPath control,
            net::SmtpPath postmaster);

  // Whether another address fits: the control and postmaster keep their places.
  bool HasRoom() const;
  void Add(AskId id, net::SmtpPath path);
  // An address that was accepted on an earlier connection to the same host, which took one
  // recipient alone or hung up before the control. Its control is asked here.
  void Carry(AskId id);

  // The recipient to ask about now. Empty while more addresses may come (`closing` is false), or at
  // the end of the batch. `closing`: nothing is added any more.
  std::optional<net::SmtpPath> Next(bool closing);
  // Whether only Add can bring something before the control is asked.
  bool IsOver() const;

  // The reply to what Next gave.
  domain::ReplyClass OnReply(const domain::ReplyCodes& reply);

  // An address whose facts are complete: of the address, the witness, and the control.
  struct Decided {
    AskId id;
    domain::AddressFacts facts;
    domain::MailEvidence evidence;
  };
  std::vector<Decided> TakeDecided();

  // What is left when the connection ends. `finished`: all was asked that had to be asked.
  struct Rest {
    std::vector<Decided> decided;
    std::vector<AskId> carried;   // accepted, its control was not asked
    std::vector<AskId> unasked;   // to be asked on the next connection
    std::optional<AskId> broken;  // was being asked when the connection ended
  };
  Rest End();

  // How many recipients the host took before it said that these are enough.
  std::optional<int> spent_after() const { return spent_after_; }
  domain::ReplyClass control() const { return control_; }
  bool ControlRefused() const;
  int asked() const { return asked_; }

 private:
  enum class Asking : std::uint8_t { kNobody, kAddress, kControl, kPostmaster };
  struct Entry {
    AskId id;
    domain::AddressFacts facts;
    domain::MailEvidence evidence;
  };

  int Reserved() const;
  bool WitnessAccepted() const;
  void OnAddress(const domain::ReplyCodes& reply, domain::ReplyClass reply_class);
  void Decide(Entry entry);
  void DecideAccepted();

  const MailBatchLimits limits_;
  const domain::MailClass mail_class_;
  const net::SmtpPath control_path_;
  const net::SmtpPath postmaster_path_;
  std::deque<std::pair<AskId, net::SmtpPath>> queued_;
  std::optional<std::pair<AskId, net::SmtpPath>> current_;
  std::vector<Entry> accepted_;  // their control is not known
  std::vector<Entry> bare_;      // refused barely, without a witness yet
  std::vector<Decided> decided_;
  Asking asking_ = Asking::kNobody;
  domain::ReplyClass control_ = domain::ReplyClass::kNone;
  domain::ReplyCodes control_codes_;
  domain::ReplyCodes witness_codes_;
  std::optional<int> spent_after_;
  int asked_ = 0;  // answered or not: what was sent counts
  int accepted_count_ = 0;
  int greylisted_ = 0;
  int refusals_ = 0;
};

}  // namespace vedette::worker
