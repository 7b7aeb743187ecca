#include "domain/people/found_suppression.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace vedette::domain {
namespace {

void Add(std::optional<SuppressionKey> key, std::vector<SuppressionKey>* keys) {
  if (key && std::find(keys->begin(), keys->end(), *key) == keys->end()) {
    keys->push_back(std::move(*key));
  }
}

// The keys of the person alone, without the candidates.
std::vector<SuppressionKey> KeysOf(const PersonFound& person, const std::string& domain) {
  std::vector<SuppressionKey> keys;
  Add(PersonSuppression(person.name, domain), &keys);
  Add(ProfileSuppression(person.linkedin), &keys);
  for (const std::string& profile : person.profiles) Add(ProfileSuppression(profile), &keys);
  return keys;
}

}  // namespace

std::vector<SuppressionKey> KeysOfFound(const std::vector<PersonAnswer>& answers,
                                        const std::string& domain) {
  std::vector<SuppressionKey> keys;
  for (const auto& [provider, person] : answers) {
    for (SuppressionKey& key : KeysOf(person, domain)) Add(std::move(key), &keys);
    for (const NameCandidate& candidate : person.candidates) {
      Add(PersonSuppression(candidate.name, domain), &keys);
    }
  }
  return keys;
}

void DropSuppressed(const std::vector<SuppressionKey>& suppressed, const std::string& domain,
                    std::vector<PersonAnswer>* answers, std::vector<ProviderTry>* tries) {
  const auto is_listed = [&](const SuppressionKey& key) {
    return std::find(suppressed.begin(), suppressed.end(), key) != suppressed.end();
  };
  for (auto& [provider, person] : *answers) {
    std::erase_if(person.candidates, [&](const NameCandidate& candidate) {
      const auto key = PersonSuppression(candidate.name, domain);
      return key && is_listed(*key);
    });
    const auto keys = KeysOf(person, domain);
    if (std::any_of(keys.begin(), keys.end(), is_listed)) {
      std::vector<NameCandidate> candidates = std::move(person.candidates);
      person = PersonFound();
      person.candidates = std::move(candidates);
    }
  }
  const auto is_empty = [](const PersonAnswer& answer) {
    return answer.second.name.empty() && answer.second.candidates.empty();
  };
  for (ProviderTry& one : *tries) {
    const bool is_dropped = std::any_of(answers->begin(), answers->end(), [&](const auto& answer) {
      return answer.first == one.provider && is_empty(answer);
    });
    if (is_dropped && one.outcome == TryOutcome::kFound) one.outcome = TryOutcome::kNothing;
  }
  std::erase_if(*answers, is_empty);
}

}  // namespace vedette::domain
