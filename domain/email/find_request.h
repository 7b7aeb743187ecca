#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "domain/email/lead.h"
#include "domain/money/money.h"

// What a client asks when it asks for addresses, as a job keeps it. Pure.
//
//   job.params_json:       {"rows": [row, ..], "mode": "PROFESSIONAL", "verify_emails": true,
//                           "providers": ["a", ..], "charge": "found", "verify_mc": 1000}
//   job_block.specs_json:  the same without rows
//
// The answer has no details but the reason (FoundCell in found.h) where "short_cells" is true,
// which only the blocks of runs ask for.
//
// A row, which is also the one cell that a runner is given, is a lead (an object), or, where it
// asks for the same person as an earlier row of the request, [index of that row, lead]. Such a copy
// is not worked on: its runner answers at once and for nothing, and what reads the job gives it
// the answer of the row that it copies (FindResults in found.h). So a copy needs nothing of the
// engine of jobs, and an answer is stored once.
namespace vedette::domain {

enum class FindMode : std::uint8_t { kProfessional, kPersonal };
std::string_view FindModeName(FindMode mode);  // "PROFESSIONAL", "PERSONAL"
std::optional<FindMode> ParseFindMode(std::string_view name);

std::string_view ChargeRuleName(ChargeRule rule);  // "always", "found", "ok"
// Throws std::invalid_argument for another name.
ChargeRule ParseChargeRule(const std::string& name);

struct FindRow {
  base::JsonText lead;  // an object that ReadLead takes
  std::optional<std::size_t> copy_of{};
};
base::Json FindRowCell(const FindRow& row);
// Throws std::invalid_argument for what FindRowCell does not write.
FindRow ReadFindRow(base::Json cell);

struct FindRequest {
  FindMode mode = FindMode::kProfessional;
  bool verify_emails = true;
  std::vector<std::string> providers;  // ids, in the order to be asked; empty: the configured order
  ChargeRule charge = ChargeRule::kFound;  // as it was configured at the start
  std::int64_t verify_mc = 0;  // the price of a row that verifies the lead's own address
  bool short_cells = false;    // the caller reads no more of the details than the reason
  std::vector<FindRow> rows;
};

// The rows of a request: leads that ask for the same person as an earlier one become its copies.
// Each lead is one that ReadLead takes.
std::vector<FindRow> MakeFindRows(std::vector<base::Json> leads);

std::string FindParamsJson(const FindRequest& request);
std::string FindSpecsJson(const FindRequest& request);
// Reads either; `rows` is empty where there are none. Throws std::invalid_argument for anything
// else.
FindRequest ReadFindRequest(std::string_view json);

// The price of a row that is worked on, in millicredits: what the block of the job is priced.
std::int64_t FindPriceMc(FindMode mode, const FindEmailPrices& prices);
// The most that the request may cost: copies, and leads that are answered at once, are free; a
// lead's own address costs `verify_mc`, and never more than the price of the mode.
std::int64_t FindEstimateMc(const FindRequest& request, const FindEmailPrices& prices);

}  // namespace vedette::domain
