#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <memory>

// Ownership of OpenSSL's objects. Inside base/ alone.
namespace vedette::base {

struct FreeOpenSsl {
  void operator()(BIGNUM* number) const { BN_free(number); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(ECDSA_SIG* signature) const { ECDSA_SIG_free(signature); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  void operator()(OSSL_PARAM* params) const { OSSL_PARAM_free(params); }
  void operator()(OSSL_PARAM_BLD* builder) const { OSSL_PARAM_BLD_free(builder); }
};
template <typename T>
using Owned = std::unique_ptr<T, FreeOpenSsl>;

// OpenSSL keeps a queue of errors a thread; what failed here must not be told elsewhere.
struct ClearErrors {
  ClearErrors() = default;
  ClearErrors(const ClearErrors&) = delete;
  ClearErrors& operator=(const ClearErrors&) = delete;
  ~ClearErrors() { ERR_clear_error(); }
};

}  // namespace vedette::base
