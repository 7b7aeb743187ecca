#include "net/http_connection.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include <boost/asio/write.hpp>
#include <boost/beast/http/status.hpp>

#include "base/assert.h"
#include "base/text.h"
#include "config/server_config.h"

namespace vedette::net {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t kReadBytes = 4096;  // for headers

// A client that still sends when it has been answered is read on for this long, so that it comes to
// read the answer: closing at once would reset the connection and take the answer away.
constexpr std::size_t kLingerBytesMax = 256u << 20;
constexpr milliseconds kLingerTimeMax{30000};
constexpr milliseconds kLingerSilenceMax{2000};
constexpr milliseconds kLingerDrainMax{1000};

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
  gone_then_ = nullptr;
  if (auto then = std::exchange(piece_then_, nullptr)) {
    then(false);
  }
  EndBody();
}

void HttpConnection::Drain() {
  after_ = AfterAnswering::kClose;
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
          self->OnReadError();
        } else {
          self->OnRead(n);
        }
      });
}

// The client is gone, or done sending; what it still wants to read has been written unless an
// answer is on its way. Where it is watched, the answer is still awaited, and it counts as gone.
void HttpConnection::OnReadError() {
  if (writing_) {
    return;
  }
  const auto then = std::exchange(gone_then_, nullptr);
  Close();
  if (then) {
    then();
  }
}

void HttpConnection::Watch(std::uint64_t sequence, std::function<void()> then) {
  if (phase_ == Phase::kClosed && sequence == sequence_ && !host_.draining()) {
    then();  // it has left before
    return;
  }
  const bool body_to_come = body_ == BodyState::kUnasked || body_ == BodyState::kTaken;
  if (!Answers(sequence) || phase_ != Phase::kHandling || body_to_come || buffer_.size() > 0) {
    return;
  }
  gone_then_ = std::move(then);
  Read();
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
    case Phase::kHandling:
    case Phase::kWriting:
      // The client was watched, or refused while it was being read. What it has sent is its next
      // request, and it is there.
      buffer_.commit(n);
      gone_then_ = nullptr;
      return;
    case Phase::kRoom:
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
  if (phase_ == Phase::kHeader) {
    AdvanceHeader();
  } else if (phase_ == Phase::kBody) {
    AdvanceBody();
  }
}

void HttpConnection::AdvanceHeader() {
  const std::size_t limit = host_.config().header_bytes_max;
  const auto result = scanner_.Scan(buffered());
  if (result == HeaderScanner::Result::kBad) {
    Refuse({400, "bad_request", scanner_.problem()});
    return;
  }
  const bool ended = result == HeaderScanner::Result::kEnd;
  if ((ended ? scanner_.end() : buffer_.size()) - scanner_.begin() > limit) {
    Refuse({431, "header_too_large",
            "The request's header is longer than " + std::to_string(limit) + " bytes."});
    return;
  }
  if (!ended) {
    Read();
    return;
  }
  buffer_.consume(scanner_.begin());
  AcceptHeader(buffered().substr(0, scanner_.end() - scanner_.begin()));
}

void HttpConnection::AcceptHeader(std::string_view header) {
  parser_.emplace();
  const auto refusal = parser_->ParseHeader(header);
  buffer_.consume(header.size());
  if (refusal) {
    Refuse(*refusal);
    return;
  }
  ServerRequest& request = parser_->request();
  framing_ = request.method == "HEAD" ? Framing::kHeaderOnly : Framing::kPlain;
  version_ = parser_->http_1_0() ? Version::kHttp10 : Version::kHttp11;
  if (!parser_->keep_alive() || host_.leaving()) {
    after_ = AfterAnswering::kClose;
  }
  body_bytes_max_ = host_.service().BodyBytesMax(request.method, request.path);
  if (parser_->DeclaredOver(body_bytes_max_)) {
    request.body_too_large = true;
    after_ = AfterAnswering::kClose;
  } else if (parser_->BodyWithin(buffer_.size())) {
    TakeBodyThatIsHere();
  } else if (parser_->has_body()) {
    request.body_pending = true;
    body_ = BodyState::kUnasked;
  }
  Dispatch();
}

std::string HttpConnection::ClientOf(const ServerRequest& request) const {
  if (host_.trusted_proxies().empty()) return remote_address_;
  std::vector<std::string_view> forwarded_for;
  for (const auto& [name, value] : request.headers) {
    if (name == "x-forwarded-for") forwarded_for.push_back(value);
  }
  return ClientAddress(remote_address_, forwarded_for, host_.trusted_proxies());
}

