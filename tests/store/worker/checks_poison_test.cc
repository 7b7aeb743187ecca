// Rows that end their process, and those that were in it.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "config/role_config.h"
#include "lease/suspect_slot.h"
#include "tests/store/support/worker_support.h"

namespace vedette::test {
namespace {

// One-row monitors of as many organisations; the row of one of them ends its process. All checks
// that are under way are answered together, which is a turn. The process dies once that row is
// among them.
class PoisonTest : public WorkerTest {
 public:
  static constexpr std::size_t kInnocents = 200;
  static constexpr std::size_t kAll = kInnocents + 1;

  PoisonTest() {
    probe.SetMonitorScript([this](const base::Uuid& monitor) {
      const std::lock_guard lock(held_mutex);
      under_way.insert(monitor);
      return std::nullopt;
    });
  }

  void MakeMonitors() {
    for (std::size_t n = 0; n < kAll; ++n) {
      poison = NewMonitor({.rows = 1, .org = NewOrganisation(1'000'000)});
    }
    Sql("update monitor_row set baseline = '{\"price\": \"1\"}'");
    while (Cut().more) {
    }
    ASSERT_EQ(Sql("select count(*) from chunk"), std::to_string(kAll));
  }

  // Waits for the next turn, and gives the monitors that are checked in it: `n` beside each other,
  // or a suspect alone. None: nothing is left to check.
  std::set<base::Uuid> Turn(std::size_t n) {
    std::set<base::Uuid> turn;
    Until(fmt::format("{} checks are under way", n), [&] {
      const std::lock_guard lock(held_mutex);
      turn = under_way;
      const bool alone = turn.size() == 1 && suspects.contains(*turn.begin());
      return turn.size() == n || alone ||
             (turn.empty() && Sql("select count(*) from chunk") == "0");
    });
    return turn;
  }

  void Answer(Process& process) {
    Forget();
    probe.Release(process.loop, Price("1"));
  }

  void Die(Process& process) {
    process.Die();
    Forget();
  }

  base::Uuid poison;
  std::set<base::Uuid> suspects;  // under way beside others when a process died

 private:
  void Forget() {
    const std::lock_guard lock(held_mutex);
    under_way.clear();
  }

  std::set<base::Uuid> under_way;  // guarded by held_mutex
};

// Without care the innocent rows that were in the process would be tried one after the other.
TEST_F(PoisonTest, G10_InnocentRowsBesideOneThatKillsAreCheckedInFewTurnsAndNoneFails) {
  constexpr std::size_t kFew = lease::SuspectSlot::kWithOthersMax;
  MakeMonitors();
  for (int claim = 1; claim < settings.worker.claims_max; ++claim) {
    Process process(*this);
    ASSERT_EQ(Turn(kAll).size(), kAll);
    Die(process);
  }
  std::size_t unsuspected = kAll;
  std::size_t turns = 0;
  int deaths = 0;
  for (bool over = false; !over;) {
    Process process(*this);
    while (true) {
      const auto turn = Turn(std::min(std::max<std::size_t>(unsuspected, 1), kFew));
      ASSERT_FALSE(HasFatalFailure()) << unsuspected << " are not suspected";
      over = turn.empty();
      if (over) break;
      ++turns;
      if (!suspects.contains(*turn.begin())) unsuspected -= turn.size();
      if (turn.contains(poison)) {
        ++deaths;
        suspects.insert(turn.begin(), turn.end());
        Die(process);
        break;
      }
      Answer(process);
    }
  }
  EXPECT_LE(turns, kAll / kFew + 1 + kFew + static_cast<std::size_t>(settings.worker.claims_max))
      << "each innocent row once beside others, and those that were beside the one that kills "
         "alone";
  EXPECT_EQ(deaths, 1 + settings.worker.claims_max) << "the claims after those that were ordinary";
  EXPECT_EQ(Outcomes(poison), "failed");
  EXPECT_EQ(Sql("select message like 'probe_crashed: %' from event"), "t");
  EXPECT_EQ(Sql("select count(*) from row_state where outcome = 2"), std::to_string(kInnocents));
  ExpectMoneyAddsUp();
}

}  // namespace
}  // namespace vedette::test
