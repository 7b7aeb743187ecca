// How a connection takes a request's body: in pieces, or gathered into room that was taken from a
// budget of bytes.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "config/net_config.h"
#include "net/http_connection.h"

namespace vedette::net {
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

}  // namespace vedette::net
