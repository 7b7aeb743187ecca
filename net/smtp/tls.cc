#include "net/smtp/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <stdexcept>

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

}  // namespace vedette::net
