#include "worker/blocks/waterfall.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/json.h"
#include "domain/email/address.h"
#include "worker/blocks/row_runner.h"

namespace vedette::worker {
namespace {

using domain::FindEnd;
using domain::FoundAddress;
using domain::PatternSeen;
using domain::TryOutcome;
using std::chrono::milliseconds;

bool IsOk(const FoundAddress& address) {
  return address.candidate.status == domain::AddressStatus::kOk;
}

bool Answered(const Try& one) {
  return one.shown.outcome == TryOutcome::kFound || one.shown.outcome == TryOutcome::kNothing;
}

// How long to wait before the last provider is asked again; empty where it is not.
std::optional<milliseconds> RetryWait(const std::vector<Try>& tries, milliseconds time_left) {
  const Try& last = tries.back();
  if (last.shown.outcome != TryOutcome::kFailed || !last.retryable) return std::nullopt;
  const bool is_second = tries.size() > 1 && tries[tries.size() - 2].provider == last.provider;
  const milliseconds wait = std::max(last.retry_after, kRetryWaitMin);
  if (is_second || wait + kAttemptTimeMin > time_left) return std::nullopt;
  return wait;
}

std::string KeyOf(const std::string& address) {
  const auto parsed = domain::ParseAddress(address);
  base::Assert(parsed.has_value(), "a candidate is an address");
  return parsed->Key();
}

bool IsOpen(const FoundAddress& address) {
  return address.candidate.status == domain::AddressStatus::kUnknown &&
         address.check == domain::AddressCheck::kOpen;
}

// Whether the answer about a guess shows that its server would say the same of every other one. A
// refusal that is unclear is about one address, and so is a mailbox that is full or turned off.
bool TellsNothing(const FoundAddress& address) {
  constexpr domain::VerdictReason kOfOne[] = {domain::VerdictReason::kRefusedUnclear,
                                              domain::VerdictReason::kDisabled,
                                              domain::VerdictReason::kFull};
  if (address.candidate.stated || address.check != domain::AddressCheck::kVerified ||
      address.candidate.status != domain::AddressStatus::kUnknown) {
    return false;
  }
  return std::none_of(std::begin(kOfOne), std::end(kOfOne), [&](domain::VerdictReason reason) {
    return address.reason == domain::VerdictReasonName(reason);
  });
}

// Whether the permits to ask about guesses are used up: others would be refused, too.
bool WaitsForPermits(const FoundAddress& address) {
  return !address.candidate.stated && address.check == domain::AddressCheck::kLater &&
         address.reason == domain::VerdictReasonName(domain::VerdictReason::kRate);
}

// The addresses to verify now: all that were stated; else the next guesses.
std::vector<std::size_t> NextToVerify(const std::vector<FoundAddress>& seen) {
  std::vector<std::size_t> stated;
  std::vector<std::size_t> guesses;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (IsOpen(seen[i])) (seen[i].candidate.stated ? stated : guesses).push_back(i);
  }
  if (!stated.empty() || guesses.empty()) return stated;
  if (std::any_of(seen.begin(), seen.end(), WaitsForPermits)) return {};
  const PatternSeen pattern = seen[guesses.front()].candidate.seen;
  const bool is_first = std::none_of(seen.begin(), seen.end(), [&](const FoundAddress& address) {
    return address.candidate.seen == pattern && !IsOpen(address);
  });
  const bool is_alone = pattern != PatternSeen::kNot && is_first;
  guesses.resize(std::min(guesses.size(), is_alone ? 1 : kGuessesAtOnce));
  return guesses;
}

}  // namespace

