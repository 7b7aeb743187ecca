#include "store/audit_chain.h"

#include <pqxx/pqxx>
#include <set>

#include "base/crypto.h"
#include "config/parts.h"
#include "store/fleet/maintenance.h"
#include "tests/store/support/operator_support.h"

// The audit as a chain: places without a gap in whatever order entries commit, and a beginning that
// moves.
namespace vedette::test {
namespace {

using base::Json;

class AuditChain : public AdminTest {
 public:
  AuditChain() : session(config.database, {.name = "test"}, clock, metrics, log) {}

  void Write(const std::string& what, const std::string& at = "now()") {
    Sql("insert into audit (id, at, actor, action, target, remote_address) values "
        "(gen_random_uuid(), " +
        at + ", 'a', 'b', '" + what + "', 'd')");
  }

  void SealAll() {
    while (store::SealAudit(session) > 0) {
    }
  }

  // The targets in the order of the chain, behind a place.
  std::string Chain(std::int64_t after = 0) {
    std::string targets;
    for (const auto& record : store::ListSealed(session, after, 1000)) {
      targets += record.entry.target;
    }
    return targets;
  }

  store::MaintenanceRun Expire() {
    store::MaintenanceState maintained;
    return store::Maintain(session, config.retention, &maintained);
  }

  // Makes every hash again, from the checkpoint on; false where one is another.
  bool Holds() {
    const store::AuditChain chain = store::ReadAuditChain(session);
    store::ChainPlace last = chain.checkpoint;
    for (const auto& record : store::ListSealed(session, last.seq, 2000)) {
      const Json shown = store::SealedJson(record);
      const bool follows =
          record.seq == last.seq + 1 &&
          record.details == store::AuditDetails(*record.salt, shown) &&
          record.hash == store::AuditHash(last.hash, record.seq, shown, record.details);
      if (!follows) return false;
      last = {record.seq, record.hash};
    }
    return last.seq == chain.head.seq && last.hash == chain.head.hash;
  }

