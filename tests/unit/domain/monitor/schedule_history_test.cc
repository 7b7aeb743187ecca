#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "domain/monitor/timetable.h"

// Random lives of thousands of monitors, months of virtual time in seconds of ours: what a
// scheduler does with next_run_times, against slots that are simply counted from the anchor one by
// one.
namespace vedette::domain {
namespace {

using base::ParseTimestamp;
using base::Timestamp;
using std::chrono::days;
using std::chrono::duration_cast;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;

struct Tick {
  Timestamp due_at;
  Timestamp cut_at;
  std::int64_t slots;
  bool overlap;
};

// A stretch in which the monitor ran at one frequency: slots in (after, looked] are due.
struct Span {
  Timestamp after;
  seconds frequency;
  Timestamp looked;  // when the scheduler last looked; what came due later it never saw
  std::vector<Tick> ticks;
};

// One monitor, and what schedulers, owners and time do to it.
class Life {
 public:
  Life(std::uint64_t seed, Timestamp created)
      : random_(seed), anchor_(created), now_(created), next_run_at_(created) {
    frequency_ = Pick({minutes(5), hours(1), hours(7) + minutes(13), days(1), days(7), days(30)});
    spans_.push_back({created - microseconds(1), frequency_, created - microseconds(1), {}});
  }

  void Live(int steps) {
    for (int i = 0; i < steps; ++i) {
      const int what = Number(0, 99);
      if (what < 70) {
        Look();
      } else if (what < 80) {
        Trigger();
      } else if (what < 90) {
        live_ ? Pause() : Resume();
      } else if (what < 93 && live_) {
        ChangeFrequency();
      } else {
        now_ += microseconds(Number(1, 3'000'000));
      }
    }
  }

  void Check() const {
    for (const Span& span : spans_) CheckSpan(span);
  }

  std::size_t ticks() const {
    std::size_t n = 0;
    for (const Span& span : spans_) n += span.ticks.size();
    return n;
  }

 private:
  std::int64_t Number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  seconds Pick(std::vector<seconds> from) {
    return from[static_cast<std::size_t>(Number(0, static_cast<std::int64_t>(from.size()) - 1))];
  }

  // A scheduler looks, mostly when something is due, sometimes too early, sometimes much too late.
  void Look() {
    const int how = static_cast<int>(Number(0, 9));
    const auto period = duration_cast<microseconds>(frequency_);
    if (how == 0) {
      now_ += microseconds(Number(0, period.count() / 2));
    } else if (how == 1) {
      now_ = std::max(now_, next_run_at_) + microseconds(Number(0, period.count() * 20));
    } else {
      now_ = std::max(now_, next_run_at_ + microseconds(Number(0, 2'000'000)));
    }
    if (!live_) return;
    spans_.back().looked = now_;
    if (next_run_at_ > now_) return;
    const DueSlots due = CollapseDueSlots(next_run_at_, frequency_, now_);
    const bool overlap = open_until_ && *open_until_ > now_;
    spans_.back().ticks.push_back({due.due_at, now_, due.slots, overlap});
    if (!overlap) open_until_ = now_ + microseconds(Number(0, period.count() * 3 / 2));
    EXPECT_GT(due.next_run_at, now_);
    EXPECT_LE(due.next_run_at, now_ + frequency_);
    next_run_at_ = due.next_run_at;
  }

  // A tick outside the schedule, which therefore knows nothing of it.
  void Trigger() {
    if (!live_ || (open_until_ && *open_until_ > now_)) return;
    open_until_ = now_ + microseconds(Number(0, duration_cast<microseconds>(frequency_).count()));
  }

  void Pause() { live_ = false; }

  void Resume() {
    live_ = true;
    Restart();
    // No flood: whatever has passed, nothing is due now, and one slot at most is near.
    EXPECT_GT(next_run_at_, now_);
    EXPECT_LE(next_run_at_, std::max(anchor_, now_ + frequency_));
  }

