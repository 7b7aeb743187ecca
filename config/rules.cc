#include "config/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/uuid.h"
#include "config/config.h"
#include "config/setting_files.h"
#include "domain/channel/mail.h"
#include "domain/email/address.h"
#include "domain/email/finders.h"
#include "domain/email/recipe.h"
#include "domain/people/people_answer.h"

namespace vedette::config {
namespace {

// A run of a workflow ends by then: its rows are dropped by days.
constexpr std::chrono::hours kRunTimeoutMax = std::chrono::days(7);

[[noreturn]] void Fail(const std::string& message) {
  throw ConfigError(message);
}

// Whether a provider that every process has goes by this id.
bool IsOwnId(std::string_view id) {
  return domain::IsOwnProvider(id) || domain::IsOwnSource(id);
}

// A model has a URL, a name and an id of its own.
void ValidateModels(const Config& config) {
  for (const auto& [id, model] : config.providers.llm) {
    if (model.url.empty() || model.model.empty()) {
      Fail(fmt::format("[providers.llm.{}]: a model needs a url and a model", id));
    }
    const bool is_taken =
        IsOwnId(id) || config.providers.http.contains(id) || config.providers.recipes.contains(id);
    if (is_taken) Fail(fmt::format("[providers.llm.{}]: the id \"{}\" is taken", id, id));
  }
}

// Whether lookups of people may name the provider.
bool AnswersPeople(const Config& config, std::string_view key, const std::string& id) {
  const bool is_reverse = key == "reverse_email";
  const auto recipe = config.providers.recipes.find(id);
  if (recipe != config.providers.recipes.end()) {
    return recipe->second->lookup ==
           (is_reverse ? domain::RecipeLookup::kReverseEmail : domain::RecipeLookup::kVerifyAge);
  }
  return domain::AnswersPeople(id, is_reverse ? domain::PeopleQuestion::kReverseEmail
                                              : domain::PeopleQuestion::kVerifyAge) ||
         config.providers.llm.contains(id);
}

// Whether a list of [lookups] may name the id: one that every process has, one of
// [providers.http.<id>] or [providers.llm.<id>], or a recipe that serves this.
bool MayName(const Config& config, std::string_view key, const std::string& id) {
  if (id == domain::kNullProvider) return config.testing.null_provider;
  if (config.providers.http.contains(id)) return true;
  const bool finds = key == "find_email" || key == "find_email_personal";
  if (finds && (domain::IsOwnFinder(id) || config.providers.llm.contains(id))) return true;
  if (key == "company_domain" && domain::IsOwnCompanySource(id)) return true;
  const bool is_of_people = key == "reverse_email" || key == "verify_age";
  if (is_of_people) return AnswersPeople(config, key, id);
  const auto recipe = config.providers.recipes.find(id);
  if (recipe == config.providers.recipes.end()) return false;
  if (key == "company_domain") {
    return recipe->second->lookup == domain::RecipeLookup::kCompanyDomain;
  }
  return finds && recipe->second->Finds(key == "find_email" ? domain::FindMode::kProfessional
                                                            : domain::FindMode::kPersonal);
}

void ValidateProviders(const Config& config) {
  ValidateModels(config);
  for (const auto& [id, provider] : config.providers.http) {
    if (provider.url.empty()) {
      Fail(fmt::format("[providers.http.{}] url = \"\": a provider needs a url", id));
    }
    if (IsOwnId(id)) {
      Fail(fmt::format("[providers.http.{}]: the id \"{}\" is taken", id, id));
    }
  }
  const auto check = [&](std::string_view key, const std::vector<std::string>& ids) {
    for (const std::string& id : ids) {
      if (MayName(config, key, id)) continue;
      Fail(
          fmt::format("[lookups] {} = [..., \"{}\"]: there is no [providers.http.{}], and no "
                      "recipe with this id that serves it",
                      key, id, id));
    }
  };
  check("find_email", config.lookups.find_email);
  check("find_email_personal", config.lookups.find_email_personal);
  check("reverse_email", config.lookups.reverse_email);
  check("verify_age", config.lookups.verify_age);
  check("company_domain", config.lookups.company_domain);
}

bool VerifiesAddresses(const ProvidersConfig& providers, const std::string& id) {
  const auto recipe = providers.recipes.find(id);
  return providers.http.contains(id) ||
         (recipe != providers.recipes.end() &&
          recipe->second->lookup == domain::RecipeLookup::kVerifyEmail);
}

void ValidateMail(const Config& config) {
  const MailConfig& mail = config.mail;
  if (mail.relay.empty()) return;
  const auto relay = domain::ParseMailRelay(mail.relay);
  if (!relay) {
    // Without the value, in which somebody may have put a password.
    Fail(
        "[mail] relay: must be smtps://user@host:port or smtp://user@host:port, without a "
        "password");
  }
  if (relay->user.empty() != mail.password.empty()) {
    Fail("[mail] password: must be given with a user in [mail] relay, and only then");
  }
  if (!domain::IsMailable(mail.from)) {
    Fail(fmt::format("[mail] from = \"{}\": must be an address of ASCII letters", mail.from));
  }
  if (config.public_url.empty()) {
    Fail("[mail] relay: needs [api] public_url, as mail has links to confirm and to leave");
  }
}

void ValidateSmtp(const Config& config) {
  const SmtpConfig& smtp = config.smtp;
  const std::string& verifier = config.lookups.verifier;
  if (verifier != domain::kOwnVerifier && verifier != "none" &&
      !VerifiesAddresses(config.providers, verifier)) {
    Fail(
        fmt::format("[lookups] verifier = \"{}\": must be smtp, none, or the id of a provider that "
                    "verifies addresses",
                    verifier));
  }
  if (!smtp.proxy.empty() && !SocksProxy::Parse(smtp.proxy)) {
    // Without the value, in which somebody may have put a password.
    Fail(
        "[email.smtp] proxy: must be socks5://ADDRESS:PORT, with an IP address and without "
        "credentials");
  }
  if (!smtp.mail_from.empty() && !domain::ParseAddress(smtp.mail_from)) {
    Fail(fmt::format("[email.smtp] mail_from = \"{}\": must be an address", smtp.mail_from));
  }
  if (!smtp.hello_name.empty() && !domain::ParseDomain(smtp.hello_name)) {
    Fail(
        fmt::format("[email.smtp] hello_name = \"{}\": must be a full name, such as "
                    "verify.example.org",
                    smtp.hello_name));
  }
}

// An index, or several: what stands in a path as it is.
bool IsIndexName(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) ||
           std::string_view("-_.,*").find(c) != std::string_view::npos;
  });
}

