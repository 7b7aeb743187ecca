#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_budget.h"
#include "base/log.h"
#include "config/config_fwd.h"

namespace vedette::net {

// A request whose header has been read, and its body where that came with it.
struct ServerRequest {
  std::string method;
  std::string target;  // as sent
  std::string path;    // without the query; still percent-encoded
  std::string query;   // behind the '?', may be empty
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  // The body was over the limit; it is not in `body`. The handler answers (413, or what it checks
  // first); the server reads on for a while so that a client still sending can read the answer.
  bool body_too_large = false;
  // The body is still to be taken, by Exchange::Gather or Read.
  bool body_pending = false;
  std::string remote_address;  // the client's (ClientAddress), without the port

  // The first header of that (lower-case) name, or empty.
  std::string_view Header(std::string_view name) const;
};

// The id by which a request is found in the log, and which its answer carries as X-Request-Id: the
// client's own, where it is at most 128 letters, digits and "-_.:", else a random UUID. So nothing
// that a client sends can forge a line of the log.
std::string RequestIdOf(const ServerRequest& request);

struct ServerResponse {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;  // Content-Length and Date are added
  std::string body;
};

// A piece of a body that is taken as it arrives.
struct BodyPiece {
  enum class Kind {
    kData,      // some bytes; more may follow
    kEnd,       // nothing more: the body is whole
    kTooLarge,  // over BodyBytesMax: to be answered
    kBroken,    // the client is gone, too slow or sent nonsense: an answer has no effect
  };
  Kind kind = Kind::kEnd;
  std::string data{};
};

// How the gathering of a body ended.
enum class Gathered {
  kWhole,   // it is in request().body; or it was over BodyBytesMax: body_too_large
  kNoRoom,  // it waited for bytes of the budget for too long: to be answered (503)
  kBroken,  // the client is gone, too slow or sent nonsense: an answer has no effect
};

// One request and the way to answer it. Movable into any thread; answered exactly once, by Send, or
// by Begin, Write... and End. Dropped without an answer, the client gets a 500. All methods are
// safe on any thread; answers go out on the server's own thread. If the client is gone they do
// nothing.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const ServerRequest& request() const = 0;

  // Reads the whole body into request().body, up to BodyBytesMax, within body_timeout_ms. Bytes are
  // taken from held() before they are read, if it may take; while it waits for them, in sum at most
  // `wait_max`, nothing is read and body_timeout_ms stands still. `then` runs on the server's
  // thread, or at once on the caller's where there is nothing to wait for. Until then nobody else
  // touches request() and held(); `then` keeps the exchange alive.
  virtual void Gather(std::chrono::milliseconds /*wait_max*/, std::function<void(Gathered)> then) {
    then(Gathered::kWhole);
  }

  // What this request holds of a budget of bytes: nothing, and unable to take, until the service
  // sets it. The code that works on the request takes more for what it makes of it. Given back with
  // the exchange; Send keeps as much as the answer's body until that is written, and leaves nothing
  // here.
  base::ByteBudget::Holding& held() { return held_; }

  // Lets go of request().body, once what is needed of it has been made.
  virtual void DropBody() {}

  // The next piece of a pending body, one at a time; body_timeout_ms is the longest wait for one.
  // `then` runs on the server's thread, or at once on the caller's where there is nothing to wait
  // for. The reader keeps the exchange alive. An answer before the end closes the connection.
  virtual void Read(std::function<void(BodyPiece)> then) { then({BodyPiece::Kind::kEnd}); }

  // While an answer is awaited and nothing of the body is still to be taken: `then` runs on the
  // server's thread, at most once, when the client closes or resets the connection, and the
  // connection is closed. It also runs where the client has left before. A client that sends
  // further bytes is pipelining and there; it is watched no more. The watch ends with the answer,
  // and a server that stops says nothing. `then` must not keep the exchange.
  virtual void WhenGone(std::function<void()> /*then*/) {}

  virtual void Send(ServerResponse response) = 0;

  // A long answer in pieces (chunked). After Begin, one Write at a time: `then` runs on the
  // server's thread when the piece is on its way (true), or when the client is gone or too slow
  // (false: stop). The writer keeps the exchange alive. Once the server has stopped, `then`
  // runs with false inside Write, on the caller's thread.
  virtual void Begin(int status, std::vector<std::pair<std::string, std::string>> headers) = 0;
  virtual void Write(std::string piece, std::function<void(bool)> then) = 0;
  virtual void End() = 0;

 private:
  base::ByteBudget::Holding held_;
};

// What a server serves. Handle is called on the server's thread once the header is there, and must
// not block: it hands the exchange to a pool. It checks the header and then takes the body, by
// Exchange::Gather or Read. A body that has come with its header (a few KiB) is in the request
// already.
class HttpService {
 public:
  virtual ~HttpService() = default;
  virtual void Handle(std::shared_ptr<Exchange> exchange) = 0;
  // The body limit of a request, decided from method and path before the body is read.
  virtual std::size_t BodyBytesMax(std::string_view method, std::string_view path) const = 0;
};

// A service that checks nothing before the body is there: HandleWhole gets requests whose body is
// whole, or over the limit. Without a budget; so its BodyBytesMax is small.
class WholeBodyService : public HttpService {
 public:
  void Handle(std::shared_ptr<Exchange> exchange) final;
  virtual void HandleWhole(std::shared_ptr<Exchange> exchange) = 0;
};

// HTTP/1.1 on Boost.Beast, with one thread of its own. Refuses what is ambiguous (Content-Length
// with Transfer-Encoding, two lengths, NUL, bare LF) with a 400 and closes; bounds header, body,
// time and connections as configured; over connections_max the oldest idle connection goes, or the
// new one gets a 503. Errors that no handler sees are answered as {"error","message"} JSON.
//
//   serving --Leave--> leaving --Stop--> draining --no connection is left--> stopped
//      +--------------------------Stop-----^
class HttpServer {
 public:
  // Binds and listens; throws std::runtime_error with a sentence that names the address ("cannot
  // listen on 127.0.0.1:8080: Address already in use").
  HttpServer(const config::HttpServerConfig& config, HttpService& service, base::Logger log);
  ~HttpServer();  // Stop(), if that did not happen

  void Start();
  // Each answer is the last of its connection from then on (`Connection: close`), so that clients
  // find another process before Stop closes what they would send the next request on. Any thread.
  void Leave();
  // Stops accepting, lets requests in flight finish (drain_timeout_ms), closes the rest. Blocks.
  void Stop();

  int port() const;             // the one bound
  std::string address() const;  // "127.0.0.1:8080"

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Percent-decoding of a path segment or query value ('+' is a space only in a query). Throws
// std::invalid_argument for a bad escape, NUL or text that is not UTF-8.
std::string PercentDecode(std::string_view text, bool plus_is_space);
// The query's pairs in order, decoded. Throws as PercentDecode.
std::vector<std::pair<std::string, std::string>> ParseQuery(std::string_view query);

}  // namespace vedette::net
