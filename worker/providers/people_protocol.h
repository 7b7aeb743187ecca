#pragma once

#include <string>
#include <string_view>

#include "worker/providers/provider.h"

// What a service answers to lookups of people (docs/lookups.md, docs/lookup.schema.json). Pure. A
// failure is invalid_answer; its message names the member and no value.
namespace vedette::worker {

// Claims of an answer; more are not read.
inline constexpr std::size_t kAnswerClaimsMax = 64;

// The body of a 200 to reverse_email: {"person": {"name", "first_name", .., "confidence",
// "sources"}}. Without a name it is Nothing. A service that is not trusted gives a name that is a
// candidate at most.
LookupAnswer ParsePersonAnswer(std::string_view body, bool trust);

// The body of a 200 to verify_age: {"claims": [{"day", "month", "year", "age", "as_of", "url",
// "quote", "confidence"}]}. A claim without a web address or a quote is left out; where none is
// left, it is Nothing. The claims of a service that is not trusted are not tied to the person.
// `provider`: its id.
LookupAnswer ParseClaimsAnswer(std::string_view body, const std::string& provider, bool trust);

}  // namespace vedette::worker
