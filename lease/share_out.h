#pragma once

#include <cstddef>
#include <vector>

#include "base/uuid.h"
#include "store/lease.h"

// What each organisation that has work due may claim of a worker's free room. Pure.
namespace vedette::lease {

// An organisation with due chunks, and what the worker holds of it.
struct Asking {
  base::Uuid org_id;
  std::size_t first_rows = 1;  // of its first due chunk, at least 1
  std::size_t rows_open = 0;   // held, without an outcome
  std::size_t in_flight = 0;   // of these, under way
  // Its first due chunk is of a monitor of which the worker holds nothing.
  bool newcomer = false;
};

struct Room {
  std::size_t rows_max = 0;   // that may be held without an outcome
  std::size_t rows_open = 0;  // that are, of all organisations
  std::size_t rows_left = 0;  // more that may be held, whatever their state
  // The same for chunks that go into free slots although no room is left for rows.
  std::size_t rows_left_for_slots = 0;
  std::size_t slots_max = 0;  // checks that may be under way
  std::size_t in_flight = 0;  // checks that are
  double newcomer_share = 0;  // as base::MayTakeMore's `reserve`
};

// Shares the free room out: each takes up to the one level at which base::MayTakeMore ends for all
// of them, so that one that is alone takes all but the newcomers' share, and several that ask for
// much come to hold the same (G10). Who holds nothing gets a chunk while any room, or any slot, is
// free. A newcomer inside an organisation that has its share gets a chunk out of half of the
// newcomers' share, if it could start at once: so a large monitor does not delay the small ones of
// its own organisation.
//
// Shares come in the order of `asking`; who gets nothing is left out. `rows_max` of a share may be
// exceeded by the chunk that reaches it.
std::vector<store::ClaimShare> ShareOut(const std::vector<Asking>& asking, const Room& room);

// Whether an organisation may start one more check. `newcomer`: of a monitor that has none under
// way.
bool MayStart(std::size_t org_in_flight, const Room& room, bool newcomer);

// The place at which the next scan begins, after one that met so many organisations and ended at
// `scanned_to`: behind the last one that got a share where others came away with nothing, so that
// these come first.
template <typename Share>
base::Uuid NextCursor(std::size_t organisations, const std::vector<Share>& shares,
                      const base::Uuid& scanned_to) {
  const bool some_left_out = shares.size() < organisations;
  return some_left_out && !shares.empty() ? shares.back().org_id : scanned_to;
}

}  // namespace vedette::lease
