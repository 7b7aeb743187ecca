#include "config/provider_rules.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "config/recipe_file.h"
#include "domain/email/provider_ids.h"
#include "domain/people/source_ids.h"

namespace vedette::config {
namespace {

// Whether a provider that every process has goes by this id.
bool IsOwnId(std::string_view id) {
  return domain::IsOwnProvider(id) || domain::IsOwnSource(id);
}

// A model has a URL, a name and an id of its own.
void ValidateModels(const Config& config) {
  for (const auto& [id, model] : config.providers.llm) {
    if (model.url.empty() || model.model.empty()) {
      throw ConfigError(fmt::format("[providers.llm.{}]: a model needs a url and a model", id));
    }
    const bool is_taken =
        IsOwnId(id) || config.providers.http.contains(id) || config.providers.recipes.contains(id);
    if (is_taken)
      throw ConfigError(fmt::format("[providers.llm.{}]: the id \"{}\" is taken", id, id));
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

}  // namespace

void AddRecipes(Config* config) {
  ProvidersConfig& providers = config->providers;
  if (providers.recipes_dir.empty()) return;
  for (domain::Recipe& recipe : ReadRecipes(providers.recipes_dir)) {
    const std::string id = recipe.id;
    if (providers.http.contains(id)) {
      throw ConfigError(fmt::format("[providers.http.{}]: a recipe has this id, too", id));
    }
    if (IsOwnId(id)) throw ConfigError(fmt::format("a recipe: the id \"{}\" is taken", id));
    providers.recipes.emplace(id, std::make_shared<const domain::Recipe>(std::move(recipe)));
  }
}

void ValidateProviders(const Config& config) {
  ValidateModels(config);
  for (const auto& [id, provider] : config.providers.http) {
    if (provider.url.empty()) {
      throw ConfigError(fmt::format("[providers.http.{}] url = \"\": a provider needs a url", id));
    }
    if (IsOwnId(id)) {
      throw ConfigError(fmt::format("[providers.http.{}]: the id \"{}\" is taken", id, id));
    }
  }
  const auto check = [&](std::string_view key, const std::vector<std::string>& ids) {
    for (const std::string& id : ids) {
      if (MayName(config, key, id)) continue;
      throw ConfigError(
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

bool VerifiesAddresses(const ProvidersConfig& providers, const std::string& id) {
  const auto recipe = providers.recipes.find(id);
  return providers.http.contains(id) ||
         (recipe != providers.recipes.end() &&
          recipe->second->lookup == domain::RecipeLookup::kVerifyEmail);
}

}  // namespace vedette::config