void ValidateSearch(const SearchConfig& search) {
  if (search.backend != "opensearch") return;
  if (search.url.empty()) Fail("[search] url = \"\": backend = \"opensearch\" needs a url");
  for (const auto& [key, name] : {std::pair("index_people", &search.index_people),
                                  std::pair("index_company", &search.index_company)}) {
    if (IsIndexName(*name)) continue;
    Fail(fmt::format("[search] {} = \"{}\": must be the name of an index", key, *name));
  }
  if (!search.user.empty() && !search.api_key.empty()) {
    Fail("[search] user and api_key: at most one of them may be set");
  }
  if (search.user.empty() != search.password.empty()) {
    Fail("[search] user and password: both of them must be set, or neither");
  }
}

void ValidateJobs(const Config& config) {
  ValidateProviders(config);
  ValidateSmtp(config);
  ValidateMail(config);
  const int waits_max = config.api.connections_max / 2;
  if (config.waits.waits_max > waits_max) {
    Fail(fmt::format("[api] waits_max = {}: must be at most half of connections_max ({})",
                     config.waits.waits_max, config.api.connections_max));
  }
  const auto run_timeout_max =
      std::min<std::chrono::hours>(config.retention.run_data, kRunTimeoutMax);
  if (config.workflows.run_timeout > run_timeout_max) {
    Fail(fmt::format(
        "[workflows] run_timeout = {}h: must be at most 7d and [retention] run_data, {}h",
        config.workflows.run_timeout.count(), run_timeout_max.count()));
  }
  if (config.worker.lanes.empty()) Fail("[worker] lanes = []: must name at least one lane");
}

