#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "domain/age/words.h"

// The words of eight languages that sentences about births, ages and deaths are made of, folded
// (FoldLetters). Pure.
namespace vedette::domain {

// 1..12, of a month's name or its abbreviation.
std::optional<int> MonthOf(std::string_view word);

// The words of a cue that begins at words[at], or 0. `text`: what the words were split from.
std::size_t BirthCue(std::string_view text, const std::vector<Word>& words, std::size_t at);
std::size_t DeathCue(const std::vector<Word>& words, std::size_t at);

bool IsPreposition(std::string_view word);       // may stand between a cue and its date
bool IsPlacePreposition(std::string_view word);  // the name of a place may follow
bool IsApproximation(std::string_view word);     // "about", "circa", "etwa"
bool IsRelative(std::string_view word);          // "son", "Tochter", "Jr"
bool IsAlternative(std::string_view word);       // "or", "oder"
bool IsJulian(std::string_view word);

}  // namespace vedette::domain