void HttpConnection::Dispatch() {
  phase_ = Phase::kHandling;
  deadline_ = SteadyTime::max();
  parser_->request().remote_address = ClientOf(parser_->request());
  auto exchange = std::make_shared<HttpExchange>(host_.mailbox(), weak_from_this(), ++sequence_,
                                                 std::move(parser_->request()));
  if (body_ == BodyState::kUnasked) {
    // A refusal of the body carries the request's id, too.
    parser_->request() = ServerRequest();
    parser_->request().headers.emplace_back("x-request-id",
                                            exchange->request().Header("x-request-id"));
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

// How a connection takes a request's body: in pieces, or gathered into room that was taken from a
// budget of bytes.

namespace {

constexpr std::size_t kPieceBytes = 256 * 1024;  // of a streamed body, about

constexpr const char* kBadChunks = "The request's body is not validly chunked.";
constexpr const char* kLongChunkHeader = "A chunk's header or the trailer is too long.";

}  // namespace

// A body that has come with its header costs nobody anything more, and one hop less.
void HttpConnection::TakeBodyThatIsHere() {
  std::size_t consumed = 0;
  const auto result = parser_->FeedBody(buffered(), body_bytes_max_, &consumed);
  buffer_.consume(consumed);
  base::Assert(result == RequestParser::Body::kDone,
               "a body of a declared length within the limit is whole once its bytes are there");
}

void HttpConnection::AdvanceBody() {
  if (gathering_) {
    AdvanceGathering();
  } else {
    AdvanceStreamedBody();
  }
}

void HttpConnection::ReadMoreBody() {
  if (buffer_.size() >= kBodyReadBytes) {  // one chunk header or trailer fills it
    Refuse({400, "bad_request", kLongChunkHeader});
    return;
  }
  Read();
}

// True where 100 Continue is being written, after which the body goes on. Only once the body is
// asked for, so that one refused for its header is not sent in vain.
bool HttpConnection::SayContinue() {
  const bool first = std::exchange(body_, BodyState::kTaken) == BodyState::kUnasked;
  if (!first || !parser_->expects_continue() || version_ == Version::kHttp10 ||
      buffer_.size() > 0) {
    return false;
  }
  out_head_ = "HTTP/1.1 100 Continue\r\n\r\n";
  WriteOut(&HttpConnection::AdvanceBody);
  return true;
}

// Tells the one who waits for the body that it does not come.
void HttpConnection::EndBody() {
  if (parser_) {
    parser_->request().body = std::string();
  }
  if (auto then = std::exchange(read_then_, nullptr)) {
    then({BodyPiece::Kind::kBroken});
  }
  if (gathering_) {
    const auto then = std::move(gathering_->then);
    gathering_.reset();
    then(Gathered::kBroken);
  }
}

// ---------------------------------------------------------------- in pieces

void HttpConnection::ReadBody(std::uint64_t sequence, std::function<void(BodyPiece)> then) {
  if (!Answers(sequence) || phase_ != Phase::kHandling || read_then_) {
    then({BodyPiece::Kind::kBroken});
    return;
  }
  if (body_ == BodyState::kNone || body_ == BodyState::kDone) {
    then({BodyPiece::Kind::kEnd});
    return;
  }
  read_then_ = std::move(then);
  phase_ = Phase::kBody;
  SetDeadline(host_.config().body_timeout_ms);
  if (!SayContinue()) {
    AdvanceStreamedBody();
  }
}

void HttpConnection::AdvanceStreamedBody() {
  std::size_t consumed = 0;
  const auto result = parser_->FeedBody(buffered(), body_bytes_max_, &consumed);
  buffer_.consume(consumed);
  std::string& kept = parser_->request().body;
  switch (result) {
    case RequestParser::Body::kNeedMore:
      if (kept.size() >= kPieceBytes) {
        body_bytes_max_ -= kept.size();
        GivePiece({BodyPiece::Kind::kData, std::exchange(kept, {})});
        return;
      }
      ReadMoreBody();
      return;
    case RequestParser::Body::kDone:
      body_ = BodyState::kDone;
      if (kept.empty()) {
        GivePiece({BodyPiece::Kind::kEnd});
      } else {
        GivePiece({BodyPiece::Kind::kData, std::exchange(kept, {})});
      }
      return;
    case RequestParser::Body::kTooLarge:
      kept = std::string();
      after_ = AfterAnswering::kClose;
      GivePiece({BodyPiece::Kind::kTooLarge});
      return;
    case RequestParser::Body::kBad:
      Refuse({400, "bad_request", kBadChunks});
      return;
  }
}

void HttpConnection::GivePiece(BodyPiece piece) {
  phase_ = Phase::kHandling;
  deadline_ = SteadyTime::max();
  std::exchange(read_then_, nullptr)(std::move(piece));
}

// ---------------------------------------------------------------- gathered

void HttpConnection::GatherBody(std::uint64_t sequence, ServerRequest* request,
                                base::ByteBudget::Holding* held, std::chrono::milliseconds wait_max,
                                std::function<void(Gathered)> then) {
  if (!Answers(sequence) || phase_ != Phase::kHandling || body_ != BodyState::kUnasked) {
    then(Gathered::kBroken);
    return;
  }
  gathering_ = Gathering{request, held, std::move(then), 0, 0, {}, wait_max, {}};
  phase_ = Phase::kBody;
  SetDeadline(host_.config().body_timeout_ms);
  if (HasRoom(std::min<std::size_t>(parser_->DeclaredBytes().value_or(kBodyReadBytes),
                                    kBodyReadBytes))) {
    ContinueGathering();
  }
}

void HttpConnection::ContinueGathering() {
  if (!SayContinue()) {
    AdvanceGathering();
  }
}

void HttpConnection::AdvanceGathering() {
  std::string& body = parser_->request().body;
  std::size_t needed = body.size() + buffer_.size();
  if (const auto declared = parser_->DeclaredBytes()) {
    needed = std::min<std::size_t>(needed, *declared);
  }
  if (!HasRoom(needed)) {
    return;
  }
  std::size_t consumed = 0;
  const auto result = parser_->FeedBody(buffered(), body_bytes_max_, &consumed);
  buffer_.consume(consumed);
  switch (result) {
    case RequestParser::Body::kNeedMore:
      ReadMoreBody();
      return;
    case RequestParser::Body::kDone:
      body_ = BodyState::kDone;
      FinishGathering(Gathered::kWhole);
      return;
    case RequestParser::Body::kTooLarge:
      gathering_->request->body_too_large = true;
      after_ = AfterAnswering::kClose;
      FinishGathering(Gathered::kWhole);
      return;
    case RequestParser::Body::kBad:
      Refuse({400, "bad_request", kBadChunks});
      return;
  }
}

// Whether there is room for a body of so many bytes; else it waits for room, and OnRoom goes on.
// The room doubles, so that what a client announces costs nothing before it comes.
bool HttpConnection::HasRoom(std::size_t bytes) {
  Gathering& g = *gathering_;
  if (bytes <= g.room) {
    return true;
  }
  const std::size_t most = parser_->DeclaredBytes().value_or(body_bytes_max_ + kBodyReadBytes);
  const std::size_t wanted = std::max(bytes, std::min(2 * g.room, most));
  const std::size_t buffer_bytes = g.room == 0 ? kBodyReadBytes : 0;
  g.wanted = wanted;
  const bool taken =
      !*g.held || g.held->Take(wanted - g.room + buffer_bytes,
                               [mailbox = host_.mailbox(), connection = weak_from_this(),
                                sequence = sequence_] {
                                 mailbox->Post([connection, sequence] {
                                   if (const auto c = connection.lock()) {
                                     c->OnRoom(sequence);
                                   }
                                 });
                               });
  if (taken) {
    WidenRoom();
    return true;
  }
  phase_ = Phase::kRoom;
  g.waits_since = std::chrono::steady_clock::now();
  g.body_left = deadline_ - g.waits_since;
  deadline_ = g.waits_since + g.wait_left;
  return false;
}

void HttpConnection::WidenRoom() {
  gathering_->room = gathering_->wanted;
  parser_->request().body.reserve(gathering_->room);
}

void HttpConnection::OnRoom(std::uint64_t sequence) {
  if (sequence != sequence_ || phase_ != Phase::kRoom) {
    return;
  }
  Gathering& g = *gathering_;
  const SteadyTime now = std::chrono::steady_clock::now();
  g.wait_left -= now - g.waits_since;
  deadline_ = now + g.body_left;
  phase_ = Phase::kBody;
  WidenRoom();
  ContinueGathering();
}

void HttpConnection::FinishGathering(Gathered how) {
  const Gathering done = std::move(*gathering_);
  gathering_.reset();
  phase_ = Phase::kHandling;
  deadline_ = SteadyTime::max();
  std::string body = std::exchange(parser_->request().body, {});
  if (body_ == BodyState::kDone) {
    done.request->body = std::move(body);
    if (*done.held) {
      done.held->GiveBack(kBodyReadBytes);
    }
  } else {
    body = std::string();
    *done.held = {};
  }
  done.request->body_pending = false;
  buffer_.shrink_to_fit();
  done.then(how);
}

// How a connection writes an answer: whole, or in pieces.

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
  const std::string id = RequestIdOf(parser_ ? parser_->request() : ServerRequest());
  std::vector<std::pair<std::string, std::string>> headers{{"X-Request-Id", id},
                                                           {"Content-Type", "application/json"}};
  if (refusal.status == 503) {
    headers.emplace_back("Retry-After", "5");
  }
  BeginHeader(refusal.status, headers);
  // The code and message are ours: nothing to escape.
  out_body_ = R"({"error":")" + refusal.code + R"(","message":")" + refusal.message + R"("})";
  out_head_ += "Content-Length: " + std::to_string(out_body_.size()) + "\r\n\r\n";
  host_.SetIdle(*this, false);
  host_.log().Debug("request refused", {{"request", id},
                                        {"status", refusal.status},
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
  if (host_.leaving() || unread) {
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

void HttpConnection::Abandon(std::uint64_t sequence, const std::string& request_id) {
  if (!Answers(sequence)) {
    return;
  }
  if (answer_ != AnswerState::kWhole) {
    Close();  // a cut answer must not look like a whole one
    return;
  }
  host_.log().Error("a request was dropped without an answer", {{"request", request_id}});
  Answer(sequence,
         {500,
          {{"X-Request-Id", request_id}, {"Content-Type", "application/json"}},
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
