#include "domain/auth/passkey.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"

namespace vedette::domain {
namespace {

constexpr int kCborDepthMax = 4;
constexpr std::uint64_t kCborItemsMax = 64;  // of one array or map
constexpr std::size_t kHashBytes = 32;
constexpr std::size_t kAaguidBytes = 16;
constexpr std::size_t kCoordinateBytes = 32;  // of P-256, and of Ed25519's key
constexpr base::JsonLimits kClientDataLimits{
    .depth_max = 4, .members_max = 32, .values_max = 64, .unique_members = true};

// The flags of authenticator data.
enum Flag : unsigned {
  kUserPresent = 0x01,
  kUserVerified = 0x04,
  kBackupEligible = 0x08,
  kBackedUp = 0x10,
  kCredentialData = 0x40,
  kExtensions = 0x80,
};

// The subset of CBOR that authenticators write (CTAP2's canonical form): definite lengths, in as
// few bytes as they take, no tags. Whatever else comes is refused.
class CborReader {
 public:
  explicit CborReader(std::string_view bytes) : rest_(bytes) {}

  std::string_view rest() const { return rest_; }

  std::optional<std::string_view> Take(std::uint64_t n) {
    if (n > rest_.size()) return std::nullopt;
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  std::optional<std::int64_t> Integer() {
    const auto head = ReadHead();
    if (!head || head->major > 1 || head->value > INT32_MAX) return std::nullopt;
    const auto value = static_cast<std::int64_t>(head->value);
    return head->major == 0 ? value : -1 - value;
  }
  std::optional<std::string_view> Bytes() { return Run(2); }
  std::optional<std::string_view> Text() { return Run(3); }
  // The number of pairs.
  std::optional<std::uint64_t> Map() {
    const auto head = ReadHead();
    if (!head || head->major != 5 || head->value > kCborItemsMax) return std::nullopt;
    return head->value;
  }
  // Whether the next item could be passed over.
  bool Skip(int depth = 0) {
    if (depth > kCborDepthMax) return false;
    const auto head = ReadHead();
    if (!head) return false;
    if (head->major <= 1) return true;
    if (head->major <= 3) return Take(head->value).has_value();
    if (head->major == 7) return head->value >= 20 && head->value <= 22;  // false, true, null
    if (head->major == 6 || head->value > kCborItemsMax) return false;
    const std::uint64_t items = head->major == 5 ? 2 * head->value : head->value;
    for (std::uint64_t i = 0; i < items; ++i) {
      if (!Skip(depth + 1)) return false;
    }
    return true;
  }

 private:
  struct Head {
    unsigned major;
    std::uint64_t value;
  };
  std::optional<Head> ReadHead() {
    const auto first = Take(1);
    if (!first) return std::nullopt;
    const unsigned byte = static_cast<unsigned char>(first->front());
    const unsigned more = byte & 0x1FU;
    Head head{byte >> 5U, more};
    if (more < 24) return head;
    if (more > 27 || head.major == 7) return std::nullopt;
    const auto tail = Take(std::uint64_t{1} << (more - 24));
    if (!tail) return std::nullopt;
    head.value = 0;
    for (const char c : *tail) head.value = head.value << 8U | static_cast<unsigned char>(c);
    // The least value that takes as many bytes.
    const std::uint64_t least = more == 24 ? 24 : std::uint64_t{1} << (4U << (more - 24));
    return head.value < least ? std::nullopt : std::optional(head);
  }
  std::optional<std::string_view> Run(unsigned major) {
    const auto head = ReadHead();
    return head && head->major == major ? Take(head->value) : std::nullopt;
  }

  std::string_view rest_;
};

struct CoseKey {
  base::PublicKey key;
  base::SignatureAlgorithm algorithm;
};

// The numbers and the byte strings of a key, by their labels.
struct CoseMembers {
  std::map<std::int64_t, std::int64_t> numbers;
  std::map<std::int64_t, std::string_view> bytes;

