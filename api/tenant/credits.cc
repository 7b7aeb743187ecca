// What the caller's organisation, and his team, have and have spent: balance, reservations, ledger.
#include "api/kit/ledger.h"
#include "api/tenant/handlers.h"
#include "base/json.h"
#include "config/parts.h"
#include "domain/money/money.h"
#include "store/accounts/accounts.h"
#include "store/accounts/ledger.h"

namespace vedette::api {
namespace {

base::Json TeamJson(const store::Team& team, base::Timestamp now) {
  return {{"id", team.id.ToString()},
          {"name", team.name},
          {"spend_limit",
           team.spend_limit_mc ? domain::CreditsToJson(*team.spend_limit_mc) : base::Json(nullptr)},
          {"spent", domain::CreditsToJson(team.spent_mc)},
          {"month", base::FormatTimestamp(now).substr(0, sizeof("2026-11") - 1)}};
}

}  // namespace

rest::Handled ShowCredits(Call& call) {
  const auto org = store::ReadOrganisation(call.session(), call.caller.org_id);
  if (!org) return rest::NotFound("organisation");
  base::Json team = nullptr;
  for (const store::Team& mine : org->teams) {
    if (mine.id == call.caller.team_id) team = TeamJson(mine, call.parts.clock.Now());
  }
  return rest::JsonReply(200, {{"credits", domain::CreditsToJson(org->balance_mc)},
                               {"reserved", domain::CreditsToJson(org->reserved_mc)},
                               {"cents_per_credit", call.parts.config.cents_per_credit},
                               {"team", team}});
}

rest::Handled ShowReservations(Call& call) {
  return rest::ReservationsReply(
      store::ReadReservations(call.session(), call.caller.scope(), rest::kReservationsMax));
}

rest::Handled ShowLedger(Call& call) {
  const auto query =
      rest::ReadLedgerQuery(call.session(), call.caller.scope(), call.request().query);
  if (query.format == rest::LedgerQuery::Format::kJson) {
    return rest::LedgerPage(call.session(), query);
  }
  return rest::SendPieces(call.parts.pool, call.caller.org_id, call.answer, call.session(),
                          rest::Statement(query), {{"Content-Type", std::string(rest::kCsvType)}});
}

}  // namespace vedette::api
