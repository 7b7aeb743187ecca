// What an organisation's account holds for work that has not ended, and its ledger: pages of it,
// and statements.
#include <utility>

#include "admin/handlers.h"
#include "rest/ledger.h"
#include "store/accounts/accounts.h"

namespace vedette::admin {
namespace {

// A statement is made whole here. A longer one is asked for month by month, or by day.
constexpr std::size_t kStatementBytesMax = std::size_t{32} << 20;

}  // namespace

rest::Reply GetReservations(const Parts&, store::Session& session, const Call& call) {
  if (!store::ReadOrganisation(session, call.ids[0])) return rest::NotFound("organisation");
  return rest::ReservationsReply(
      store::ReadReservations(session, {call.ids[0], std::nullopt}, rest::kReservationsMax));
}

rest::Reply GetLedger(const Parts&, store::Session& session, const Call& call) {
  const store::Scope scope{call.ids[0], std::nullopt};
  if (!store::ReadOrganisation(session, call.ids[0])) return rest::NotFound("organisation");
  auto read = rest::ReadLedgerQuery(session, scope, call.request.query);
  if (auto* reply = std::get_if<rest::Reply>(&read)) return std::move(*reply);
  const auto& query = std::get<rest::LedgerQuery>(read);
  if (query.format == rest::LedgerQuery::Format::kJson) return rest::LedgerPage(session, query);
  const rest::PieceSource source = rest::Statement(query);
  std::string text;
  std::string piece;
  for (bool last = false; !last; piece.clear()) {
    last = source(session, &piece);
    text += piece;
    if (text.size() > kStatementBytesMax) {
      return rest::ErrorReply(422, "statement_too_long",
                              "the statement is longer than 32 MiB: ask for a shorter time, or by "
                              "day");
    }
  }
  return {200, std::move(text), {{"Content-Type", std::string(rest::kCsvType)}}};
}

}  // namespace vedette::admin
