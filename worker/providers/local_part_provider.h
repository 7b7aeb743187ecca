#pragma once

#include "worker/providers/provider.h"

namespace vedette::worker {

// Reads a name out of an address's local part ("ada.lovelace@"). It is a candidate and never an
// answer, since nobody states it. It asks nobody, and serves reverse_email alone.
class LocalPartProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "local_part";
  static constexpr int kConfidence = 2;

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;
};

}  // namespace vedette::worker
