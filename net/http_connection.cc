#include "net/http_connection.h"

#include <algorithm>
#include <array>
#include <boost/asio/write.hpp>
#include <boost/beast/http/status.hpp>
#include <exception>

namespace vedette::net {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t kReadBytes = 4096;             // for headers
constexpr std::size_t kBufferKeptBytes = 16 * 1024;  // by an idle connection

// A client that still sends when it has been answered is read on for this long, so that it comes to
// read the answer: closing at once would reset the connection and take the answer away.
constexpr std::size_t kLingerBytesMax = 256u << 20;
constexpr milliseconds kLingerTimeMax{30000};
constexpr milliseconds kLingerSilenceMax{2000};
constexpr milliseconds kLingerDrainMax{1000};

bool EqualIgnoringCase(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() &&
         std::equal(a.begin(), a.end(), lower.begin(), [](char x, char y) {
           return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
         });
}

// Set by the server alone.
bool IsFramingHeader(std::string_view name) {
  return EqualIgnoringCase(name, "content-length") ||
         EqualIgnoringCase(name, "transfer-encoding") || EqualIgnoringCase(name, "connection") ||
         EqualIgnoringCase(name, "date");
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

HttpConnection::HttpConnection(ConnectionHost& host, Socket socket)
    : host_(host), socket_(std::move(socket)) {
  boost::system::error_code ec;
  const auto endpoint = socket_.remote_endpoint(ec);
  if (!ec) {
    auto address = endpoint.address();
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
      address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    }
    remote_address_ = address.to_string();
  }
  socket_.set_option(asio::ip::tcp::no_delay(true), ec);
}

void HttpConnection::SetDeadline(milliseconds from_now) {
  deadline_ = std::chrono::steady_clock::now() + from_now;
}

void HttpConnection::Start() {
  SetDeadline(host_.config().header_timeout_ms);
  host_.SetIdle(*this, true);
  Read();
}

void HttpConnection::StartRefused(const RequestRefusal& refusal) {
  Refuse(refusal);
}

void HttpConnection::Close() {
  if (phase_ == Phase::kClosed) {
    return;
  }
  const auto self = shared_from_this();
  phase_ = Phase::kClosed;
  deadline_ = SteadyTime::max();
  boost::system::error_code ec;
  socket_.close(ec);
  host_.Remove(*this);
  if (auto then = std::exchange(piece_then_, nullptr)) {
    then(false);
  }
  EndBody();
}

void HttpConnection::Drain() {
  close_after_ = true;
  if (phase_ == Phase::kIdle) {
    Close();
  } else if (phase_ == Phase::kLingering) {
    linger_until_ = std::min(linger_until_, std::chrono::steady_clock::now() + kLingerDrainMax);
    deadline_ = std::min(deadline_, linger_until_);
  }
}

void HttpConnection::OnDeadline() {
  const bool waits_for_request = phase_ == Phase::kHeader || phase_ == Phase::kBody;
  if (phase_ == Phase::kRoom) {
    FinishGathering(Gathered::kNoRoom);
  } else if (waits_for_request && !writing_) {
    Refuse({408, "request_timeout", "The request did not arrive in time."});
  } else {
    Close();
  }
}

// ---------------------------------------------------------------- reading

void HttpConnection::Read() {
  if (reading_ || phase_ == Phase::kClosed) {
    return;
  }
  reading_ = true;
  // What is only thrown away needs no memory of its own.
  socket_.async_read_some(
      phase_ == Phase::kLingering ? host_.scratch()
                                  : asio::mutable_buffer(buffer_.prepare(
                                        phase_ == Phase::kBody ? kBodyReadBytes : kReadBytes)),
      [self = shared_from_this()](const boost::system::error_code& ec, std::size_t n) {
        self->reading_ = false;
        if (ec) {
          // The client is gone, or done sending; what it still wants to read has been written
          // unless an answer is on its way.
          if (!self->writing_) {
            self->Close();
          }
          return;
        }
        self->OnRead(n);
      });
}

void HttpConnection::OnRead(std::size_t n) {
  switch (phase_) {
    case Phase::kIdle:
    case Phase::kHeader:
    case Phase::kBody:
      buffer_.commit(n);
      Advance();
      return;
    case Phase::kLingering:
      OnLingerRead(n);
      return;
    case Phase::kRoom:
    case Phase::kHandling:
    case Phase::kWriting:  // refused while it was being read: the bytes do not matter any more
    case Phase::kClosed:
      return;
  }
}

void HttpConnection::Advance() {
  if (phase_ == Phase::kIdle) {
    if (buffer_.size() == 0) {
      Read();
      return;
    }
    phase_ = Phase::kHeader;
    host_.SetIdle(*this, false);
    SetDeadline(host_.config().header_timeout_ms);
  }
  if (phase_ == Phase::kHeader && !AdvanceHeader()) {
    return;
  }
  if (phase_ == Phase::kBody) {
    AdvanceBody();
  }
}

// True when the header has been accepted and the body may be read.
bool HttpConnection::AdvanceHeader() {
  const std::size_t limit = host_.config().header_bytes_max;
  auto result = scanner_.Scan(buffered());
  if (result == HeaderScanner::Result::kEnd && scanner_.empty_line_only() && !skipped_empty_line_) {
    // RFC 9112 2.2: an empty line before a request is to be ignored.
    skipped_empty_line_ = true;
    buffer_.consume(scanner_.end());
    scanner_ = HeaderScanner();
    result = scanner_.Scan(buffered());
  }
  if (result == HeaderScanner::Result::kBad) {
    Refuse({400, "bad_request", scanner_.problem()});
    return false;
  }
  const bool ended = result == HeaderScanner::Result::kEnd;
  if ((ended ? scanner_.end() : buffer_.size()) > limit) {
    Refuse({431, "header_too_large",
            "The request's header is longer than " + std::to_string(limit) + " bytes."});
    return false;
  }
  if (!ended) {
    Read();
    return false;
  }
  return AcceptHeader(buffered().substr(0, scanner_.end()));
}

bool HttpConnection::AcceptHeader(std::string_view header) {
  parser_.emplace();
  const auto refusal = parser_->ParseHeader(header);
  buffer_.consume(header.size());
  if (refusal) {
    Refuse(*refusal);
    return false;
  }
  ServerRequest& request = parser_->request();
  head_ = request.method == "HEAD";
  http_1_0_ = parser_->http_1_0();
  close_after_ = close_after_ || !parser_->keep_alive() || host_.draining();
  body_bytes_max_ = host_.service().BodyBytesMax(request.method, request.path);
  phase_ = Phase::kBody;
  SetDeadline(host_.config().body_timeout_ms);
  if (parser_->DeclaredOver(body_bytes_max_)) {
    request.body_too_large = true;
    close_after_ = true;
    Dispatch();
    return false;
  }
  // A body that has come with its header costs nobody anything more, and one hop less.
  const bool here = parser_->BodyWithin(buffer_.size());
  if (parser_->has_body() && !here && host_.service().TakesBody(request.method, request.path)) {
    request.body_pending = true;
    body_streams_ = true;
    Dispatch();
    return false;
  }
  parser_->ReserveBody();
  if (parser_->has_body() && parser_->expects_continue() && !http_1_0_ && buffer_.size() == 0) {
    out_head_ = "HTTP/1.1 100 Continue\r\n\r\n";
    WriteOut(&HttpConnection::AdvanceBody);
    return false;
  }
  return true;
}

void HttpConnection::Dispatch() {
  phase_ = Phase::kHandling;
  deadline_ = SteadyTime::max();
  parser_->request().remote_address = remote_address_;
  auto exchange = std::make_shared<HttpExchange>(host_.mailbox(), weak_from_this(), ++sequence_,
                                                 std::move(parser_->request()));
  if (body_streams_) {
    parser_->request() = ServerRequest();
  } else {
    parser_.reset();
  }
  try {
    host_.service().Handle(std::move(exchange));
  } catch (const std::exception& e) {
    // The exchange is dropped and thereby answered with a 500.
    host_.log().Error("a handler failed", {{"error", e.what()}});
  }
}

// ---------------------------------------------------------------- answering

void HttpConnection::Refuse(const RequestRefusal& refusal) {
  close_after_ = true;
  streaming_ = false;
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
  const bool unread = body_streams_ && !body_done_;
  close_after_ = close_after_ || host_.draining() || unread;
  const auto reason =
      boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(unsigned(status)));
  out_head_ = http_1_0_ ? "HTTP/1.0 " : "HTTP/1.1 ";
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
  if (close_after_) {
    out_head_ += "Connection: close\r\n";
  } else if (http_1_0_) {
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
    if (!head_) {
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
  streaming_ = true;
  chunked_ = !http_1_0_ && !HasNoBody(status);
  close_after_ = close_after_ || http_1_0_;
  head_ = head_ || HasNoBody(status);
  BeginHeader(status, headers);
  out_head_ += chunked_ ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n";
}

void HttpConnection::WritePiece(std::uint64_t sequence, std::string piece,
                                std::function<void(bool)> then) {
  if (!Answers(sequence) || !streaming_ || writing_) {
    then(false);
    return;
  }
  if (!head_ && !piece.empty()) {
    if (chunked_) {
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
  if (end_pending_) {
    EndStream(sequence_);
  }
}

void HttpConnection::EndStream(std::uint64_t sequence) {
  if (!Answers(sequence) || !streaming_) {
    return;
  }
  if (writing_) {
    end_pending_ = true;
    return;
  }
  if (chunked_ && !head_) {
    out_head_ += "0\r\n\r\n";
  }
  WriteOut(&HttpConnection::AfterAnswer);
}

void HttpConnection::Abandon(std::uint64_t sequence) {
  if (!Answers(sequence)) {
    return;
  }
  if (streaming_) {
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
  if (close_after_) {
    Linger();
  } else {
    NextRequest();
  }
}

void HttpConnection::NextRequest() {
  scanner_ = HeaderScanner();
  skipped_empty_line_ = false;
  parser_.reset();
  body_streams_ = body_done_ = continued_ = false;
  head_ = http_1_0_ = streaming_ = chunked_ = end_pending_ = false;
  phase_ = Phase::kIdle;
  SetDeadline(host_.config().idle_timeout_ms);
  host_.SetIdle(*this, true);
  if (buffer_.size() == 0 && buffer_.capacity() > kBufferKeptBytes) {
    buffer_.shrink_to_fit();
  }
  Advance();
}

// ---------------------------------------------------------------- closing

void HttpConnection::Linger() {
  phase_ = Phase::kLingering;
  boost::system::error_code ec;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ec);
  if (!reading_) {  // else a read under way points into it
    buffer_.consume(buffer_.size());
    buffer_.shrink_to_fit();
  }
  linger_until_ =
      std::chrono::steady_clock::now() + (host_.draining() ? kLingerDrainMax : kLingerTimeMax);
  SetDeadline(kLingerSilenceMax);
  deadline_ = std::min(deadline_, linger_until_);
  Read();
}

void HttpConnection::OnLingerRead(std::size_t n) {
  linger_bytes_ += n;
  if (linger_bytes_ > kLingerBytesMax) {
    Close();
    return;
  }
  SetDeadline(kLingerSilenceMax);
  deadline_ = std::min(deadline_, linger_until_);
  Read();
}

}  // namespace vedette::net