// http lets nobody listen in on this machine alone.
bool IsHttpsOrLoopback(std::string_view url) {
  if (url.starts_with("https://")) return true;
  for (const std::string_view host : {"http://127.0.0.1", "http://localhost", "http://[::1]"}) {
    if (!url.starts_with(host)) continue;
    const std::string_view rest = url.substr(host.size());
    return rest.empty() || rest.front() == ':' || rest.front() == '/';
  }
  return false;
}

// A claim is named by a member, or by a JSON Pointer whose '~' are all escapes (RFC 6901).
bool IsClaimName(std::string_view claim) {
  if (!claim.starts_with('/')) return true;
  for (std::size_t i = claim.find('~'); i != claim.npos; i = claim.find('~', i + 1)) {
    if (i + 1 == claim.size() || (claim[i + 1] != '0' && claim[i + 1] != '1')) return false;
  }
  return true;
}

void ValidateOidc(const Config& config) {
  const OidcConfig& oidc = config.oidc;
  if (oidc.issuer.empty()) {
    for (const auto& [key, value] :
         {std::pair("audience", &oidc.audience), std::pair("org_claim", &oidc.org_claim),
          std::pair("organisation", &oidc.organisation), std::pair("team_claim", &oidc.team_claim),
          std::pair("client_id", &oidc.client_id)}) {
      if (value->empty()) continue;
      Fail(fmt::format("[oidc] {} = \"{}\": needs [oidc] issuer, which is empty", key, *value));
    }
    return;
  }
  if (!IsHttpsOrLoopback(oidc.issuer)) {
    Fail(fmt::format("[oidc] issuer = \"{}\": must be https, or http on loopback", oidc.issuer));
  }
  if (oidc.audience.empty()) Fail("[oidc] audience = \"\": must be set where issuer is");
  if (oidc.org_claim.empty() == oidc.organisation.empty()) {
    Fail("[oidc] org_claim and organisation: exactly one of them must be set where issuer is");
  }
  if (!oidc.organisation.empty() && !base::Uuid::Parse(oidc.organisation)) {
    Fail(fmt::format("[oidc] organisation = \"{}\": must be an organisation's id",
                     oidc.organisation));
  }
  if (oidc.algorithms.empty()) Fail("[oidc] algorithms = []: must name at least one");
  for (const auto& [key, claim] :
       {std::pair("org_claim", &oidc.org_claim), std::pair("team_claim", &oidc.team_claim),
        std::pair("user_claim", &oidc.user_claim)}) {
    if (IsClaimName(*claim)) continue;
    Fail(fmt::format("[oidc] {} = \"{}\": must be a member's name or a JSON Pointer", key, *claim));
  }
  if (!oidc.client_id.empty() && config.public_url.empty()) {
    Fail("[oidc] client_id: needs [api] public_url, where the provider sends people back");
  }
}

void ValidateJwks(const JwksConfig& jwks) {
  if (jwks.retry_ms > jwks.fresh_ms) {
    Fail(fmt::format("[oauth] jwks_retry_ms = {}: must be at most jwks_fresh_ms ({})",
                     jwks.retry_ms.count(), jwks.fresh_ms.count()));
  }
  if (jwks.fresh_ms > jwks.stale_max_ms) {
    Fail(fmt::format("[oauth] jwks_fresh_ms = {}: must be at most jwks_stale_max_ms ({})",
                     jwks.fresh_ms.count(), jwks.stale_max_ms.count()));
  }
}

void ValidateProbes(const Config& config) {
  for (const auto& [tier, probe] : config.probes) {
    const bool needs_url = probe.kind == "http" || probe.kind == "llm";
    if (needs_url && probe.url.empty()) {
      Fail(fmt::format("[probes.{}] url = \"\": kind = \"{}\" needs a url", tier, probe.kind));
    }
    if (probe.kind == "llm" && probe.model.empty()) {
      Fail(fmt::format("[probes.{}] model = \"\": kind = \"llm\" needs a model", tier));
    }
    if (probe.kind == "web" && probe.url.empty() != probe.model.empty()) {
      Fail(
          fmt::format("[probes.{}]: with kind = \"web\", url and model are set both (prose goes to "
                      "that model) or neither",
                      tier));
    }
  }
}

}  // namespace

