#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "domain/auth/passkey.h"
#include "tests/support/jose.h"

namespace vedette::test {

// A browser with an authenticator that has one passkey. What it says can be changed.
struct Authenticator {
  Authenticator(std::string an_origin, std::string an_rp_id,
                const base::SigningKey& a_key = NewKey("P-256"))
      : origin(std::move(an_origin)), rp_id(std::move(an_rp_id)), key(a_key) {}

  std::string ClientData(bool makes, const std::string& asked) const {
    base::Json data{{"type", makes ? "webauthn.create" : "webauthn.get"},
                    {"challenge", challenge.empty() ? asked : challenge},
                    {"origin", origin},
                    {"crossOrigin", false}};
    if (!type.empty()) data["type"] = type;
    for (const auto& [name, value] : more.items()) data[name] = value;
    return data.dump();
  }
  std::string Attestation() const {
    const std::string data = Data(0x40) + std::string(16, '\0') + '\0' +
                             static_cast<char>(credential_id.size()) + credential_id + CoseKey() +
                             behind;
    // A length is written in as few bytes as it takes.
    const std::string size =
        data.size() < 256 ? '\x58' + Two(data.size()).substr(1) : '\x59' + Two(data.size());
    return "\xa3\x63"
           "fmt\x64none\x67"
           "attStmt" +
           statement +
           "\x68"
           "authData" +
           size + data;
  }
  domain::PasskeyAnswer Sign(const std::string& asked) const {
    domain::PasskeyAnswer answer{ClientData(false, asked), Data(0) + behind, {}};
    const auto algorithm = key.DefaultAlgorithm();
    answer.signature =
        key.Sign(algorithm, answer.authenticator_data + base::Sha256(answer.client_data));
    if (algorithm == base::SignatureAlgorithm::kEs256) {
      const std::string numbers =
          Number(answer.signature.substr(0, 32)) + Number(answer.signature.substr(32));
      answer.signature = '\x30' + std::string(1, static_cast<char>(numbers.size())) + numbers;
    }
    return answer;
  }

  // What a browser sends, in the API's words.
  base::Json Made(const std::string& asked) const {
    return {{"client_data", base::Base64UrlEncode(ClientData(true, asked))},
            {"attestation", base::Base64UrlEncode(Attestation())}};
  }
  base::Json Shown(const std::string& asked) const {
    const domain::PasskeyAnswer answer = Sign(asked);
    return {{"id", base::Base64UrlEncode(credential_id)},
            {"client_data", base::Base64UrlEncode(answer.client_data)},
            {"authenticator_data", base::Base64UrlEncode(answer.authenticator_data)},
            {"signature", base::Base64UrlEncode(answer.signature)}};
  }

  std::string origin;
  std::string rp_id;
  base::SigningKey key;
  std::string credential_id = std::string(32, 'i');
  unsigned flags = 0x05;  // the user was present, and verified
  std::uint32_t sign_count = 0;
  std::string type;                        // another one than is asked for
  std::string challenge;                   // likewise
  base::Json more = base::Json::object();  // in the client data
  std::string statement = "\xa0";          // of attestation
  std::string behind;                      // the authenticator data

 private:
  static std::string Two(std::size_t n) {
    return {static_cast<char>(n >> 8U), static_cast<char>(n & 0xFFU)};
  }
  // An integer of DER.
  static std::string Number(std::string bytes) {
    bytes.erase(0, std::min(bytes.find_first_not_of('\0'), bytes.size() - 1));
    if ((static_cast<unsigned char>(bytes[0]) & 0x80U) != 0) bytes.insert(0, 1, '\0');
    return '\x02' + std::string(1, static_cast<char>(bytes.size())) + bytes;
  }
  std::string Data(unsigned more_flags) const {
    std::string data = base::Sha256(rp_id) + static_cast<char>(flags | more_flags);
    return data + Two(sign_count >> 16U) + Two(sign_count & 0xFFFFU);
  }
  std::string CoseKey() const {
    const std::string der =
        std::get<base::PublicKey>(base::PublicKey::FromPem(key.PublicPem())).Der();
    const auto last = [&der](std::size_t from, std::size_t n) {
      return der.substr(der.size() - from, n);
    };
    switch (key.DefaultAlgorithm()) {
      case base::SignatureAlgorithm::kEdDsa:
        return "\xa4\x01\x01\x03\x27\x20\x06\x21\x58\x20" + last(32, 32);
      case base::SignatureAlgorithm::kRs256:
        return "\xa4\x01\x03\x03\x39\x01" + std::string(1, '\0') + "\x20\x59\x01" +
               std::string(1, '\0') + last(261, 256) + "\x21\x43" + last(3, 3);
      default:
        return "\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20" + last(64, 32) + "\x22\x58\x20" +
               last(32, 32);
    }
  }
};

}  // namespace vedette::test
