#pragma once

#include <optional>
#include <string_view>

#include "api/kit/cursor.h"
#include "api/kit/list_stream.h"
#include "api/kit/reply.h"
#include "store/accounts/ledger.h"
#include "store/session.h"

// The ledger of an account as both ports answer it: a page of it as JSON, or all of a time as CSV.
namespace vedette::rest {

// What a query asks for: since, until (RFC 3339, or month=2026-11), by (entry, day), limit, cursor,
// format (json, csv).
struct LedgerQuery {
  enum class By { kEntry, kDay };
  enum class Format { kJson, kCsv };
  store::LedgerRange range;  // settled
  By by = By::kEntry;
  Format format = Format::kJson;
  int limit = 0;
  CursorOf list;  // that the pages' cursors are of
  std::optional<store::LedgerPlace> after;
};

inline constexpr int kLedgerLinesDefault = 100;
inline constexpr int kLedgerLinesMax = 1000;
// By day a range is not longer than this, so that it needs no pages.
inline constexpr int kLedgerDaysMax = 366;

// Reads the query of a ledger of this scope. Refuses with a 422, or a 400 for a cursor.
LedgerQuery ReadLedgerQuery(store::Session& session, const store::Scope& scope,
                            std::string_view query);

// {"since", "until", "opening", "lines": [...], "closing", "next_cursor"?}: opening and closing are
// the totals before and after the lines of this page.
Reply LedgerPage(store::Session& session, const LedgerQuery& query);

// The statement of the whole time, piece by piece: an opening line, every line, a closing one.
PieceSource Statement(const LedgerQuery& query);

// Jobs that a list of reservations names; the others are summed.
inline constexpr int kReservationsMax = 100;
// {"reserved", "checks", "jobs", "job_count", "jobs_reserved"}
Reply ReservationsReply(const store::Reservations& held);

inline constexpr std::string_view kCsvType = "text/csv; charset=utf-8";

}  // namespace vedette::rest
