#include "worker/blocks/waterfall.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace vedette::worker {
namespace {

using namespace std::chrono_literals;
using domain::AddressStatus;
using domain::Candidates;
using domain::FindEnd;
using domain::FoundAddress;
using domain::PatternSeen;
using domain::TryOutcome;
using std::chrono::milliseconds;

Try Tried(std::size_t provider, TryOutcome outcome, bool retryable = false,
          milliseconds retry_after = 0ms) {
  Try one;
  one.provider = provider;
  one.shown.provider = "p" + std::to_string(provider);
  one.shown.outcome = outcome;
  one.retryable = retryable;
  one.retry_after = retry_after;
  return one;
}

FoundAddress Seen(const std::string& address, AddressStatus status) {
  return {{address, true, status, 5, {}, ""}, "p0", ""};
}

FindEnd EndOf(const Step& step) {
  const auto* end = std::get_if<End>(&step);
  EXPECT_NE(end, nullptr) << "a provider is asked";
  return end == nullptr ? FindEnd::kError : end->end;
}
AskProvider AskOf(const Step& step) {
  const auto* ask = std::get_if<AskProvider>(&step);
  EXPECT_NE(ask, nullptr) << "it ends";
  return ask == nullptr ? AskProvider{999, {}} : *ask;
}

TEST(Waterfall, ProvidersAreAskedInTheirOrder) {
  EXPECT_EQ(AskOf(NextStep(2, {}, {}, 1s)).provider, 0U);
  EXPECT_EQ(AskOf(NextStep(2, {Tried(0, TryOutcome::kNothing)}, {}, 1s)).provider, 1U);
  EXPECT_EQ(AskOf(NextStep(2, {Tried(0, TryOutcome::kSkipped)}, {}, 1s)).provider, 1U);
  EXPECT_EQ(AskOf(NextStep(2, {Tried(0, TryOutcome::kFound)},
                           {Seen("a@x.org", AddressStatus::kUnknown)}, 1s))
                .provider,
            1U);
}

TEST(Waterfall, AnOkEndsIt) {
  EXPECT_EQ(
      EndOf(NextStep(2, {Tried(0, TryOutcome::kFound)}, {Seen("a@x.org", AddressStatus::kOk)}, 1s)),
      FindEnd::kWorked);
}

TEST(Waterfall, AFailureThatMayPassIsTriedOnceMore) {
  const auto failed = Tried(0, TryOutcome::kFailed, true, 2s);
  const auto again = AskOf(NextStep(2, {failed}, {}, 10s));
  EXPECT_EQ(again.provider, 0U);
  EXPECT_EQ(again.wait, 2s);
  EXPECT_EQ(AskOf(NextStep(2, {Tried(0, TryOutcome::kFailed, true)}, {}, 10s)).wait, kRetryWaitMin);
  EXPECT_EQ(AskOf(NextStep(2, {failed, failed}, {}, 10s)).provider, 1U);
  EXPECT_EQ(AskOf(NextStep(2, {failed}, {}, 2s)).provider, 1U) << "there is no time for it";
  EXPECT_EQ(AskOf(NextStep(2, {Tried(0, TryOutcome::kFailed)}, {}, 10s)).provider, 1U);
}

TEST(Waterfall, WithoutAnAnswerOfAnybodyTheLookupHasFailed) {
  EXPECT_EQ(EndOf(NextStep(0, {}, {}, 1s)), FindEnd::kNoneAnswered);
  EXPECT_EQ(
      EndOf(NextStep(2, {Tried(0, TryOutcome::kSkipped), Tried(1, TryOutcome::kFailed)}, {}, 1s)),
      FindEnd::kNoneAnswered);
  EXPECT_EQ(
      EndOf(NextStep(2, {Tried(0, TryOutcome::kNothing), Tried(1, TryOutcome::kFailed)}, {}, 1s)),
      FindEnd::kWorked);
}

TEST(Waterfall, NobodyIsAskedWithoutTime) {
  EXPECT_EQ(EndOf(NextStep(2, {Tried(0, TryOutcome::kNothing)}, {}, kAttemptTimeMin - 1ms)),
            FindEnd::kOutOfTime);
}

TEST(Waterfall, WhoTookAllTheTimeHasNotFailed) {
  const auto late = Tried(0, TryOutcome::kFailed, true);
  EXPECT_EQ(EndOf(NextStep(1, {late}, {}, 0ms)), FindEnd::kOutOfTime);
  EXPECT_EQ(EndOf(NextStep(1, {late}, {}, kAttemptTimeMin)), FindEnd::kNoneAnswered);
  EXPECT_EQ(EndOf(NextStep(1, {Tried(0, TryOutcome::kNothing)}, {}, 0ms)), FindEnd::kWorked);
}

TEST(Waterfall, AnAddressIsKeptOnceAndWithTheBetterStatus) {
  std::vector<FoundAddress> seen;
  const auto candidate = [](const char* address, AddressStatus status) {
    return domain::Candidate{address, true, status, 5, {}, ""};
  };
  AddCandidates(
      "p0",
      {candidate("a@x.org", AddressStatus::kUnknown), candidate("A@X.org", AddressStatus::kUnknown),
       candidate("b@x.org", AddressStatus::kOk), candidate("c@x.org", AddressStatus::kOk)},
      3, &seen);
  ASSERT_EQ(seen.size(), 2U) << "the fourth is over the limit";
  AddCandidates(
      "p1",
      {candidate("A@x.org", AddressStatus::kOk), candidate("b@x.org", AddressStatus::kNotFound)}, 3,
      &seen);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].candidate.status, AddressStatus::kOk);
  EXPECT_EQ(seen[0].provider, "p1");
  EXPECT_EQ(seen[1].candidate.status, AddressStatus::kOk);
  EXPECT_EQ(seen[1].provider, "p0");
}

