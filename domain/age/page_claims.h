#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "domain/age/claim.h"
#include "domain/age/identity.h"

// What a page states about the birth, the age and the death of a person. Pure.
namespace vedette::domain {

// A person that the page describes in structured data (JSON-LD, microdata, hCard). Empty members
// are not stated.
struct StructuredPerson {
  std::string name;
  std::string birth;
  std::string death;
};

// How far before a sentence's date the subject's name has to stand.
inline constexpr std::size_t kNameBytesBefore = 400;

// Claims of structured data are tied to the subject by the name of their person. Those of sentences
// are tied where the page is (MatchIdentity), the subject's family name stands before the date, no
// other person's name and no other company ("of Other Works") stands between them, and the sentence
// is not about a relative; all others are unproven. `as_of`: the day for which the page gives ages;
// without it ages do not count.
AgeClaims ClaimsOfPage(const AgeSubject& subject, const SourceFacts& page,
                       const std::vector<StructuredPerson>& persons,
                       std::optional<std::chrono::year_month_day> as_of);

// A shorter quote may stand anywhere.
inline constexpr std::size_t kQuoteBytesMin = 8;

// The claims of those sentences that stand in one of the quotes, which somebody who is not believed
// gives: a model. A quote counts where it stands in the page's text word for word, but for white
// space. What it says is read from the page by the rules of ClaimsOfPage, so that a quote proves no
// more than its page does.
AgeClaims ClaimsInQuotes(const AgeSubject& subject, const SourceFacts& page,
                         const std::vector<std::string>& quotes,
                         std::optional<std::chrono::year_month_day> as_of);

}  // namespace vedette::domain
