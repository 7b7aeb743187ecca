#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "domain/email/found.h"
#include "domain/email/suppression.h"
#include "domain/people/age.h"
#include "domain/people/people_request.h"
#include "domain/people/person_found.h"

// What came of a lookup of a person, from what providers said to what the client sees. Pure.
//
// The cell of a row that asks who is behind an address:
//
//   {"email", "name", "first_name", "last_name", "title", "company", "domain", "location",
//    "linkedin", "profiles", "confidence", "evidence", "sources",
//    "candidates": [{"name", "confidence", "provider", "evidence"}], "error", "details"}
//
// and of one that asks for an age:
//
//   {"date_of_birth": {"day", "month", "year", "confidence"},
//    "age": {"value", "as_of", "confidence"}, "evidence", "sources", "error", "details"}
//
// "details" is {"reason", "tries", "charged", "duplicate_of"}. Every member is there, null where it
// is not known. The cell of a copy is CopyCell's.
namespace vedette::domain {

// Codes of a row without a result, besides those of found.h.
inline constexpr std::string_view kErrorInvalidEmail = "invalid_email";
inline constexpr std::string_view kErrorSourcesFailed = "sources_failed";

inline constexpr int kNameConfidenceMin = 5;   // of a source whose name is an answer
inline constexpr int kNameConfidenceSure = 7;  // nobody else is asked then

// What all rows have, whatever they ask.
struct PeopleEnd {
  FindEnd end = FindEnd::kWorked;
  std::string error;  // a code; then the rest does not count and is free
  std::vector<ProviderTry> tries;
};

// A provider's id, and what it said of the person.
using PersonAnswer = std::pair<std::string, PersonFound>;

// The answer to an address where no provider is asked: it is none (then `end.error` is set), or it
// belongs to no person and tells at most of a domain.
struct ReverseAnswer {
  PersonFound person;
  std::string reason;  // why there is no name: "role", "disposable", "nothing_found"
  // The name comes from the organisation's own facts alone, which it has paid for before.
  bool is_own = false;
  PeopleEnd end;
};
std::optional<ReverseAnswer> ReverseAtOnce(const std::string& address);

// The person that the answers agree on. The surest name of at least kNameConfidenceMin is the
// person's, 1 surer for each other provider that agrees; what the others know of the same person
// fills what is not known. Names of other people, and unsure ones, are candidates.
ReverseAnswer DecideReverse(const std::string& address, std::vector<PersonAnswer> answers,
                            PeopleEnd end);

// Compares names: letters without regard to case and accents.
bool IsSameName(std::string_view a, std::string_view b);

bool IsReverseCharged(const ReverseAnswer& answer, ChargeRule rule);
base::Json ReverseCell(const std::string& address, const ReverseAnswer& answer, bool charged);

bool IsAgeCharged(const AgeResult& result, const PeopleEnd& end, ChargeRule rule);
base::Json AgeCell(const AgeResult& result, const PeopleEnd& end, bool charged);

// Which of the two a job asks.
enum class PeopleQuestion { kReverseEmail, kVerifyAge };

// The end of a row that ended without its runner.
base::Json FailedPeopleCell(PeopleQuestion question, const base::Json& lead,
                            std::string_view error_code);

// What the client sees of all rows of a job, in their order; as FindResults.
base::Json PeopleResults(PeopleQuestion question, const PeopleRequest& request,
                         const std::optional<std::string>& rows_json,
                         std::string_view unrecorded_error);

// The suppression list, applied to the people that a lookup of an address finds. Pure.

// What is asked about everybody in the answers, candidates too: the name at `domain` (the one of
// the address), and profiles.
std::vector<SuppressionKey> KeysOfFound(const std::vector<PersonAnswer>& answers,
                                        const std::string& domain);

// Drops whom one of the keys is about. A provider of which nothing is left has found nothing, as
// `tries` then says.
void DropSuppressed(const std::vector<SuppressionKey>& suppressed, const std::string& domain,
                    std::vector<PersonAnswer>* answers, std::vector<ProviderTry>* tries);

// The sources that lookups of people have of their own. No service of the operator's may have their
// ids.

// Sorted.
inline constexpr std::string_view kReverseSources[] = {"gravatar", "local_part", "store", "website",
                                                       "wkd"};
inline constexpr std::string_view kAgeSources[] = {"pages", "wikidata"};

// Whether the source answers this question. That one has to be switched on is another matter.
inline bool AnswersPeople(std::string_view id, PeopleQuestion question) {
  return question == PeopleQuestion::kReverseEmail
             ? std::binary_search(std::begin(kReverseSources), std::end(kReverseSources), id)
             : std::binary_search(std::begin(kAgeSources), std::end(kAgeSources), id);
}

inline bool IsOwnSource(std::string_view id) {
  return AnswersPeople(id, PeopleQuestion::kReverseEmail) ||
         AnswersPeople(id, PeopleQuestion::kVerifyAge);
}

}  // namespace vedette::domain
