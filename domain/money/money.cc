#include "domain/money/money.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/json.h"

namespace vedette::domain {
namespace {

constexpr std::int64_t kCreditsMax = 1'000'000'000'000;
constexpr std::int64_t kMillisPerCredit = 1000;

}  // namespace

base::Json CreditsToJson(std::int64_t mc) {
  if (mc % kMillisPerCredit == 0) return mc / kMillisPerCredit;
  // The nearest double prints back as the decimal it came from, up to 15 significant digits.
  return static_cast<double>(mc) / kMillisPerCredit;
}

std::string FormatCredits(std::int64_t mc) {
  // In unsigned arithmetic, as the lowest number has no positive counterpart.
  const std::uint64_t amount =
      mc < 0 ? 0 - static_cast<std::uint64_t>(mc) : static_cast<std::uint64_t>(mc);
  std::string text =
      fmt::format("{}{}", mc < 0 ? "-" : "", amount / static_cast<std::uint64_t>(kMillisPerCredit));
  if (const std::uint64_t millis = amount % static_cast<std::uint64_t>(kMillisPerCredit)) {
    std::string decimals = fmt::format(".{:03}", millis);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    text += decimals;
  }
  return text;
}

std::optional<std::int64_t> CreditsFromJson(const base::Json& value) {
  if (value.is_number_unsigned()) {
    const auto credits = value.get<std::uint64_t>();
    if (credits > static_cast<std::uint64_t>(kCreditsMax)) return std::nullopt;
    return static_cast<std::int64_t>(credits) * kMillisPerCredit;
  }
  if (value.is_number_integer()) {
    const auto credits = value.get<std::int64_t>();
    if (credits > kCreditsMax || credits < -kCreditsMax) return std::nullopt;
    return credits * kMillisPerCredit;
  }
  if (!value.is_number_float()) return std::nullopt;
  const auto credits = value.get<double>();
  if (!(std::fabs(credits) <= static_cast<double>(kCreditsMax))) return std::nullopt;
  // Three decimals at most: then the nearest count of thousandths gives back the very same double.
  const std::int64_t mc = std::llround(credits * kMillisPerCredit);
  if (static_cast<double>(mc) / kMillisPerCredit != credits) return std::nullopt;
  return mc;
}

std::optional<std::int64_t> ParseCredits(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view decimals =
      point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
  if (point != std::string_view::npos && (decimals.empty() || decimals.size() > 3)) {
    return std::nullopt;
  }
  std::string digits(whole);
  digits.append(decimals).append(3 - decimals.size(), '0');
  if (whole.empty() || digits.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  std::int64_t mc = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), mc);
  if (error != std::errc() || mc > kCreditsMax * kMillisPerCredit) return std::nullopt;
  return negative ? -mc : mc;
}

namespace {

int Payable(std::int64_t available_mc, std::int64_t price_mc, int checks) {
  if (price_mc == 0) return checks;
  return static_cast<int>(
      std::clamp<std::int64_t>(available_mc / price_mc, 0, static_cast<std::int64_t>(checks)));
}

}  // namespace

Admission Admit(const AdmissionRequest& request) {
  const int by_balance =
      Payable(request.balance_mc + request.reserved_mc, request.price_mc, request.checks);
  const int by_limit =
      request.spend_left_mc
          ? Payable(std::max<std::int64_t>(*request.spend_left_mc, 0) + request.reserved_mc,
                    request.price_mc, request.checks)
          : request.checks;
  Admission admission;
  admission.admitted = std::min(by_balance, by_limit);
  const int rest = request.checks - admission.admitted;
  (by_balance <= by_limit ? admission.skipped_balance : admission.skipped_spend_limit) = rest;
  admission.reserve_mc = admission.admitted * request.price_mc - request.reserved_mc;
  return admission;
}

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
