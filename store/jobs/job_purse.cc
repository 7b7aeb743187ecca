#include "store/jobs/job_purse.h"

#include <utility>

namespace vedette::store {

JobPurse::JobPurse(Transaction& tx, Payer payer) : tx_(tx), payer_(std::move(payer)) {}

Purses& JobPurse::Locked() {
  if (!purses_) {
    purses_.emplace().Want(payer_);
    purses_->Lock(tx_);
  }
  return *purses_;
}

Purses::Room JobPurse::Room() {
  return Locked().RoomOf(payer_);
}

void JobPurse::Take(std::int64_t amount_mc) {
  Locked().Take(payer_, amount_mc);
}

void JobPurse::Return(std::int64_t amount_mc) {
  Locked().Return(payer_, amount_mc);
}

void JobPurse::Write() {
  if (purses_) purses_->Write(tx_);
}

}  // namespace vedette::store
