#pragma once

#include <string>
#include <vector>

#include "domain/email/suppression.h"
#include "domain/people/people_answer.h"

// The suppression list, applied to the people that a lookup of an address finds. Pure.
namespace vedette::domain {

// What is asked about everybody in the answers, candidates too: the name at `domain` (the one of
// the address), and profiles.
std::vector<SuppressionKey> KeysOfFound(const std::vector<PersonAnswer>& answers,
                                        const std::string& domain);

// Drops whom one of the keys is about. A provider of which nothing is left has found nothing, as
// `tries` then says.
void DropSuppressed(const std::vector<SuppressionKey>& suppressed, const std::string& domain,
                    std::vector<PersonAnswer>* answers, std::vector<ProviderTry>* tries);

}  // namespace vedette::domain
