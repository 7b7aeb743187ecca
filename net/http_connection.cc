#include "net/http_connection.h"

#include <algorithm>
#include <exception>

#include "config/net_config.h"

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
  if (!parser_->keep_alive() || host_.draining()) {
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

void HttpConnection::Dispatch() {
  phase_ = Phase::kHandling;
  deadline_ = SteadyTime::max();
  parser_->request().remote_address = remote_address_;
  auto exchange = std::make_shared<HttpExchange>(host_.mailbox(), weak_from_this(), ++sequence_,
                                                 std::move(parser_->request()));
  if (body_ == BodyState::kUnasked) {
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
