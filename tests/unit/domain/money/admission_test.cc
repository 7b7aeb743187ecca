#include "domain/money/money.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace vedette::domain {
namespace {

// The rule of admission, check by check in position order: balance, then the team's limit. The slow
// way that Admit has to agree with.
Admission AdmitOneByOne(const AdmissionRequest& request) {
  std::int64_t balance_mc = request.balance_mc + request.reserved_mc;
  std::int64_t limit_mc = 0;
  if (request.spend_left_mc) {
    limit_mc = std::max<std::int64_t>(*request.spend_left_mc, 0) + request.reserved_mc;
  }
  Admission out;
  for (int i = 0; i < request.checks; ++i) {
    if (balance_mc < request.price_mc) {
      ++out.skipped_balance;
    } else if (request.spend_left_mc && limit_mc < request.price_mc) {
      ++out.skipped_spend_limit;
    } else {
      balance_mc -= request.price_mc;
      limit_mc -= request.price_mc;
      ++out.admitted;
    }
  }
  out.reserve_mc = out.admitted * request.price_mc - request.reserved_mc;
  return out;
}

void ExpectSame(const Admission& actual, const Admission& expected) {
  EXPECT_EQ(actual.admitted, expected.admitted);
  EXPECT_EQ(actual.skipped_balance, expected.skipped_balance);
  EXPECT_EQ(actual.skipped_spend_limit, expected.skipped_spend_limit);
  EXPECT_EQ(actual.reserve_mc, expected.reserve_mc);
}

struct AdmissionCase {
  const char* what;
  AdmissionRequest request;
  Admission expected;
};

TEST(Admission, FollowsTheRulesOfPaying) {
  // request: balance, spend left, reserved, price, checks;
  // expected: admitted, skipped_balance, skipped_spend_limit, reserve
  const std::vector<AdmissionCase> cases = {
      {"enough for all", {10000, std::nullopt, 0, 1000, 10}, {10, 0, 0, 10000}},
      {"one millicredit short of the last", {9999, std::nullopt, 0, 1000, 10}, {9, 1, 0, 9000}},
      {"nothing at all", {0, std::nullopt, 0, 1000, 3}, {0, 3, 0, 0}},
      {"no checks", {5000, std::nullopt, 0, 1000, 0}, {0, 0, 0, 0}},
      {"the limit is lower", {10000, 4500, 0, 1000, 10}, {4, 0, 6, 4000}},
      {"the balance is lower", {3000, 4500, 0, 1000, 10}, {3, 7, 0, 3000}},
      {"both end at once: balance is asked first", {4000, 4000, 0, 1000, 10}, {4, 6, 0, 4000}},
      {"both are empty: balance is asked first", {0, 0, 0, 1000, 2}, {0, 2, 0, 0}},
      {"a limit that was lowered below what is spent", {9000, -7000, 0, 1000, 2}, {0, 0, 2, 0}},
      {"a price of 0 needs no balance", {0, std::nullopt, 0, 0, 7}, {7, 0, 0, 0}},
      {"a price of 0 needs no limit left", {0, 0, 0, 0, 7}, {7, 0, 0, 0}},
      {"an earlier reservation pays", {0, std::nullopt, 5000, 1000, 5}, {5, 0, 0, 0}},
      {"an earlier reservation and some more",
       {2000, std::nullopt, 3000, 1000, 5},
       {5, 0, 0, 2000}},
      {"an earlier reservation was counted as spent", {9000, 0, 2000, 1000, 5}, {2, 0, 3, 0}},
      {"fewer checks than were reserved for", {0, std::nullopt, 5000, 1000, 2}, {2, 0, 0, -3000}},
      {"no checks left of a reservation", {0, std::nullopt, 5000, 1000, 0}, {0, 0, 0, -5000}},
      {"as much money as a column holds",
       {std::int64_t{9'000'000'000'000'000'000}, std::nullopt, 0, 20000, 2'000'000'000},
       {2'000'000'000, 0, 0, 40'000'000'000'000}},
  };
  for (const AdmissionCase& c : cases) {
    SCOPED_TRACE(c.what);
    ExpectSame(Admit(c.request), c.expected);
    if (c.request.checks < 100) ExpectSame(AdmitOneByOne(c.request), c.expected);
  }
}

TEST(Admission, AgreesWithAskingCheckByCheck) {
  std::mt19937_64 random(20261121);
  const auto below = [&random](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int i = 0; i < 20000; ++i) {
    AdmissionRequest request;
    request.price_mc = below(8) == 0 ? 0 : below(3000);
    request.balance_mc = below(200000);
    if (below(2) == 0) request.spend_left_mc = below(200000) - 20000;
    request.checks = static_cast<int>(below(257));
    if (below(2) == 0) request.reserved_mc = below(300) * request.price_mc;
    SCOPED_TRACE(i);
    ExpectSame(Admit(request), AdmitOneByOne(request));
    if (HasFailure()) break;
  }
}

// One organisation with a team, living through chunks that are admitted, change hands with rows
// left, and end in completed and failed checks, between top-ups and changed limits. Money is kept
// as it is: what is reserved is the sum over chunks, spending is counted at admission.
class Ledger {
 public:
  explicit Ledger(std::uint64_t seed) : random_(seed) {}

  void Step() {
    switch (Below(6)) {
      case 0:
        TopUp();
        break;
      case 1:
        limit_mc_ = Below(3) == 0 ? std::nullopt : std::optional<std::int64_t>(Below(400000));
        break;
      case 2:
      case 3:
        open_.push_back(
            {kPrices[static_cast<std::size_t>(Below(5))], static_cast<int>(1 + Below(256)), 0});
        AdmitChunk(&open_.back());
        break;
      case 4:
        if (!open_.empty()) ChangeHands();
        break;
      default:
        if (!open_.empty()) Finish();
    }
    Check();
  }

 private:
  static constexpr std::int64_t kPrices[] = {0, 500, 1000, 5000, 20000};
  struct Chunk {
    std::int64_t price_mc;
    int checks;
    std::int64_t reserved_mc;
    int admitted = 0;
  };

  std::int64_t Below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }

  void TopUp() {
    const std::int64_t amount = Below(300000);
    balance_mc_ += amount;
    given_mc_ += amount;
  }

  void AdmitChunk(Chunk* chunk) {
    AdmissionRequest request;
    request.balance_mc = balance_mc_;
    if (limit_mc_) request.spend_left_mc = *limit_mc_ - spent_mc_;
    request.reserved_mc = chunk->reserved_mc;
    request.price_mc = chunk->price_mc;
    request.checks = chunk->checks;
    const Admission admission = Admit(request);
    ASSERT_EQ(admission.admitted + admission.skipped_balance + admission.skipped_spend_limit,
              chunk->checks);
    EXPECT_TRUE(admission.skipped_balance == 0 || admission.skipped_spend_limit == 0);
    EXPECT_LE(admission.reserve_mc, balance_mc_);
    EXPECT_EQ(chunk->reserved_mc + admission.reserve_mc, admission.admitted * chunk->price_mc);
    if (admission.reserve_mc > 0 && limit_mc_) {
      EXPECT_LE(spent_mc_ + admission.reserve_mc, *limit_mc_) << "admitted over the limit";
    }
    balance_mc_ -= admission.reserve_mc;
    spent_mc_ += admission.reserve_mc;
    chunk->reserved_mc += admission.reserve_mc;
    chunk->admitted = admission.admitted;
  }

  // Some of its checks are recorded, then another worker claims the rest.
  void ChangeHands() {
    Chunk& chunk = Pick();
    Charge(&chunk, static_cast<int>(Below(chunk.admitted + 1)));
    AdmitChunk(&chunk);
  }

  void Finish() {
    Chunk& chunk = Pick();
    Charge(&chunk, static_cast<int>(Below(chunk.admitted + 1)));
    balance_mc_ += chunk.reserved_mc;
    spent_mc_ -= chunk.reserved_mc;
    chunk = open_.back();
    open_.pop_back();
  }

  void Charge(Chunk* chunk, int completed) {
    chunk->reserved_mc -= completed * chunk->price_mc;
    charged_mc_ += completed * chunk->price_mc;
    chunk->checks -= completed;
    chunk->admitted -= completed;
  }

  Chunk& Pick() { return open_[static_cast<std::size_t>(Below(static_cast<int>(open_.size())))]; }

  void Check() {
    std::int64_t reserved_mc = 0;
    for (const Chunk& chunk : open_) {
      EXPECT_GE(chunk.reserved_mc, 0);
      reserved_mc += chunk.reserved_mc;
    }
    EXPECT_GE(balance_mc_, 0);
    EXPECT_GE(spent_mc_, 0);
    EXPECT_EQ(balance_mc_ + reserved_mc + charged_mc_, given_mc_);
    EXPECT_EQ(spent_mc_, reserved_mc + charged_mc_);
  }

  std::mt19937_64 random_;
  std::int64_t balance_mc_ = 0;
  std::int64_t given_mc_ = 0;
  std::int64_t charged_mc_ = 0;
  std::optional<std::int64_t> limit_mc_;
  std::int64_t spent_mc_ = 0;
  std::vector<Chunk> open_;
};

TEST(Admission, G4MoneyIsConservedAndTheBalanceNeverNegativeInAnyHistory) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Ledger ledger(seed);
    for (int step = 0; step < 500; ++step) ledger.Step();
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace vedette::domain