  std::int64_t Number(std::int64_t label) const {
    const auto it = numbers.find(label);
    return it == numbers.end() ? 0 : it->second;
  }
  std::string Bytes(std::int64_t label, std::size_t size = 0) const {
    const auto it = bytes.find(label);
    if (it == bytes.end() || (size != 0 && it->second.size() != size)) return {};
    return base::Base64UrlEncode(it->second);
  }
};

std::optional<CoseMembers> ReadCoseMembers(CborReader* reader) {
  const auto pairs = reader->Map();
  if (!pairs) return std::nullopt;
  CoseMembers members;
  for (std::uint64_t i = 0; i < *pairs; ++i) {
    const auto label = reader->Integer();
    if (!label || reader->rest().empty()) return std::nullopt;
    const unsigned major = static_cast<unsigned char>(reader->rest().front()) >> 5U;
    const bool known = members.numbers.count(*label) + members.bytes.count(*label) > 0;
    if (known || (major > 2)) return std::nullopt;
    if (major == 2) {
      const auto bytes = reader->Bytes();
      if (!bytes) return std::nullopt;
      members.bytes[*label] = *bytes;
    } else {
      const auto number = reader->Integer();
      if (!number) return std::nullopt;
      members.numbers[*label] = *number;
    }
  }
  return members;
}

// A COSE key (RFC 9052, 9053) of one of the three algorithms that are offered.
std::variant<CoseKey, PasskeyFault> ReadCoseKey(CborReader* reader) {
  constexpr std::int64_t kType = 1;
  constexpr std::int64_t kAlgorithm = 3;
  const auto members = ReadCoseMembers(reader);
  if (!members) return PasskeyFault{"the public key is no COSE key"};
  base::Json jwk;
  base::SignatureAlgorithm algorithm{};
  const std::int64_t type = members->Number(kType);
  const std::int64_t curve = members->Number(-1);
  switch (members->Number(kAlgorithm)) {
    case -7:
      if (type != 2 || curve != 1) return PasskeyFault{"the key of ES256 is not on P-256"};
      algorithm = base::SignatureAlgorithm::kEs256;
      jwk = {{"kty", "EC"},
             {"crv", "P-256"},
             {"x", members->Bytes(-2, kCoordinateBytes)},
             {"y", members->Bytes(-3, kCoordinateBytes)}};
      break;
    case -8:
      if (type != 1 || curve != 6) return PasskeyFault{"the key of EdDSA is not of Ed25519"};
      algorithm = base::SignatureAlgorithm::kEdDsa;
      jwk = {{"kty", "OKP"}, {"crv", "Ed25519"}, {"x", members->Bytes(-2, kCoordinateBytes)}};
      break;
    case -257:
      if (type != 3) return PasskeyFault{"the key of RS256 is not of RSA"};
      algorithm = base::SignatureAlgorithm::kRs256;
      jwk = {{"kty", "RSA"}, {"n", members->Bytes(-1)}, {"e", members->Bytes(-2)}};
      break;
    default:
      return PasskeyFault{"the key's algorithm is none of ES256, EdDSA and RS256"};
  }
  auto key = base::PublicKey::FromJwk(jwk);
  if (const auto* fault = std::get_if<base::KeyFault>(&key)) return PasskeyFault{fault->message};
  return CoseKey{std::get<base::PublicKey>(std::move(key)), algorithm};
}

// What stands at the beginning of authenticator data.
struct AuthenticatorData {
  unsigned flags = 0;
  std::uint32_t sign_count = 0;
};
std::variant<AuthenticatorData, PasskeyFault> ReadAuthenticatorData(CborReader* reader,
                                                                    const PasskeyRules& rules) {
  const auto hash = reader->Take(kHashBytes);
  const auto flags = reader->Take(1);
  const auto count = reader->Take(4);
  if (!hash || !flags || !count) return PasskeyFault{"the authenticator data is too short"};
  if (*hash != base::Sha256(rules.rp_id)) return PasskeyFault{"it is for another site"};
  AuthenticatorData data;
  data.flags = static_cast<unsigned char>(flags->front());
  for (const char c : *count) {
    data.sign_count = data.sign_count << 8U | static_cast<unsigned char>(c);
  }
  if ((data.flags & kUserPresent) == 0) return PasskeyFault{"the user was not present"};
  if ((data.flags & kUserVerified) == 0) return PasskeyFault{"the user was not verified"};
  if ((data.flags & kBackedUp) != 0 && (data.flags & kBackupEligible) == 0) {
    return PasskeyFault{"it is backed up, and cannot be"};
  }
  return data;
}

// Passes over the extensions, if there are any; then there is nothing more.
std::optional<PasskeyFault> ReadEnd(CborReader* reader, unsigned flags) {
  const bool whole = (flags & kExtensions) == 0 || reader->Skip();
  if (whole && reader->rest().empty()) return std::nullopt;
  return PasskeyFault{"the authenticator data does not end where it should"};
}

std::optional<PasskeyFault> CheckClientData(std::string_view text, std::string_view type,
                                            std::string_view challenge, const PasskeyRules& rules) {
  base::Json data;
  if (text.size() > kClientDataBytesMax || base::ParseJson(text, &data, kClientDataLimits) ||
      !data.is_object()) {
    return PasskeyFault{"the client data is no JSON object"};
  }
  if (base::TextMember(data, "type") != type) return PasskeyFault{"it is of another type"};
  if (base::TextMember(data, "challenge") != challenge) {
    return PasskeyFault{"it is for another challenge"};
  }
  if (base::TextMember(data, "origin") != rules.origin)
    return PasskeyFault{"the origin is another"};
  const auto crossed = data.find("crossOrigin");
  if ((crossed != data.end() && *crossed != false) || data.contains("topOrigin")) {
    return PasskeyFault{"it was made in a frame of another site"};
  }
  return std::nullopt;
}

// A signature of ECDSA as DER has it, strictly, as r and s of 32 bytes; empty for any other.
std::string RawSignature(std::string_view der) {
  std::string raw;
  const auto take = [&der](char tag) -> std::optional<std::string_view> {
    if (der.size() < 2 || der[0] != tag) return std::nullopt;
    const auto size = static_cast<unsigned char>(der[1]);
    if (size == 0 || size > 0x7F || size > der.size() - 2) return std::nullopt;
    const std::string_view value = der.substr(2, size);
    der.remove_prefix(2 + std::size_t{size});
    return value;
  };
  const auto sequence = take(0x30);
  if (!sequence || !der.empty()) return {};
  der = *sequence;
  for (int i = 0; i < 2; ++i) {
    auto number = take(0x02);
    if (!number || static_cast<unsigned char>(number->front()) > 0x7F) return {};
    if (number->size() > 1 && number->front() == 0) {
      // A zero stands before what would be negative, and nowhere else.
      if (static_cast<unsigned char>((*number)[1]) <= 0x7F) return {};
      number->remove_prefix(1);
    }
    if (number->size() > kCoordinateBytes) return {};
    raw.append(kCoordinateBytes - number->size(), '\0').append(*number);
  }
  return der.empty() ? raw : std::string();
}

// The authenticator data in an attestation object: whatever the statement says, it is passed over.
std::optional<std::string_view> AuthenticatorDataOf(std::string_view attestation) {
  CborReader reader(attestation);
  const auto pairs = reader.Map();
  if (attestation.size() > kAuthenticatorBytesMax || !pairs) return std::nullopt;
  std::optional<std::string_view> found;
  for (std::uint64_t i = 0; i < *pairs; ++i) {
    const auto name = reader.Text();
    if (!name || (*name == "authData" && found)) return std::nullopt;
    if (*name != "authData") {
      if (!reader.Skip()) return std::nullopt;
      continue;
    }
    found = reader.Bytes();
    if (!found) return std::nullopt;
  }
  return reader.rest().empty() ? found : std::nullopt;
}

bool IsAddress(std::string_view host) {
  return host.front() == '[' || host.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

std::optional<PasskeyRules> PasskeyRulesOf(std::string_view public_url) {
  const std::size_t scheme = public_url.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  const std::size_t begin = scheme + 3;
  std::string origin = base::AsciiLower(public_url.substr(0, public_url.find('/', begin)));
  for (const auto& [start, port] : {std::pair("https://", ":443"), std::pair("http://", ":80")}) {
    if (origin.starts_with(start) && origin.ends_with(port)) {
      origin.resize(origin.size() - std::string_view(port).size());
    }
  }
  const std::string authority = origin.substr(begin);
  if (authority.empty() || authority.front() == ':') return std::nullopt;
  const std::string host =
      authority.front() == '[' ? authority : authority.substr(0, authority.find(':'));
  if (IsAddress(host)) return std::nullopt;
  return PasskeyRules{origin, host};
}

std::optional<std::string> ClaimedChallenge(std::string_view client_data) {
  base::Json data;
  if (client_data.size() > kClientDataBytesMax ||
      base::ParseJson(client_data, &data, kClientDataLimits) || !data.is_object()) {
    return std::nullopt;
  }
  std::string challenge = base::TextMember(data, "challenge");
  if (challenge.empty()) return std::nullopt;
  return challenge;
}

std::variant<NewPasskey, PasskeyFault> ReadNewPasskey(std::string_view client_data,
                                                      std::string_view attestation,
                                                      std::string_view challenge,
                                                      const PasskeyRules& rules) {
  if (auto fault = CheckClientData(client_data, "webauthn.create", challenge, rules)) {
    return std::move(*fault);
  }
  const auto bytes = AuthenticatorDataOf(attestation);
  if (!bytes) return PasskeyFault{"the attestation object is none"};
  CborReader reader(*bytes);
  auto data = ReadAuthenticatorData(&reader, rules);
  if (auto* fault = std::get_if<PasskeyFault>(&data)) return std::move(*fault);
  const auto& [flags, sign_count] = std::get<AuthenticatorData>(data);
  if ((flags & kCredentialData) == 0) return PasskeyFault{"there is no credential in it"};
  const auto aaguid = reader.Take(kAaguidBytes);
  const auto length = reader.Take(2);
  if (!aaguid || !length) return PasskeyFault{"the authenticator data is too short"};
  const std::size_t size = static_cast<std::size_t>(static_cast<unsigned char>((*length)[0]))
                               << 8U |
                           static_cast<unsigned char>((*length)[1]);
  if (size == 0 || size > kCredentialIdBytesMax) {
    return PasskeyFault{"the credential's id has no byte, or too many"};
  }
  const auto id = reader.Take(size);
  if (!id) return PasskeyFault{"the authenticator data is too short"};
  auto key = ReadCoseKey(&reader);
  if (auto* fault = std::get_if<PasskeyFault>(&key)) return std::move(*fault);
  if (auto fault = ReadEnd(&reader, flags)) return std::move(*fault);
  auto& cose = std::get<CoseKey>(key);
  return NewPasskey{std::string(*id), std::move(cose.key), cose.algorithm, sign_count};
}

std::variant<std::uint32_t, PasskeyFault> VerifyPasskey(const PasskeyAnswer& answer,
                                                        std::string_view challenge,
                                                        const KnownPasskey& known,
                                                        const PasskeyRules& rules) {
  if (auto fault = CheckClientData(answer.client_data, "webauthn.get", challenge, rules)) {
    return std::move(*fault);
  }
  if (answer.authenticator_data.size() > kAuthenticatorBytesMax) {
    return PasskeyFault{"the authenticator data is too long"};
  }
  CborReader reader(answer.authenticator_data);
  auto data = ReadAuthenticatorData(&reader, rules);
  if (auto* fault = std::get_if<PasskeyFault>(&data)) return std::move(*fault);
  const auto& [flags, sign_count] = std::get<AuthenticatorData>(data);
  if ((flags & kCredentialData) != 0) return PasskeyFault{"there is a credential in it"};
  if (auto fault = ReadEnd(&reader, flags)) return std::move(*fault);
  const bool elliptic = known.algorithm == base::SignatureAlgorithm::kEs256;
  const std::string signature = elliptic ? RawSignature(answer.signature) : answer.signature;
  if (signature.empty() ||
      !known.key.Verify(known.algorithm,
                        answer.authenticator_data + base::Sha256(answer.client_data), signature)) {
    return PasskeyFault{"the signature is not the passkey's"};
  }
  const bool counts = sign_count != 0 || known.sign_count != 0;
  if (counts && sign_count <= known.sign_count) {
    return PasskeyFault{"the count of signatures has not grown: there may be two of one key"};
  }
  return sign_count;
}

}  // namespace vedette::domain
