#pragma once

#include <chrono>

namespace vedette::net {

// How many requests may be under way to one host at once: as many as it answers about as fast as it
// answers few, and no more than make kEnoughPerSecond. Pure: times are handed in. One thread.
//
// Answers are looked at in windows: as many of requests that began in the window as were under way
// at most, and a tenth of a second at least. So a window is one or two answers' time where they
// take long. What a host usually takes is its own: one that needs 2 s gets as much as it carries.
// Times say something only where the limit was used: where requests waited for a place.
//
//                   not enough, and as fast as usual: more
//                     ┌──────────┐
//                     ▼          │
//        ───────▶ kFollowing ────┘◀───────────────────────────────────┐
//                  │  │                                               │
//       overloaded:│  │ slower than twice the usual, or for long      │
//         half     │  │ slower than usual: half                       │
//                  │  ▼                                               │
//                  │ kTrial ── the half is faster: it stays ─────────▶│
//                  │    └───── it is not: the time is the host's own, ┘
//                  └─▶ kFollowing      and the usual one from now on; the limit is as before
//
// "More" is twice as many, below half of where it last was too much, and a sixteenth more above
// that, until that point has been passed. A few refusals are answered with a sixteenth less; a few
// failures with nothing, since one tenant's questions may be such that they never end. The trial is
// what keeps a host from being starved whose answers take longer for another reason than its load,
// and needs no clock to forget an old usual.
//
// A host that answers at once is seen through this process: its answers wait for the loop, longer
// the more of them are under way, and longer by chance where the process is held up. Such a host
// has its enough with kFirst, so that nothing of that moves its limit; and where a process is so
// busy that it does not come to enough, times that may be its own (kOwnDelay) count as slow only
// when they stay, and never take the limit below kFirst.
class HostLimit {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  static constexpr int kFirst = 64;        // of a host that nothing is known of
  static constexpr int kLeast = 8;         // however much it refuses
  static constexpr int kLeastOfSlow = 32;  // however slow it is
  // Answers a second of one host that are enough: more checks a process does not make. With them
  // the limit does not grow; with twice as many it falls to what makes them.
  static constexpr int kEnoughPerSecond = 8192;
  // So much of a time may be this process's own.
  static constexpr std::chrono::microseconds kOwnDelay{50'000};

  enum class Answer {
    kServed,   // it says how long the host takes
    kRefused,  // 429 and 503: the host itself says that it is too much
    kFailed,   // 502, 504, no connection, none in time, or one that broke
    kOther,    // it says nothing of the host's load
  };
  struct Ended {
    Answer answer = Answer::kOther;
    TimePoint began{};                  // when it was to be sent
    std::chrono::microseconds took{0};  // kServed: until the answer began
  };

  // `most`: at least 1; the limit never goes beyond it, nor begins there.
  explicit HostLimit(int most);

  int value() const { return value_; }

  // A request waits, since as many as the limit are under way.
  void Wanted() { window_.wanted = true; }
  // One ended that was under way beside `under_way` - 1 others. True: value() is another.
  bool Take(const Ended& ended, int under_way, TimePoint now);

 private:
  enum class State { kFollowing, kTrial };
  struct Window {
    TimePoint began{};
    int served = 0;
    int refused = 0;
    int failed = 0;
    int ended = 0;        // those that began before the window, too
    int under_way = 0;    // at most
    double sum_log2 = 0;  // of what was served: its geometric mean is not led by a few that hang
    bool wanted = false;

    int answers() const { return served + refused + failed; }
  };

  void Count(const Ended& ended, int under_way);
  void Decide(TimePoint now);
  void DecideByTime(double seen, int enough);
  bool TrialHelped(double seen);
  void BeginTrial(double seen);
  int Enough(TimePoint now) const;
  void Grow(int most);
  void Less(int by);

  const int most_;
  const int least_;
  int value_;
  State state_ = State::kFollowing;
  Window window_;
  double usual_ = -1;      // log2 of microseconds; negative: not known yet
  double before_ = 0;      // kTrial: what was seen before the half
  int trial_value_ = 0;    // kTrial: the limit before it
  int too_much_ = 0;       // where it last was too much; 0: nowhere
  int slower_in_row_ = 0;  // windows that were slower than usual, and not enough
};

}  // namespace vedette::net