void AddRecipes(Config* config) {
  ProvidersConfig& providers = config->providers;
  if (providers.recipes_dir.empty()) return;
  for (domain::Recipe& recipe : ReadRecipes(providers.recipes_dir)) {
    const std::string id = recipe.id;
    if (providers.http.contains(id)) {
      Fail(fmt::format("[providers.http.{}]: a recipe has this id, too", id));
    }
    if (IsOwnId(id)) Fail(fmt::format("a recipe: the id \"{}\" is taken", id));
    providers.recipes.emplace(id, std::make_shared<const domain::Recipe>(std::move(recipe)));
  }
}

namespace {

// A line break or another control character is no part of a header: a token with one is never
// presented.
void ValidateAdminTokens(const Config& config) {
  for (const auto& [name, token] : config.admin_tokens) {
    if (std::none_of(token.begin(), token.end(), base::IsAsciiControl)) continue;
    Fail(fmt::format(
        "[admin.tokens] {} = (not shown): must be one line, without control characters", name));
  }
}

}  // namespace

void Validate(const Config& config) {
  ValidateOidc(config);
  ValidateAdminTokens(config);
  ValidateJwks(config.jwks);
  ValidateSearch(config.search);
  ValidateJobs(config);
  ValidateProbes(config);
}

void ValidateAdminOidc(const AdminOidcConfig& oidc) {
  const auto fail = [](std::string_view key, std::string_view value, std::string_view why) {
    Fail(fmt::format("[admin.oidc] {} = \"{}\": {}", key, value, why));
  };
  const bool has_values = !(oidc.viewers.empty() && oidc.operators.empty() && oidc.admins.empty());
  if (oidc.issuer.empty()) {
    const bool is_said = !oidc.client_id.empty() || !oidc.public_url.empty() || has_values;
    if (is_said) fail("issuer", "", "must be set where other keys of [admin.oidc] are");
    return;
  }
  for (const auto& [key, url] :
       {std::pair("issuer", &oidc.issuer), std::pair("public_url", &oidc.public_url)}) {
    if (!IsHttpsOrLoopback(*url)) fail(key, *url, "must be https, or http on loopback");
  }
  if (oidc.client_id.empty()) fail("client_id", "", "must be set where issuer is");
  if (!IsClaimName(oidc.role_claim)) {
    fail("role_claim", oidc.role_claim, "must be a member's name or a JSON Pointer");
  }
  if (!has_values) {
    Fail(
        "[admin.oidc] viewers, operators and admins: one of them must name a value of role_claim, "
        "or nobody could sign in");
  }
}

bool IsOn(const Config& config, std::string_view id) {
  if (id == "gravatar") return !config.gravatar.url.empty();
  return id != "wikidata" || config.age.wikidata;
}

domain::KnownFinders FindersOf(const Config& config) {
  using domain::FindMode;
  domain::KnownFinders known;
  const auto add = [&known](const std::string& id, bool professional, bool personal) {
    known.all.push_back(id);
    if (professional) known.professional.push_back(id);
    if (personal) known.personal.push_back(id);
  };
  for (const std::string_view id : domain::kOwnFinders) {
    add(std::string(id), domain::ServesMode(id, FindMode::kProfessional),
        domain::ServesMode(id, FindMode::kPersonal));
  }
  const auto add_source = [&](std::string_view id) {
    const std::string source(id);
    if (IsOn(config, id) && !known.Knows(source)) add(source, false, false);
  };
  for (const std::string_view id : domain::kReverseSources) add_source(id);
  for (const std::string_view id : domain::kAgeSources) add_source(id);
  for (const auto& [id, provider] : config.providers.http) add(id, true, true);
  for (const auto& [id, recipe] : config.providers.recipes) {
    add(id, recipe->Finds(FindMode::kProfessional), recipe->Finds(FindMode::kPersonal));
  }
  for (const auto& [id, model] : config.providers.llm) add(id, true, true);
  return known;
}

}  // namespace vedette::config
