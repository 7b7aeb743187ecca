#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

// What somebody states about the birth, the age or the death of a person, and how sure we may be
// that it is the person who was asked about.
namespace vedette::domain {

// Limits of what is kept of a claim. A longer quote is cut.
inline constexpr std::size_t kClaimQuoteCharactersMax = 300;
inline constexpr std::size_t kClaimUrlBytesMax = 1024;
// Claims of one lookup; further ones are not read.
inline constexpr std::size_t kAgeClaimsMax = 256;

// An address of the web that is short enough to be kept as the page of a claim.
inline bool IsClaimUrl(std::string_view url) {
  return url.size() <= kClaimUrlBytesMax && base::HasWebScheme(url);
}

// Whether a claim speaks of the person who was asked about.
enum class Identity : std::uint8_t {
  kSame,      // the name and a second thing agree, or it is a page that the client named
  kUnproven,  // the name agrees, and nothing else is known
  kOther,     // another name
};

// A day of the calendar, of which parts may not be known. A day is known only with its month.
struct PartialDate {
  std::optional<int> year{};
  std::optional<int> month{};  // 1..12
  std::optional<int> day{};    // 1..31

  bool operator==(const PartialDate&) const = default;
};

struct AgeClaim {
  enum class Kind : std::uint8_t {
    kBirth,  // `date` is the day of birth, as far as the source states it
    kAge,    // the person was `age` years old on the day `as_of`
    kDeath,  // the person has died
  };
  // How the source states it.
  enum class Standing : std::uint8_t {
    kProse,                 // a sentence of a page
    kStructured,            // JSON-LD, microdata or hCard of a page
    kService,               // a service of the operator's, with its own confidence
    kWikidata,              // a statement of Wikidata that has a reference
    kWikidataUnreferenced,  // one without a reference
  };

  Kind kind = Kind::kBirth;
  Standing standing = Standing::kProse;
  Identity identity = Identity::kUnproven;
  bool is_approximate = false;  // "about 1980", or a date of the Julian calendar: the year counts
  PartialDate date{};
  int age = 0;
  std::optional<std::chrono::year_month_day> as_of{};
  int confidence = 0;    // of kService, 0..10
  std::string url;       // where it stands: a web address
  std::string quote;     // what stands there
  std::string provider;  // the provider that gave it
  std::string tie{};  // for readers: what of the person stands there besides the name; may be empty
};
using AgeClaims = std::vector<AgeClaim>;

// The host of a web address, in lower case; empty where it is none.
std::string ClaimHost(const std::string& url);

}  // namespace vedette::domain
