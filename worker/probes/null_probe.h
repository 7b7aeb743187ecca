#pragma once

#include "worker/probes/probe.h"

namespace vedette::worker {

// Looks at nothing and answers at once, for benchmarks: every field is as it is known, but in a
// share of the checks, picked by the check's id, each field has a new value.
class NullProbe final : public Probe {
 public:
  // `change_share`: 0..1.
  explicit NullProbe(double change_share) : change_share_(change_share) {}
  void Start(ProbeRequest request, std::function<void(ProbeResult)> done) override;
  bool ReadsSubject() const override { return false; }

 private:
  const double change_share_;
};

}  // namespace vedette::worker