  void ChangeFrequency() {
    frequency_ = Pick({minutes(5), hours(1), hours(5), days(1), days(30)});
    Restart();
  }

  void Restart() {
    next_run_at_ = FirstSlotAfter(anchor_, frequency_, now_);
    spans_.push_back({now_, frequency_, now_, {}});
  }

  // G7: the slots that are due in the span, counted from the anchor one by one, are those that its
  // ticks stand for, each once.
  void CheckSpan(const Span& span) const {
    Timestamp slot = anchor_ + (span.after - anchor_) / span.frequency * span.frequency;
    while (slot <= span.after) slot += span.frequency;
    for (const Tick& tick : span.ticks) {
      ASSERT_EQ(tick.due_at, slot) << "a tick is due at the earliest slot not accounted for";
      ASSERT_EQ((tick.due_at - anchor_) % span.frequency, microseconds(0)) << "no drift";
      std::int64_t slots = 0;
      for (; slot <= tick.cut_at; slot += span.frequency) ++slots;
      ASSERT_EQ(tick.slots, slots);
    }
    ASSERT_GT(slot, span.looked) << "a slot was due and passed over";
  }

  std::mt19937_64 random_;
  Timestamp anchor_;
  Timestamp now_;
  Timestamp next_run_at_;
  seconds frequency_{};
  bool live_ = true;
  std::optional<Timestamp> open_until_;
  std::vector<Span> spans_;
};

TEST(ScheduleHistory, G7EverySlotOfThreeThousandMonitorsIsAccountedForOnce) {
  std::size_t ticks = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    // Anchors at any microsecond, around a leap day and the ends of months.
    Life life(seed, ParseTimestamp("2027-12-31T23:59:59.999999Z") +
                        microseconds(static_cast<std::int64_t>(seed) * 2'654'435'761));
    life.Live(400);
    life.Check();
    if (HasFatalFailure()) return;
    ticks += life.ticks();
  }
  EXPECT_GT(ticks, 300'000U);
}

TEST(ScheduleHistory, MonthEndsAndTheLeapDayMoveNothing) {
  const Timestamp anchor = ParseTimestamp("2028-01-31T23:30:00.000001Z");
  Timestamp next = anchor;
  for (int day = 0; day < 800; ++day) {
    const DueSlots due = CollapseDueSlots(next, days(1), next + seconds(1));
    ASSERT_EQ(due.slots, 1);
    ASSERT_EQ(due.next_run_at, anchor + days(day + 1));
    next = due.next_run_at;
  }
  const auto times = Timetable(anchor, days(1), std::nullopt, {}).NextTimes(anchor, 31);
  EXPECT_EQ(times[29], ParseTimestamp("2028-02-29T23:30:00.000001Z"));
  EXPECT_EQ(times[30], ParseTimestamp("2028-03-01T23:30:00.000001Z"));
}

// A clock that steps back shows a scheduler that nothing is due: it asks again, and no slot is
// counted twice.
TEST(ScheduleHistory, G7AClockThatStepsBackCountsNoSlotTwice) {
  std::mt19937_64 random(7);
  const Timestamp anchor = ParseTimestamp("2028-02-29T00:00:00Z");
  Timestamp next = anchor;
  Timestamp now = anchor;
  Timestamp furthest = anchor - microseconds(1);
  std::int64_t slots = 0;
  for (int i = 0; i < 100'000; ++i) {
    now += seconds(std::uniform_int_distribution<int>(-600, 1200)(random));
    if (next > now) continue;
    const DueSlots due = CollapseDueSlots(next, minutes(5), now);
    ASSERT_EQ(due.due_at, next);
    slots += due.slots;
    next = due.next_run_at;
    furthest = std::max(furthest, now);
  }
  EXPECT_EQ(slots, (furthest - anchor) / minutes(5) + 1);
  EXPECT_EQ(next, anchor + minutes(5) * slots);
}

}  // namespace
}  // namespace vedette::domain
