#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.h"
#include "config/config_fwd.h"

// What lies in the database under the operator's encryption key: signing secrets, the headers
// that monitors send, what their steps type and the sessions of their pages, and the addresses of
// channels. Pure; any thread.
namespace vedette::store {

// Names an encryption key without telling it: the first 8 hexadecimal digits of its SHA-256.
std::string EncryptionKeyId(std::string_view key);

// An encryption key of the configuration; it must outlive this object.
struct NamedKey {
  std::string id;
  std::string_view key;
};
// The present one, then the former ones.
std::vector<NamedKey> NamedKeys(const config::SecurityConfig& security);

struct Sealed {
  std::string bytes;
  std::string key_id;
};

// With the present key. `bound_to` is authenticated: the same opens it. Throws std::logic_error
// without an encryption key.
Sealed Seal(const config::SecurityConfig& security, std::string_view plain,
            std::string_view bound_to);
// Empty where none of the keys is the one, or where it is not what was sealed.
std::optional<std::string> OpenSealed(const std::vector<NamedKey>& keys, const Sealed& sealed,
                                      std::string_view bound_to);

// What the request headers of an organisation's monitors are bound to: sealed ones are of no use
// in another organisation's monitor.
std::string RequestHeadersBinding(const base::Uuid& org_id);
// The same of the secrets that the steps of its monitors type.
std::string ProbeSecretsBinding(const base::Uuid& org_id);
// The same of the session of its pages, which is of no use to another monitor either.
std::string PageSessionBinding(const base::Uuid& org_id, const base::Uuid& monitor_id);
// The same of the addresses of its channels.
std::string ChannelUrlBinding(const base::Uuid& org_id);

}  // namespace vedette::store