FoundAddress Guess(const std::string& address, PatternSeen pattern = PatternSeen::kNot) {
  FoundAddress guess = Seen(address, AddressStatus::kUnknown);
  guess.candidate.stated = false;
  guess.candidate.seen = pattern;
  return guess;
}
void Validate(FoundAddress* address, domain::Verdict verdict, domain::VerdictReason reason) {
  domain::ApplyVerdict({verdict, reason, {}, {}}, address);
}
std::vector<std::size_t> VerifiedNext(const std::vector<FoundAddress>& seen) {
  const Step step = NextStep(1, {Tried(0, TryOutcome::kFound)}, seen, 1s, Verifying::kYes);
  const auto* verify = std::get_if<VerifyAddresses>(&step);
  return verify == nullptr ? std::vector<std::size_t>() : verify->addresses;
}

TEST(Waterfall, AddressesAreVerifiedBeforeTheNextProviderIsAsked) {
  const std::vector<FoundAddress> stated = {Seen("a@x.org", AddressStatus::kUnknown),
                                            Seen("b@x.org", AddressStatus::kNotFound),
                                            Seen("c@x.org", AddressStatus::kUnknown)};
  EXPECT_EQ(VerifiedNext(stated), (std::vector<std::size_t>{0, 2}));
  const std::vector<FoundAddress> guesses = {Guess("a@x.org"), Guess("b@x.org"), Guess("c@x.org"),
                                             Guess("d@x.org")};
  EXPECT_EQ(VerifiedNext(guesses), (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Waterfall, OfALearnedPatternTheFirstRenderingIsAskedAlone) {
  constexpr auto kLearned = PatternSeen::kLearned;
  std::vector<FoundAddress> guesses = {Guess("a@x.org", kLearned), Guess("b@x.org", kLearned),
                                       Guess("c@x.org", kLearned)};
  EXPECT_EQ(VerifiedNext(guesses), std::vector<std::size_t>{0});
  Validate(&guesses[0], domain::Verdict::kRefused, domain::VerdictReason::kRefused);
  EXPECT_EQ(VerifiedNext(guesses), (std::vector<std::size_t>{1, 2}));
}

TEST(Waterfall, AGuessOfThePatternThatTheDomainHasShownIsAskedAloneAndFirst) {
  std::vector<FoundAddress> guesses = {Guess("a@x.org", PatternSeen::kHit), Guess("b@x.org"),
                                       Guess("c@x.org", PatternSeen::kHit), Guess("d@x.org")};
  EXPECT_EQ(VerifiedNext(guesses), std::vector<std::size_t>{0});
  Validate(&guesses[0], domain::Verdict::kRefused, domain::VerdictReason::kRefused);
  EXPECT_EQ(VerifiedNext(guesses), (std::vector<std::size_t>{1, 2, 3}));
  Validate(&guesses[0], domain::Verdict::kOk, domain::VerdictReason::kNone);
  EXPECT_TRUE(VerifiedNext(guesses).empty()) << "it answered";
}

TEST(Waterfall, OncePermitsAreUsedUpNoFurtherGuessIsAskedAbout) {
  std::vector<FoundAddress> guesses = {Guess("a@x.org"), Guess("b@x.org"), Guess("c@x.org"),
                                       Guess("d@x.org")};
  Validate(&guesses[0], domain::Verdict::kUnknown, domain::VerdictReason::kRate);
  guesses[0].check = domain::AddressCheck::kLater;
  EXPECT_TRUE(VerifiedNext(guesses).empty());
  Validate(&guesses[0], domain::Verdict::kUnknown, domain::VerdictReason::kGreylisted);
  guesses[0].check = domain::AddressCheck::kLater;
  EXPECT_EQ(VerifiedNext(guesses), (std::vector<std::size_t>{1, 2, 3}));
}

TEST(Waterfall, ALeadThatHasWaitedGuessesAnewButForWhatAServerSaid) {
  std::vector<FoundAddress> seen = {Seen("s@x.org", AddressStatus::kUnknown), Guess("a@x.org"),
                                    Guess("b@x.org"), Guess("c@x.org")};
  Validate(&seen[1], domain::Verdict::kRefused, domain::VerdictReason::kRefused);
  seen[2].attempts = 1;
  std::vector<Try> tries = {Tried(0, TryOutcome::kFound), Tried(1, TryOutcome::kFound)};
  ReplanGuesses(0, &tries, &seen);
  EXPECT_EQ(tries.size(), 2U) << "another one was asked after it";
  ReplanGuesses(1, &tries, &seen);
  EXPECT_EQ(tries.size(), 1U);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].candidate.address, "s@x.org");
  EXPECT_EQ(seen[2].candidate.address, "b@x.org");
}

