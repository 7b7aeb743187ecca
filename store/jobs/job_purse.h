#pragma once

#include <cstdint>
#include <optional>

#include "store/purses.h"
#include "store/sql.h"

namespace vedette::store {

// Internal to store/: the money of one job in one transaction. The account is locked at the first
// use, which comes after every other lock; a transaction that moves no money never locks it.
class JobPurse {
 public:
  JobPurse(Transaction& tx, Payer payer);

  // Whether money may have moved.
  bool locked() const { return purses_.has_value(); }
  Purses::Room Room();
  // The balance must have room for it.
  void Take(std::int64_t amount_mc);
  void Return(std::int64_t amount_mc);
  // Once, at the end.
  void Write();

 private:
  Purses& Locked();

  Transaction& tx_;
  Payer payer_;
  std::optional<Purses> purses_;
};

}  // namespace vedette::store
