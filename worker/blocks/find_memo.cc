#include "worker/blocks/find_memo.h"

#include <exception>
#include <utility>

#include "base/json.h"
#include "worker/blocks/row_runner.h"

namespace vedette::worker {
namespace {

using base::Json;
using domain::AddressCheck;
using domain::FoundAddress;

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
