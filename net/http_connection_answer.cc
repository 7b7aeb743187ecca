// How a connection writes an answer: whole, or in pieces.
#include <algorithm>
#include <array>
#include <boost/asio/write.hpp>
#include <boost/beast/http/status.hpp>
#include <utility>

#include "base/text.h"
#include "config/net_config.h"
#include "net/http_connection.h"

namespace vedette::net {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kBufferKeptBytes = 16 * 1024;  // by an idle connection

// Set by the server alone.
bool IsFramingHeader(std::string_view name) {
  return base::EqualsIgnoringAsciiCase(name, "content-length") ||
         base::EqualsIgnoringAsciiCase(name, "transfer-encoding") ||
         base::EqualsIgnoringAsciiCase(name, "connection") ||
         base::EqualsIgnoringAsciiCase(name, "date");
}

// A value that came from a client must not be able to end the line.
void AppendHeaderText(std::string& out, std::string_view text) {
  for (const char c : text) {
    out.push_back(c == '\r' || c == '\n' || c == '\0' ? ' ' : c);
  }
}

bool HasNoBody(int status) {
  return status / 100 == 1 || status == 204 || status == 304;
}

void AppendHex(std::string& out, std::size_t n) {
  std::array<char, 16> digits;
  std::size_t i = digits.size();
  do {
    digits[--i] = "0123456789abcdef"[n % 16];
    n /= 16;
  } while (n != 0);
  out.append(digits.data() + i, digits.size() - i);
}

}  // namespace

void HttpConnection::Refuse(const RequestRefusal& refusal) {
  after_ = AfterAnswering::kClose;
  answer_ = AnswerState::kWhole;
  std::vector<std::pair<std::string, std::string>> headers{{"Content-Type", "application/json"}};
  if (refusal.status == 503) {
    headers.emplace_back("Retry-After", "5");
  }
  BeginHeader(refusal.status, headers);
  // The code and message are ours: nothing to escape.
  out_body_ = R"({"error":")" + refusal.code + R"(","message":")" + refusal.message + R"("})";
  out_head_ += "Content-Length: " + std::to_string(out_body_.size()) + "\r\n\r\n";
  host_.SetIdle(*this, false);
  host_.log().Debug("request refused", {{"status", refusal.status},
                                        {"code", refusal.code},
                                        {"remote", std::string_view(remote_address_)}});
  ++sequence_;
  WriteOut(&HttpConnection::AfterAnswer);
  EndBody();
}

bool HttpConnection::Answers(std::uint64_t sequence) const {
  return sequence == sequence_ && (phase_ == Phase::kHandling || phase_ == Phase::kWriting);
}

void HttpConnection::BeginHeader(int status,
                                 const std::vector<std::pair<std::string, std::string>>& headers) {
  gone_then_ = nullptr;
  const bool unread = body_ == BodyState::kUnasked || body_ == BodyState::kTaken;
  if (host_.draining() || unread) {
    after_ = AfterAnswering::kClose;
  }
  const auto reason =
      boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(unsigned(status)));
  const bool http_1_0 = version_ == Version::kHttp10;
  out_head_ = http_1_0 ? "HTTP/1.0 " : "HTTP/1.1 ";
  out_head_ += std::to_string(status);
  out_head_ += ' ';
  out_head_.append(reason.data(), reason.size());
  out_head_ += "\r\nDate: ";
  out_head_ += host_.date();
  out_head_ += "\r\n";
  for (const auto& [name, value] : headers) {
    if (!IsFramingHeader(name)) {
      AppendHeaderText(out_head_, name);
      out_head_ += ": ";
      AppendHeaderText(out_head_, value);
      out_head_ += "\r\n";
    }
  }
  if (closes()) {
    out_head_ += "Connection: close\r\n";
  } else if (http_1_0) {
    out_head_ += "Connection: keep-alive\r\n";
  }
}

void HttpConnection::Answer(std::uint64_t sequence, ServerResponse response,
                            base::ByteBudget::Holding held) {
  if (!Answers(sequence)) {
    return;
  }
  out_held_ = std::move(held);
  BeginHeader(response.status, response.headers);
  if (!HasNoBody(response.status)) {
    out_head_ += "Content-Length: ";
    out_head_ += std::to_string(response.body.size());
    out_head_ += "\r\n";
    if (framing_ != Framing::kHeaderOnly) {
      out_body_ = std::move(response.body);
    }
  }
  out_head_ += "\r\n";
  WriteOut(&HttpConnection::AfterAnswer);
}