Step NextStep(std::size_t providers, const std::vector<Try>& tries,
              const std::vector<FoundAddress>& seen, milliseconds time_left, Verifying verifying) {
  if (std::any_of(seen.begin(), seen.end(), IsOk)) return End{FindEnd::kWorked};
  if (verifying == Verifying::kYes) {
    auto addresses = NextToVerify(seen);
    if (!addresses.empty() && time_left < kAttemptTimeMin) return End{FindEnd::kOutOfTime};
    if (!addresses.empty()) return VerifyAddresses{std::move(addresses)};
  }
  std::size_t next = 0;
  if (!tries.empty()) {
    if (const auto wait = RetryWait(tries, time_left)) {
      return AskProvider{tries.back().provider, *wait};
    }
    next = tries.back().provider + 1;
  }
  if (next >= providers) {
    const bool is_later = std::any_of(seen.begin(), seen.end(), [](const FoundAddress& address) {
      return address.check == domain::AddressCheck::kLater;
    });
    if (is_later) return WaitUntil{};
    const bool is_answered = std::any_of(tries.begin(), tries.end(), Answered);
    if (is_answered) return End{FindEnd::kWorked};
    // A provider that took all the time might have answered with more of it.
    const bool had_time = tries.empty() || time_left >= kAttemptTimeMin;
    return End{had_time ? FindEnd::kNoneAnswered : FindEnd::kOutOfTime};
  }
  if (time_left < kAttemptTimeMin) return End{FindEnd::kOutOfTime};
  return AskProvider{next, milliseconds(0)};
}

void AddCandidates(const std::string& provider, const domain::Candidates& candidates,
                   std::size_t candidates_max, std::vector<FoundAddress>* seen) {
  std::size_t stated = 0;
  std::vector<std::string> keys;
  std::transform(seen->begin(), seen->end(), std::back_inserter(keys),
                 [](const FoundAddress& address) { return KeyOf(address.candidate.address); });
  for (const domain::Candidate& candidate : candidates) {
    if (candidate.stated && ++stated > candidates_max) continue;
    const std::string key = KeyOf(candidate.address);
    const auto known = std::find(keys.begin(), keys.end(), key);
    if (known == keys.end()) {
      seen->push_back({candidate, provider, ""});
      keys.push_back(key);
      continue;
    }
    FoundAddress& before = (*seen)[static_cast<std::size_t>(known - keys.begin())];
    // What a server has said of an address holds, even if another provider names it again.
    const bool is_better = candidate.status < before.candidate.status &&
                           before.check != domain::AddressCheck::kVerified;
    if (is_better || candidate.status == domain::AddressStatus::kOk) {
      before = {candidate, provider, ""};
    } else if (candidate.stated && !before.candidate.stated) {
      before.candidate.stated = true;
      before.candidate.sources = candidate.sources;
      before.candidate.quote = candidate.quote;
      before.candidate.confidence =
          std::max(before.candidate.confidence, domain::ConfidenceOf(before.candidate));
    }
  }
}

void ReplanGuesses(std::size_t guesser, std::vector<Try>* tries, std::vector<FoundAddress>* seen) {
  if (tries->empty() || tries->back().provider != guesser) return;
  const std::size_t unasked = std::erase_if(*seen, [](const FoundAddress& address) {
    return !address.candidate.stated && IsOpen(address) && address.attempts == 0;
  });
  if (unasked > 0) tries->pop_back();
}

void DropGuesses(Verifying verifying, std::vector<FoundAddress>* seen) {
  const auto is_unknown_guess = [](const FoundAddress& address) {
    return !address.candidate.stated && address.candidate.status == domain::AddressStatus::kUnknown;
  };
  if (std::any_of(seen->begin(), seen->end(), IsOk)) {
    std::erase_if(*seen, is_unknown_guess);
    return;
  }
  auto kept = seen->end();
  if (verifying == Verifying::kNo) {
    kept = std::find_if(seen->begin(), seen->end(), is_unknown_guess);
  } else {
    kept = std::find_if(seen->begin(), seen->end(), TellsNothing);
  }
  if (kept == seen->end()) return;
  std::vector<FoundAddress> left;
  for (auto it = seen->begin(); it != seen->end(); ++it) {
    if (it == kept || !is_unknown_guess(*it)) left.push_back(std::move(*it));
  }
  *seen = std::move(left);
}

