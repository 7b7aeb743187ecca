#include "store/audit.h"

#include <utility>

#include "base/crypto.h"
#include "base/json.h"
#include "store/audit_chain.h"
#include "store/sql.h"

namespace vedette::store {
namespace {

std::optional<domain::PrincipalKind> PrincipalKindOf(const AuditEntry& entry) {
  if (!entry.principal) return std::nullopt;
  return entry.principal->kind;
}

std::optional<base::Uuid> PrincipalIdOf(const AuditEntry& entry) {
  if (!entry.principal) return std::nullopt;
  return entry.principal->id;
}

std::optional<std::string> BehalfOf(const AuditEntry& entry) {
  return entry.principal ? entry.principal->on_behalf_of : std::nullopt;
}

// The columns that every statement about entries begins with.
Columns ReadRecord(Columns columns, AuditRecord* record) {
  std::optional<std::string> detail;
  columns.Into("id"_a = &record->id, "at"_a = &record->at, "actor"_a = &record->actor,
               "action"_a = &record->action, "target"_a = &record->target,
               "org_id"_a = &record->org_id, "reason"_a = &record->reason, "detail"_a = &detail,
               "remote_address"_a = &record->remote_address,
               "principal_kind"_a = &record->principal_kind,
               "principal_id"_a = &record->principal_id, "on_behalf_of"_a = &record->on_behalf_of);
  if (detail) record->detail.emplace(*std::move(detail));
  return columns;
}

// How many random bytes keep what was erased from being guessed by its digest.
constexpr std::size_t kSaltBytes = 16;

template <typename T>
base::Json OrNull(const std::optional<T>& value) {
  return value ? base::Json(*value) : base::Json(nullptr);
}

base::Json IdOrNull(const std::optional<base::Uuid>& id) {
  return id ? base::Json(id->ToString()) : base::Json(nullptr);
}

// The named members of an entry, as a list.
base::Json MembersOf(const base::Json& entry, std::initializer_list<const char*> names) {
  base::Json list = base::Json::array();
  for (const char* name : names) list.push_back(entry.value(name, base::Json(nullptr)));
  return list;
}

}  // namespace

base::Json AuditJson(const AuditRecord& record) {
  return {
      {"id", record.id.ToString()},
      {"at", base::FormatTimestamp(record.at)},
      {"actor", record.actor},
      {"action", record.action},
      {"target", record.target},
      {"org_id", IdOrNull(record.org_id)},
      {"reason", OrNull(record.reason)},
      {"detail", record.detail ? record.detail->Value() : base::Json(nullptr)},
      {"remote_address", record.remote_address},
      {"principal_kind", record.principal_kind
                             ? base::Json(domain::PrincipalKindName(*record.principal_kind))
                             : base::Json(nullptr)},
      {"principal_id", IdOrNull(record.principal_id)},
      {"on_behalf_of", OrNull(record.on_behalf_of)},
  };
}

base::Json SealedJson(const SealedRecord& record) {
  base::Json json = AuditJson(record.entry);
  json["seq"] = record.seq;
  json["salt"] = record.salt ? base::Json(base::HexEncode(*record.salt)) : base::Json(nullptr);
  json["details"] = base::HexEncode(record.details);
  json["hash"] = base::HexEncode(record.hash);
  json["erased_at"] =
      record.erased_at ? base::Json(base::FormatTimestamp(*record.erased_at)) : base::Json(nullptr);
  return json;
}

std::string AuditDetails(std::string_view salt, const base::Json& entry) {
  return base::Sha256(salt, base::DumpJson(MembersOf(entry, {"actor", "target", "reason", "detail",
                                                             "remote_address", "on_behalf_of"})));
}

std::string AuditHash(std::string_view hash_before, std::int64_t seq, const base::Json& entry,
                      std::string_view details) {
  base::Json covered = base::Json::array({seq});
  for (base::Json& member :
       MembersOf(entry, {"id", "at", "action", "org_id", "principal_kind", "principal_id"})) {
    covered.push_back(std::move(member));
  }
  covered.push_back(base::HexEncode(details));
  return base::Sha256(hash_before, base::DumpJson(covered));
}

int SealAudit(Session& session) {
  return InTransaction(session, [&](Transaction& tx) {
    if (!ReadOne<bool>(tx.Exec<"audit_any_unsealed">())) return 0;
    ChainPlace head;
    Columns(tx.Exec<"audit_chain_lock">().at(0))
        .Into("seq"_a = &head.seq, "hash"_a = BytesInto{&head.hash});
    // Read behind the lock, so that nothing is here which another process has sealed meanwhile.
    std::vector<base::Uuid> ids;
    std::vector<std::int64_t> places;
    std::vector<std::string> salts;
    std::vector<std::string> details;
    std::vector<std::string> hashes;
    for (const auto& row : tx.Exec<"audit_unsealed">("limit"_a = kSealedPerRun)) {
      AuditRecord record;
      ReadRecord(Columns(row), &record);
      const base::Json shown = AuditJson(record);
      const std::string salt = base::RandomBytes(kSaltBytes);
      const std::string digest = AuditDetails(salt, shown);
      ++head.seq;
      head.hash = AuditHash(head.hash, head.seq, shown, digest);
      ids.push_back(record.id);
      places.push_back(head.seq);
      salts.push_back(base::HexEncode(salt));
      details.push_back(base::HexEncode(digest));
      hashes.push_back(base::HexEncode(head.hash));
    }
    if (ids.empty()) return 0;
    tx.Exec<"audit_seal">("id"_a = ids, "seq"_a = places, "salt"_a = salts, "details"_a = details,
                          "hash"_a = hashes);
    tx.Exec<"audit_chain_move">("seq"_a = head.seq, "hash"_a = Bytea(head.hash));
    return static_cast<int>(ids.size());
  });
}

AuditChain ReadAuditChain(Session& session) {
  return InTransaction(session, [&](Transaction& tx) {
    AuditChain chain;
    Columns(tx.Exec<"audit_chain_get">().at(0))
        .Into("seq"_a = &chain.head.seq, "hash"_a = BytesInto{&chain.head.hash},
              "kept_after"_a = &chain.checkpoint.seq,
              "kept_hash"_a = BytesInto{&chain.checkpoint.hash});
    return chain;
  });
}

std::vector<SealedRecord> ListSealed(Session& session, std::int64_t after, int limit) {
  return InTransaction(session, [&](Transaction& tx) {
    std::vector<SealedRecord> records;
    for (const auto& row : tx.Exec<"audit_sealed">("after"_a = after, "limit"_a = limit)) {
      SealedRecord& record = records.emplace_back();
      ReadRecord(Columns(row), &record.entry)
          .Into("seq"_a = &record.seq, "salt"_a = OptionalBytesInto{&record.salt},
                "details"_a = BytesInto{&record.details}, "hash"_a = BytesInto{&record.hash},
                "erased_at"_a = &record.erased_at);
    }
    return records;
  });
}

void InsertAudit(Transaction& tx, const base::Clock& clock, const AuditEntry& entry) {
  std::optional<std::string> detail;
  if (entry.detail) detail = entry.detail->Text();
  tx.ExecLater<"audit_insert">(
      "id"_a = base::Uuid::V7(clock), "actor"_a = entry.actor, "action"_a = entry.action,
      "target"_a = entry.target, "org_id"_a = entry.org_id, "reason"_a = entry.reason,
      "detail"_a = detail, "remote_address"_a = entry.remote_address,
      "principal_kind"_a = PrincipalKindOf(entry), "principal_id"_a = PrincipalIdOf(entry),
      "on_behalf_of"_a = BehalfOf(entry));
}

std::vector<AuditRecord> ListAudit(Session& session, const AuditFilter& filter) {
  std::optional<base::Timestamp> at;
  std::optional<base::Uuid> id;
  if (filter.before) {
    at = filter.before->at;
    id = filter.before->id;
  }
  return InTransaction(session, [&](Transaction& tx) {
    std::vector<AuditRecord> records;
    for (const auto& row :
         tx.Exec<"audit_list">("at"_a = at, "id"_a = id, "limit"_a = filter.limit,
         "org_id"_a = filter.org_id, "principal_id"_a = filter.principal_id,
         "action"_a = filter.action, "actor"_a = filter.actor, "target"_a = filter.target)) {
      ReadRecord(Columns(row), &records.emplace_back());
    }
    return records;
  });
}

void WriteAudit(Session& session, const base::Clock& clock, const AuditEntry& entry) {
  InTransaction(session, [&](Transaction& tx) { InsertAudit(tx, clock, entry); });
}

}  // namespace vedette::store
