#include "base/key_pair.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "base/crypto.h"
#include "base/json.h"

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

namespace {

constexpr int kRsaBitsMin = 2048;
constexpr int kRsaBitsMax = 8192;
constexpr int kExponentBitsMax = 32;
constexpr std::size_t kP256Bytes = 32;
constexpr std::size_t kEd25519Bytes = 32;
constexpr std::size_t kShortSignatureBytes = 64;  // of ES256 and of EdDSA
constexpr char kP256Name[] = "prime256v1";

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Owned<BIGNUM> Number(std::string_view big_endian) {
  return Owned<BIGNUM>(BN_bin2bn(Bytes(big_endian), static_cast<int>(big_endian.size()), nullptr));
}

// A parameter of a key as the bytes of a number.
std::string NumberOf(const EVP_PKEY* key, const char* name, std::size_t bytes_min = 0) {
  BIGNUM* number = nullptr;
  if (EVP_PKEY_get_bn_param(key, name, &number) != 1) return {};
  const Owned<BIGNUM> owned(number);
  std::string bytes(
      std::max<std::size_t>(static_cast<std::size_t>(BN_num_bytes(number)), bytes_min), '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()),
               static_cast<int>(bytes.size()));
  return bytes;
}

// The raw bytes of an Ed25519 key.
std::string RawBytes(const EVP_PKEY* key) {
  std::string bytes(kEd25519Bytes, '\0');
  std::size_t size = bytes.size();
  EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(bytes.data()), &size);
  return bytes;
}

Owned<EVP_PKEY> FromParams(const char* type, OSSL_PARAM_BLD* builder) {
  const Owned<OSSL_PARAM> params(OSSL_PARAM_BLD_to_param(builder));
  const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (!params || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) != 1) {
    return nullptr;
  }
  return Owned<EVP_PKEY>(key);
}

// The bytes of a member of a JWK; empty where it is missing or no base64url.
std::string Member(const Json& jwk, const char* name) {
  const auto it = jwk.find(name);
  if (it == jwk.end() || !it->is_string()) return {};
  const auto& text = it->get_ref<const std::string&>();
  if (text.size() > PublicKey::kPemBytesMax) return {};
  return Base64UrlDecode(text).value_or("");
}

Owned<EVP_PKEY> RsaOf(const Json& jwk) {
  const Owned<BIGNUM> modulus = Number(Member(jwk, "n"));
  const Owned<BIGNUM> exponent = Number(Member(jwk, "e"));
  const Owned<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new());
  if (!modulus || !exponent || BN_is_zero(modulus.get()) || BN_is_zero(exponent.get())) {
    return nullptr;
  }
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get());
  return FromParams("RSA", builder.get());
}

// A coordinate in full length. RFC 7518 (6.2.1.2) wants it published so, but libraries in wide use
// (PyJWT before 2.7) leave leading zero octets out, which concerns one key in 128. Empty where it
// is too long.
std::string Coordinate(const Json& jwk, const char* name) {
  std::string octets = Member(jwk, name);
  if (octets.empty() || octets.size() > kP256Bytes) return {};
  octets.insert(0, kP256Bytes - octets.size(), '\0');
  return octets;
}

Owned<EVP_PKEY> P256Of(const Json& jwk) {
  const std::string x = Coordinate(jwk, "x");
  const std::string y = Coordinate(jwk, "y");
  if (TextMember(jwk, "crv") != "P-256" || x.empty() || y.empty()) {
    return nullptr;
  }
  const std::string point = "\x04" + x + y;
  const Owned<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, kP256Name, 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                   point.size());
  return FromParams("EC", builder.get());
}

Owned<EVP_PKEY> Ed25519Of(const Json& jwk) {
  const std::string x = Member(jwk, "x");
  if (TextMember(jwk, "crv") != "Ed25519" || x.size() != kEd25519Bytes) return nullptr;
  return Owned<EVP_PKEY>(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, Bytes(x), x.size()));
}

std::optional<std::string> RsaFault(const EVP_PKEY* key) {
  const int bits = EVP_PKEY_get_bits(key);
  if (bits < kRsaBitsMin || bits > kRsaBitsMax) {
    return "an RSA key must have " + std::to_string(kRsaBitsMin) + " to " +
           std::to_string(kRsaBitsMax) + " bits, and this one has " + std::to_string(bits);
  }
  const Owned<BIGNUM> exponent = Number(NumberOf(key, OSSL_PKEY_PARAM_RSA_E));
  if (!BN_is_odd(exponent.get()) || BN_is_one(exponent.get()) ||
      BN_num_bits(exponent.get()) > kExponentBitsMax) {
    return "the exponent of an RSA key must be odd and from 3 to 2^32 - 1";
  }
  const Owned<BIGNUM> modulus = Number(NumberOf(key, OSSL_PKEY_PARAM_RSA_N));
  if (!BN_is_odd(modulus.get())) return "the modulus of an RSA key must be odd";
  return std::nullopt;
}

