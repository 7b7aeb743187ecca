#include "net/host_limit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <vector>

namespace vedette::net {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Answer = HostLimit::Answer;
using TimePoint = HostLimit::TimePoint;

// A host that is asked as often as the limit allows, in a time of its own.
class Host {
 public:
  // How long the next request takes where so many are under way, and what it ends as.
  struct Reply {
    microseconds took;
    Answer answer = Answer::kServed;
  };
  using Serve = std::function<Reply(int under_way)>;

  explicit Host(int most, int wanted = 1 << 20) : limit_(most), wanted_(wanted) {}

  void Ask(const Serve& serve, microseconds time) {
    const TimePoint end = now_ + time;
    for (;;) {
      while (under_way_ < limit_.value() && under_way_ < wanted_) {
        ++under_way_;
        const Reply reply = serve(under_way_);
        pending_.push({now_ + reply.took, now_, reply});
      }
      if (wanted_ > limit_.value()) limit_.Wanted();
      if (pending_.empty() || pending_.top().at > end) break;
      const Pending next = pending_.top();
      pending_.pop();
      now_ = std::max(next.at, now_ + std::chrono::nanoseconds(1));  // no two at one time
      limit_.Take({next.reply.answer, next.began, next.reply.took}, under_way_, now_);
      --under_way_;
      ++answered_;
      most_seen_ = std::max(most_seen_, limit_.value());
      least_seen_ = std::min(least_seen_, limit_.value());
    }
    now_ = end;
  }

  TimePoint now() const { return now_; }
  int limit() const { return limit_.value(); }
  int answered() const { return answered_; }
  int most_seen() const { return most_seen_; }
  int least_seen() const { return least_seen_; }
  void Forget() { answered_ = 0, most_seen_ = 0, least_seen_ = 1 << 20; }

 private:
  struct Pending {
    TimePoint at, began;
    Reply reply;
    bool operator<(const Pending& other) const { return at > other.at; }
  };
  HostLimit limit_;
  const int wanted_;
  TimePoint now_{};
  int under_way_ = 0;
  int answered_ = 0;
  int most_seen_ = 0;
  int least_seen_ = 1 << 20;
  std::priority_queue<Pending> pending_;
};

Host::Serve Always(microseconds took) {
  return [took](int) { return Host::Reply{took}; };
}

// Carries `at_once` at a time, in `took` each; what is beyond waits for the first that is free.
class Carries {
 public:
  Carries(int at_once, microseconds took) : free_(static_cast<std::size_t>(at_once)), took_(took) {}

  Host::Serve At(const Host& host) {
    return [this, &host](int) {
      const auto first = std::min_element(free_.begin(), free_.end());
      *first = std::max(*first, host.now()) + took_;
      return Host::Reply{duration_cast<microseconds>(*first - host.now())};
    };
  }

 private:
  std::vector<TimePoint> free_;
  const microseconds took_;
};

TEST(HostLimit, BeginsLowAndNeverGoesBeyondTheMost) {
  EXPECT_EQ(HostLimit(4096).value(), 64);
  EXPECT_EQ(HostLimit(5).value(), 5);
  Host host(200);
  host.Ask(Always(milliseconds(30)), seconds(5));
  EXPECT_EQ(host.limit(), 200);
  EXPECT_EQ(host.most_seen(), 200);
}

TEST(HostLimit, ASlowServiceGetsAsMuchAsAFastOneInProportionToItsTime) {
  Host host(4096);
  host.Ask(Always(seconds(2)), seconds(30));
  EXPECT_EQ(host.limit(), 4096);
  host.Forget();
  host.Ask(Always(seconds(2)), seconds(60));
  EXPECT_GE(host.answered(), 60 * 2000);
  EXPECT_EQ(host.least_seen(), 4096);
}

TEST(HostLimit, AHostThatCarriesAHundredIsNotFlooded) {
  Host host(4096);
  Carries hundred(100, milliseconds(200));
  host.Ask(hundred.At(host), seconds(60));
  EXPECT_LE(host.most_seen(), 512);
  host.Forget();
  host.Ask(hundred.At(host), seconds(60));
  EXPECT_LE(host.most_seen(), 300);
  EXPECT_GE(host.answered(), 60 * 250) << "at least half of the 500 a second that it could";
}

// Answers come through one loop that needs `each` for one, and that is held up for `held` once in
// so many answers, as on a machine that does other work.
class Loop {
 public:
  Loop(microseconds each, int once_in, microseconds held)
      : each_(each), once_in_(once_in), held_(held) {}

  Host::Serve At(const Host& host) {
    return [this, &host](int) {
      free_ = std::max(free_, host.now()) + each_;
      if (++n_ % once_in_ == 0) free_ += held_;
      return Host::Reply{duration_cast<microseconds>(free_ - host.now())};
    };
  }