TEST(Waterfall, WhatSaidLaterIsWaitedForWhenNothingElseIsLeft) {
  std::vector<FoundAddress> seen = {Seen("a@x.org", AddressStatus::kUnknown)};
  seen[0].check = domain::AddressCheck::kLater;
  const auto tried = Tried(0, TryOutcome::kFound);
  EXPECT_EQ(AskOf(NextStep(2, {tried}, seen, 1s, Verifying::kYes)).provider, 1U);
  EXPECT_TRUE(std::holds_alternative<WaitUntil>(NextStep(1, {tried}, seen, 1s, Verifying::kYes)));
}

TEST(Waterfall, GuessesThatSayNothingAreDropped) {
  std::vector<FoundAddress> seen = {Guess("a@x.org"), Guess("b@x.org"), Guess("c@x.org")};
  Validate(&seen[0], domain::Verdict::kUnknown, domain::VerdictReason::kRefusedUnclear);
  DropGuesses(Verifying::kYes, &seen);
  EXPECT_EQ(seen.size(), 3U) << "that is about one address";
  Validate(&seen[1], domain::Verdict::kUnknown, domain::VerdictReason::kPolicy);
  Validate(&seen[0], domain::Verdict::kRefused, domain::VerdictReason::kRefused);
  DropGuesses(Verifying::kYes, &seen);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1].candidate.address, "b@x.org");
  seen = {Guess("a@x.org"), Guess("b@x.org"), Seen("c@x.org", AddressStatus::kUnknown)};
  DropGuesses(Verifying::kNo, &seen);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].candidate.address, "a@x.org");
}

