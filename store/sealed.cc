#include "store/sealed.h"

#include <stdexcept>

#include "base/crypto.h"
#include "config/security_config.h"

namespace vedette::store {

std::string EncryptionKeyId(std::string_view key) {
  return base::HexEncode(base::Sha256(key)).substr(0, 8);
}

std::vector<NamedKey> NamedKeys(const config::SecurityConfig& security) {
  std::vector<NamedKey> keys;
  if (!security.encryption_key.empty()) {
    keys.push_back({EncryptionKeyId(security.encryption_key), security.encryption_key});
  }
  for (const std::string& key : security.encryption_keys_old) {
    keys.push_back({EncryptionKeyId(key), key});
  }
  return keys;
}

Sealed Seal(const config::SecurityConfig& security, std::string_view plain,
            std::string_view bound_to) {
  if (security.encryption_key.empty()) {
    throw std::logic_error("a secret needs [security] encryption_key");
  }
  return {base::AeadSeal(security.encryption_key, plain, bound_to),
          EncryptionKeyId(security.encryption_key)};
}

std::optional<std::string> OpenSealed(const std::vector<NamedKey>& keys, const Sealed& sealed,
                                      std::string_view bound_to) {
  for (const NamedKey& key : keys) {
    if (key.id != sealed.key_id) continue;
    if (auto plain = base::AeadOpen(key.key, sealed.bytes, bound_to)) return plain;
  }
  return std::nullopt;
}

std::string RequestHeadersBinding(const base::Uuid& org_id) {
  return "request_headers " + org_id.ToString();
}

std::string ProbeSecretsBinding(const base::Uuid& org_id) {
  return "probe_secrets " + org_id.ToString();
}

std::string PageSessionBinding(const base::Uuid& org_id, const base::Uuid& monitor_id) {
  return "page_session " + org_id.ToString() + " " + monitor_id.ToString();
}

std::string ChannelUrlBinding(const base::Uuid& org_id) {
  return "channel_url " + org_id.ToString();
}

}  // namespace vedette::store
