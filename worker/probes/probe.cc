#include "worker/probes/probe.h"

#include <cstdint>
#include <string>
#include <utility>

#include "base/json.h"

namespace vedette::worker {
namespace {

// What stands for a value that nothing is known of.
constexpr const char* kFirstValue = "nothing";

// Uniform in [0, 1): a check's id is a hash.
double Draw(const base::Uuid& check_id) {
  std::uint64_t bits = 0;
  for (std::size_t i = 8; i < 16; ++i) bits = bits << 8 | check_id.bytes[i];
  return static_cast<double>(bits & 0xffffffffU) / 4294967296.0;
}

}  // namespace

void NullProbe::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  const bool changes = Draw(request.check_id) < change_share_;
  const base::Json& known = request.known.Value();
  Observation observation;
  for (const WatchedField& field : request.spec->watched) {
    FieldObservation& seen = observation.fields[field.name];
    if (changes) {
      seen.value = base::Json(std::to_string(request.until.time_since_epoch().count()));
    } else {
      const auto it = known.find(field.name);
      seen.value = it == known.end() ? base::Json(kFirstValue) : *it;
    }
  }
  done(std::move(observation));
}

}  // namespace vedette::worker
