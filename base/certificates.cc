#include "base/certificates.h"

#include <memory>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace vedette::base {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(STACK_OF(X509_INFO) * blocks) const {
    sk_X509_INFO_pop_free(blocks, X509_INFO_free);
  }
};

}  // namespace

std::optional<std::size_t> CountCertificates(std::string_view pem) {
  const std::unique_ptr<BIO, Free> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const std::unique_ptr<STACK_OF(X509_INFO), Free> blocks(
      PEM_X509_INFO_read_bio(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (!blocks) return std::nullopt;
  std::size_t count = 0;
  for (int i = 0; i < sk_X509_INFO_num(blocks.get()); ++i) {
    if (sk_X509_INFO_value(blocks.get(), i)->x509 != nullptr) ++count;
  }
  return count;
}

}  // namespace vedette::base
