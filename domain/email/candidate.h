#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/email/person_name.h"

// How companies make the local part of an address from a name, and which addresses are guessed from
// that. Pure.
namespace vedette::domain {

// In the order in which they are tried. Their numbers are stored (domain_pattern.pattern).
enum class AddressPattern : std::uint8_t {
  kFirstDotLast = 0,         // ann.example
  kFLast = 1,                // aexample
  kFirst = 2,                // ann
  kFirstLast = 3,            // annexample
  kFDotLast = 4,             // a.example
  kFirstUnderscoreLast = 5,  // ann_example
  kFirstL = 6,               // anne
  kLastDotFirst = 7,         // example.ann
  kLastF = 8,                // examplea
  kLast = 9,                 // example
};
inline constexpr std::size_t kAddressPatterns = 10;
std::string_view AddressPatternName(AddressPattern pattern);  // "first.last"
// Empty for a number that is none.
std::optional<AddressPattern> ReadAddressPattern(int number);

// Whether the local part tells of both names, not of one of them alone.
bool UsesBothNames(AddressPattern pattern);

std::string LocalPart(AddressPattern pattern, const NameRendering& name);

// What an organisation has seen of a pattern at one domain.
struct PatternCount {
  AddressPattern pattern{};
  int hits = 0;    // addresses that are OK, and addresses that a page gives with their name
  int misses = 0;  // addresses of this pattern that their server refused
};

inline constexpr int kLearnedHitsMin = 2;
inline constexpr int kLearnedHitsPerMiss = 3;
// Addresses that are tried of a learned pattern.
inline constexpr std::size_t kLearnedGuessesMax = 3;
// A step to the next rendering of a name costs as much as so many steps to the next pattern.
inline constexpr std::size_t kRenderingCost = 3;

// The pattern that a domain has: at least kLearnedHitsMin hits, and kLearnedHitsPerMiss times as
// many as misses; the one with the most hits where there are several.
std::optional<AddressPattern> LearnedPattern(const std::vector<PatternCount>& counts);

// What an organisation knows of the pattern of a guess at its domain.
enum class PatternSeen : std::uint8_t {
  kNot,      // nothing, or more misses than hits
  kHit,      // the domain has shown it
  kLearned,  // it is the one that the domain has: no other one is tried
};

struct Guess {
  std::string local;
  AddressPattern pattern{};
  PatternSeen seen = PatternSeen::kNot;

  bool operator==(const Guess&) const = default;
};

// The local parts to try for a name, the likeliest first, each once. A learned pattern gives at
// most kLearnedGuessesMax; otherwise they are the `guesses_max` cheapest, where a guess costs the
// place of its pattern and kRenderingCost times the place of its rendering. Patterns with a hit
// come before the others.
std::vector<Guess> GuessLocalParts(const std::vector<NameRendering>& names,
                                   const std::vector<PatternCount>& counts,
                                   std::size_t guesses_max);

// The pattern that makes the local part of this name. It is compared without case and without a
// plus tag.
std::optional<AddressPattern> PatternOf(std::string_view local,
                                        const std::vector<NameRendering>& names);

// What is known of an address. The names are those of the interface.
enum class AddressStatus : std::uint8_t {
  kOk,        // "OK": validated, likely deliverable
  kUnknown,   // "UNKNOWN": nobody could tell
  kNotFound,  // "NOT_FOUND": its server refuses it
};
std::string_view AddressStatusName(AddressStatus status);
std::optional<AddressStatus> ParseAddressStatus(std::string_view name);

// Limits of what is kept of a candidate. A longer list is cut, a longer quote too; a longer URL,
// and what is no web address, is left out.
inline constexpr std::size_t kCandidateSourcesMax = 5;
inline constexpr std::size_t kCandidateSourceBytesMax = 1024;
inline constexpr std::size_t kCandidateQuoteCharactersMax = 300;

inline constexpr int kConfidenceMax = 10;
// The confidence where a provider names none of its own.
inline constexpr int kConfidenceOk = 10;
inline constexpr int kConfidenceStated = 6;
inline constexpr int kConfidenceGuessed = 2;
// The confidence of guesses: an OK one by a learned pattern, by a pattern of both names, of one
// name alone; and one by a learned pattern that nobody could verify.
inline constexpr int kConfidenceOkLearned = 9;
inline constexpr int kConfidenceOkBothNames = 8;
inline constexpr int kConfidenceOkOneName = 5;
inline constexpr int kConfidenceGuessedLearned = 4;

// An address that may be the person's, as a provider gave it.
struct Candidate {
  std::string address;  // of valid syntax, as it was given
  bool stated = true;   // a page or a service gave it; otherwise it was made from a pattern
  AddressStatus status = AddressStatus::kUnknown;
  int confidence = 0;                       // 0..kConfidenceMax
  std::vector<std::string> sources;         // URLs
  std::string quote;                        // of the source; empty where there is none
  std::optional<AddressPattern> pattern{};  // that makes it from the name, where that is known
  PatternSeen seen = PatternSeen::kNot;     // of a guess: its pattern, at its domain
};

// The confidence that an address has by how it was found, without a word of its provider's own.
int ConfidenceOf(const Candidate& candidate);
using Candidates = std::vector<Candidate>;

}  // namespace vedette::domain
