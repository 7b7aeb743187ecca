#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "base/fair_queue.h"
#include "base/fair_share.h"
#include "base/uuid.h"
#include "domain/job/webhook.h"

namespace vedette::delivery {

struct LaneLimits {
  int in_flight_max;       // attempts under way to prompt receivers
  int slow_in_flight_max;  // and to all others
  int per_receiver_max;    // to one receiver
  int failures_max;        // in a row, at which a receiver is left to the database's breaker
};

// Which delivery is attempted next (G10). Receivers that answer promptly have one lane; those that
// do not, or that nobody knows yet, have another. However many receivers hang, they fill only their
// own lane. Within a lane organisations take turns, and within an organisation its receivers. Of a
// lane's attempts under way, and of what it holds, an organisation gets only its share
// (base/fair_share.h): nine tenths when it is alone. So the next organisation's receiver finds room
// at once, however many of a neighbour's receivers hang. No clock, no I/O; one thread.
//
// A receiver belongs to one organisation, always the same.
class Lanes {
 public:
  explicit Lanes(const LaneLimits& limits);

  // Room for one more of this receiver, kept until Add or Cancel.
  bool Reserve(const base::Uuid& org_id, const base::Uuid& receiver_id);
  void Cancel(const base::Uuid& receiver_id);

  // Something waits to be sent.
  void Add(const base::Uuid& org_id, const base::Uuid& receiver_id, const base::Uuid& delivery_id,
           bool reserved);
  // The next to attempt, which is then under way until Ended.
  std::optional<base::Uuid> Next();

  // An attempt has been under way for too long to be called prompt. At most once an attempt.
  void Overdue(const base::Uuid& receiver_id);
  // `took`: until the receiver's answer. The result waits no more and is to be given back: the
  // receiver fails.
  std::vector<base::Uuid> Ended(const base::Uuid& receiver_id, domain::ReceiverState state,
                                bool was_overdue, std::chrono::microseconds took);

  // Everything that waits, to be given back.
  std::vector<base::Uuid> TakeWaiting();

  // How much more may be claimed, and of whom: a snapshot.
  struct Room {
    base::FairShares<base::Uuid> prompt;          // what organisations hold of prompt receivers,
    base::FairShares<base::Uuid> slow;            // of all others,
    base::FairShares<base::Uuid> slow_in_flight;  // and have under way to those
    int per_slow_max = 0;
    std::vector<base::Uuid> full;  // of these none
    std::shared_ptr<const domain::PromptReceivers> prompt_receivers;
  };
  Room RoomForClaims();
  // More than half of what may be held of prompt receivers is held, and nothing of others: a claim
  // would bring little, and costs a scan over the receivers. The one of the next poll is enough.
  bool HoldsMuch() const;
  bool IsPrompt(const base::Uuid& receiver_id) const;

  // Forgets receivers that had nothing to do since the last call.
  void ForgetIdle();

 private:
  enum class Pace { kNew, kPrompt, kSlow };
  // Deliveries that are held for each attempt that a receiver may have under way; of prompt ones
  // up to kHeldPerReceiverMax.
  static constexpr int kHeldPerReceiverMin = 2;
  struct Receiver {
    base::Uuid org_id;
    std::deque<base::Uuid> waiting;
    int in_flight = 0;
    int reserved = 0;
    int overdue = 0;   // of those in flight
    int failures = 0;  // in a row
    Pace pace = Pace::kNew;
    std::chrono::microseconds took{};  // from request to answer, smoothed; zero: not known
    int held_per_in_flight = kHeldPerReceiverMin;  // of a prompt one
    bool queued = false;
    bool used = true;  // since the last ForgetIdle
    std::size_t held() const {
      return waiting.size() + static_cast<std::size_t>(in_flight + reserved);
    }
  };
  struct Lane {
    explicit Lane(int in_flight_max);
    base::FairShares<base::Uuid> in_flight;         // attempts, by organisation
    base::FairShares<base::Uuid> held;              // the same with what waits or is reserved
    std::map<base::Uuid, std::size_t> receivers;    // of each organisation, that hold something
    base::FairQueue<base::Uuid, base::Uuid> queue;  // receivers by organisation
  };
  using ReceiverMap = std::map<base::Uuid, Receiver>;

  Lane& LaneOf(const Receiver& receiver);
  int CapOf(const Receiver& receiver) const;
  int HeldMaxOf(const Receiver& receiver) const;
  void NoteTook(std::chrono::microseconds took, Receiver* receiver);
  ReceiverMap::value_type& Use(const base::Uuid& receiver_id);
  ReceiverMap::value_type& Use(const base::Uuid& org_id, const base::Uuid& receiver_id);
  void Enter(const Receiver& receiver);
  void Leave(const Receiver& receiver);
  void Queue(ReceiverMap::value_type& entry);
  void NoteFull(const ReceiverMap::value_type& entry);
  void SetPace(ReceiverMap::value_type& entry, Pace pace);

  const LaneLimits limits_;
  Lane prompt_;
  Lane slow_;
  ReceiverMap receivers_;
  std::set<base::Uuid> full_;  // receivers of which enough waits
  std::shared_ptr<const domain::PromptReceivers> prompt_receivers_;  // null: to be made again
};

// In which order claims visit receivers: in rounds over all of them, one scan of bounded length
// after the other, by id. An organisation's share may be used up before its last receiver is
// reached. The next round therefore begins behind one of those that got nothing, taken at random,
// so that no receiver is always the last of its organisation (G10). No clock, no I/O; one thread.
//
//   kToTheEnd ---- the last id, not begun in the middle -----------> kToTheEnd, the next round
//        \-------- the last id, begun in the middle --> kToTheStart
//   kToTheStart -- where the round began, or the last id ----------> kToTheEnd, the next round
class ReceiverScan {
 public:
  // The next scan visits receivers behind this one; nil: from the first.
  const base::Uuid& cursor() const { return cursor_; }

  // A scan from cursor() got as far as `next` (nil: the last id) and gave these nothing for lack of
  // room. True while the round goes on.
  bool Scanned(const base::Uuid& next, const std::vector<base::Uuid>& passed_over,
               std::mt19937_64& random);

  // Whether the present round has given some receiver nothing; after its end, whether it had.
  bool passed_some_over() const { return passed_some_over_; }

 private:
  enum class State { kToTheEnd, kToTheStart };
  State state_ = State::kToTheEnd;
  base::Uuid start_;  // nil: the first id
  base::Uuid cursor_;
  base::Uuid next_start_;
  std::size_t passed_over_ = 0;  // in this round
  bool passed_some_over_ = false;
};

}  // namespace vedette::delivery
