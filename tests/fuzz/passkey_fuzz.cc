// What strangers send as a passkey: client data (JSON), an attestation object (CBOR) with a public
// key (COSE), and authenticator data. The first byte says how much of the input is client data;
// the rest is read behind client data that is right, too, so that the readers of bytes are reached.
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "domain/auth/passkey.h"
#include "tests/fuzz/target.h"

namespace vedette {
namespace {

constexpr std::string_view kChallenge = "Y2hhbGxlbmdl";
constexpr std::string_view kMade =
    R"({"type":"webauthn.create","challenge":"Y2hhbGxlbmdl","origin":"https://a.example"})";
constexpr std::string_view kShown =
    R"({"type":"webauthn.get","challenge":"Y2hhbGxlbmdl","origin":"https://a.example"})";
// The key of RFC 7515, appendix A.3.
constexpr std::string_view kKey =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7\n"
    "6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n"
    "-----END PUBLIC KEY-----\n";

const domain::PasskeyRules& Rules() {
  static const domain::PasskeyRules rules{"https://a.example", "a.example"};
  return rules;
}

void ReadNew(std::string_view client_data, std::string_view attestation) {
  const auto read = domain::ReadNewPasskey(client_data, attestation, kChallenge, Rules());
  const auto* made = std::get_if<domain::NewPasskey>(&read);
  if (made == nullptr) return;
  const std::size_t id = made->credential_id.size();
  if (id == 0 || id > domain::kCredentialIdBytesMax) std::abort();
  const auto back = base::PublicKey::FromDer(made->key.Der());
  if (!std::holds_alternative<base::PublicKey>(back)) std::abort();
}

// Nobody here can sign by the key, so that nothing may be taken.
void Verify(std::string_view client_data, std::string_view data, std::string_view signature) {
  static const domain::KnownPasskey known{
      std::get<base::PublicKey>(base::PublicKey::FromPem(std::string(kKey))),
      base::SignatureAlgorithm::kEs256, 0};
  const auto verified =
      domain::VerifyPasskey({std::string(client_data), std::string(data), std::string(signature)},
                            kChallenge, known, Rules());
  if (std::holds_alternative<std::uint32_t>(verified)) std::abort();
}

}  // namespace

FUZZ_TARGET(passkey, bytes) {
  if (bytes.empty()) return;
  const std::string_view text = bytes.substr(1);
  const std::string_view head =
      text.substr(0, text.size() * static_cast<unsigned char>(bytes[0]) / 255);
  const std::string_view rest = text.substr(head.size());
  ReadNew(head, rest);
  ReadNew(kMade, rest);
  Verify(head, rest, rest);
  Verify(kShown, rest, head);
  (void)domain::ClaimedChallenge(text);
  (void)domain::PasskeyRulesOf(text);
}

}  // namespace vedette
