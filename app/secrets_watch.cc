#include "app/secrets_watch.h"

#include <chrono>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "config/security_config.h"
#include "store/accounts/signing_secrets.h"
#include "store/async.h"

namespace vedette::app {
namespace {

constexpr std::chrono::minutes kEvery{1};

using Uses = std::vector<store::EncryptionKeyUse>;

}  // namespace

SecretsWatch::SecretsWatch(base::EventLoop& loop, store::Pool& pool, metrics::Metrics& metrics,
                           const config::SecurityConfig& security, base::Logger log)
    : loop_(loop),
      pool_(pool),
      metrics_(metrics),
      security_(security),
      log_(log),
      timer_(loop, [this] { Look(); }) {}

void SecretsWatch::Start() {
  timer_.Start(std::chrono::milliseconds(0), kEvery);
}

void SecretsWatch::Look() {
  store::RunAsync<Uses>(
      pool_, loop_,
      [security = security_](store::Session& session) {
        return store::ReadEncryptionKeys(session, security);
      },
      live_.Guard([this](std::variant<Uses, store::Failure> result) {
        const auto* uses = std::get_if<Uses>(&result);
        if (uses == nullptr) return;  // the database is away, which others say
        std::int64_t unreadable = 0;
        std::string keys;
        for (const auto& use : *uses) {
          if (use.place != store::EncryptionKeyUse::Place::kUnknown) continue;
          unreadable += use.secrets;
          keys += (keys.empty() ? "" : ",") + use.id;
        }
        Note(unreadable, keys);
      }));
}

void SecretsWatch::Note(std::int64_t unreadable, const std::string& keys) {
  metrics_.SetSigningSecretsUnreadable(unreadable);
  if (unreadable == std::exchange(unreadable_, unreadable)) return;
  if (unreadable == 0) {
    log_.Info("every live signing secret can be opened again");
  } else {
    log_.Error(
        "live signing secrets cannot be opened, and what they would sign is not sent: "
        "configure the encryption keys that they are sealed with",
        {{"secrets", unreadable}, {"missing_keys", keys}});
  }
}

}  // namespace vedette::app
