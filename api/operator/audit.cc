#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api/kit/cursor.h"
#include "api/operator/audit_stream.h"
#include "api/operator/handlers.h"
#include "base/crypto.h"
#include "base/json.h"
#include "domain/text/limits.h"
#include "store/audit.h"
#include "store/audit_chain.h"

// The audit: the list of its entries, their chain, and those who follow it.
namespace vedette::admin {
namespace {

constexpr rest::CursorOf kAuditList{'a'};

// How often a follower is told what is new.
constexpr std::chrono::seconds kTellEvery{1};
// So many rounds without anything to tell, and a follower hears that the process is there.
constexpr int kQuietTicks = 15;
constexpr int kPieceEntries = 200;

// A parameter that narrows a list; an empty one does not.
std::optional<std::string> FilledText(const rest::QueryReader& input, std::string_view name) {
  auto text = input.Text(name);
  if (text && text->empty()) text.reset();
  return text;
}

// `after`: a place in the chain.
std::optional<std::int64_t> ReadAfter(rest::QueryReader* input) {
  const auto text = FilledText(*input, "after");
  if (!text) return std::nullopt;
  std::int64_t seq = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seq);
  if (error != std::errc() || end != text->data() + text->size() || seq < 0) {
    input->Refuse("after", "int_parsing", "Input should be the seq of an entry, or 0");
    return std::nullopt;
  }
  return seq;
}

base::Json PlaceJson(const store::ChainPlace& place) {
  return {{"seq", place.seq}, {"hash", base::HexEncode(place.hash)}};
}

// The place behind which a reader goes on: without one, the chain's beginning. Refuses a place
// whose next entry is deleted already, as something would be left out in silence, and one that is
// not there yet, as after a restore.
std::int64_t StartOf(const store::AuditChain& chain, std::optional<std::int64_t> after) {
  const std::int64_t start = after.value_or(chain.checkpoint.seq);
  if (start < chain.checkpoint.seq) {
    throw rest::Refusal(rest::ErrorReply(
        410, "entries_deleted",
        fmt::format("entries up to {} were deleted after [retention] audit: begin with after={}",
                    chain.checkpoint.seq, chain.checkpoint.seq)));
  }
  if (start > chain.head.seq) {
    throw rest::Refusal(
        rest::ErrorReply(409, "no_such_entry",
                         fmt::format("the audit ends with the entry {}, and has none {}: is it "
                                     "another database, or one that was restored?",
                                     chain.head.seq, start)));
  }
  return start;
}

rest::Handled FollowAudit(Call& call, std::optional<std::int64_t> after) {
  const std::int64_t start = StartOf(store::ReadAuditChain(call.session()), after);
  if (call.parts.audit_stream.Follow(call.answer, start)) return rest::Parked{};
  return rest::Unavailable(
      fmt::format("{} follow the audit of this process already, or it ends: try another one",
                  AuditStream::kFollowersMax));
}

}  // namespace

rest::Handled GetAudit(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  const bool follow = input.Boolean("follow", false);
  const auto after = ReadAfter(&input);
  const ListQuery list = ReadListQuery(&input);
  store::AuditFilter filter;
  filter.org_id = input.Id("org_id");
  filter.principal_id = input.Id("principal_id");
  filter.action = FilledText(input, "action");
  filter.actor = FilledText(input, "actor");
  filter.target = FilledText(input, "target");
  const bool narrowed = filter.org_id || filter.principal_id || filter.action || filter.actor ||
                        filter.target || list.cursor;
  if (follow && narrowed) {
    input.Refuse("follow", "value_error", "Who follows is told every entry: give after alone");
  }
  if (after && !follow) input.Refuse("after", "value_error", "Input goes with follow=true");
  problems.Check();
  // An answer without an end would outlive the session.
  if (follow && call.caller.session) {
    return rest::ErrorReply(403, "token_needed", "the audit is followed with a token alone");
  }
  if (follow) return FollowAudit(call, after);
  if (list.cursor) {
    const auto place = rest::DecodeTimedCursor(kAuditList, *list.cursor);
    if (!place) return rest::InvalidCursor();
    filter.before = store::AuditPlace{place->at, place->id};
  }
  filter.limit = list.limit + 1;
  const auto page = rest::CutPage(
      store::ListAudit(call.session(), filter), list.limit, [](const store::AuditRecord& record) {
        return rest::EncodeCursor(kAuditList, rest::TimedPlace{record.at, record.id});
      });
  return ListReply(page, store::AuditJson);
}

