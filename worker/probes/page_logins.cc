#include "worker/probes/page_logins.h"

#include <utility>

#include "html/http_failure.h"

namespace vedette::worker {
namespace {

ProbeFailure SecretsSealed() {
  return {"unreadable_secrets",
          "The secrets of the monitor's steps cannot be opened with the service's present "
          "encryption keys; give them again in probe.secrets, or ask the operator.",
          false,
          {}};
}

}  // namespace

void PageLogins::Ask(const base::Uuid& org_id, std::shared_ptr<const ProbeSpec> spec,
                     std::function<void(Given)> done) {
  if (spec->monitor_id.is_nil() || !spec->options.NeedsLogin()) {
    LoginKeeper::Login own;
    own.secrets = spec->secrets;
    return done(Made(*spec, own));
  }
  if (keeper_ == nullptr) return done(SecretsSealed());
  const auto leads = waiting_.find(spec->monitor_id);
  if (leads == waiting_.end()) return Read(org_id, spec, true, std::move(done));
  leads->second.push_back(
      [this, org_id, spec, done = std::move(done)](const ProbeFailure* failure) mutable {
        if (failure != nullptr) return done(*failure);
        Read(org_id, spec, false, std::move(done));
      });
}

void PageLogins::Read(const base::Uuid& org_id, const std::shared_ptr<const ProbeSpec>& spec,
                      bool may_lead, std::function<void(Given)> done) {
  const auto then = [this, org_id, spec, may_lead,
                     done = std::move(done)](const std::optional<LoginKeeper::Login>& kept) {
    if (!kept) return done(html::OverloadedFailure());
    Given given = Made(*spec, *kept);
    auto* login = std::get_if<PageLogin>(&given);
    const bool knows_none =
        login != nullptr && spec->options.keeps_session && login->cookies.empty();
    if (knows_none && may_lead) {
      // Another page may have begun to lead while this one was read for.
      if (waiting_.contains(spec->monitor_id)) return Ask(org_id, spec, done);
      login->leads = true;
      waiting_[spec->monitor_id];
    }
    done(std::move(given));
  };
  keeper_->Read(org_id, spec->monitor_id, live_.Guard(then));
}

PageLogins::Given PageLogins::Made(const ProbeSpec& spec, const LoginKeeper::Login& kept) const {
  auto steps = kept.secrets ? domain::WithSecrets(spec.options.steps, *kept.secrets) : std::nullopt;
  if (!steps) return SecretsSealed();
  PageLogin login;
  login.version = kept.version;
  login.steps = std::move(*steps);
  if (spec.options.keeps_session && !kept.session.empty()) {
    login.cookies = net::ParseCookies(kept.session).value_or(std::vector<net::PageCookie>());
  }
  return login;
}

void PageLogins::End(const base::Uuid& org_id, const ProbeSpec& spec, const PageLogin& login,
                     const std::optional<std::vector<net::PageCookie>>& cookies,
                     const ProbeFailure* failure) {
  const bool keeps = cookies && spec.options.keeps_session && !login.version.is_nil() &&
                     !net::SameCookies(*cookies, login.cookies);
  if (!keeps) {
    const bool step_failed = failure != nullptr && failure->error_class == "step_failed";
    if (login.leads) LetGo(spec.monitor_id, step_failed ? failure : nullptr);
    return;
  }
  keeper_->Keep(org_id, spec.monitor_id, login.version, net::CookiesText(*cookies),
                live_.Guard([this, id = spec.monitor_id, leads = login.leads] {
                  if (leads) LetGo(id, nullptr);
                }));
}

void PageLogins::LetGo(const base::Uuid& monitor_id, const ProbeFailure* failure) {
  const auto node = waiting_.extract(monitor_id);
  if (node.empty()) return;
  for (const Waiting& next : node.mapped()) next(failure);
}

}  // namespace vedette::worker