  store::Session session;
};

TEST_F(AuditChain, IsWhatTheHeaderSays) {
  const Json entry{{"id", "i"},
                   {"at", "t"},
                   {"actor", "a"},
                   {"action", "b"},
                   {"target", "c"},
                   {"org_id", nullptr},
                   {"reason", "r"},
                   {"detail", Json{{"n", 1.5}}},
                   {"remote_address", "::1"},
                   {"principal_kind", nullptr},
                   {"principal_id", nullptr},
                   {"on_behalf_of", nullptr}};
  const std::string details = store::AuditDetails("salt", entry);
  EXPECT_EQ(details, base::Sha256(R"(salt["a","c","r",{"n":1.5},"::1",null])"));
  EXPECT_EQ(store::AuditHash("before", 7, entry, details),
            base::Sha256(R"(before[7,"i","t","b",null,null,null,")" + base::HexEncode(details) +
                         R"("])"));
}

TEST_F(AuditChain, GivesPlacesInOrderWithoutAGapAndOnce) {
  EXPECT_EQ(store::SealAudit(session), 0);
  Write("y", "now() - interval '1 s'");
  Write("x", "now() - interval '2 s'");
  EXPECT_EQ(store::SealAudit(session), 2);
  EXPECT_EQ(store::SealAudit(session), 0);
  Write("z");
  EXPECT_EQ(store::SealAudit(session), 1);
  EXPECT_EQ(Chain(), "xyz");
  EXPECT_EQ(Chain(2), "z");
  EXPECT_TRUE(Holds());
}

TEST_F(AuditChain, WhatCommitsLateComesLaterAndNobodyWaitsForIt) {
  pqxx::connection connection(database.url());
  pqxx::work late(connection);
  late.exec(
      "insert into audit (id, at, actor, action, target, remote_address) values "
      "(gen_random_uuid(), now() - interval '1 day', 'a', 'b', 'l', 'd')");
  Write("x");
  EXPECT_EQ(store::SealAudit(session), 1);
  late.commit();
  EXPECT_EQ(store::SealAudit(session), 1);
  EXPECT_EQ(Chain(), "xl");
  EXPECT_EQ(Chain(1), "l") << "a reader who has the first one is told of the other";
  EXPECT_TRUE(Holds());
}

TEST_F(AuditChain, MoreThanARunSealsAreSealedInSeveral) {
  Sql("insert into audit (id, actor, action, target, remote_address) select gen_random_uuid(), "
      "'a', 'b', 'x', 'd' from generate_series(1, " +
      std::to_string(store::kSealedPerRun + 1) + ")");
  EXPECT_EQ(store::SealAudit(session), store::kSealedPerRun);
  EXPECT_EQ(store::SealAudit(session), 1);
  EXPECT_TRUE(Holds());
}

TEST_F(AuditChain, GoesOnFromItsCheckpointWhereOldEntriesAreDeleted) {
  Write("o", "now() - interval '10 years'");
  Write("p", "now() - interval '9 years'");
  SealAll();
  Write("n");
  SealAll();
  Write("q", "now() - interval '8 years'");  // behind one that is kept: it stays as long as that
  SealAll();
  Write("u", "now() - interval '8 years'");  // not sealed
  EXPECT_TRUE(Expire().failures.empty());
  EXPECT_EQ(Chain(), "nq");
  EXPECT_EQ(Sql("select count(*) from audit"), "3");
  const store::AuditChain chain = store::ReadAuditChain(session);
  EXPECT_EQ(chain.checkpoint.seq, 2);
  EXPECT_TRUE(Holds());
  const Reply gone = Ask("GET", "/admin/v1/audit/chain?after=1");
  EXPECT_EQ(gone.status, 410);
  EXPECT_EQ(gone.body["error"], "entries_deleted");
  EXPECT_EQ(Ask("GET", "/admin/v1/audit?follow=true&after=1").status, 410);
  EXPECT_EQ(Ask("GET", "/admin/v1/audit?follow=true&after=5").status, 409);
  Sql("update audit set at = now() - interval '10 years'");
  SealAll();
  EXPECT_TRUE(Expire().failures.empty());
  EXPECT_EQ(Sql("select count(*) from audit"), "0");
  EXPECT_EQ(store::ReadAuditChain(session).checkpoint.seq, 5) << "the last of all";
  Write("z");
  SealAll();
  EXPECT_TRUE(Holds());
}

TEST_F(AuditChain, IsShownPageByPageWithItsEnds) {
  const std::string org = NewOrganisation();
  Write("x");
  SealAll();
  const Reply page = Ask("GET", "/admin/v1/audit/chain?limit=1");
  ASSERT_EQ(page.status, 200) << page.raw.body;
  ASSERT_EQ(page.body["items"].size(), 1U);
  const Json& entry = page.body["items"][0];
  EXPECT_EQ(entry["seq"], 1);
  EXPECT_EQ(entry["target"], org);
  EXPECT_EQ(page.body["head"]["seq"], 2);
  EXPECT_EQ(page.body["checkpoint"]["seq"], 0);
  const auto salt = base::HexDecode(entry["salt"].get<std::string>());
  const auto details = base::HexDecode(entry["details"].get<std::string>());
  EXPECT_EQ(store::AuditDetails(*salt, entry), *details) << "as it is shown it is covered";
  for (const char* query : {"after=-1", "after=x", "after=99999999999999999999", "limit=0"}) {
    EXPECT_EQ(Ask("GET", std::string("/admin/v1/audit/chain?") + query).status, 422) << query;
  }
  for (const char* query : {"after=1", "follow=true&actor=a", "follow=true&cursor=x"}) {
    EXPECT_EQ(Ask("GET", std::string("/admin/v1/audit?") + query).status, 422) << query;
  }
}

}  // namespace
}  // namespace vedette::test
