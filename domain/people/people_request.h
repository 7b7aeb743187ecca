#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json_text.h"
#include "domain/email/address.h"
#include "domain/email/find_request.h"
#include "domain/email/lead.h"
#include "domain/money/money.h"
#include "domain/people/age_claims.h"

// What a client asks when it asks who is behind addresses, or how old a person is, as a job keeps
// it. Pure.
//
//   job.params_json:       {"rows": [row, ..], "providers": ["a", ..], "charge": "found",
//                           "minimum_age": 0}
//   job_block.specs_json:  the same without rows
//
// Rows are those of find_request.h: a lead, or a copy of an earlier one.
namespace vedette::domain {

struct PeopleRequest {
  std::vector<std::string> providers;  // ids, in the order to be asked; empty: the configured order
  ChargeRule charge = ChargeRule::kFound;  // as it was configured at the start
  int minimum_age = 0;                     // of age: a younger person has no result; 0 is off
  std::vector<FindRow> rows;
};

std::string PeopleParamsJson(const PeopleRequest& request);
std::string PeopleSpecsJson(const PeopleRequest& request);
// Reads either; `rows` is empty where there are none. Throws std::invalid_argument for anything
// else.
PeopleRequest ReadPeopleRequest(std::string_view json);

// The most that a request who is behind addresses may cost: copies, what is no address, and
// addresses that are no person's are free.
std::int64_t ReverseEstimateMc(const PeopleRequest& request, std::int64_t price_mc);

// The address of a lead, as it was given; empty where it has none.
std::string AddressOf(const base::Json& lead);

inline constexpr std::size_t kSubjectUrlsMax = 10;
// The person that a client describes by a lead, with the pages in "url" (a string) and "urls" (at
// most kSubjectUrlsMax strings). A subject of pages alone is not empty.
std::variant<AgeSubject, LeadFault> ReadSubject(const base::Json& subject);

}  // namespace vedette::domain