namespace {

using base::Json;
using domain::AddressCheck;

enum class Kept { kAll, kSources, kNeither };

template <typename E>
int Number(E value) {
  return static_cast<int>(value);
}

Json AddressJson(const FoundAddress& address, Kept kept) {
  const domain::Candidate& candidate = address.candidate;
  Json json = Json::object();
  json["address"] = candidate.address;
  json["stated"] = candidate.stated;
  json["status"] = Number(candidate.status);
  json["confidence"] = candidate.confidence;
  json["sources"] = kept == Kept::kNeither ? std::vector<std::string>() : candidate.sources;
  json["quote"] = kept == Kept::kAll ? candidate.quote : std::string();
  json["pattern"] = candidate.pattern ? Json(Number(*candidate.pattern)) : Json(nullptr);
  json["learned"] = candidate.seen == domain::PatternSeen::kLearned;
  json["provider"] = address.provider;
  json["reason"] = address.reason;
  json["check"] = Number(address.check);
  json["attempts"] = address.attempts;
  json["checked_at"] =
      address.checked_at ? Json(base::FormatTimestamp(*address.checked_at)) : Json(nullptr);
  return json;
}

FoundAddress ReadAddress(const Json& json) {
  FoundAddress address;
  domain::Candidate& candidate = address.candidate;
  candidate.address = json.at("address").get<std::string>();
  candidate.stated = json.at("stated").get<bool>();
  candidate.status = static_cast<domain::AddressStatus>(json.at("status").get<int>());
  candidate.confidence = json.at("confidence").get<int>();
  candidate.sources = json.at("sources").get<std::vector<std::string>>();
  candidate.quote = json.at("quote").get<std::string>();
  if (const Json& pattern = json.at("pattern"); !pattern.is_null()) {
    candidate.pattern = domain::ReadAddressPattern(pattern.get<int>());
  }
  // Guesses of other patterns are made again where the lead comes back.
  if (json.at("learned").get<bool>()) candidate.seen = domain::PatternSeen::kLearned;
  address.provider = json.at("provider").get<std::string>();
  address.reason = json.at("reason").get<std::string>();
  address.check = static_cast<AddressCheck>(json.at("check").get<int>());
  if (address.check == AddressCheck::kLater) address.check = AddressCheck::kOpen;
  address.attempts = json.at("attempts").get<int>();
  if (const Json& at = json.at("checked_at"); !at.is_null()) {
    address.checked_at = base::ParseTimestamp(at.get<std::string>());
  }
  return address;
}

Json TryJson(const Try& one) {
  Json json = Json::object();
  json["place"] = one.provider;
  json["provider"] = one.shown.provider;
  json["outcome"] = Number(one.shown.outcome);
  json["error_class"] = one.shown.error_class;
  json["elapsed_ms"] = one.shown.elapsed.count();
  return json;
}

Try ReadTry(const Json& json) {
  Try one;
  one.provider = json.at("place").get<std::size_t>();
  one.shown.provider = json.at("provider").get<std::string>();
  one.shown.outcome = static_cast<domain::TryOutcome>(json.at("outcome").get<int>());
  one.shown.error_class = json.at("error_class").get<std::string>();
  one.shown.elapsed = std::chrono::milliseconds(json.at("elapsed_ms").get<std::int64_t>());
  return one;
}

}  // namespace

std::optional<std::string> WriteFindMemo(const FindMemo& memo) {
  for (const Kept kept : {Kept::kAll, Kept::kSources, Kept::kNeither}) {
    Json json = Json::object();
    json["domain"] = memo.domain;
    Json& domain_tries = json["domain_tries"] = Json::array();
    for (const Try& one : memo.domain_tries) domain_tries.push_back(TryJson(one));
    Json& tries = json["tries"] = Json::array();
    for (const Try& one : memo.tries) tries.push_back(TryJson(one));
    Json& seen = json["seen"] = Json::array();
    for (const FoundAddress& address : memo.seen) seen.push_back(AddressJson(address, kept));
    std::string text = base::DumpJson(json);
    if (text.size() <= kMemoBytesMax) return text;
  }
  return std::nullopt;
}

std::optional<FindMemo> ReadFindMemo(std::string_view text) {
  Json json;
  if (base::ParseJson(text, &json)) return std::nullopt;
  try {
    FindMemo memo;
    memo.domain = json.at("domain").get<std::string>();
    for (const Json& one : json.at("domain_tries")) memo.domain_tries.push_back(ReadTry(one));
    for (const Json& one : json.at("tries")) memo.tries.push_back(ReadTry(one));
    for (const Json& address : json.at("seen")) memo.seen.push_back(ReadAddress(address));
    return memo;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace vedette::worker
