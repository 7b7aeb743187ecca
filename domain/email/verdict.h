#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

// What mail servers say of an address, as the verifier answers it. JudgeAddress (judge_address.h)
// decides it. The numbers are stored (email_fact): they never change, and new ones are added at the
// end.
namespace vedette::domain {

enum class Verdict : std::uint8_t {
  kOk = 0,       // "OK": the server takes this address and refuses one that should not exist
  kUnknown = 1,  // "UNKNOWN": nobody could tell, as the reason says
  kRefused = 2,  // "NOT_FOUND": the server, or the DNS, says that there is no such address
};

enum class VerdictReason : std::uint8_t {
  kNone = 0,  // of kOk
  // Refused before any dialogue.
  kInvalidAddress = 1,
  kUnknownDomain = 2,
  kNullMx = 3,
  kNoMx = 4,
  // Unknown without a dialogue.
  kDns = 5,
  kNotPublic = 6,
  kDisposable = 7,
  // What servers said.
  kCatchAll = 8,
  kCatchAllUnproven = 9,
  kUnverifiedByServer = 10,
  kRefused = 11,  // the one reason of a refusal by a server
  kRefusedUnclear = 12,
  kDisabled = 13,
  kFull = 14,
  kSenderRefused = 15,
  kPolicy = 16,
  kUtf8NotServed = 17,
  kGreylisted = 18,
  // What came between.
  kTemporary = 19,
  kTimeout = 20,
  kTls = 21,
  kConnect = 22,
  kProtocol = 23,
  // Not asked.
  kRate = 24,
  kBlocked = 25,
  kNoSmtpWorker = 26,
  kNotVerified = 27,
};
inline constexpr int kVerdictReasons = 28;

// "catch_all"; empty for kNone.
std::string_view VerdictReasonName(VerdictReason reason);
std::optional<VerdictReason> ParseVerdictReason(std::string_view name);

// A reply's codes alone; its text is not kept. `enhanced` is "5.1.1", or empty.
struct ReplyCodes {
  int code = 0;  // 0: there was none
  std::string enhanced{};

  bool operator==(const ReplyCodes&) const = default;
};

// The evidence of a verdict.
struct MailEvidence {
  std::string mx_host{};
  ReplyCodes address{};
  ReplyCodes control{};
  ReplyCodes witness{};

  bool operator==(const MailEvidence&) const = default;
};

struct AddressVerdict {
  Verdict verdict = Verdict::kUnknown;
  VerdictReason reason = VerdictReason::kNotVerified;
  MailEvidence evidence{};
  std::optional<base::Timestamp> checked_at{};  // empty where no server was asked

  // Whether the mail server itself answered about this address, so that the answer may be kept:
  // `ok` for 30 days, `refused` for 7, `full`, `disabled` and `catch_all` for one.
  bool IsConclusive() const;
};

// How long an organisation may rely on the verdict; empty: not at all.
std::optional<std::chrono::hours> VerdictLife(const AddressVerdict& verdict);

}  // namespace vedette::domain
