#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vedette::domain {

inline constexpr std::size_t kPersonNameCharactersMax = 200;
inline constexpr std::size_t kPersonFieldCharactersMax = 512;
inline constexpr std::size_t kPersonUrlsMax = 20;        // of profiles, and of sources
inline constexpr std::size_t kPersonCandidatesMax = 10;  // of all providers together
inline constexpr std::size_t kPersonEvidenceCharactersMax = 300;

// A name that may be the person's, from a source that is no proof.
struct NameCandidate {
  std::string name;
  int confidence = 0;  // 0..10
  std::string provider;
  std::string evidence;
};

// The person behind an address, as one provider knows it. Empty members are not known. Names are
// cleaned (CleanName).
struct PersonFound {
  std::string name;
  std::string first_name;
  std::string last_name;
  std::string title;
  std::string company;
  std::string domain;
  std::string location;
  std::string linkedin;
  std::vector<std::string> profiles;  // URLs
  int confidence = 0;                 // of the name, 0..10
  std::string evidence;
  std::vector<std::string> sources;  // URLs
  std::vector<NameCandidate> candidates;
};

// A name as clients may show it: in NFC, without control characters and characters that turn the
// direction of writing, with folded white space, at most kPersonNameCharactersMax characters. Valid
// UTF-8 in and out.
std::string CleanName(std::string_view name);

// The name of a person that a source gives as such, cleaned (CleanName) and without titles in front
// of it and behind it: "Ada Lovelace" of "Dr. Ada Lovelace, PhD". Empty where the text is no name
// that we believe: a single word, except in Chinese, Japanese and Korean, more than
// kStatedNameWordsMax words, a digit or an address, or a word of titles, departments and companies
// ("Head of Sales", "Support Team", "Acme GmbH"). It prefers no name to a wrong one. Pure; valid
// UTF-8 in and out.
std::string StatedName(std::string_view text);

inline constexpr int kStatedNameWordsMax = 6;

}  // namespace vedette::domain
