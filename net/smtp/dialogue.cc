#include "net/smtp/dialogue.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/text.h"
#include "domain/email/address.h"

namespace vedette::net {
namespace {

using base::IsAsciiDigit;

constexpr std::size_t kCodeDigits = 3;
constexpr std::size_t kEnhancedDigitsMax = 3;

// Digits from `at` on, at most kEnhancedDigitsMax; the place after them, or npos.
std::size_t Digits(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && end - at < kEnhancedDigitsMax && IsAsciiDigit(text[end])) ++end;
  return end == at ? std::string_view::npos : end;
}

std::string Printable(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

}  // namespace

std::string EnhancedCode(std::string_view text) {
  if (text.size() < 5 || text[1] != '.' || (text[0] != '2' && text[0] != '4' && text[0] != '5')) {
    return {};
  }
  const std::size_t subject = Digits(text, 2);
  if (subject == std::string_view::npos || subject >= text.size() || text[subject] != '.') {
    return {};
  }
  const std::size_t detail = Digits(text, subject + 1);
  if (detail == std::string_view::npos) return {};
  if (detail < text.size() && text[detail] != ' ') return {};
  return std::string(text.substr(0, detail));
}

SmtpReplyParser::Line SmtpReplyParser::Take(std::string_view line) {
  // No mail server says NUL (RFC 5321 2.3.8 and 4.2): something else listens there.
  if (line.find('\0') != std::string_view::npos) return Line::kBroken;
  if (line.size() < kCodeDigits || !std::all_of(line.begin(), line.begin() + 3, IsAsciiDigit)) {
    return Line::kBroken;
  }
  const char after = line.size() > kCodeDigits ? line[kCodeDigits] : ' ';
  const int code = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
  if (code < 200 || code > 599 || (after != ' ' && after != '-')) return Line::kBroken;
  if (!partial_) {
    partial_.emplace().code = code;
    reply_bytes_ = 0;
  }
  reply_bytes_ += line.size();
  if (partial_->code != code || reply_bytes_ > kSmtpReplyBytesMax ||
      partial_->lines.size() == kSmtpReplyLinesMax) {
    return Line::kBroken;
  }
  const std::string_view text =
      line.size() > kCodeDigits ? line.substr(kCodeDigits + 1) : std::string_view();
  if (std::string enhanced = EnhancedCode(text); !enhanced.empty()) {
    partial_->enhanced = std::move(enhanced);
  }
  partial_->lines.push_back(Printable(text));
  return after == '-' ? Line::kMore : Line::kLast;
}

std::optional<SmtpReply> SmtpReplyParser::Next() {
  while (!broken_) {
    const std::size_t end = buffer_.find('\n', scanned_);
    if (end == std::string::npos) {
      scanned_ = buffer_.size();
      broken_ = scanned_ > kSmtpLineBytesMax;
      return std::nullopt;
    }
    std::string_view line = std::string_view(buffer_).substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const Line taken = line.size() > kSmtpLineBytesMax ? Line::kBroken : Take(line);
    buffer_.erase(0, end + 1);
    scanned_ = 0;
    broken_ = taken == Line::kBroken;
    if (taken == Line::kLast) return std::exchange(partial_, std::nullopt);
  }
  return std::nullopt;
}

namespace {

bool IsPositive(const SmtpReply& reply) {
  return reply.code / 100 == 2;
}

bool MayStandInLine(std::string_view text) {
  return std::none_of(text.begin(), text.end(), base::IsAsciiControl);
}

// The keyword of a line of EHLO's reply.
std::string Keyword(const std::string& line) {
  std::string word = line.substr(0, line.find(' '));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return word;
}

}  // namespace

std::optional<SmtpPath> SmtpPath::Of(const domain::Address& address,
                                     const std::string& ascii_domain) {
  const std::string text = domain::Address{address.local, ascii_domain}.Text();
  const bool quoted = text.starts_with('"');
  if (!MayStandInLine(text) || !domain::IsAsciiText(ascii_domain)) return std::nullopt;
  // Within quotes brackets are the mailbox's own; outside they would end the path.
  if (!quoted && text.find_first_of("<> ") != std::string::npos) return std::nullopt;
  return SmtpPath(text, !domain::IsAsciiText(address.local));
}

SmtpDialogue::SmtpDialogue(SmtpDialogueOptions options) : options_(std::move(options)) {}

SmtpDialogue::Step SmtpDialogue::Say(State next, std::string line) {
  base::Assert(MayStandInLine(line), "a line to a mail server has no control character");
  state_ = next;
  return {std::move(line), Want::kReply};
}

SmtpDialogue::Step SmtpDialogue::Quit(End end) {
  end_ = end;
  return Say(State::kQuit, "QUIT");
}

SmtpDialogue::Step SmtpDialogue::Refuse(const SmtpReply& reply, Stage stage) {
  stage_ = stage;
  refusal_ = reply;
  return Quit(End::kRefused);
}

SmtpDialogue::Step SmtpDialogue::Mail() {
  const bool offers_utf8 =
      std::find(offered_.begin(), offered_.end(), "SMTPUTF8") != offered_.end();
  if (options_.utf8 && !offers_utf8) return Quit(End::kUtf8NotOffered);
  return Say(State::kMail,
             "MAIL FROM:<" + options_.mail_from + ">" + (options_.utf8 ? " SMTPUTF8" : ""));
}

SmtpDialogue::Step SmtpDialogue::AfterHello(const SmtpReply& reply) {
  offered_.clear();
  for (std::size_t i = 1; i < reply.lines.size(); ++i) offered_.push_back(Keyword(reply.lines[i]));
  const bool offers = std::find(offered_.begin(), offered_.end(), "STARTTLS") != offered_.end();
  if (!offers || !options_.tls || tls_ == Tls::kTried) return Mail();
  tls_ = Tls::kTried;
  return Say(State::kStartTls, "STARTTLS");
}

SmtpDialogue::Step SmtpDialogue::OnReply(const SmtpReply& reply) {
  // A server that closes may say so at any time. What it said to RCPT is for the caller to decide.
  if (reply.code == 421) {
    if (state_ < State::kReady) {
      refusal_ = reply;
      end_ = End::kRefused;
    }
    state_ = State::kClosed;
    return {"", Want::kClose};
  }
  switch (state_) {
    case State::kBanner:
      if (reply.code != 220) return Refuse(reply, Stage::kBanner);
      stage_ = Stage::kHello;
      return Say(State::kExtendedHello, "EHLO " + options_.hello_name);
    case State::kExtendedHello:
      if (IsPositive(reply)) {
        stage_ = Stage::kMail;
        return AfterHello(reply);
      }
      if (reply.code != 500 && reply.code != 502) return Refuse(reply, Stage::kHello);
      return Say(State::kPlainHello, "HELO " + options_.hello_name);
    case State::kPlainHello:
      if (!IsPositive(reply)) return Refuse(reply, Stage::kHello);
      stage_ = Stage::kMail;
      return Mail();
    case State::kStartTls:
      if (reply.code != 220) return Mail();
      state_ = State::kHandshake;
      return {"", Want::kHandshake};
    case State::kMail:
      if (!IsPositive(reply)) return Refuse(reply, Stage::kMail);
      stage_ = Stage::kRecipient;
      state_ = State::kReady;
      return {"", Want::kRecipient};
    case State::kRecipient:
      state_ = State::kReady;
      return {"", Want::kRecipient};
    case State::kReset:
      return Quit(End::kFinished);
    case State::kHandshake:
    case State::kReady:
    case State::kQuit:
    case State::kClosed:
      break;
  }
  state_ = State::kClosed;
  return {"", Want::kClose};
}

SmtpDialogue::Step SmtpDialogue::OnSecured() {
  base::Assert(state_ == State::kHandshake, "a handshake was wanted");
  offered_.clear();  // what came before it was said by anybody
  return Say(State::kExtendedHello, "EHLO " + options_.hello_name);
}

SmtpDialogue::Step SmtpDialogue::Recipient(const SmtpPath& path) {
  base::Assert(state_ == State::kReady, "a recipient was wanted");
  return Say(State::kRecipient, "RCPT TO:<" + path.text() + ">");
}

SmtpDialogue::Step SmtpDialogue::Finish() {
  base::Assert(state_ == State::kReady, "a recipient was wanted");
  return Say(State::kReset, "RSET");
}

}  // namespace vedette::net