rest::Handled GetAuditChain(Call& call) {
  rest::Problems problems;
  rest::QueryReader input(call.request().query, &problems);
  const auto after = ReadAfter(&input);
  const int limit = input.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  problems.Check();
  const store::AuditChain chain = store::ReadAuditChain(call.session());
  base::Json items = base::Json::array();
  for (const auto& record : store::ListSealed(call.session(), StartOf(chain, after), limit)) {
    items.push_back(store::SealedJson(record));
  }
  return rest::JsonReply(200, {{"items", std::move(items)},
                               {"head", PlaceJson(chain.head)},
                               {"checkpoint", PlaceJson(chain.checkpoint)}});
}

AuditStream::AuditStream(store::Pool& pool, base::Logger log) : pool_(pool), log_(log) {}

AuditStream::~AuditStream() {
  End();
}

bool AuditStream::Follow(std::shared_ptr<rest::Answer> answer, std::int64_t after) {
  auto follower = std::make_shared<Follower>();
  follower->answer = std::move(answer);
  follower->after = after;
  follower->quiet = kQuietTicks;  // the first round answers in any case, as headers go with a piece
  const std::lock_guard lock(mutex_);
  if (ended_ || followers_.size() >= kFollowersMax) return false;
  follower->exchange = &follower->answer->Begin({{"Content-Type", "application/x-ndjson"}});
  followers_.push_back(std::move(follower));
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  return true;
}

void AuditStream::End() {
  std::vector<FollowerPtr> idle;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = true;
    for (const FollowerPtr& follower : followers_) {
      if (follower->state != State::kIdle) continue;
      follower->state = State::kGone;
      idle.push_back(follower);
    }
    followers_.clear();
  }
  wake_.notify_all();
  for (const FollowerPtr& follower : idle) follower->exchange->End();
  if (thread_.joinable()) thread_.join();
}

void AuditStream::Run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    wake_.wait_for(lock, kTellEvery, [this] { return ended_; });
    if (ended_ || serving_ || followers_.empty()) continue;
    serving_ = true;
    lock.unlock();
    const bool queued = pool_.Post([this](store::Session& session) { Serve(session); });
    lock.lock();
    // A full queue: the next round tries again.
    if (!queued) serving_ = false;
  }
}

// On the pool. While the database is away nothing is new, and followers are kept.
void AuditStream::Serve(store::Session& session) {
  std::vector<FollowerPtr> idle;
  {
    const std::lock_guard lock(mutex_);
    std::copy_if(followers_.begin(), followers_.end(), std::back_inserter(idle),
                 [](const FollowerPtr& follower) { return follower->state == State::kIdle; });
  }
  for (const FollowerPtr& follower : idle) {
    std::string text;
    try {
      for (const auto& record : store::ListSealed(session, follower->after, kPieceEntries)) {
        text += base::DumpJson(store::SealedJson(record));
        text += '\n';
        follower->after = record.seq;
      }
    } catch (const std::exception& e) {
      log_.Debug("the audit could not be read for those who follow it", {{"error", e.what()}});
    }
    if (text.empty() && ++follower->quiet >= kQuietTicks) text = "\n";
    if (text.empty()) continue;
    follower->quiet = 0;
    Tell(follower, std::move(text));
  }
  const std::lock_guard lock(mutex_);
  serving_ = false;
}

void AuditStream::Tell(const FollowerPtr& follower, std::string text) {
  {
    const std::lock_guard lock(mutex_);
    if (follower->state != State::kIdle) return;
    follower->state = State::kWriting;
  }
  follower->exchange->Write(std::move(text),
                            [this, follower](bool on_its_way) { OnWritten(follower, on_its_way); });
}

void AuditStream::OnWritten(const FollowerPtr& follower, bool on_its_way) {
  {
    const std::lock_guard lock(mutex_);
    if (on_its_way && !ended_) {
      follower->state = State::kIdle;
      return;
    }
    follower->state = State::kGone;
    std::erase(followers_, follower);
  }
  if (on_its_way) follower->exchange->End();
}

}  // namespace vedette::admin
