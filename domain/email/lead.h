#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/json_text.h"

namespace vedette::domain {

// What is known of a person. Every field is trimmed; an empty one is not known. It is what services
// are told: a lead's other members stay with us.
struct Person {
  std::string name;
  std::string first_name;
  std::string last_name;
  std::string company;
  std::string domain;  // of the company, lower case, without "www."
  std::string linkedin;
  std::string email;           // as the client gave it
  std::string personal_email;  // as the client gave it
  std::string title;
  std::string location;

  bool operator==(const Person&) const = default;
};

// A lead: the person as the client describes them, a JSON object. The first key of each group that
// has a value counts:
//
//   name, full_name            linkedin, linkedin_url
//   first_name                 email
//   last_name                  personal_email
//   company, company_name,     title
//     organization             location
//   domain, company_domain, website
//
// A company that is a URL or a domain is also the domain, where there is no other. Every other key
// is the client's own: it may hold any JSON, and comes back with the answer. Pure.

inline constexpr std::size_t kLeadKeysMax = 64;
inline constexpr std::size_t kLeadBytesMax = 16 * 1024;      // as compact JSON
inline constexpr std::size_t kLeadValueCharactersMax = 512;  // of a known key

struct LeadFault {
  enum class Kind : std::uint8_t {
    kNotObject,     // 400 invalid_lead
    kEmpty,         // 400 empty_lead: no known key has a value
    kTooManyKeys,   // 422, as are those below
    kTooLarge,      // over kLeadBytesMax
    kNotString,     // a known key holds neither a string nor null
    kValueTooLong,  // over kLeadValueCharactersMax
  };
  Kind kind;
  std::string key;      // the member that is at fault; empty where it is the lead itself
  std::string message;  // a sentence without the lead's name and without its values

  // Whether it is a rule (400, with Code()) or a fault of form (422).
  bool IsRule() const { return kind <= Kind::kEmpty; }
  std::string_view Code() const;  // of a rule: "invalid_lead", "empty_lead"
};

// The person that a lead describes. Faults of form come before rules, but for kNotObject.
std::variant<Person, LeadFault> ReadLead(const base::Json& lead);

// Equal for two leads that ask for the same person: the known fields, without regard to runs of
// white space and, but for addresses, to case and to how letters and domains outside ASCII are
// written. A digest, so that it tells nothing.
std::string LeadKey(const Person& person);

// The person as services are given it: every field, null where it is not known.
base::Json PersonJson(const Person& person);

// What stands in a stored request in place of a lead whose person was erased: {"erased": true}.
base::Json ErasedLead();
bool IsErasedLead(const base::Json& lead);

}  // namespace vedette::domain
