#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "config/config_fwd.h"
#include "net/http_exchange.h"
#include "net/http_server.h"
#include "net/public_address.h"
#include "net/request_parser.h"

// One client's connection. Internal to the server; everything runs on the server's thread.
namespace vedette::net {

class HttpConnection;
// How much of a body is read at once. A chunk header or trailer that is longer is refused.
inline constexpr std::size_t kBodyReadBytes = 64 * 1024;
using SteadyTime = std::chrono::steady_clock::time_point;

// What a connection needs of its server, which must outlive it.
class ConnectionHost {
 public:
  virtual ~ConnectionHost() = default;
  virtual const config::HttpServerConfig& config() const = 0;
  virtual const std::vector<Cidr>& trusted_proxies() const = 0;
  virtual HttpService& service() = 0;
  virtual const base::Logger& log() const = 0;
  virtual const std::shared_ptr<Mailbox>& mailbox() const = 0;
  virtual std::string_view date() = 0;  // of now, as the Date header has it
  virtual bool draining() const = 0;
  virtual bool leaving() const = 0;  // or draining: an answer is its connection's last
  // A buffer into which any connection may read what is thrown away.
  virtual boost::asio::mutable_buffer scratch() = 0;
  // An idle connection waits for a request's first byte and may be closed for a new one.
  virtual void SetIdle(HttpConnection& connection, bool idle) = 0;
  virtual void Remove(HttpConnection& connection) = 0;
};

class HttpConnection final : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp,
                                                  boost::asio::io_context::executor_type>;

  HttpConnection(ConnectionHost& host, Socket socket);

  void Start();
  // Instead of Start: answers without reading and closes.
  void StartRefused(const RequestRefusal& refusal);

  // The server calls it when deadline() has passed.
  void OnDeadline();
  SteadyTime deadline() const { return deadline_; }

  // The server drains: closes now if no request is under way, else after its answer.
  void Drain();
  void Close();

  // Called by exchanges; `sequence` is the request they belong to.
  void ReadBody(std::uint64_t sequence, std::function<void(BodyPiece)> then);
  // `request` and `held` are those of the exchange, which `then` keeps alive.
  void GatherBody(std::uint64_t sequence, ServerRequest* request, base::ByteBudget::Holding* held,
                  std::chrono::milliseconds wait_max, std::function<void(Gathered)> then);
  // `held`: of a budget, for the answer's body, until that is written.
  void Answer(std::uint64_t sequence, ServerResponse response, base::ByteBudget::Holding held);
  void BeginStream(std::uint64_t sequence, int status,
                   const std::vector<std::pair<std::string, std::string>>& headers);
  void WritePiece(std::uint64_t sequence, std::string piece, std::function<void(bool)> then);
  void EndStream(std::uint64_t sequence);
  void Abandon(std::uint64_t sequence, const std::string& request_id);
  // Exchange::WhenGone.
  void Watch(std::uint64_t sequence, std::function<void()> then);

  // The place at which the server keeps it; the server's alone.
  struct Slot {
    std::list<std::shared_ptr<HttpConnection>>::iterator at;
    bool idle = false;
    bool listed = false;
  };
  Slot slot;

 private:
  // The service takes the body: it is read in kBody between two stays in kHandling. Where it is
  // gathered, kRoom is the wait for bytes of the budget, in which nothing is read. A streamed
  // answer goes through kWriting for each of its pieces.
  //            +-----------------------------------------------------------+
  //            v                                                           |
  // accept -> kIdle -> kHeader -> kHandling <-> kWriting --------------> kWriting -> kLingering
  //                                  ^                                                   |
  //                                  +--> kBody <--> kRoom                               v
  //                                                                   (from any) --> kClosed
  enum class Phase { kIdle, kHeader, kBody, kRoom, kHandling, kWriting, kLingering, kClosed };

