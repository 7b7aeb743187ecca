#include "app/ctl/ctl_audit.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "store/audit_chain.h"

namespace vedette::app {
namespace {

using base::Json;

constexpr int kPageEntries = 500;
constexpr std::chrono::seconds kAskAgainAfter{1};
// What a chain that is not one counts as: an answer that refuses.
constexpr int kBroken = 409;

[[noreturn]] void Break(const std::string& what) {
  throw RequestFailed(kBroken, what);
}

Json PageBehind(const AskAdmin& ask, std::int64_t seq, int limit) {
  return ask(fmt::format("/admin/v1/audit/chain?after={}&limit={}", seq, limit));
}

std::string HashOf(const std::string& digits) {
  auto hash = base::HexDecode(digits);
  if (!hash || hash->size() != store::kAuditHashBytes) {
    throw std::invalid_argument("--checkpoint: must be a hash, of 64 hexadecimal digits");
  }
  return *std::move(hash);
}

std::string BytesOf(const Json& entry, const char* name) {
  return base::HexDecode(entry.at(name).get<std::string>()).value_or("");
}

// What is known of the chain as far as it was looked at.
struct Verified {
  store::ChainPlace last;
  std::int64_t entries = 0;
  std::int64_t erased = 0;

  void Take(const Json& entry);
};

void Verified::Take(const Json& entry) {
  const std::int64_t seq = last.seq + 1;
  if (entry.at("seq").get<std::int64_t>() != seq) {
    Break(fmt::format("the entry {} of the audit is missing", seq));
  }
  const std::string details = BytesOf(entry, "details");
  const bool is_erased = entry.at("salt").is_null();
  const bool fits = is_erased ? !entry.at("erased_at").is_null()
                              : store::AuditDetails(BytesOf(entry, "salt"), entry) == details;
  const std::string hash = store::AuditHash(last.hash, seq, entry, details);
  if (!fits || hash != BytesOf(entry, "hash")) {
    Break(fmt::format("the entry {} of the audit was changed{}", seq,
                      fits && entries == 0
                          ? ", or what was taken for the hash of the one before it is none"
                          : ""));
  }
  last = {seq, hash};
  ++entries;
  if (is_erased) ++erased;
}

store::ChainPlace PlaceIn(const Json& answer, const char* name) {
  const Json& place = answer.at(name);
  return {place.at("seq").get<std::int64_t>(), BytesOf(place, "hash")};
}

// The place behind which the first entry stands.
store::ChainPlace Begin(const AskAdmin& ask, const ChainStart& start,
                        const store::ChainPlace& checkpoint, std::int64_t head) {
  if (start.from == 0)
    throw std::invalid_argument("--from: must be the seq of an entry, from 1 on");
  store::ChainPlace before{start.from ? *start.from - 1 : checkpoint.seq, checkpoint.hash};
  if (before.seq > head) {
    Break(fmt::format("the audit ends with the entry {}: {} and what followed are missing", head,
                      before.seq));
  }
  if (start.checkpoint) {
    before.hash = HashOf(*start.checkpoint);
  } else if (before.seq != checkpoint.seq) {
    const Json page = PageBehind(ask, before.seq - 1, 1);
    if (page.at("items").empty()) Break(fmt::format("the entry {} is missing", before.seq));
    before.hash = BytesOf(page.at("items").at(0), "hash");
  }
  return before;
}

Json Verify(const AskAdmin& ask, const ChainStart& start) {
  const Json first = ask("/admin/v1/audit/chain?limit=1");
  const store::ChainPlace head = PlaceIn(first, "head");
  Verified verified;
  verified.last = Begin(ask, start, PlaceIn(first, "checkpoint"), head.seq);
  while (verified.last.seq < head.seq) {
    const Json page = PageBehind(ask, verified.last.seq, kPageEntries);
    if (page.at("items").empty()) {
      Break(fmt::format("the entry {} of the audit is missing", verified.last.seq + 1));
    }
    for (const Json& entry : page.at("items")) {
      verified.Take(entry);
      if (verified.last.seq == head.seq) break;  // what was added meanwhile is another call's
    }
  }
  if (verified.last.hash != head.hash) {
    Break(fmt::format(
        "the entry {} of the audit is not the one that its end names{}", head.seq,
        verified.entries == 0 ? ": what was taken for its hash is none, or it was changed" : ""));
  }
  return {{"seq", verified.last.seq},
          {"hash", base::HexEncode(verified.last.hash)},
          {"entries", verified.entries},
          {"erased", verified.erased}};
}

// Why an answer ended that should have gone on; empty: in good order, as its process does.
std::string ReasonOf(const net::StreamEnd& end) {
  if (end.status == 0 || end.status == 200) return end.error;
  Json body;
  if (base::ParseJson(end.body, &body)) body = Json::object();
  return RefusalText(end.status, body);
}

}  // namespace

Json VerifyAudit(const AskAdmin& ask, const ChainStart& start) {
  if (start.checkpoint) HashOf(*start.checkpoint);
  try {
    return Verify(ask, start);
  } catch (const Json::exception&) {
    Break("the server answered something that is no chain of an audit");
  }
}

void FollowAudit(const StreamAdmin& stream, std::optional<std::int64_t> after,
                 const std::function<bool(const Json& entry)>& tell) {
  bool wanted = true;
  bool answered = false;
  const auto take = [&](std::string_view line) {
    if (line.empty()) return true;  // the process is there
    Json entry;
    if (base::ParseJson(line, &entry) || !entry.is_object() || !entry.contains("seq")) {
      Break("the server answered something that is no entry of an audit");
    }
    after = entry.at("seq").get<std::int64_t>();
    wanted = tell(entry);
    return wanted;
  };
  while (wanted) {
    const std::string behind = after ? fmt::format("&after={}", *after) : "";
    const net::StreamEnd end = stream("/admin/v1/audit?follow=true" + behind, take);
    if (!wanted) return;
    const std::string why = ReasonOf(end);
    answered = answered || end.status == 200;
    if (!answered || (end.status >= 300 && end.status < 500)) throw RequestFailed(end.status, why);
    if (!why.empty()) fmt::print(stderr, "vedette ctl: {}; asking again\n", Printable(why));
    std::this_thread::sleep_for(kAskAgainAfter);
  }
}

std::int64_t PlaceOf(const std::string& text) {
  std::int64_t seq = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
  if (error != std::errc() || end != text.data() + text.size() || seq < 0) {
    throw std::invalid_argument(fmt::format("\"{}\" is not the number of an entry", text));
  }
  return seq;
}

}  // namespace vedette::app