void HttpConnection::BeginStream(std::uint64_t sequence, int status,
                                 const std::vector<std::pair<std::string, std::string>>& headers) {
  if (!Answers(sequence)) {
    return;
  }
  answer_ = AnswerState::kStreaming;
  const bool has_body = !HasNoBody(status);
  const bool chunked = version_ == Version::kHttp11 && has_body;
  if (version_ == Version::kHttp10) {
    after_ = AfterAnswering::kClose;  // which ends the body
  }
  if (!has_body) {
    framing_ = Framing::kHeaderOnly;
  } else if (chunked && framing_ == Framing::kPlain) {
    framing_ = Framing::kChunked;
  }
  BeginHeader(status, headers);
  out_head_ += chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n";
}

void HttpConnection::WritePiece(std::uint64_t sequence, std::string piece,
                                std::function<void(bool)> then) {
  if (!Answers(sequence) || answer_ != AnswerState::kStreaming || writing_) {
    then(false);
    return;
  }
  if (framing_ != Framing::kHeaderOnly && !piece.empty()) {
    if (framing_ == Framing::kChunked) {
      AppendHex(out_head_, piece.size());
      out_head_ += "\r\n";
      out_tail_ = "\r\n";
    }
    out_body_ = std::move(piece);
  }
  piece_then_ = std::move(then);
  WriteOut(&HttpConnection::AfterPiece);
}

void HttpConnection::AfterPiece() {
  phase_ = Phase::kHandling;
  deadline_ = SteadyTime::max();
  if (auto then = std::exchange(piece_then_, nullptr)) {
    then(true);
  }
  if (answer_ == AnswerState::kEnding) {
    EndStream(sequence_);
  }
}

void HttpConnection::EndStream(std::uint64_t sequence) {
  if (!Answers(sequence) || answer_ == AnswerState::kWhole) {
    return;
  }
  if (writing_) {
    answer_ = AnswerState::kEnding;
    return;
  }
  if (framing_ == Framing::kChunked) {
    out_head_ += "0\r\n\r\n";
  }
  WriteOut(&HttpConnection::AfterAnswer);
}

void HttpConnection::Abandon(std::uint64_t sequence) {
  if (!Answers(sequence)) {
    return;
  }
  if (answer_ != AnswerState::kWhole) {
    Close();  // a cut answer must not look like a whole one
    return;
  }
  host_.log().Error("a request was dropped without an answer");
  Answer(sequence,
         {500,
          {{"Content-Type", "application/json"}},
          R"({"error":"internal_error","message":"The request was not answered."})"},
         {});
}

// Writes out_head_, out_body_ and out_tail_; then runs `then`, unless the connection breaks.
void HttpConnection::WriteOut(Then then) {
  const bool reads_on = phase_ == Phase::kBody;  // 100 Continue
  if (!reads_on) {
    phase_ = Phase::kWriting;
    SetDeadline(host_.config().write_timeout_ms);
  }
  writing_ = true;
  const std::array<asio::const_buffer, 3> buffers{
      asio::buffer(out_head_), asio::buffer(out_body_),
      asio::const_buffer(out_tail_.data(), out_tail_.size())};
  auto progress = [this, reads_on](const boost::system::error_code& ec, std::size_t n) {
    if (n > 0 && !reads_on && phase_ == Phase::kWriting) {
      SetDeadline(host_.config().write_timeout_ms);
    }
    return ec ? std::size_t{0} : kBodyReadBytes;
  };
  asio::async_write(socket_, buffers, progress,
                    [self = shared_from_this(), then](const boost::system::error_code& ec, auto) {
                      self->writing_ = false;
                      self->out_head_.clear();
                      self->out_body_ = std::string();
                      self->out_tail_ = {};
                      self->out_held_ = {};
                      if (self->phase_ == Phase::kClosed) {
                        return;
                      }
                      if (ec) {
                        self->Close();
                        return;
                      }
                      (self.get()->*then)();
                    });
}

void HttpConnection::AfterAnswer() {
  if (closes()) {
    Linger();
  } else {
    NextRequest();
  }
}

void HttpConnection::NextRequest() {
  scanner_ = HeaderScanner();
  parser_.reset();
  body_ = BodyState::kNone;
  version_ = Version::kHttp11;
  answer_ = AnswerState::kWhole;
  framing_ = Framing::kPlain;
  phase_ = Phase::kIdle;
  SetDeadline(host_.config().idle_timeout_ms);
  host_.SetIdle(*this, true);
  // A read that is under way, of a client that was watched, points into the buffer.
  if (!reading_ && buffer_.size() == 0 && buffer_.capacity() > kBufferKeptBytes) {
    buffer_.shrink_to_fit();
  }
  Advance();
}

}  // namespace vedette::net
