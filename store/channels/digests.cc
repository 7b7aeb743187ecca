#include "store/channels/digests.h"

#include <chrono>
#include <optional>
#include <string>
#include <variant>

#include "domain/channel/channel.h"
#include "domain/channel/digest.h"
#include "domain/monitor/enums.h"
#include "domain/workflow/run_schedule.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

// What was under way when a channel left its digest has long been recorded by then.
constexpr std::chrono::minutes kLastLook{1};
// The wait where the zone of a digest is not there any more.
constexpr std::chrono::hours kUnreadable{1};

// When the channel's digest is cut next; nothing where it is told at once and nothing waited.
std::optional<base::Timestamp> NextCut(const std::string& digest, std::int64_t waited,
                                       base::Timestamp now) {
  if (digest == domain::kNoDigest) {
    return waited > 0 ? std::optional(now + kLastLook) : std::nullopt;
  }
  const auto read = domain::Digest::Read(digest);
  const auto* readable = std::get_if<domain::Digest>(&read);
  return readable != nullptr ? readable->NextAfter(now) : now + kUnreadable;
}

}  // namespace

std::int64_t CutDigest(Transaction& tx, const base::Clock& clock, const base::Uuid& channel_id) {
  const base::Uuid digest_id = base::Uuid::V7(clock);
  const auto waited = ReadOne<std::int64_t>(
      tx.Exec<"digest_cut">("channel_id"_a = channel_id, "digest_id"_a = digest_id));
  if (waited > 0) {
    tx.Exec<"digest_deliver">("channel_id"_a = channel_id, "digest_id"_a = digest_id,
                              "delivery_id"_a = base::Uuid::V7(clock), "also_paused"_a = true,
                              "type"_a = domain::NotificationType::kChanged);
  }
  return waited;
}

int CutDigests(Session& session, const base::Clock& clock) {
  return InTransaction(session, [&](Transaction& tx) {
    int channels = 0;
    for (const auto& row : tx.Exec<"digest_due">("limit"_a = kDigestsPerCut)) {
      base::Uuid id;
      std::string digest;
      Columns(row).Into("id"_a = &id, "digest"_a = &digest);
      const auto waited = CutDigest(tx, clock, id);
      tx.Exec<"digest_next">("id"_a = id, "digest_at"_a = NextCut(digest, waited, clock.Now()));
      ++channels;
    }
    return channels;
  });
}

std::vector<base::Uuid> ReadNoticeChannels(Session& session, const base::Uuid& org_id) {
  return Read(session, [&](Transaction& tx) {
    return ReadEach<base::Uuid>(tx.Exec<"notice_channels">("org_id"_a = org_id));
  });
}

void SetNoticeChannels(Session& session, const base::Clock& clock, const base::Uuid& org_id,
                       const std::vector<base::Uuid>& channel_ids, const AuditEntry& audit) {
  InTransaction(session, [&](Transaction& tx) {
    tx.Exec<"notice_channels_set">("org_id"_a = org_id, "channel_ids"_a = channel_ids);
    AuditEntry entry = audit;
    entry.org_id = org_id;
    entry.target = org_id.ToString();
    InsertAudit(tx, clock, entry);
  });
}

namespace {

void TellNotice(Transaction& tx, const base::Clock& clock, const base::Uuid& notice,
                const base::Uuid& channel) {
  tx.Exec<"digest_deliver">("channel_id"_a = channel, "digest_id"_a = notice,
                            "delivery_id"_a = base::Uuid::V7(clock), "also_paused"_a = false,
                            "type"_a = domain::NotificationType::kFailed);
}

// What became of slots of workflows' schedules; how many notifications that are.
int TellSlots(Transaction& tx, const base::Clock& clock) {
  int told = 0;
  for (const auto& row : tx.Exec<"notice_slots">("paused"_a = std::string(domain::kSlotPaused),
                         "limit"_a = kSlotsPerLook)) {
    base::Uuid id, channel;
    Columns(row).Into("id"_a = &id, "channel_id"_a = &channel);
    TellNotice(tx, clock, id, channel);
    ++told;
  }
  return told;
}

}  // namespace

int TellNotices(Session& session, const base::Clock& clock, std::int64_t least_mc) {
  return InTransaction(session, [&](Transaction& tx) {
    if (!ReadOne<bool>(tx.Exec<"notice_lock">())) return 0;
    int notices = TellSlots(tx, clock);
    for (const auto& row :
         tx.Exec<"notice_look">("least_mc"_a = least_mc, "per_day"_a = domain::kNoticesPerDay)) {
      base::Uuid id, org_id;
      Columns(row).Into("id"_a = &id, "org_id"_a = &org_id);
      for (const auto& channel :
           ReadEach<base::Uuid>(tx.Exec<"notice_channels">("org_id"_a = org_id))) {
        TellNotice(tx, clock, id, channel);
      }
      ++notices;
    }
    return notices;
  });
}

}  // namespace vedette::store
