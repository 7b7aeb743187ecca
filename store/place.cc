#include "store/place.h"

#include <utility>

#include "store/sql.h"

namespace vedette::store {
namespace {

OrganisationPlace ReadPlace(const pqxx::result& rows) {
  OrganisationPlace place;
  if (rows.empty()) return place;
  Columns(rows.at(0)).Into("lives_at"_a = &place.lives_at, "moving_until"_a = &place.moving_until);
  return place;
}

}  // namespace

OrganisationAway::OrganisationAway(OrganisationPlace place) : place_(std::move(place)) {}

const char* OrganisationAway::what() const noexcept {
  return "the organisation moves to another cell, or lives there";
}

OrganisationPlace PlaceOf(Session& session, const base::Uuid& id) {
  return Read(session,
              [&](Transaction& tx) { return ReadPlace(tx.Exec<"place_of">("id"_a = id)); });
}

void CheckIsHere(const OrganisationPlace& place) {
  if (!place.is_here()) throw OrganisationAway(place);
}

void CheckIsHere(Session& session, const base::Uuid& id) {
  CheckIsHere(PlaceOf(session, id));
}

bool HoldHere(Transaction& tx, const base::Uuid& org_id) {
  const auto rows = tx.Exec<"place_hold">("org_id"_a = org_id);
  CheckIsHere(ReadPlace(rows));
  return !rows.empty();
}

}  // namespace vedette::store
