#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_pointer.h"
#include "domain/email/candidate.h"
#include "domain/email/find_request.h"

namespace vedette::domain {

// The fields of recipes' texts: plain text in which {name} stands for what is known of a person.
// Pure.
enum class RecipeField : std::uint8_t {
  kName,       // "{name}"
  kFirstName,  // "{first_name}"
  kLastName,
  kCompany,
  kDomain,
  kLinkedin,
  kEmail,
  kTitle,
  kLocation,
  kKey,  // "{key}": the operator's key at the service
};
inline constexpr std::size_t kRecipeFields = 10;
std::optional<RecipeField> ParseRecipeField(std::string_view name);  // "first_name"

// What the fields stand for; an empty text is not known.
class RecipeValues {
 public:
  std::string& operator[](RecipeField field) { return texts_[static_cast<std::size_t>(field)]; }
  const std::string& operator[](RecipeField field) const {
    return texts_[static_cast<std::size_t>(field)];
  }

 private:
  std::array<std::string, kRecipeFields> texts_;
};

// The fields that the text names, in their order. Empty where a brace stands in it that belongs to
// no field.
std::optional<std::vector<RecipeField>> FieldsOf(std::string_view text);

// The text with the values in place of its fields, each as `encode` gives it. Empty where the value
// of one of them is not known. `text` is one that FieldsOf reads.
std::optional<std::string> FillIn(std::string_view text, const RecipeValues& values,
                                  const std::function<std::string(std::string_view)>& encode);

// Percent-encoded but for the letters, digits and signs that no URL gives a meaning.
std::string EncodeForUrl(std::string_view text);

// Whether the text may stand in a request's header: it has no control character.
bool IsHeaderText(std::string_view text);

// Somebody's API as the operator describes it in a file (docs/providers.md): what is asked, and
// where in the answer the values stand. Values, checked when they were read
// (config/setting_files.h): texts name known fields only.

enum class RecipeLookup : std::uint8_t {
  kFindEmail,
  kVerifyEmail,
  kCompanyDomain,
  kReverseEmail,
  kVerifyAge,
};
std::optional<RecipeLookup> ParseRecipeLookup(std::string_view name);  // "find_email"

enum class RecipeMethod : std::uint8_t { kGet, kPost };

struct RecipeRequest {
  RecipeMethod method = RecipeMethod::kGet;
  std::string url;  // a field only as a whole segment of the path; neither query nor fragment
  std::vector<std::pair<std::string, std::string>> query;    // names, and texts with fields
  std::vector<std::pair<std::string, std::string>> headers;  // the same
  std::optional<base::Json> body;                            // its strings are texts with fields
  std::string key;                                           // the value of {key}; a secret
  std::chrono::milliseconds timeout{20'000};                 // of one lookup, waits included
  std::size_t body_bytes_max = 1024 * 1024;                  // of an answer
  int in_flight_max = 8;                                     // of one process
  int per_minute = 0;                                        // of one process; 0: no such limit

  bool operator==(const RecipeRequest&) const = default;
};

// Whether the value at a place is one of some.
struct RecipeTest {
  base::JsonPointer at;
  std::vector<base::Json> is;

  bool operator==(const RecipeTest&) const = default;
};

// Which values mean which status; any other, and none, is UNKNOWN.
struct RecipeStatus {
  struct Rule {
    AddressStatus status = AddressStatus::kUnknown;
    std::vector<base::Json> values;
    std::vector<std::pair<base::JsonPointer, base::Json>> only_if;  // all of them hold

    bool operator==(const Rule&) const = default;
  };
  base::JsonPointer at;
  std::vector<Rule> rules;

  bool operator==(const RecipeStatus&) const = default;
};

struct RecipeConfidence {
  base::JsonPointer at;
  double of = 10;  // what stands for 10

  bool operator==(const RecipeConfidence&) const = default;
};

struct RecipeSources {
  base::JsonPointer list;
  base::JsonPointer each;  // the URL in an element

  bool operator==(const RecipeSources&) const = default;
};

// Names of members of the protocol of lookups (docs/lookup.schema.json), and where their values
// stand.
using RecipeMembers = std::vector<std::pair<std::string, base::JsonPointer>>;
inline constexpr std::string_view kRecipePersonMembers[] = {
    "name", "first_name", "last_name", "title", "company", "location", "linkedin", "evidence"};
// "birth" is a text that is a date; it goes before year, month and day.
inline constexpr std::string_view kRecipeClaimMembers[] = {"birth", "year",  "month", "day",
                                                           "age",   "as_of", "url",   "quote"};

struct RecipeAnswer {
  std::vector<int> read_statuses;  // empty: every 2xx
  std::vector<int> pending_statuses;
  std::vector<int> nothing_statuses;
  std::vector<int> busy_statuses;
  std::optional<RecipeTest> nothing_when;
  std::optional<RecipeTest> fail_when;
  std::optional<base::JsonPointer> email;   // of find_email
  std::optional<base::JsonPointer> domain;  // of company_domain
  std::optional<RecipeMembers> person;      // of reverse_email
  std::optional<RecipeMembers> claim;       // of verify_age
  std::optional<RecipeStatus> status;       // of verify_email always
  std::optional<RecipeConfidence> confidence;
  std::optional<RecipeSources> sources;

  bool operator==(const RecipeAnswer&) const = default;
};

struct Recipe {
  std::string id;
  RecipeLookup lookup = RecipeLookup::kFindEmail;
  std::vector<FindMode> modes;                  // of find_email
  std::vector<std::vector<RecipeField>> needs;  // one of these sets has to be known
  bool trust = true;                            // an OK is taken; otherwise it is UNKNOWN
  RecipeRequest request;
  RecipeAnswer answer;

  bool Finds(FindMode mode) const;

  bool operator==(const Recipe&) const = default;
};

}  // namespace vedette::domain
