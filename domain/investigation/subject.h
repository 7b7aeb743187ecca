#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json_text.h"

// What an investigation is about, and what it finds further of. Pure.
namespace vedette::domain {

enum class SubjectKind : std::uint8_t {
  kEmail,
  kDomain,
  kPerson,
  kCompany,
  kUrl,
  kPhone,
  kIp,
};
std::string_view SubjectKindName(SubjectKind type);  // "email", ...
std::optional<SubjectKind> ParseSubjectKind(std::string_view name);

inline constexpr std::size_t kSubjectCharsMax = 500;

// A value in its one spelling: trimmed; an address and a domain in lower case.
struct Subject {
  SubjectKind type = SubjectKind::kDomain;
  std::string value;

  auto operator<=>(const Subject&) const = default;
};

// The subject in its one spelling, or a sentence that says what the value is not: an email is an
// address, a domain a name of at least two labels, a url begins with http:// or https://, an ip is
// an address of IPv4 or IPv6. What is empty after trimming, or over kSubjectCharsMax, is none.
std::variant<Subject, std::string> ReadSubject(SubjectKind type, std::string_view value);

// {"type", "value"}, and back; what is none throws std::invalid_argument.
base::Json SubjectJson(const Subject& subject);
Subject SubjectOf(const base::Json& json);

// A subject that was erased keeps its type: {"type": "email", "value": null}.
void EraseSubject(base::Json* json);
bool IsErasedSubject(const base::Json& json);

// Whether anything can be found of it by the providers of our own.
bool IsExpandable(SubjectKind type);

}  // namespace vedette::domain