TEST(Waterfall, AGuessThatAPageStatesBecomesAStatedAddress) {
  std::vector<FoundAddress> seen = {Guess("a@x.org")};
  domain::Candidate stated;
  stated.address = "A@x.org";
  stated.sources = {"https://x.org/"};
  AddCandidates("website", {stated}, 3, &seen);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_TRUE(seen[0].candidate.stated);
  EXPECT_EQ(seen[0].candidate.sources.size(), 1U);
}

// One lead worked through by providers that answer at random.
class Play {
 public:
  explicit Play(unsigned seed) : random_(seed), providers_(random_() % 5) {}

  void Run() {
    for (int steps = 0; steps < 100; ++steps) {
      const Step step = NextStep(providers_, tries_, seen_, left_);
      if (const auto* end = std::get_if<End>(&step)) return Validate(end->end);
      ASSERT_FALSE(IsOk()) << "an OK ends it";
      Answer(std::get<AskProvider>(step));
    }
    FAIL() << "it does not end";
  }

 private:
  bool IsOk() const {
    return std::any_of(seen_.begin(), seen_.end(), [](const FoundAddress& address) {
      return address.candidate.status == AddressStatus::kOk;
    });
  }

  void Answer(const AskProvider& ask) {
    ASSERT_LT(ask.provider, providers_);
    ASSERT_GE(left_ - ask.wait, kAttemptTimeMin);
    if (!tries_.empty()) {
      ASSERT_GE(ask.provider, tries_.back().provider) << "the order is kept";
      ASSERT_LE(ask.provider, tries_.back().provider + 1) << "nobody is left out";
    }
    ASSERT_LT(std::count_if(tries_.begin(), tries_.end(),
                            [&](const Try& one) { return one.provider == ask.provider; }),
              2)
        << "at most one retry";
    left_ -= ask.wait + milliseconds(random_() % 3000);
    const auto outcome = static_cast<TryOutcome>(random_() % 4);
    tries_.push_back(
        Tried(ask.provider, outcome, random_() % 2 == 0, milliseconds(random_() % 5000)));
    if (outcome != TryOutcome::kFound) return;
    Candidates candidates;
    for (auto n = 1 + random_() % 4; n > 0; --n) {
      const auto status = static_cast<AddressStatus>(random_() % 3);
      ok_was_stated_ = ok_was_stated_ || status == AddressStatus::kOk;
      candidates.push_back(
          {"a" + std::to_string(random_() % 6) + "@x.org", true, status, 5, {}, ""});
    }
    AddCandidates(tries_.back().shown.provider, candidates, 16, &seen_);
  }

  void Validate(FindEnd end) {
    std::vector<domain::ProviderTry> tries;
    for (const Try& one : tries_) tries.push_back(one.shown);
    const domain::Found found = domain::DecideFound(seen_, tries, end);
    EXPECT_EQ(domain::FoundOutcome(found) == "ok", ok_was_stated_) << "OK is what a provider says";
    const bool is_answered = std::any_of(tries_.begin(), tries_.end(), [](const Try& one) {
      return one.shown.outcome == TryOutcome::kFound || one.shown.outcome == TryOutcome::kNothing;
    });
    if (end == FindEnd::kNoneAnswered) {
      EXPECT_FALSE(is_answered);
      EXPECT_EQ(found.error, domain::kErrorProvidersFailed);
    }
    if (end == FindEnd::kWorked) {
      EXPECT_TRUE(is_answered);
      EXPECT_EQ(found.error, "");
    }
    EXPECT_EQ(
        domain::IsCharged(domain::FindMode::kProfessional, {}, found, domain::ChargeRule::kAlways),
        found.error.empty());
  }

  std::mt19937 random_;
  const std::size_t providers_;
  milliseconds left_{10'000};
  std::vector<Try> tries_;
  std::vector<FoundAddress> seen_;
  bool ok_was_stated_ = false;
};

TEST(Waterfall, WhateverProvidersAnswerItEndsInOrderAndAnOkIsAProvidersWord) {
  for (unsigned seed = 0; seed < 20'000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Play(seed).Run();
  }
}

}  // namespace
}  // namespace vedette::worker
