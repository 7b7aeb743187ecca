#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/email/lead.h"
#include "domain/people/age.h"

// Whether a source speaks of the person who was asked about. Pure.
//
//   the name on the source      further things of the person there     result
//   another one                 -                                      kOther
//   none                        -                                      kUnproven
//   equal                       at least one                           kSame
//   equal                       none, but the client named the page    kSame
//   equal                       none                                   kUnproven
//   an initial ("A. Lovelace")  at least two                           kSame
//   an initial                  fewer                                  kUnproven
//
// A name alone proves nothing. Further things are an address of email, a profile's URL, the company
// or its domain, and the location where the title stands there too.
namespace vedette::domain {

// The person whom a client asks about.
struct AgeSubject {
  Person person;
  std::vector<std::string> urls;  // pages that the client names as the person's, besides linkedin
};

// What a page, or an item of a register, holds.
struct SourceFacts {
  std::string url;
  std::string name;                // of the person that the source describes; empty: `text` has it
  std::string_view text;           // all that a reader sees, with folded white space
  std::vector<std::string> links;  // URLs that stand in the source
};

enum class NameMatch { kNone, kInitial, kEqual };

// Compares the subject's name with one that a source gives. Letters are compared without accents
// and case; family names are equal, and so is the given name, or one of them is the other's
// initial. Further given names may stand on one side.
NameMatch MatchName(const Person& subject, std::string_view name);

// `tie`: where it is the same person, what showed it, for readers: "the name and the company".
Identity MatchIdentity(const AgeSubject& subject, const SourceFacts& source,
                       std::string* tie = nullptr);

// What a page states about the birth, the age and the death of a person. Pure.

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
