#include "worker/checks/claimer.h"

#include <string>
#include <utility>

#include "base/json.h"
#include "config/config.h"
#include "worker/checks/suspects.h"

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
  OpenHeaders(spec, security, probe_spec.get());
  return probe_spec;
}

}  // namespace

Claimer::Claimer(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
                 base::Logger log, const config::Config& config, const Holdings& holdings,
                 double random, Hooks hooks)
    : clock_(clock),
      config_(config.worker),
      security_(config.security),
      limits_(RoomLimitsOf(config)),
      holdings_(holdings),
      hooks_(std::move(hooks)),
      ahead_(static_cast<std::size_t>(config.worker.rows_ahead_max)),
      step_(loop, pool, log,
            {.failed = "claiming failed", .poll = config.worker.poll_ms, .random = random},
            {.begin = [this] { return Begin(); },
             .finish = [this](Found found) { return OnFound(std::move(found)); }}) {
  for (const auto& [name, price] : config.prices_mc) {
    if (const auto tier = domain::ParseTier(name)) prices_mc_[*tier] = price;
  }
}

void Claimer::Wake() {
  if (step_.draining()) return;
  rounds_.MayBeDue(step_.running() ? lease::Rounds::Walk::kUnderWay : lease::Rounds::Walk::kNone);
  step_.Wake();
}

void Claimer::OnRoom() {
  if (work_left_) Wake();
}

bool Claimer::HasRoom() const {
  const lease::Room room = RoomOf(limits_, holdings_, ahead_.rows());
  return room.rows_open < room.rows_max || room.in_flight < room.slots_max;
}

Claimer::Run::Job Claimer::Begin() {
  run_began_ = clock_.SinceBoot();
  was_busy_ = holdings_.rows_held() > 0;
  const auto walk = [cursor = rounds_.Begin(), n = config_.orgs_per_walk_max](auto& session) {
    return store::WalkDueOrganisations(session, cursor, n);
  };
  if (!holdings_.empty() || holdings_.in_flight() > 0) {
    return [walk](store::Session& session) -> Found { return walk(session); };
  }
  // Only a claim changes what a process holds that holds nothing: what there is room for now, there
  // will be room for behind the walk.
  return [walk, room = RoomOf(limits_, holdings_, ahead_.rows()),
          claim = MakeClaim()](store::Session& session) -> Found {
    Taken taken;
    taken.walk = walk(session);
    taken.shares = lease::ShareOut(AskingOf(taken.walk.due, Holdings()), room);
    if (taken.shares.empty()) return std::move(taken.walk);
    taken.loaded = claim(session, taken.shares);
    return taken;
  };
}

Claimer::ClaimOf Claimer::MakeClaim() const {
  return [token = base::Uuid::V4(), lease = config_.lease_ms, prices = prices_mc_,
          careful_from = CarefulFrom(config_.claims_max), &security = security_](
             store::Session& session, const std::vector<store::ClaimShare>& shares) {
    return ReadSpecs(store::ClaimChunks(session, shares, token, lease, prices, careful_from),
                     security);
  };
}

Claimer::Run::Then Claimer::OnFound(Found found) {
  if (const auto* walk = std::get_if<store::OrgWalk>(&found)) return OnWalked(*walk);
  if (auto* taken = std::get_if<Taken>(&found)) return OnTaken(std::move(*taken));
  return OnClaimed(std::move(std::get<Loaded>(found)));
}

Claimer::Run::Then Claimer::OnTaken(Taken taken) {
  rounds_.Walked(NextCursor(taken.walk, taken.shares));
  work_left_ = !taken.walk.due.empty() || rounds_.some_unseen();
  return OnClaimed(std::move(taken.loaded));
}

Claimer::Run::Then Claimer::OnWalked(const store::OrgWalk& walk) {
  if (step_.draining() || !HasRoom()) {  // OnRoom walks the same way again
    work_left_ = !walk.due.empty() || !walk.next_cursor.is_nil() || rounds_.some_unseen();
    return lease::kAtPoll;
  }
  auto shares =
      lease::ShareOut(AskingOf(walk.due, holdings_), RoomOf(limits_, holdings_, ahead_.rows()));
  rounds_.Walked(NextCursor(walk, shares));
  work_left_ = !walk.due.empty() || rounds_.some_unseen();
  if (shares.empty()) return rounds_.some_unseen() ? lease::kAtOnce : lease::kAtPoll;
  return Run::Job([shares = std::move(shares), claim = MakeClaim()](
                      store::Session& session) -> Found { return claim(session, shares); });
}

Claimer::Loaded Claimer::ReadSpecs(store::Claim claim, const config::SecurityConfig& security) {
  Loaded out;
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

// A claim whose COMMIT is unknown does not come here: its chunks are found when their leases end.
Claimer::Run::Then Claimer::OnClaimed(Loaded loaded) {
  const bool got = !loaded.claim.chunks.empty();
  if (got) {
    const Backlog backlog = hooks_.backlog();
    if (!backlog.ran_out) {
      ahead_.FoundWaiting(backlog.rows_waiting);
    } else if (was_busy_) {
      ahead_.RanOut();
    }
  }
  Claimed claimed{loaded.claim.now, {}};
  for (store::ClaimedChunk& chunk : loaded.claim.chunks) {
    claimed.chunks.push_back(MakeHeldChunk(std::move(chunk), loaded.claim.specs, loaded.probe_specs,
                                           loaded.claim.now, run_began_));
  }
  hooks_.claimed(std::move(claimed));
  return got || rounds_.some_unseen() ? lease::kAtOnce : lease::kAtPoll;
}

}  // namespace vedette::worker
