#include "domain/email/lead.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/email/address.h"
#include "domain/text/letters.h"

namespace vedette::domain {
namespace {

constexpr const char* kErased = "erased";

struct KnownKey {
  std::string_view key;
  std::string Person::*field;
};

// The keys of each field in their order: the first one with a value counts.
constexpr auto kKnownKeys = std::to_array<KnownKey>({
    {"name", &Person::name},
    {"full_name", &Person::name},
    {"first_name", &Person::first_name},
    {"last_name", &Person::last_name},
    {"company", &Person::company},
    {"company_name", &Person::company},
    {"organization", &Person::company},
    {"domain", &Person::domain},
    {"company_domain", &Person::domain},
    {"website", &Person::domain},
    {"linkedin", &Person::linkedin},
    {"linkedin_url", &Person::linkedin},
    {"email", &Person::email},
    {"personal_email", &Person::personal_email},
    {"title", &Person::title},
    {"location", &Person::location},
});

// The fields, in the order in which services are given them.
constexpr auto kFields = std::to_array<KnownKey>({
    {"name", &Person::name},
    {"first_name", &Person::first_name},
    {"last_name", &Person::last_name},
    {"company", &Person::company},
    {"domain", &Person::domain},
    {"linkedin", &Person::linkedin},
    {"email", &Person::email},
    {"personal_email", &Person::personal_email},
    {"title", &Person::title},
    {"location", &Person::location},
});

using Kind = LeadFault::Kind;

std::optional<LeadFault> ValidateForm(const base::Json& lead) {
  if (lead.size() > kLeadKeysMax) {
    return LeadFault{Kind::kTooManyKeys, "", fmt::format("has more than {} keys", kLeadKeysMax)};
  }
  for (const KnownKey& known : kKnownKeys) {
    const std::string key(known.key);
    const auto it = lead.find(key);
    if (it == lead.end() || it->is_null()) continue;
    if (!it->is_string()) return LeadFault{Kind::kNotString, key, "must be a string or null"};
    if (base::CountCharacters(it->get_ref<const std::string&>()) > kLeadValueCharactersMax) {
      return LeadFault{Kind::kValueTooLong, key,
                       fmt::format("must have at most {} characters", kLeadValueCharactersMax)};
    }
  }
  if (base::DumpJson(lead).size() > kLeadBytesMax) {
    return LeadFault{Kind::kTooLarge, "", fmt::format("takes more than {} bytes", kLeadBytesMax)};
  }
  return std::nullopt;
}

}  // namespace

std::string_view LeadFault::Code() const {
  return kind == Kind::kNotObject ? "invalid_lead" : "empty_lead";
}

std::variant<Person, LeadFault> ReadLead(const base::Json& lead) {
  if (!lead.is_object()) return LeadFault{Kind::kNotObject, "", "must be an object"};
  if (auto fault = ValidateForm(lead)) return std::move(*fault);
  Person person;
  for (const KnownKey& known : kKnownKeys) {
    std::string& field = person.*known.field;
    const auto it = lead.find(std::string(known.key));
    if (!field.empty() || it == lead.end() || it->is_null()) continue;
    field = base::Trim(it->get_ref<const std::string&>());
  }
  if (person == Person()) {
    std::vector<std::string_view> known;
    known.reserve(kKnownKeys.size());
    for (const KnownKey& key : kKnownKeys) known.push_back(key.key);
    return LeadFault{
        Kind::kEmpty, "",
        fmt::format("has no known field with a value; known are: {}", fmt::join(known, ", "))};
  }
  // What stands where a domain should, and is none, leaves the domain to the company.
  auto domain = FindDomain(person.domain);
  if (!domain) domain = FindDomain(person.company);
  person.domain = std::move(domain).value_or(std::string());
  return person;
}

std::string LeadKey(const Person& person) {
  std::string text;
  for (const KnownKey& field : kFields) {
    // Addresses come back as they were given, so that only equal spellings are copies.
    const bool is_address = field.field == &Person::email || field.field == &Person::personal_email;
    std::string value = base::FoldSpace(person.*field.field);
    if (!is_address) value = LowerNfc(value);
    if (field.field == &Person::domain) value = InALabels(value);
    text += fmt::format("{}:{}", value.size(), value);
  }
  return base::Sha256(text);
}

base::Json PersonJson(const Person& person) {
  base::Json json = base::Json::object();
  for (const KnownKey& field : kFields) {
    const std::string& value = person.*field.field;
    json[std::string(field.key)] = value.empty() ? base::Json(nullptr) : base::Json(value);
  }
  return json;
}

base::Json ErasedLead() {
  base::Json lead = base::Json::object();
  lead[kErased] = true;
  return lead;
}

bool IsErasedLead(const base::Json& lead) {
  return lead.is_object() && lead.size() == 1 && lead.contains(kErased);
}

}  // namespace vedette::domain
