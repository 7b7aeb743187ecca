#include "domain/email/suppression.h"

#include <iterator>
#include <utility>

#include "base/crypto.h"
#include "base/text.h"
#include "domain/email/address.h"
#include "domain/email/person_name.h"

namespace vedette::domain {
namespace {

constexpr std::string_view kLabel = "vedette suppression 1";
constexpr std::string_view kPersonLabel = "vedette person 1";
constexpr std::string_view kCompanyLabel = "vedette company 1";
constexpr std::size_t kPersonKeyBytes = 16;
constexpr std::string_view kKindNames[] = {"address", "domain", "profile", "person"};

// Parts cannot be shifted into each other: none of them has a NUL.
std::string Digest(std::string_view label, std::initializer_list<std::string_view> parts) {
  std::string text(label);
  for (const std::string_view part : parts) {
    text += '\0';
    text += part;
  }
  return base::Sha256(text);
}

SuppressionKey Key(SuppressionKind kind, std::string_view value) {
  return {kind, Digest(kLabel, {SuppressionKindName(kind), value})};
}

template <typename T>
void AddIf(std::optional<T> key, std::vector<T>* out) {
  if (key) out->push_back(std::move(*key));
}

}  // namespace

std::string_view SuppressionKindName(SuppressionKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<SuppressionKind> ParseSuppressionKind(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kKindNames); ++i) {
    if (kKindNames[i] == name) return static_cast<SuppressionKind>(i);
  }
  return std::nullopt;
}

std::optional<SuppressionKey> AddressSuppression(std::string_view text) {
  auto address = ParseAddress(base::Trim(text));
  if (!address) return std::nullopt;
  if (auto ascii = AsciiDomain(address->domain)) address->domain = std::move(*ascii);
  return Key(SuppressionKind::kAddress, MailboxKey(*address));
}

std::optional<SuppressionKey> DomainSuppression(std::string_view text) {
  const auto domain = FindDomain(base::Trim(text));
  if (!domain) return std::nullopt;
  return Key(SuppressionKind::kDomain, InALabels(*domain));
}

std::optional<SuppressionKey> ProfileSuppression(std::string_view url) {
  std::string text = base::AsciiLower(base::Trim(url));
  text = text.substr(0, text.find_first_of("?#"));
  if (const auto scheme = text.find("://"); scheme != std::string::npos) text.erase(0, scheme + 3);
  if (text.starts_with("www.")) text.erase(0, 4);
  while (text.ends_with('/')) text.pop_back();
  if (text.find('/') == std::string::npos) return std::nullopt;
  return Key(SuppressionKind::kProfile, text);
}

std::optional<SuppressionKey> PersonSuppression(std::string_view name, std::string_view domain) {
  const std::string folded = FoldName(name);
  const auto found = FindDomain(domain);
  if (folded.empty() || !found) return std::nullopt;
  return SuppressionKey{
      SuppressionKind::kPerson,
      Digest(kLabel, {SuppressionKindName(SuppressionKind::kPerson), folded, InALabels(*found)})};
}

std::vector<SuppressionKey> SuppressionKeys(const Person& person) {
  std::vector<SuppressionKey> keys;
  AddIf(AddressSuppression(person.email), &keys);
  AddIf(AddressSuppression(person.personal_email), &keys);
  AddIf(ProfileSuppression(person.linkedin), &keys);
  const std::string domain = CompanyDomain(person);
  AddIf(DomainSuppression(domain), &keys);
  AddIf(PersonSuppression(WholeName(person), domain), &keys);
  // An address may be elsewhere than the company that the lead names, and its servers are asked.
  for (const std::string* text : {&person.email, &person.personal_email}) {
    const auto address = ParseAddress(*text);
    if (!address || AsciiDomain(address->domain) == domain) continue;
    AddIf(DomainSuppression(address->domain), &keys);
    AddIf(PersonSuppression(WholeName(person), address->domain), &keys);
  }
  return keys;
}

std::vector<SuppressionKey> SuppressionKeysOfAddress(std::string_view text) {
  std::vector<SuppressionKey> keys;
  AddIf(AddressSuppression(text), &keys);
  if (const auto address = ParseAddress(text)) AddIf(DomainSuppression(address->domain), &keys);
  return keys;
}

std::string WholeName(const Person& person) {
  if (!person.name.empty()) return person.name;
  if (person.first_name.empty()) return person.last_name;
  return person.last_name.empty() ? person.first_name : person.first_name + ' ' + person.last_name;
}

std::string CompanyDomain(const Person& person) {
  std::string domain = person.domain;
  if (domain.empty()) {
    const auto address = ParseAddress(person.email);
    if (address && !IsFreeMailboxDomain(address->domain)) domain = address->domain;
  }
  if (domain.empty()) return domain;
  return AsciiDomain(domain).value_or(std::string());
}

std::string PersonKey(const Person& person) {
  const std::string name = FoldName(WholeName(person));
  const std::string domain = CompanyDomain(person);
  if (name.empty() || domain.empty()) return "";
  return Digest(kPersonLabel, {name, domain}).substr(0, kPersonKeyBytes);
}

std::string CompanyKey(std::string_view company) {
  const std::string name = FoldName(company);
  if (name.empty()) return "";
  return Digest(kCompanyLabel, {name}).substr(0, kPersonKeyBytes);
}

}  // namespace vedette::domain
