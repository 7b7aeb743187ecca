#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json_text.h"
#include "base/uuid.h"

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

// A value in its one spelling: trimmed; an address by its key (Address::Key), a domain in lower
// case and A-labels.
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

// Whether some provider that there is may look at a subject of the type, and so be paid for it,
// whatever a process has configured: more is never charged than was reserved by another one.
bool MayBeLookedAt(SubjectKind type);

// What an investigation finds. Pure.

// The numbers are stored: never renumber. kEntity: there is something further to look at;
// kAttribute: what a subject is; kRelation: how two things belong together.
enum class FindingKind : std::uint8_t { kEntity = 0, kAttribute = 1, kRelation = 2 };
std::string_view FindingKindName(FindingKind kind);

// The second end of a relation, or the value of an attribute, whose type is "text".
struct FindingObject {
  std::string type;
  std::string value;
};

struct Finding {
  FindingKind kind = FindingKind::kRelation;
  Subject subject;
  std::string predicate;
  std::optional<FindingObject> object;
  std::optional<double> confidence;  // 0 to 10
  std::string evidence;
  std::vector<std::string> sources;
  std::string provider;
  std::vector<base::Uuid> derived_from;
  // Whether the process that found an entity has a source for such things. Empty where it does not
  // say: then IsExpandable decides.
  std::optional<bool> is_expandable{};
};

inline constexpr std::size_t kFindingsOfSubjectMax = 200;
inline constexpr std::size_t kFindingsBytesMax = 48 * 1024;  // of one subject, as JSON
inline constexpr std::size_t kEvidenceCharsMax = 300;

// The same finding of one investigation has the same id, however often it is found: UUIDv5(
// investigation_id, "<kind>|<subject>|<predicate>|<object>"), each end as "<type>:<value>".
base::Uuid FindingId(const base::Uuid& investigation_id, const Finding& finding);

// A thing that a subject leads to: the relation between them, and the entity, which is derived from
// it.
std::vector<Finding> RelationTo(const base::Uuid& investigation_id, const Subject& from,
                                std::string_view predicate, const Subject& to, Finding what);

// What a row of the block "investigate" gives, {"findings": [..]}, and back. ReadFindings throws
// std::invalid_argument. The first ones are written, up to kFindingsOfSubjectMax and
// kFindingsBytesMax.
std::string WriteFindings(const std::vector<Finding>& findings);
std::vector<Finding> ReadFindings(std::string_view cell);

}  // namespace vedette::domain
