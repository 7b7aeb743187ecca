#include "net/smtp/connection.h"

#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <uv.h>

#include "base/assert.h"
#include "net/smtp/socks5.h"

namespace vedette::net {

struct TlsContext::Impl {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
};

TlsContext::TlsContext() : impl_(std::make_unique<Impl>()) {
  if (impl_->context == nullptr ||
      SSL_CTX_set_min_proto_version(impl_->context, TLS1_2_VERSION) != 1) {
    SSL_CTX_free(impl_->context);
    throw std::runtime_error("OpenSSL cannot make a context for TLS");
  }
  SSL_CTX_set_verify(impl_->context, SSL_VERIFY_NONE, nullptr);
}

TlsContext::~TlsContext() {
  SSL_CTX_free(impl_->context);
}

struct TlsStream::Impl {
  SSL* ssl = nullptr;
  BIO* in = nullptr;   // owned by ssl
  BIO* out = nullptr;  // owned by ssl
  State state = State::kHandshake;

  void Advance(int result) {
    const int error = SSL_get_error(ssl, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) state = State::kFailed;
  }
  void Handshake() {
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl);
    if (result == 1) {
      state = State::kOpen;
    } else {
      Advance(result);
    }
  }
};

TlsStream::TlsStream(const TlsContext& context, const std::string& server_name)
    : impl_(std::make_unique<Impl>()) {
  impl_->ssl = SSL_new(context.impl().context);
  impl_->in = BIO_new(BIO_s_mem());
  impl_->out = BIO_new(BIO_s_mem());
  if (impl_->ssl == nullptr || impl_->in == nullptr || impl_->out == nullptr) {
    BIO_free(impl_->in);
    BIO_free(impl_->out);
    SSL_free(impl_->ssl);
    throw std::runtime_error("OpenSSL has no memory for a connection");
  }
  SSL_set_bio(impl_->ssl, impl_->in, impl_->out);
  if (!server_name.empty()) SSL_set_tlsext_host_name(impl_->ssl, server_name.c_str());
  SSL_set_connect_state(impl_->ssl);
  impl_->Handshake();
}

TlsStream::~TlsStream() {
  SSL_free(impl_->ssl);
}

TlsStream::State TlsStream::state() const {
  return impl_->state;
}

void TlsStream::Take(std::string_view wire, std::string* plain) {
  BIO_write(impl_->in, wire.data(), static_cast<int>(wire.size()));
  if (impl_->state == State::kHandshake) impl_->Handshake();
  if (impl_->state != State::kOpen) return;
  std::array<char, 4096> buffer;
  while (true) {
    ERR_clear_error();
    const int n = SSL_read(impl_->ssl, buffer.data(), static_cast<int>(buffer.size()));
    if (n <= 0) return impl_->Advance(n);
    plain->append(buffer.data(), static_cast<std::size_t>(n));
  }
}

void TlsStream::Write(std::string_view plain) {
  ERR_clear_error();
  const int n = SSL_write(impl_->ssl, plain.data(), static_cast<int>(plain.size()));
  if (n <= 0) impl_->Advance(n);
}

std::string TlsStream::Out() {
  std::string out(BIO_ctrl_pending(impl_->out), '\0');
  if (!out.empty()) BIO_read(impl_->out, out.data(), static_cast<int>(out.size()));
  return out;
}

namespace {

sockaddr_storage SocketAddress(const SmtpPeer& peer) {
  sockaddr_storage storage{};
  if (peer.address.v6) {
    auto* in6 = reinterpret_cast<sockaddr_in6*>(&storage);
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(static_cast<std::uint16_t>(peer.port));
    std::memcpy(&in6->sin6_addr, peer.address.bytes.data(), 16);
  } else {
    auto* in = reinterpret_cast<sockaddr_in*>(&storage);
    in->sin_family = AF_INET;
    in->sin_port = htons(static_cast<std::uint16_t>(peer.port));
    std::memcpy(&in->sin_addr, peer.address.bytes.data(), 4);
  }
  return storage;
}

struct Write {
  uv_write_t request;
  std::string bytes;
};

}  // namespace

// The handle of libuv holds a share of this until it is closed, so that callbacks that destroy the
// connection find it alive until they return.
struct SmtpConnection::Impl : std::enable_shared_from_this<Impl> {
  enum class Phase : std::uint8_t { kConnecting, kProxy, kHandshake, kReplyDue, kIdle, kEnded };

  Impl(base::EventLoop& event_loop, const TlsContext& tls_context, const SmtpTarget& to,
       const SmtpTimes& bounds, Events what)
      : loop(event_loop),
        context(tls_context),
        target(to),
        times(bounds),
        events(std::move(what)),
        wait(std::in_place, event_loop, [this] { OnWaitOver(); }),
        total(std::in_place, event_loop, [this] { Fail(SmtpFault::kTimeout); }),
        report(std::in_place, event_loop, [this] { Report(); }) {}