 private:
  const microseconds each_;
  const int once_in_;
  const microseconds held_;
  TimePoint free_{};
  int n_ = 0;
};

TEST(HostLimit, OneThatAnswersAtOnceHasEnoughWithTheFirst) {
  Host host(4096);
  Loop loop(microseconds(20), 1 << 20, microseconds(0));
  host.Ask(loop.At(host), seconds(3));
  EXPECT_EQ(host.most_seen(), HostLimit::kFirst);
  EXPECT_EQ(host.least_seen(), HostLimit::kFirst);
}

TEST(HostLimit, WhatHoldsThisProcessUpDoesNotMoveTheLimitOfOneThatAnswersAtOnce) {
  for (const int once_in : {37, 500, 4000}) {
    for (const milliseconds held : {milliseconds(7), milliseconds(60), milliseconds(300)}) {
      Host host(4096);
      Loop loop(microseconds(20), once_in, held);
      host.Ask(loop.At(host), seconds(6));
      EXPECT_GE(host.least_seen(), 32) << once_in << ", " << held.count() << " ms";
      EXPECT_LE(host.most_seen(), 128) << once_in << ", " << held.count() << " ms";
    }
  }
}

// So slow that it does not come to what would be enough.
TEST(HostLimit, ABusyProcessDoesNotTakeItsOwnTimeForTheHosts) {
  Host host(4096);
  Loop loop(microseconds(300), 1000, milliseconds(90));
  host.Ask(loop.At(host), seconds(60));
  EXPECT_GE(host.least_seen(), HostLimit::kFirst);
  EXPECT_LE(host.most_seen(), 256);
}

TEST(HostLimit, OneThatHasBecomeFastFallsToWhatMakesEnough) {
  Host host(4096);
  host.Ask(Always(seconds(2)), seconds(30));
  ASSERT_EQ(host.limit(), 4096);
  Loop loop(microseconds(30), 1 << 20, microseconds(0));
  host.Ask(loop.At(host), seconds(3));
  EXPECT_LE(host.limit(), 2 * HostLimit::kFirst);
}

// Neither as usual nor slow: without a trial it would have to do with few for ever.
TEST(HostLimit, OneThatHasBecomeALittleSlowerGetsMoreAfterATrial) {
  Host host(4096);
  host.Ask(Always(milliseconds(20)), seconds(5));
  ASSERT_LE(host.limit(), 256);
  host.Ask(Always(milliseconds(60)), seconds(20));
  EXPECT_GE(host.limit(), 400);
}

TEST(HostLimit, WhatIsNotWantedIsNotLearnt) {
  Host host(4096, 10);
  host.Ask(Always(milliseconds(20)), seconds(60));
  EXPECT_EQ(host.limit(), 64);
}

TEST(HostLimit, RefusalsHalveItDownToALeastAndItComesBack) {
  Host host(2048);
  host.Ask(Always(milliseconds(500)), seconds(10));
  ASSERT_EQ(host.limit(), 2048);
  host.Ask([](int) { return Host::Reply{milliseconds(500), Answer::kRefused}; }, seconds(10));
  EXPECT_EQ(host.limit(), HostLimit::kLeast);
  host.Ask(Always(milliseconds(500)), seconds(60));
  EXPECT_EQ(host.limit(), 2048);
}

TEST(HostLimit, AServiceThatRefusesAboveAHundredIsKeptNearAHundred) {
  Host host(4096);
  int refused = 0;
  std::multiset<TimePoint> admitted;
  const Host::Serve serve = [&](int) {
    admitted.erase(admitted.begin(), admitted.upper_bound(host.now()));
    if (admitted.size() >= 100) {
      ++refused;
      return Host::Reply{milliseconds(5), Answer::kRefused};
    }
    admitted.insert(host.now() + milliseconds(500));
    return Host::Reply{milliseconds(500)};
  };
  host.Ask(serve, seconds(60));
  refused = 0;
  host.Forget();
  host.Ask(serve, seconds(300));
  EXPECT_LE(host.most_seen(), 130);
  EXPECT_LE(refused, host.answered() / 50);
  EXPECT_GE(host.answered(), 300 * 140) << "of 200 a second";
}

// One tenant's questions that never end do not take the service from the others.
TEST(HostLimit, FewThatTimeOutAmongManyChangeNothing) {
  Host host(1024);
  int n = 0;
  host.Ask(
      [&](int) {
        return ++n % 100 == 0 ? Host::Reply{seconds(2), Answer::kFailed}
                              : Host::Reply{milliseconds(200)};
      },
      seconds(60));
  EXPECT_EQ(host.limit(), 1024);
}

TEST(HostLimit, OnesThatHangAmongThoseAnsweredDoNotMakeItSlow) {
  Host host(1024);
  int n = 0;
  host.Ask([&](int) { return Host::Reply{++n % 20 == 0 ? seconds(10) : milliseconds(200)}; },
           seconds(60));
  EXPECT_EQ(host.limit(), 1024);
}

// The answers take three times as long for a reason that is not their number.
TEST(HostLimit, AServiceThatHasBecomeSlowerIsTriedWithHalfAndThenGetsEverythingBack) {
  Host host(1024);
  host.Ask(Always(milliseconds(200)), seconds(20));
  ASSERT_EQ(host.limit(), 1024);
  host.Forget();
  host.Ask(Always(milliseconds(600)), seconds(20));
  EXPECT_EQ(host.limit(), 1024);
  EXPECT_EQ(host.least_seen(), 512);
}

TEST(HostLimit, AnAnswerToWhatBeganBeforeTheChangeSaysNothingOfIt) {
  HostLimit limit(4096);
  const TimePoint start{};
  for (int i = 0; i < 64; ++i) {
    limit.Wanted();
    limit.Take({Answer::kServed, start, milliseconds(150)}, 64, start + milliseconds(150));
  }
  EXPECT_EQ(limit.value(), 128) << "and the rest of the first 64 did not double it again";
}

TEST(HostLimit, WhatSaysNothingOfItsLoadIsNotCounted) {
  HostLimit limit(4096);
  for (int i = 0; i < 1000; ++i) {
    limit.Wanted();
    limit.Take({Answer::kOther, TimePoint{}, milliseconds(1)}, 64, TimePoint{} + seconds(i));
  }
  EXPECT_EQ(limit.value(), 64);
}

}  // namespace
}  // namespace vedette::net
