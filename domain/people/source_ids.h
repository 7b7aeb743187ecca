#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "domain/people/people_answer.h"

// The sources that lookups of people have of their own. No service of the operator's may have their
// ids.
namespace vedette::domain {

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