  // The request's body:
  //   kNone: there is none, or it came with the header
  //   kUnasked -- the service asks, 100 Continue is said --> kTaken -- its last byte --> kDone
  enum class BodyState { kNone, kUnasked, kTaken, kDone };

  // The answer: whole, or streamed. kEnding: its end was asked for while a piece is being written.
  //   kWhole -- Begin --> kStreaming -- End while a piece is written --> kEnding
  enum class AnswerState { kWhole, kStreaming, kEnding };

  // What of an answer's body goes out: its bytes, its bytes in chunks, or nothing (HEAD, 204).
  enum class Framing { kPlain, kChunked, kHeaderOnly };
  enum class Version { kHttp11, kHttp10 };
  enum class AfterAnswering { kNextRequest, kClose };
  using Then = void (HttpConnection::*)();

  // A body on its way into its exchange's request.
  struct Gathering {
    ServerRequest* request = nullptr;  // of the exchange, which `then` keeps alive
    base::ByteBudget::Holding* held = nullptr;
    std::function<void(Gathered)> then{};
    std::size_t room = 0;    // bytes of body that may be kept: taken from the budget, and reserved
    std::size_t wanted = 0;  // in kRoom: what `room` becomes
    SteadyTime waits_since{};
    std::chrono::nanoseconds wait_left{};  // in kRoom, in sum
    std::chrono::nanoseconds body_left{};  // of body_timeout_ms, while it stands still
  };

  std::string_view buffered() const {
    return {static_cast<const char*>(buffer_.data().data()), buffer_.size()};
  }
  void SetDeadline(std::chrono::milliseconds from_now);
  void Read();
  void OnRead(std::size_t n);
  void Advance();
  void AdvanceHeader();
  void AcceptHeader(std::string_view header);
  void TakeBodyThatIsHere();
  void AdvanceBody();
  void ReadMoreBody();
  bool SayContinue();
  void AdvanceStreamedBody();
  void GivePiece(BodyPiece piece);
  void ContinueGathering();
  void AdvanceGathering();
  bool HasRoom(std::size_t bytes);
  void WidenRoom();
  void OnRoom(std::uint64_t sequence);
  void FinishGathering(Gathered how);
  void EndBody();
  std::string ClientOf(const ServerRequest& request) const;
  void Dispatch();
  void Refuse(const RequestRefusal& refusal);

  bool Answers(std::uint64_t sequence) const;
  void BeginHeader(int status, const std::vector<std::pair<std::string, std::string>>& headers);
  void WriteOut(Then then);
  void AfterPiece();
  void AfterAnswer();
  void OnReadError();
  bool closes() const { return after_ == AfterAnswering::kClose; }
  void NextRequest();
  void Linger();
  void OnLingerRead(std::size_t n);

  ConnectionHost& host_;
  Socket socket_;
  boost::beast::flat_buffer buffer_;
  std::string remote_address_;
  Phase phase_ = Phase::kIdle;
  SteadyTime deadline_ = SteadyTime::max();
  bool reading_ = false;
  bool writing_ = false;

  // The request.
  HeaderScanner scanner_;
  std::optional<RequestParser> parser_;
  std::size_t body_bytes_max_ = 0;
  BodyState body_ = BodyState::kNone;
  std::function<void(BodyPiece)> read_then_;
  std::optional<Gathering> gathering_;
  std::uint64_t sequence_ = 0;
  std::function<void()> gone_then_;  // while the client is watched

  // Its answer.
  Version version_ = Version::kHttp11;
  AnswerState answer_ = AnswerState::kWhole;
  Framing framing_ = Framing::kPlain;
  AfterAnswering after_ = AfterAnswering::kNextRequest;
  std::string out_head_;
  std::string out_body_;
  std::string_view out_tail_;
  base::ByteBudget::Holding out_held_;
  std::function<void(bool)> piece_then_;

  std::size_t linger_bytes_ = 0;
  SteadyTime linger_until_;
};

}  // namespace vedette::net
