#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/email/address.h"

// The replies of a mail server (RFC 5321 4.2), out of the bytes that come. Pure.
namespace vedette::net {

struct SmtpReply {
  int code = 0;                    // 200..599
  std::string enhanced{};          // "5.1.1" (RFC 3463) of the last line that has one, or empty
  std::vector<std::string> lines;  // what follows the codes, printable ASCII; for keywords of EHLO
};

inline constexpr std::size_t kSmtpLineBytesMax = 4096;
inline constexpr std::size_t kSmtpReplyLinesMax = 64;
inline constexpr std::size_t kSmtpReplyBytesMax = 64 * 1024;

class SmtpReplyParser {
 public:
  void Feed(std::string_view bytes) { buffer_.append(bytes); }

  // The next complete reply, if there is one. A line ends with LF, with or without CR.
  std::optional<SmtpReply> Next();

  // What came is no reply: a line without a code or with a NUL, another code inside a reply, or
  // over a limit. Nothing follows then.
  bool broken() const { return broken_; }

  // No byte waits to be read.
  bool drained() const { return buffer_.empty() && !partial_; }

 private:
  enum class Line : std::uint8_t { kMore, kLast, kBroken };
  Line Take(std::string_view line);

  std::string buffer_;
  std::size_t scanned_ = 0;           // of buffer_, without an end of line
  std::optional<SmtpReply> partial_;  // whose last line has not come
  std::size_t reply_bytes_ = 0;       // of partial_
  bool broken_ = false;
};

// The enhanced code with which the text begins, or empty.
std::string EnhancedCode(std::string_view text);

// A forward path as it stands on the wire, without angle brackets. Only a parsed address becomes
// one, so nothing that a client wrote can end a command or begin another one.
class SmtpPath {
 public:
  // `ascii_domain`: the address's domain in A-labels. Empty where the text would hold a control
  // character or an angle bracket, which ParseAddress lets nobody write.
  static std::optional<SmtpPath> Of(const domain::Address& address,
                                    const std::string& ascii_domain);

  const std::string& text() const { return text_; }
  bool needs_utf8() const { return needs_utf8_; }

 private:
  SmtpPath(std::string text, bool needs_utf8) : text_(std::move(text)), needs_utf8_(needs_utf8) {}
  std::string text_;
  bool needs_utf8_;
};

struct SmtpDialogueOptions {
  std::string hello_name;
  std::string mail_from;  // an address
  bool tls = true;        // STARTTLS is used where it is offered
  bool utf8 = false;      // a recipient needs SMTPUTF8
};

// What is said to a mail server to learn about recipients (RFC 5321), on one connection. Pure: it
// takes replies and gives lines. No mail is ever sent: the words DATA, VRFY and EXPN do not occur.
//
//   banner --220--> EHLO --250--> [STARTTLS --220--> handshake --> EHLO --250-->] MAIL --250--> ready
//                    |                |
//                    | 500, 502       | refused: it goes on without TLS
//                    v                v
//                   HELO --250-->    MAIL
//
//   ready --RCPT--> recipient asked --any reply--> ready
//   ready --Finish()--> RSET --any reply--> QUIT --any reply--> closed
//   banner, EHLO, HELO, MAIL --refused--> QUIT --any reply--> closed: `end` says why
//   anywhere --421--> closed
class SmtpDialogue {
 public:
  enum class Want : std::uint8_t {
    kReply,      // wait for a reply, then OnReply
    kHandshake,  // begin TLS, then OnSecured
    kRecipient,  // Recipient or Finish, when the caller likes
    kClose,      // the connection is of no more use
  };
  struct Step {
    std::string line;  // to be sent, without its end; empty: nothing is sent
    Want want = Want::kReply;
  };

  // Why there are no more recipients.
  enum class End : std::uint8_t {
    kNone,
    kRefused,         // `refusal`, at `stage`
    kUtf8NotOffered,  // it was needed
    kFinished,
  };
  enum class Stage : std::uint8_t { kBanner, kHello, kMail, kRecipient };

  explicit SmtpDialogue(SmtpDialogueOptions options);

  Step OnReply(const SmtpReply& reply);
  Step OnSecured();
  // One recipient at a time, where kRecipient was wanted.
  Step Recipient(const SmtpPath& path);
  Step Finish();

  End end() const { return end_; }
  Stage stage() const { return stage_; }  // that the last reply answered
  const std::optional<SmtpReply>& refusal() const { return refusal_; }

 private:
  enum class State : std::uint8_t {
    kBanner,
    kExtendedHello,
    kPlainHello,
    kStartTls,
    kHandshake,
    kMail,
    kReady,
    kRecipient,
    kReset,
    kQuit,
    kClosed,
  };

  Step Say(State next, std::string line);
  Step Refuse(const SmtpReply& reply, Stage stage);
  Step Quit(End end);
  Step AfterHello(const SmtpReply& reply);
  Step Mail();

  const SmtpDialogueOptions options_;
  State state_ = State::kBanner;
  Stage stage_ = Stage::kBanner;
  End end_ = End::kNone;
  std::optional<SmtpReply> refusal_;
  enum class Tls : std::uint8_t { kNotTried, kTried } tls_ = Tls::kNotTried;
  std::vector<std::string> offered_;  // of the last EHLO, in upper case
};

}  // namespace vedette::net
