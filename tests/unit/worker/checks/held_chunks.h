#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "tests/support/ids.h"
#include "worker/checks/held_chunk.h"

// Chunks as a claim gives them, for tests without a database.
namespace vedette::worker {

using vedette::test::Id;

struct ChunkOptions {
  int id = 1;
  int org = 1;
  int monitor = 1;
  int rows = 1;
  int first = 0;       // the position of its first row
  bool large = false;  // a part of a large tick of the monitor
  int claims = 1;
  std::chrono::milliseconds ahead{0};  // of its slot
  std::string rules = "{}";            // of the monitor's fields
};

// A chunk of one part, of the tier `low`, whose monitor watches `price`. Row i has the subject
// {"n": i} and knows the price "1".
inline ChunkPtr NewChunk(const ChunkOptions& options) {
  store::ClaimedChunk claimed;
  claimed.id = Id(options.id);
  claimed.org_id = Id(options.org);
  claimed.tier = domain::Tier::kLow;
  claimed.lease_token = Id(1000 + options.id);
  claimed.large = options.large;
  claimed.claims = options.claims;
  claimed.row_count = options.rows;
  store::LoadedPart& part = claimed.parts.emplace_back();
  part.part = {Id(options.monitor), 1, options.first, options.first + options.rows};
  part.starts_at = base::Timestamp(options.ahead);
  for (int i = 0; i < options.rows; ++i) {
    store::LoadedRow row;
    row.row_id = Id(10'000 + options.id * 100 + i);
    row.subject = "{\"n\": " + std::to_string(i) + "}";
    row.baseline = "{\"price\": \"1\"}";
    part.rows.push_back(std::move(row));
  }
  part.decided.resize(part.rows.size());

  auto spec = std::make_shared<store::MonitorSpec>();
  spec->monitor_id = Id(options.monitor);
  spec->org_id = Id(options.org);
  spec->tier = domain::Tier::kLow;
  spec->monitor_active = true;
  spec->org_runs = true;
  spec->rules = domain::ParseChangeRules(options.rules);
  auto probe_spec = std::make_shared<ProbeSpec>();
  probe_spec->monitor_id = spec->monitor_id;
  probe_spec->tier = spec->tier;
  probe_spec->watched.push_back({"price", "What it costs."});
  return MakeHeldChunk(std::move(claimed), {{spec->monitor_id, spec}},
                       {{spec->monitor_id, probe_spec}}, base::Timestamp{},
                       std::chrono::nanoseconds(0));
}

}  // namespace vedette::worker
