#include "worker/providers/email_memory.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <vector>

#include "tests/unit/net/support.h"

namespace vedette::worker {
namespace {

using namespace std::chrono_literals;
using Turn = std::shared_ptr<DomainTurns::Turn>;

TEST(DomainTurns, LeadsOfOneDomainGoOneAfterAnotherAndOthersAtOnce) {
  net::test::LoopThread loop;
  loop.Run([&] {
    DomainTurns turns(loop.loop);
    const base::Uuid org = base::Uuid::V4();
    std::vector<int> went;
    std::vector<Turn> held(4);
    const auto take = [&](int n, const base::Uuid& who, const char* domain) {
      turns.Take(who, domain, 10min, [&, n](Turn turn) {
        went.push_back(n);
        held[static_cast<std::size_t>(n)] = std::move(turn);
      });
    };
    take(0, org, "acme.com");
    take(1, org, "acme.com");
    take(2, org, "other.com");
    take(3, base::Uuid::V4(), "acme.com");
    EXPECT_EQ(went, (std::vector<int>{0, 2, 3}));
    held[0].reset();
    EXPECT_EQ(went, (std::vector<int>{0, 2, 3, 1}));
  });
}

TEST(DomainTurns, ALeadWhoseWaitIsOverGoesWithoutATurn) {
  net::test::LoopThread loop;
  std::promise<bool> went;
  std::unique_ptr<DomainTurns> turns;
  Turn held;
  loop.Run([&] {
    turns = std::make_unique<DomainTurns>(loop.loop);
    const base::Uuid org = base::Uuid::V4();
    turns->Take(org, "acme.com", 10min, [&](Turn turn) { held = std::move(turn); });
    turns->Take(org, "acme.com", 1ms, [&](Turn turn) { went.set_value(turn == nullptr); });
  });
  EXPECT_TRUE(went.get_future().get());
  loop.Run([&] {
    turns.reset();
    held.reset();
  });
}

}  // namespace
}  // namespace vedette::worker