  void Begin(const AddressPolicy& policy);
  void OnConnected(int status);
  void OnBytes(std::string_view bytes);
  void OnProxyBytes(std::string_view bytes);
  void OnPlain(std::string_view bytes);
  void TakeTls(std::string_view bytes);
  void OnWaitOver();
  void Await();
  void WaitFor(std::chrono::milliseconds bound);
  void Put(std::string bytes);
  void Fail(SmtpFault why);
  void Report();
  void Close();

  base::EventLoop& loop;
  const TlsContext& context;
  const SmtpTarget target;
  const SmtpTimes times;
  Events events;
  // They end with the connection, so that none is left when the loop ends.
  std::optional<base::Timer> wait;
  std::optional<std::uint64_t> wait_until;  // by the loop's time; empty: nothing is awaited
  std::uint64_t fires_at = 0;               // `wait`, where it is active
  std::optional<base::Timer> total;
  std::optional<base::Timer> report;
  Phase phase = Phase::kConnecting;
  std::optional<SmtpFault> fault;
  SmtpReplyParser parser;
  std::unique_ptr<TlsStream> tls;
  std::optional<Socks5Opening> socks;
  std::string proxy_bytes;
  std::size_t bytes_in = 0;
  uv_tcp_t* tcp = nullptr;  // owned by libuv once it is closed
  uv_connect_t connect{};
  std::array<char, 8192> buffer;
};

void SmtpConnection::Impl::Begin(const AddressPolicy& policy) {
  total->Start(times.connection);
  if (!policy.Allows(target.peer.address)) return Fail(SmtpFault::kNotAllowed);
  tcp = new uv_tcp_t;
  uv_tcp_init(loop.raw(), tcp);
  tcp->data = new std::shared_ptr<Impl>(shared_from_this());
  connect.data = this;
  const sockaddr_storage address = SocketAddress(target.proxy.value_or(target.peer));
  const int status = uv_tcp_connect(&connect, tcp, reinterpret_cast<const sockaddr*>(&address),
                                    [](uv_connect_t* request, int result) {
                                      if (result == UV_ECANCELED)
                                        return;  // closed; what it was may be gone
                                      static_cast<Impl*>(request->data)->OnConnected(result);
                                    });
  if (status != 0) return Fail(SmtpFault::kConnect);
  WaitFor(times.connect);
}

void SmtpConnection::Impl::OnConnected(int status) {
  if (phase == Phase::kEnded) return;
  if (status != 0) return Fail(SmtpFault::kConnect);
  const int read = uv_read_start(
      reinterpret_cast<uv_stream_t*>(tcp),
      [](uv_handle_t* handle, std::size_t, uv_buf_t* out) {
        auto& self = **static_cast<std::shared_ptr<Impl>*>(handle->data);
        *out = uv_buf_init(self.buffer.data(), static_cast<unsigned>(self.buffer.size()));
      },
      [](uv_stream_t* stream, ssize_t n, const uv_buf_t* from) {
        const std::shared_ptr<Impl> self = *static_cast<std::shared_ptr<Impl>*>(stream->data);
        if (self->phase == Phase::kEnded || n == 0) return;
        if (n < 0) return self->Fail(SmtpFault::kClosed);
        self->OnBytes(std::string_view(from->base, static_cast<std::size_t>(n)));
      });
  if (read != 0) return Fail(SmtpFault::kConnect);
  if (target.proxy) {
    phase = Phase::kProxy;
    socks.emplace(target.peer.address, target.peer.port);
    return Put(socks->Greeting());
  }
  Await();
  WaitFor(times.banner);
}

void SmtpConnection::Impl::Await() {
  phase = Phase::kReplyDue;
  WaitFor(times.reply);
}

// The timer is not started again for every reply: one that fires too early looks again.
void SmtpConnection::Impl::WaitFor(std::chrono::milliseconds bound) {
  uv_update_time(loop.raw());
  const std::uint64_t now = uv_now(loop.raw());
  wait_until = now + static_cast<std::uint64_t>(bound.count());
  if (wait->active() && fires_at <= *wait_until) return;
  fires_at = *wait_until;
  wait->Start(bound);
}

void SmtpConnection::Impl::OnBytes(std::string_view bytes) {
  bytes_in += bytes.size();
  if (bytes_in > kSmtpConnectionBytesMax) return Fail(SmtpFault::kProtocol);
  if (phase == Phase::kProxy) return OnProxyBytes(bytes);
  if (tls) return TakeTls(bytes);
  OnPlain(bytes);
}

void SmtpConnection::Impl::OnProxyBytes(std::string_view bytes) {
  proxy_bytes.append(bytes);
  if (const std::string out = socks->Take(&proxy_bytes); !out.empty()) Put(out);
  if (socks->state() == Socks5Opening::State::kFailed) return Fail(SmtpFault::kConnect);
  if (socks->state() != Socks5Opening::State::kOpen) return;
  Await();
  WaitFor(times.banner);
  const std::string rest = std::exchange(proxy_bytes, {});
  if (!rest.empty()) OnPlain(rest);
}