std::optional<std::string> P256Fault(EVP_PKEY* key) {
  std::array<char, 64> group{};
  std::size_t size = 0;
  int explicit_curve = 0;
  EVP_PKEY_get_group_name(key, group.data(), group.size(), &size);
  EVP_PKEY_get_int_param(key, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &explicit_curve);
  if (std::string_view(group.data(), size) != kP256Name || explicit_curve != 0) {
    return "an EC key must be on the named curve P-256";
  }
  const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  if (!context || EVP_PKEY_public_check(context.get()) != 1) {
    return "the EC key is no point on its curve";
  }
  return std::nullopt;
}

// r and s as OpenSSL takes them; empty where they are none.
std::string DerOfPair(std::string_view signature) {
  Owned<BIGNUM> r = Number(signature.substr(0, kP256Bytes));
  Owned<BIGNUM> s = Number(signature.substr(kP256Bytes));
  const Owned<ECDSA_SIG> pair(ECDSA_SIG_new());
  if (!r || !s || !pair || BN_is_zero(r.get()) || BN_is_zero(s.get())) return {};
  if (ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return {};
  static_cast<void>(r.release());  // the pair has them now
  static_cast<void>(s.release());
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &der);
  if (size <= 0) return {};
  std::string text(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return text;
}

bool SetPss(EVP_PKEY_CTX* context) {
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

}  // namespace

struct PublicKey::Handle {
  Owned<EVP_PKEY> key;
};

std::string_view SignatureAlgorithmName(SignatureAlgorithm algorithm) {
  switch (algorithm) {
    case SignatureAlgorithm::kRs256:
      return "RS256";
    case SignatureAlgorithm::kPs256:
      return "PS256";
    case SignatureAlgorithm::kEs256:
      return "ES256";
    case SignatureAlgorithm::kEdDsa:
      return "EdDSA";
  }
  return {};
}

std::optional<SignatureAlgorithm> ParseSignatureAlgorithm(std::string_view name) {
  if (name == "Ed25519") return SignatureAlgorithm::kEdDsa;
  for (const auto algorithm : {SignatureAlgorithm::kRs256, SignatureAlgorithm::kPs256,
                               SignatureAlgorithm::kEs256, SignatureAlgorithm::kEdDsa}) {
    if (name == SignatureAlgorithmName(algorithm)) return algorithm;
  }
  return std::nullopt;
}

PublicKey::PublicKey(std::shared_ptr<const Handle> handle, Type type)
    : handle_(std::move(handle)), type_(type) {}

std::variant<PublicKey, KeyFault> PublicKey::Validate(std::shared_ptr<const Handle> handle) {
  EVP_PKEY* key = handle->key.get();
  std::optional<std::string> fault;
  Type type = Type::kRsa;
  switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_RSA:
      fault = RsaFault(key);
      break;
    case EVP_PKEY_EC:
      type = Type::kP256;
      fault = P256Fault(key);
      break;
    case EVP_PKEY_ED25519:
      type = Type::kEd25519;
      break;
    default:
      fault = "a key must be RSA, EC on P-256, or Ed25519";
  }
  if (fault) return KeyFault{std::move(*fault)};
  return PublicKey(std::move(handle), type);
}

