#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "worker/providers/provider.h"

// What a service is asked and what it answers (docs/lookups.md, docs/lookup.schema.json). Pure.
namespace vedette::worker {

// Candidates of an answer; more are not read.
inline constexpr std::size_t kAnswerCandidatesMax = 64;

// The confidence where a service names none.
int DefaultConfidence(domain::AddressStatus status);
// Clients may show a source as a link: nothing but a web address of a sane length is one.
bool IsSource(std::string_view url);

// The failure of an answer that is not what was agreed: invalid_answer. `what`: a part of a
// sentence.
domain::Failure InvalidLookupAnswer(std::string_view what);

std::string LookupBody(const LookupRequest& request);

// The body of a 200. Candidates that are no addresses are left out; where none is left, the answer
// is Nothing. Not `trust`: an OK becomes UNKNOWN. The failure is invalid_answer; its message names
// the member and no value.
LookupAnswer ParseLookupAnswer(std::string_view body, bool trust);

// The body of a 200 to a question that verifies: {"status", "reason"}. Without a status the verdict
// is unknown. `now`: when it was checked. The failure is as above.
LookupAnswer ParseVerdictAnswer(std::string_view body, base::Timestamp now);

// The body of a 200 to a question for a company's domain: {"domain"}, a name or a URL. Without one,
// and where it is one of a provider of free mailboxes, it is Nothing. The failure is as above.
LookupAnswer ParseDomainAnswer(std::string_view body);

// The same of a text: a domain that a company may have, or Nothing.
LookupAnswer DomainAnswer(std::string_view text);

// What a service answers to lookups of people (docs/lookups.md, docs/lookup.schema.json). Pure. A
// failure is invalid_answer; its message names the member and no value.

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
