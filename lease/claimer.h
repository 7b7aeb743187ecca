#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "base/event_loop.h"
#include "base/log.h"
#include "base/uuid.h"
#include "lease/rounds.h"
#include "lease/step.h"
#include "store/session.h"

namespace vedette::lease {

// Asks for work as the room of each lane allows: scans over the organisations that have some due,
// shares the room out among them, and claims. Goes on until nothing is due or nothing has room, and
// polls. A lane that is full is not looked at, so that it delays no other. The statements, and what
// a share is, are the kind's, which derives from this.
//
// Kind::Lane is the type of its lanes; Kind::Scan what a scan found; Kind::Share how much is to be
// claimed of an organisation; Kind::Claimed what a claim brought.
//
// Loop thread only; everything handed in must outlive this object. No virtual function is called
// before Start.
template <typename Kind>
class Claimer {
 public:
  virtual ~Claimer() = default;
  Claimer(const Claimer&) = delete;
  Claimer& operator=(const Claimer&) = delete;

  // Begins to claim and to poll.
  void Start() { step_.Start(); }

  // Something may be due.
  void Wake() {
    if (step_.draining()) return;
    for (auto& [lane, rounds] : rounds_) {
      rounds.MayBeDue(step_.running() ? Rounds::Scan::kUnderWay : Rounds::Scan::kNone);
    }
    step_.Wake();
  }

  // There is room again: claims if the last scans saw more than was taken. A run that is under way
  // uses the room itself, or is followed by another one: scans do not become more because much ends
  // while one of them waits for its answer.
  void OnRoom() {
    room_ = RoomMeanwhile::kSome;
    if (!step_.running() && HasBacklog()) Wake();
  }

  // Claims nothing more. `done` once no claim is under way.
  void Drain(std::function<void()> done) { step_.Drain(std::move(done)); }
  // A scan or a claim is under way.
  bool running() const { return step_.running(); }

 protected:
  using Lane = typename Kind::Lane;
  using Scan = typename Kind::Scan;
  using Share = typename Kind::Share;
  using Claimed = typename Kind::Claimed;
  // The organisation behind which the scan of each lane begins.
  using Cursors = std::map<Lane, base::Uuid>;
  // A run is a scan, and after it a claim where there is something to claim; or both at once.
  using Found = std::variant<Scan, Claimed>;
  using Run = Step<Found>;
  using Job = typename Run::Job;
  enum class Brought { kNothing, kSome };

  Claimer(base::EventLoop& loop, store::Pool& pool, base::Logger log, StepOptions options,
          const std::set<Lane>& lanes)
      : step_(loop, pool, log, std::move(options),
              {.begin = [this] { return Begin(); },
               .finish = [this](Found found) { return OnFound(std::move(found)); }}) {
    for (const Lane lane : lanes) rounds_[lane] = {};
  }

  virtual bool HasRoom(Lane lane) const = 0;
  // A scan of these lanes, which are not empty. The job may claim behind its scan at once, where
  // only a claim could change what there is room for.
  virtual Job ScanFrom(const Cursors& cursors) = 0;
  // Shares the room out, and tells the rounds of the lanes how far they have come.
  virtual std::vector<Share> ShareOut(const Scan& scan) = 0;
  virtual Job Claim(std::vector<Share> shares) = 0;
  // What was claimed, perhaps nothing. Called also during a drain, with what was claimed by the run
  // that was under way when it began. A claim whose COMMIT is unknown does not come here: its
  // chunks are found when their leases end.
  virtual Brought OnClaimed(Claimed claimed) = 0;

  Rounds& RoundsOf(Lane lane) { return rounds_.at(lane); }

 private:
  // Room that came while the claim of a run was under way, which the claim could not use.
  enum class RoomMeanwhile { kNone, kSome };

  // A lane that was full may have work that nobody has looked at.
  bool HasBacklog() const {
    return !passed_over_.empty() ||
           std::any_of(rounds_.begin(), rounds_.end(), [](const auto& of_lane) {
             return of_lane.second.some_left() || of_lane.second.some_unseen();
           });
  }
  bool MoreOrganisations() const {
    return std::any_of(rounds_.begin(), rounds_.end(), [this](const auto& of_lane) {
      return of_lane.second.some_unseen() && HasRoom(of_lane.first);
    });
  }
  // A lane that was full when the run began is not any more.
  bool HasRoomWherePassedOver() const {
    return std::any_of(passed_over_.begin(), passed_over_.end(),
                       [this](Lane lane) { return HasRoom(lane); });
  }

  Job Begin() {
    Cursors cursors;
    passed_over_.clear();
    for (auto& [lane, rounds] : rounds_) {
      if (HasRoom(lane)) {
        cursors[lane] = rounds.Begin();
      } else {
        passed_over_.insert(lane);
      }
    }
    if (cursors.empty()) return nullptr;
    room_ = RoomMeanwhile::kNone;
    return ScanFrom(cursors);
  }

  typename Run::Then OnFound(Found found) {
    if (const auto* scan = std::get_if<Scan>(&found)) return OnScanned(*scan);
    const bool got = OnClaimed(std::move(std::get<Claimed>(found))) == Brought::kSome;
    const bool room_came = room_ == RoomMeanwhile::kSome;
    return got || room_came || MoreOrganisations() ? kAtOnce : kAtPoll;
  }

  typename Run::Then OnScanned(const Scan& scan) {
    if (step_.draining()) return kAtPoll;
    auto shares = ShareOut(scan);
    if (shares.empty()) {
      return MoreOrganisations() || HasRoomWherePassedOver() ? kAtOnce : kAtPoll;
    }
    room_ = RoomMeanwhile::kNone;  // what there is until now has been shared out
    return Claim(std::move(shares));
  }

  std::map<Lane, Rounds> rounds_;
  std::set<Lane> passed_over_;  // lanes that the last run did not look at
  RoomMeanwhile room_ = RoomMeanwhile::kNone;
  Run step_;
};

}  // namespace vedette::lease
