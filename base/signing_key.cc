#include "base/signing_key.h"

#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <cstddef>
#include <stdexcept>
#include <utility>

#include "base/openssl_owned.h"

namespace vedette::base {
namespace {

constexpr int kP256PartBytes = 32;

void Check(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string("the key cannot be used: ") + what);
}

// A file must not make a command ask for a password.
int NoPassword(char*, int, int, void*) {
  return -1;
}

// A signature of ECDSA as JWS has it.
std::string PairOf(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const Owned<ECDSA_SIG> pair(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  Check(pair != nullptr, "no signature came");
  std::string text(2 * kP256PartBytes, '\0');
  auto* out = reinterpret_cast<unsigned char*>(text.data());
  BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), out, kP256PartBytes);
  BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), out + kP256PartBytes, kP256PartBytes);
  return text;
}

}  // namespace

struct SigningKey::Handle {
  Owned<EVP_PKEY> key;
};

SigningKey::SigningKey(std::shared_ptr<const Handle> handle) : handle_(std::move(handle)) {}

SigningKey SigningKey::FromPem(std::string_view pem) {
  const ClearErrors clear;
  const Owned<BIO> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  auto handle = std::make_shared<Handle>();
  handle->key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr));
  Check(handle->key != nullptr, "it is no private key in PEM without a password");
  SigningKey key(std::move(handle));
  const auto checked = PublicKey::FromPem(key.PublicPem());
  if (const auto* fault = std::get_if<KeyFault>(&checked)) Check(false, fault->message.c_str());
  return key;
}

std::string SigningKey::PublicPem() const {
  const Owned<BIO> bio(BIO_new(BIO_s_mem()));
  Check(PEM_write_bio_PUBKEY(bio.get(), handle_->key.get()) == 1, "its public key is missing");
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

SignatureAlgorithm SigningKey::DefaultAlgorithm() const {
  const int type = EVP_PKEY_get_base_id(handle_->key.get());
  if (type == EVP_PKEY_RSA) return SignatureAlgorithm::kRs256;
  return type == EVP_PKEY_EC ? SignatureAlgorithm::kEs256 : SignatureAlgorithm::kEdDsa;
}

std::string SigningKey::Sign(SignatureAlgorithm algorithm, std::string_view data) const {
  const ClearErrors clear;
  EVP_PKEY* key = handle_->key.get();
  const bool pss = algorithm == SignatureAlgorithm::kPs256;
  const auto fits = DefaultAlgorithm();
  Check(algorithm == fits || (pss && fits == SignatureAlgorithm::kRs256),
        "the algorithm does not fit it");
  const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* key_context = nullptr;  // the digest's context owns it
  const EVP_MD* digest = fits == SignatureAlgorithm::kEdDsa ? nullptr : EVP_sha256();
  Check(EVP_DigestSignInit(context.get(), &key_context, digest, nullptr, key) == 1,
        "signing does not start");
  if (pss) {
    Check(EVP_PKEY_CTX_set_rsa_padding(key_context, RSA_PKCS1_PSS_PADDING) == 1 &&
              EVP_PKEY_CTX_set_rsa_pss_saltlen(key_context, RSA_PSS_SALTLEN_DIGEST) == 1,
          "PSS is refused");
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
  std::size_t size = 0;
  Check(EVP_DigestSign(context.get(), nullptr, &size, bytes, data.size()) == 1, "no size came");
  std::string signature(size, '\0');
  Check(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                       bytes, data.size()) == 1,
        "no signature came");
  signature.resize(size);
  return algorithm == SignatureAlgorithm::kEs256 ? PairOf(signature) : signature;
}

}  // namespace vedette::base
