#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "domain/age/claim.h"
#include "domain/email/person.h"

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

}  // namespace vedette::domain
