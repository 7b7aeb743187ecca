#include "domain/email/suppression.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "base/crypto.h"
#include "base/text.h"
#include "domain/email/address.h"
#include "domain/email/person_name.h"
#include "domain/email/romanize.h"

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

void AddOnce(std::vector<SuppressionKey> keys, std::vector<SuppressionKey>* out) {
  for (SuppressionKey& key : keys) {
    if (std::find(out->begin(), out->end(), key) == out->end()) out->push_back(std::move(key));
  }
}

// A profile as it is written, but for its scheme, "www.", query and final slash.
std::string WrittenProfile(std::string_view url) {
  std::string text = base::AsciiLower(base::Trim(url));
  text = text.substr(0, text.find_first_of("?#"));
  if (const auto scheme = text.find("://"); scheme != std::string::npos) text.erase(0, scheme + 3);
  if (text.starts_with("www.")) text.erase(0, 4);
  while (text.ends_with('/')) text.pop_back();
  return text;
}

std::optional<SuppressionKey> ProfileKey(const std::string& text) {
  if (text.find('/') == std::string::npos) return std::nullopt;
  return Key(SuppressionKind::kProfile, text);
}

SuppressionKey PersonKeyOf(std::string_view folded, std::string_view domain) {
  return {SuppressionKind::kPerson,
          Digest(kLabel, {SuppressionKindName(SuppressionKind::kPerson), folded, domain})};
}

// "Mueller" is a spelling of "Müller", which folds to "muller".
std::string WithoutPairs(std::string_view folded) {
  constexpr std::string_view kPaired = "aou";
  std::string text;
  for (const char c : folded) {
    const bool is_pair = c == 'e' && !text.empty() && kPaired.find(text.back()) != kPaired.npos;
    if (!is_pair) text += c;
  }
  return text;
}

std::string Romanized(const std::string& word, NameScript script) {
  const auto spelt = Romanize(word, script, "");
  return spelt.empty() ? word : spelt.front();
}

// Each given name of the name with each family name of it, the likeliest first. Empty where it
// cannot be told which they are.
std::vector<std::string> PlainNames(std::string_view name, std::string_view domain) {
  Person person;
  person.name = name;
  const auto read = ReadNameWords(person, CountryOfDomain(domain));
  const auto* words = std::get_if<NameWords>(&read);
  std::vector<std::string> names;
  if (words == nullptr) return names;
  for (const std::string& given : words->given) {
    for (const auto& family : words->family) {
      std::string text = Romanized(given, words->script);
      for (const std::string& word : family) text += ' ' + Romanized(word, words->script);
      names.push_back(WithoutPairs(FoldName(text)));
    }
  }
  return names;
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

std::string PlainProfile(std::string_view url) {
  constexpr std::string_view kLinkedIn = "linkedin.com";
  std::string text = WrittenProfile(url);
  const std::size_t slash = std::min(text.find('/'), text.size());
  std::string host = text.substr(0, slash);
  std::string path = text.substr(slash);
  for (const std::string_view port : {":443", ":80"}) {
    if (host.ends_with(port)) host.resize(host.size() - port.size());
  }
  while (host.ends_with('.')) host.pop_back();
  if (host.ends_with("." + std::string(kLinkedIn))) host = kLinkedIn;
  // Behind a member's name may stand the two letters of a language.
  constexpr std::string_view kMember = "/in/";
  const std::size_t behind = path.find('/', kMember.size());
  const bool has_language = path.starts_with(kMember) && behind + 3 == path.size();
  if (host == kLinkedIn && has_language) path.resize(behind);
  return host + path;
}

std::optional<SuppressionKey> ProfileSuppression(std::string_view url) {
  return ProfileKey(PlainProfile(url));
}

std::vector<SuppressionKey> ProfileSuppressions(std::string_view url) {
  std::vector<SuppressionKey> keys;
  for (const std::string& text : {PlainProfile(url), WrittenProfile(url)}) {
    if (const auto key = ProfileKey(text)) AddOnce({*key}, &keys);
  }
  return keys;
}

std::optional<SuppressionKey> PersonSuppression(std::string_view name, std::string_view domain) {
  auto keys = PersonSuppressions(name, domain);
  if (keys.empty()) return std::nullopt;
  return std::move(keys.front());
}

std::vector<SuppressionKey> PersonSuppressions(std::string_view name, std::string_view domain) {
  const std::string folded = FoldName(name);
  const auto found = FindDomain(domain);
  if (folded.empty() || !found) return {};
  const std::string ascii = InALabels(*found);
  std::vector<std::string> texts = PlainNames(name, ascii);
  texts.push_back(WithoutPairs(folded));
  texts.push_back(folded);
  std::vector<SuppressionKey> keys;
  for (const std::string& text : texts) AddOnce({PersonKeyOf(text, ascii)}, &keys);
  return keys;
}

std::vector<SuppressionKey> SuppressionKeys(const Person& person) {
  std::vector<SuppressionKey> keys;
  AddIf(AddressSuppression(person.email), &keys);
  AddIf(AddressSuppression(person.personal_email), &keys);
  AddOnce(ProfileSuppressions(person.linkedin), &keys);
  const std::string domain = CompanyDomain(person);
  const auto add_names = [&](std::string_view at) {
    AddOnce(PersonSuppressions(WholeName(person), at), &keys);
    if (!person.first_name.empty() && !person.last_name.empty()) {
      AddOnce(PersonSuppressions(person.first_name + ' ' + person.last_name, at), &keys);
    }
  };
  AddIf(DomainSuppression(domain), &keys);
  add_names(domain);
  // An address may be elsewhere than the company that the lead names, and its servers are asked.
  for (const std::string* text : {&person.email, &person.personal_email}) {
    const auto address = ParseAddress(*text);
    if (!address || AsciiDomain(address->domain) == domain) continue;
    AddIf(DomainSuppression(address->domain), &keys);
    add_names(address->domain);
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
