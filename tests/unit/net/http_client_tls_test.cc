#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "config/net_config.h"
#include "net/http_client.h"
#include "tests/unit/net/dns_server.h"
#include "tests/unit/net/support.h"

namespace vedette::net {
namespace {

using test::LoopThread;
using test::milliseconds;
using test::RawServer;
using test::Socket;

// A self-signed certificate for one name, and its key.
struct Certificate {
  explicit Certificate(const std::string& name) : key(EVP_EC_gen("P-256")), x509(X509_new()) {
    X509_set_version(x509, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
    X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
    X509_NAME* subject = X509_get_subject_name(x509);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(x509, subject);
    X509_set_pubkey(x509, key);
    X509_EXTENSION* san =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("DNS:" + name).c_str());
    X509_add_ext(x509, san, -1);
    X509_EXTENSION_free(san);
    X509_sign(x509, key, EVP_sha256());
  }
  ~Certificate() {
    X509_free(x509);
    EVP_PKEY_free(key);
  }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;

  EVP_PKEY* key;
  X509* x509;
};

// The certificate as a file, as [net] ca_file wants it.
class CaFile {
 public:
  explicit CaFile(const Certificate& certificate)
      : path_(::testing::TempDir() + "ca-" + std::to_string(getpid()) + ".pem") {
    FILE* file = fopen(path_.c_str(), "w");
    PEM_write_X509(file, certificate.x509);
    fclose(file);
  }
  ~CaFile() { remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

// Answers one request a connection with 200 "ok".
class TlsServer {
 public:
  TlsServer(const Certificate& certificate, int version_max)
      : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free),
        server_([this](Socket& socket) { Serve(socket); }) {
    std::signal(SIGPIPE, SIG_IGN);  // a client that refuses the certificate is gone at once
    // Old versions only work at security level 0.
    SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context_.get(), version_max);
    SSL_CTX_use_certificate(context_.get(), certificate.x509);
    SSL_CTX_use_PrivateKey(context_.get(), certificate.key);
  }

  int port() const { return server_.port(); }
  int served() const { return served_; }

 private:
  void Serve(Socket& socket) {
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context_.get()), SSL_free);
    SSL_set_fd(ssl.get(), socket.fd());
    char request[4096];
    if (SSL_accept(ssl.get()) == 1 && SSL_read(ssl.get(), request, sizeof request) > 0) {
      ++served_;
      const std::string answer =
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
      SSL_write(ssl.get(), answer.data(), static_cast<int>(answer.size()));
      SSL_shutdown(ssl.get());
    }
    ERR_clear_error();
  }

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::atomic<int> served_{0};
  RawServer server_;
};

HttpResponse Get(const std::string& name, int port, const std::string& ca_file) {
  test::DnsServer dns;
  dns.Set(name, {"127.0.0.1"});
  config::NetConfig config{};
  config.allow = {"127.0.0.0/8"};
  config.ca_file = ca_file;
  config.dns_servers = {dns.address()};
  config.connect_timeout_ms = milliseconds(10000);
  config.connections_max = 4;
  config.connections_per_host_max = 4;
  LoopThread thread;
  std::unique_ptr<HttpClient> client;
  std::promise<HttpResponse> answer;
  thread.Run([&] {
    client = std::make_unique<HttpClient>(thread.loop, config);
    HttpRequest request;
    request.url = "https://" + name + ":" + std::to_string(port) + "/";
    client->Send(request, [&](HttpResponse r) { answer.set_value(std::move(r)); });
  });
  HttpResponse response = answer.get_future().get();
  thread.Run([&] { client.reset(); });
  return response;
}

TEST(HttpClientTls, TrustsTheConfiguredAuthorityForItsNameOnly) {
  const Certificate certificate("hooks.example");
  const CaFile ca(certificate);
  TlsServer server(certificate, TLS1_3_VERSION);
  const HttpResponse good = Get("hooks.example", server.port(), ca.path());
  EXPECT_EQ(good.error, "");
  EXPECT_EQ(good.body, "ok");
  const HttpResponse other = Get("other.example", server.port(), ca.path());
  EXPECT_EQ(other.error_class, HttpErrorClass::kTls) << other.error;
  EXPECT_EQ(server.served(), 1);
}

TEST(HttpClientTls, RefusesAnUnknownAuthority) {
  const Certificate certificate("hooks.example");
  TlsServer server(certificate, TLS1_3_VERSION);
  const HttpResponse response = Get("hooks.example", server.port(), "");
  EXPECT_EQ(response.error_class, HttpErrorClass::kTls) << response.error;
  EXPECT_NE(response.error, "");
  EXPECT_EQ(server.served(), 0);
}

TEST(HttpClientTls, RefusesVersionsBelow12) {
  const Certificate certificate("hooks.example");
  const CaFile ca(certificate);
  TlsServer modern(certificate, TLS1_2_VERSION);
  EXPECT_EQ(Get("hooks.example", modern.port(), ca.path()).body, "ok");
  TlsServer old(certificate, TLS1_1_VERSION);
  const HttpResponse response = Get("hooks.example", old.port(), ca.path());
  EXPECT_EQ(response.error_class, HttpErrorClass::kTls) << response.error;
  EXPECT_EQ(old.served(), 0);
}

TEST(HttpClientTls, AMissingAuthorityFileIsATlsFailure) {
  const Certificate certificate("hooks.example");
  TlsServer server(certificate, TLS1_3_VERSION);
  const HttpResponse response = Get("hooks.example", server.port(), "/nonexistent/ca.pem");
  EXPECT_EQ(response.error_class, HttpErrorClass::kTls) << response.error;
}

}  // namespace
}  // namespace vedette::net