void SmtpConnection::Impl::TakeTls(std::string_view bytes) {
  std::string plain;
  tls->Take(bytes, &plain);
  if (std::string out = tls->Out(); !out.empty()) Put(std::move(out));
  if (phase == Phase::kHandshake) {
    if (tls->state() == TlsStream::State::kFailed) return Fail(SmtpFault::kTls);
    if (tls->state() != TlsStream::State::kOpen) return;
    wait_until.reset();
    phase = Phase::kIdle;
    events.secured();
    if (phase == Phase::kEnded) return;
  }
  if (!plain.empty()) OnPlain(plain);
  if (phase != Phase::kEnded && tls->state() == TlsStream::State::kFailed) {
    Fail(SmtpFault::kClosed);
  }
}

void SmtpConnection::Impl::OnPlain(std::string_view bytes) {
  parser.Feed(bytes);
  while (const auto reply = parser.Next()) {
    if (phase != Phase::kReplyDue && reply->code != 421) return Fail(SmtpFault::kProtocol);
    wait_until.reset();
    phase = Phase::kIdle;
    events.reply(*reply);
    if (phase == Phase::kEnded) return;
  }
  if (parser.broken()) Fail(SmtpFault::kProtocol);
}

void SmtpConnection::Impl::OnWaitOver() {
  if (!wait_until) return;
  const std::uint64_t now = uv_now(loop.raw());
  if (now < *wait_until) {
    fires_at = *wait_until;
    return wait->Start(std::chrono::milliseconds(*wait_until - now));
  }
  const bool connecting = phase == Phase::kConnecting || phase == Phase::kProxy;
  Fail(connecting ? SmtpFault::kConnect : SmtpFault::kTimeout);
}

void SmtpConnection::Impl::Put(std::string bytes) {
  auto* const stream = reinterpret_cast<uv_stream_t*>(tcp);
  // A line fits into the socket's buffer: it is nearly always written at once.
  const uv_buf_t all = uv_buf_init(bytes.data(), static_cast<unsigned>(bytes.size()));
  const int written = uv_try_write(stream, &all, 1);
  if (written > 0) bytes.erase(0, static_cast<std::size_t>(written));
  if (bytes.empty()) return;
  auto* write = new Write{{}, std::move(bytes)};
  write->request.data = write;
  const uv_buf_t out = uv_buf_init(write->bytes.data(), static_cast<unsigned>(write->bytes.size()));
  const int status = uv_write(&write->request, stream, &out, 1, [](uv_write_t* request, int) {
    // What cannot be written shows when nothing comes back.
    delete static_cast<Write*>(request->data);
  });
  if (status != 0) {
    delete write;
    Fail(SmtpFault::kClosed);
  }
}

// The event comes from the loop, as it may destroy the connection.
void SmtpConnection::Impl::Fail(SmtpFault why) {
  if (phase == Phase::kEnded) return;
  fault = why;
  Close();
  report->Start(std::chrono::milliseconds(0));
}

void SmtpConnection::Impl::Report() {
  const auto self = shared_from_this();
  if (fault) events.failed(*std::exchange(fault, std::nullopt));
}

void SmtpConnection::Impl::Close() {
  phase = Phase::kEnded;
  wait->Stop();
  total->Stop();
  if (tcp == nullptr) return;
  uv_close(reinterpret_cast<uv_handle_t*>(std::exchange(tcp, nullptr)), [](uv_handle_t* handle) {
    delete static_cast<std::shared_ptr<Impl>*>(handle->data);
    delete reinterpret_cast<uv_tcp_t*>(handle);
  });
}

SmtpConnection::SmtpConnection(base::EventLoop& loop, const TlsContext& tls,
                               const AddressPolicy& policy, const SmtpTarget& target,
                               const SmtpTimes& times, Events events)
    : impl_(std::make_shared<Impl>(loop, tls, target, times, std::move(events))) {
  impl_->Begin(policy);
}

SmtpConnection::~SmtpConnection() {
  impl_->fault.reset();
  if (impl_->phase != Impl::Phase::kEnded) impl_->Close();
  impl_->wait.reset();
  impl_->total.reset();
  impl_->report.reset();
}

void SmtpConnection::Send(const std::string& line) {
  if (impl_->phase == Impl::Phase::kEnded) return;
  base::Assert(impl_->phase == Impl::Phase::kIdle, "a line is sent when no reply is due");
  // Something came that nobody asked for: it must not pass for the reply to this line.
  if (!impl_->parser.drained()) return impl_->Fail(SmtpFault::kProtocol);
  impl_->Await();
  if (!impl_->tls) return impl_->Put(line + "\r\n");
  impl_->tls->Write(line + "\r\n");
  impl_->Put(impl_->tls->Out());
}

void SmtpConnection::StartTls() {
  if (impl_->phase == Impl::Phase::kEnded) return;
  base::Assert(impl_->phase == Impl::Phase::kIdle && !impl_->tls,
               "TLS starts once, when no reply is due");
  if (!impl_->parser.drained()) return impl_->Fail(SmtpFault::kProtocol);
  impl_->phase = Impl::Phase::kHandshake;
  impl_->WaitFor(impl_->times.reply);
  impl_->tls = std::make_unique<TlsStream>(impl_->context, impl_->target.host);
  impl_->Put(impl_->tls->Out());
}

}  // namespace vedette::net