std::variant<PublicKey, KeyFault> PublicKey::FromPem(std::string_view pem) {
  const ClearErrors clear;
  if (pem.size() > kPemBytesMax) return KeyFault{"the text is too long for a public key"};
  if (pem.find("PRIVATE KEY") != std::string_view::npos) {
    return KeyFault{
        "this is a private key: it has left its place, so treat it as leaked, make a new pair, and "
        "send the public key of that one"};
  }
  const auto begin = pem.find("-----BEGIN PUBLIC KEY-----");
  if (begin == std::string_view::npos ||
      pem.find("-----BEGIN", begin + 1) != std::string_view::npos) {
    return KeyFault{"the text must have one block that begins with -----BEGIN PUBLIC KEY-----"};
  }
  const Owned<BIO> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  auto handle = std::make_shared<Handle>();
  handle->key.reset(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
  if (!handle->key) return KeyFault{"the block is no public key that can be read"};
  return Validate(std::move(handle));
}

std::variant<PublicKey, KeyFault> PublicKey::FromDer(std::string_view der) {
  const ClearErrors clear;
  const unsigned char* at = Bytes(der);
  auto handle = std::make_shared<Handle>();
  handle->key.reset(d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
  if (!handle->key || at != Bytes(der) + der.size()) return KeyFault{"no SubjectPublicKeyInfo"};
  return Validate(std::move(handle));
}

std::variant<PublicKey, KeyFault> PublicKey::FromJwk(const Json& jwk) {
  const ClearErrors clear;
  if (!jwk.is_object()) return KeyFault{"a key must be an object"};
  for (const char* name : {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}) {
    if (jwk.contains(name)) return KeyFault{"the key has a member of a private key"};
  }
  if (jwk.contains("use") && TextMember(jwk, "use") != "sig") {
    return KeyFault{"the key's use is not sig"};
  }
  const std::string type = TextMember(jwk, "kty");
  auto handle = std::make_shared<Handle>();
  if (type == "RSA") handle->key = RsaOf(jwk);
  if (type == "EC") handle->key = P256Of(jwk);
  if (type == "OKP") handle->key = Ed25519Of(jwk);
  if (!handle->key) return KeyFault{"the key is none of RSA, EC on P-256, or Ed25519"};
  return Validate(std::move(handle));
}

std::string PublicKey::Der() const {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(handle_->key.get(), &der);
  if (size <= 0) return {};
  std::string text(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return text;
}

// The required members alone, in the order of their names, without a blank (RFC 7638, section 3).
std::string PublicKey::Thumbprint() const {
  const EVP_PKEY* key = handle_->key.get();
  const auto number = [key](const char* name, std::size_t bytes) {
    return Base64UrlEncode(NumberOf(key, name, bytes));
  };
  std::string members;
  switch (type_) {
    case Type::kRsa:
      members = R"({"e":")" + number(OSSL_PKEY_PARAM_RSA_E, 0) + R"(","kty":"RSA","n":")" +
                number(OSSL_PKEY_PARAM_RSA_N, 0) + R"("})";
      break;
    case Type::kP256:
      members = R"({"crv":"P-256","kty":"EC","x":")" +
                number(OSSL_PKEY_PARAM_EC_PUB_X, kP256Bytes) + R"(","y":")" +
                number(OSSL_PKEY_PARAM_EC_PUB_Y, kP256Bytes) + R"("})";
      break;
    case Type::kEd25519:
      members = R"({"crv":"Ed25519","kty":"OKP","x":")" + Base64UrlEncode(RawBytes(key)) + R"("})";
      break;
  }
  return Base64UrlEncode(Sha256(members));
}

bool PublicKey::Fits(SignatureAlgorithm algorithm) const {
  switch (algorithm) {
    case SignatureAlgorithm::kRs256:
    case SignatureAlgorithm::kPs256:
      return type_ == Type::kRsa;
    case SignatureAlgorithm::kEs256:
      return type_ == Type::kP256;
    case SignatureAlgorithm::kEdDsa:
      return type_ == Type::kEd25519;
  }
  return false;
}

SignatureAlgorithm PublicKey::DefaultAlgorithm() const {
  if (type_ == Type::kRsa) return SignatureAlgorithm::kRs256;
  return type_ == Type::kP256 ? SignatureAlgorithm::kEs256 : SignatureAlgorithm::kEdDsa;
}

bool PublicKey::Verify(SignatureAlgorithm algorithm, std::string_view data,
                       std::string_view signature) const {
  const ClearErrors clear;
  if (!Fits(algorithm)) return false;
  EVP_PKEY* key = handle_->key.get();
  const std::size_t size =
      type_ == Type::kRsa ? static_cast<std::size_t>(EVP_PKEY_get_size(key)) : kShortSignatureBytes;
  if (signature.size() != size) return false;
  std::string der;
  if (type_ == Type::kP256) {
    der = DerOfPair(signature);
    if (der.empty()) return false;
    signature = der;
  }
  const EVP_MD* digest = type_ == Type::kEd25519 ? nullptr : EVP_sha256();
  const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* key_context = nullptr;  // the digest's context owns it
  if (!context || EVP_DigestVerifyInit(context.get(), &key_context, digest, nullptr, key) != 1 ||
      (algorithm == SignatureAlgorithm::kPs256 && !SetPss(key_context))) {
    return false;
  }
  return EVP_DigestVerify(context.get(), Bytes(signature), signature.size(), Bytes(data),
                          data.size()) == 1;
}

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
