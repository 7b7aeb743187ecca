#include "worker/checks/check_claimer.h"

#include <string>
#include <utility>

#include "base/json.h"
#include "config/parts.h"
#include "config/role_config.h"
#include "worker/checks/check_suspects.h"

namespace vedette::worker {
namespace {

void OpenHeaders(const store::MonitorSpec& spec, const config::SecurityConfig& security,
                 ProbeSpec* probe_spec) {
  if (!spec.request_headers) return;
  const auto text = store::OpenSealed(store::NamedKeys(security), *spec.request_headers,
                                      store::RequestHeadersBinding(spec.org_id));
  auto headers = text ? domain::ParseRequestHeaders(*text) : std::nullopt;
  probe_spec->headers_sealed = !headers;
  if (!headers) return;
  probe_spec->request_headers = std::make_shared<const domain::RequestHeaders>(std::move(*headers));
}

// The fields of one monitor after the other. Monitors of one client are often made by one program
// and watch the same: a text that is the one before it, letter by letter, is not parsed again.
class WatchedReader {
 public:
  const std::vector<WatchedField>& Read(std::string text) {
    if (text == text_) return fields_;
    text_ = std::move(text);
    fields_.clear();
    const base::Json watched = base::ParseJsonOrThrow(text_);
    for (const auto& [name, description] : watched.items()) {
      fields_.push_back({name, description.get<std::string>()});
    }
    return fields_;
  }

