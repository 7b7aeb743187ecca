#include "domain/ledger.h"

#include <fmt/format.h>

#include "base/json_or_null.h"
#include "domain/money.h"

namespace vedette::domain {
namespace {

std::string_view ItemOf(const LedgerLine& line) {
  if (line.tier) return TierName(*line.tier);
  return line.job ? JobKindName(*line.job) : std::string_view();
}

// A cell that somebody wrote.
std::string TextCell(std::string_view text) {
  std::string cell;
  if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) {
    cell += '\'';
  }
  cell += text;
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string IdCell(const std::optional<base::Uuid>& id) {
  return id ? id->ToString() : std::string();
}

}  // namespace

std::string_view LedgerKindName(LedgerKind kind) {
  switch (kind) {
    case LedgerKind::kBooking:
      return "booking";
    case LedgerKind::kChecks:
      return "checks";
    case LedgerKind::kJob:
      return "job";
  }
  return "booking";
}

base::Json LedgerLineJson(const LedgerLine& line) {
  const std::string_view item = ItemOf(line);
  return {{"entry", base::OrNull(line.entry)},
          {"at", base::FormatTimestamp(line.at)},
          {"kind", LedgerKindName(line.kind)},
          {"amount", CreditsToJson(line.amount_mc)},
          {"total", CreditsToJson(line.total_mc)},
          {"units", line.units},
          {"item", item.empty() ? base::Json(nullptr) : base::Json(item)},
          {"team_id", base::OrNull(line.team_id)},
          {"job_id", base::OrNull(line.job_id)},
          {"reason", base::OrNull(line.reason)}};
}

std::string StatementHead() {
  return "entry,at,kind,amount,total,units,item,team_id,job_id,reason\r\n";
}

std::string StatementLine(const LedgerLine& line) {
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{}\r\n", line.entry ? std::to_string(*line.entry) : std::string(),
      base::FormatTimestamp(line.at), LedgerKindName(line.kind), FormatCredits(line.amount_mc),
      FormatCredits(line.total_mc), line.units, ItemOf(line), IdCell(line.team_id),
      IdCell(line.job_id), TextCell(line.reason.value_or(std::string())));
}

std::string StatementEdge(std::string_view kind, base::Timestamp at, std::int64_t total_mc) {
  return fmt::format(",{},{},,{},,,,,\r\n", base::FormatTimestamp(at), kind,
                     FormatCredits(total_mc));
}

}  // namespace vedette::domain
