#pragma once

#include <string_view>
#include <vector>

#include "domain/email/email_fact.h"
#include "domain/email/found.h"

namespace vedette::domain {

// The id of the provider that answers with an organisation's own facts.
inline constexpr std::string_view kStoreProvider = "store";

// What an organisation learns from the addresses that a lead's work has checked: facts about those
// that may be relied on for a while (VerdictLife), and hits and misses of the company's patterns.
// What came from its own facts teaches nothing new. A lead that names a company and its domain
// teaches that. Pure.
EmailLesson LessonOf(const base::Uuid& org_id, const Person& person,
                     const std::vector<FoundAddress>& seen, base::Timestamp now);

// The address whose status an organisation's own fact gives, as its facts have it: the one that the
// lead came with. Empty where it came with none, or with none that is one.
std::string KnownAddress(FindMode mode, const Person& person);
// Gives the address that the lead came with the status of the fact. `found`: of AnswerAtOnce, with
// that address.
void ApplyFact(const EmailFact& fact, Found* found);

// A fact as an answer: OK, UNKNOWN or NOT_FOUND with its reason, as it was checked then.
AddressVerdict VerdictOf(const EmailFact& fact);

}  // namespace vedette::domain