 private:
  std::string text_;  // empty: none yet
  std::vector<WatchedField> fields_;
};

std::shared_ptr<const ProbeSpec> MakeProbeSpec(const store::MonitorSpec& spec,
                                               const std::vector<WatchedField>& watched,
                                               const config::SecurityConfig& security) {
  auto probe_spec = std::make_shared<ProbeSpec>();
  probe_spec->monitor_id = spec.monitor_id;
  probe_spec->subject_type = spec.subject_type;
  probe_spec->tier = spec.tier;
  probe_spec->research_plan = spec.research_plan;
  probe_spec->watched = watched;
  probe_spec->options = domain::ParseProbeOptions(spec.probe);
  OpenHeaders(spec, security, probe_spec.get());
  return probe_spec;
}

ClaimedChecks ReadSpecs(store::Claim claim, const config::SecurityConfig& security) {
  ClaimedChecks out;
  WatchedReader watched;
  // Chunk by chunk, so that neighbours are of one organisation.
  for (const store::ClaimedChunk& chunk : claim.chunks) {
    for (const store::LoadedPart& part : chunk.parts) {
      const base::Uuid& id = part.part.monitor_id;
      if (out.probe_specs.contains(id)) continue;
      std::string text = std::move(claim.watched.at(id));  // freed as soon as the next one is read
      out.probe_specs.emplace(
          id, MakeProbeSpec(*claim.specs.at(id), watched.Read(std::move(text)), security));
    }
  }
  out.claim = std::move(claim);
  return out;
}

}  // namespace

CheckClaimer::CheckClaimer(base::EventLoop& loop, store::Pool& pool, base::Logger log,
                           const config::Config& config, const CheckHoldings& holdings,
                           double random, Hooks hooks)
    : lease::Claimer<CheckKind>(
          loop, pool, log,
          {.failed = "claiming failed", .poll = config.worker.poll_ms, .random = random},
          {HeldChunk::Lane::kOnly}),
      config_(config.worker),
      security_(config.security),
      limits_(RoomLimitsOf(config)),
      holdings_(holdings),
      hooks_(std::move(hooks)),
      ahead_(static_cast<std::size_t>(config.worker.rows_ahead_max)) {
  for (const auto& [name, price] : config::MostPricesMc(config)) {
    if (const auto tier = domain::ParseTier(name)) prices_mc_[*tier] = price;
  }
}

bool CheckClaimer::HasRoom(HeldChunk::Lane /*lane*/) const {
  const lease::Room room = RoomOf(limits_, holdings_, ahead_.rows());
  return room.rows_open < room.rows_max || room.in_flight < room.slots_max;
}

CheckClaimer::Job CheckClaimer::ScanFrom(const Cursors& cursors) {
  was_busy_ = holdings_.InLane().rows > 0;
  const auto scan = [cursor = cursors.at(HeldChunk::Lane::kOnly), n = config_.orgs_per_scan_max,
                     bounds = bounds_](store::Session& session) {
    return store::ScanDueOrganisations(session, cursor, n, bounds.get());
  };
  if (!holdings_.empty() || holdings_.InLane().in_flight > 0) {
    return [scan](store::Session& session) -> Found { return scan(session); };
  }
  // Only a claim changes what a process holds that holds nothing: what there is room for now, there
  // will be room for behind the scan.
  return [scan, room = RoomOf(limits_, holdings_, ahead_.rows()),
          claim = MakeClaim()](store::Session& session) -> Found {
    store::OrgScan found = scan(session);
    auto shares = lease::ShareOut(AskingOf(found.due, CheckHoldings()), room);
    if (shares.empty()) return found;
    ClaimedChecks claimed = claim(session, shares);
    claimed.behind = {std::move(found), std::move(shares)};
    return claimed;
  };
}

CheckClaimer::ClaimOf CheckClaimer::MakeClaim() const {
  return [token = base::Uuid::V4(), lease = config_.lease_ms, prices = prices_mc_,
          careful_from = CarefulFrom(config_.claims_max), &security = security_,
          bounds = bounds_](store::Session& session, const std::vector<store::ClaimShare>& shares) {
    return ReadSpecs(
        store::ClaimChunks(session, shares, token, lease, prices, careful_from, bounds.get()),
        security);
  };
}

std::vector<store::ClaimShare> CheckClaimer::ShareOut(const store::OrgScan& scan) {
  if (!scan.due.empty() && !HasRoom(HeldChunk::Lane::kOnly)) {
    RoundsOf(HeldChunk::Lane::kOnly).Repeat();
    return {};
  }
  auto shares =
      lease::ShareOut(AskingOf(scan.due, holdings_), RoomOf(limits_, holdings_, ahead_.rows()));
  Scanned(scan, shares);
  return shares;
}

void CheckClaimer::Scanned(const store::OrgScan& scan,
                           const std::vector<store::ClaimShare>& shares) {
  RoundsOf(HeldChunk::Lane::kOnly)
      .Scanned(lease::NextCursor(scan.due.size(), shares, scan.next_cursor),
               scan.due.empty() ? lease::Rounds::Left::kNothing : lease::Rounds::Left::kSome);
}

CheckClaimer::Job CheckClaimer::Claim(std::vector<store::ClaimShare> shares) {
  return [shares = std::move(shares), claim = MakeClaim()](store::Session& session) -> Found {
    return claim(session, shares);
  };
}

CheckClaimer::Brought CheckClaimer::OnClaimed(ClaimedChecks claimed) {
  if (claimed.behind) Scanned(claimed.behind->scan, claimed.behind->shares);
  store::Claim& claim = claimed.claim;
  const bool got = !claim.chunks.empty();
  if (got) {
    const Backlog backlog = hooks_.backlog();
    if (!backlog.ran_out) {
      ahead_.FoundWaiting(backlog.rows_waiting);
    } else if (was_busy_) {
      ahead_.RanOut();
    }
  }
  std::vector<ChunkPtr> chunks;
  for (store::ClaimedChunk& chunk : claim.chunks) {
    chunks.push_back(MakeHeldChunk(std::move(chunk), claim.specs, claimed.probe_specs, claim.now,
                                   claim.read_at));
  }
  hooks_.claimed(std::move(chunks), claim.now);
  return got ? Brought::kSome : Brought::kNothing;
}

}  // namespace vedette::worker
