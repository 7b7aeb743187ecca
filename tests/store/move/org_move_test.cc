// An organisation goes from one database to another, whole, and works at one of them alone.

#include "store/move/org_move.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "config/database_config.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "store/accounts/signing_secrets.h"
#include "store/fleet/maintenance.h"
#include "store/jobs/claim.h"
#include "store/move/moved_tables.h"
#include "store/sealed.h"
#include "tests/store/support/pipeline_support.h"
#include "tests/support/test_database.h"

namespace vedette::test {
namespace {

struct Killed : std::exception {};

// What differs at the new side: numbers that are given by each database, and what is sealed.
std::string Differing(std::string_view table) {
  if (table == "credit_entry") return "'{id}'::text[]";
  if (table == "digest_event") return "'{n}'::text[]";
  if (table == "audit") return "'{seq,salt,details,hash}'::text[]";
  if (table == "signing_secret") return "'{sealed,encryption_key_id}'::text[]";
  if (table == "monitor") return "'{request_headers,request_headers_key_id}'::text[]";
  if (table == "monitor_login") return "'{secrets,secrets_key_id}'::text[]";
  if (table == "channel") return "'{sealed_url,sealed_url_key_id}'::text[]";
  return "'{}'::text[]";
}

// A row of every table that moves, beside those of the pipeline's seed. $org, $monitor, $row, $tick
// and $secret stand for what they say.
constexpr const char* kSeed = R"sql(
insert into team (id, org_id, name) values (gen_random_uuid(), '$org', 'field');
insert into team_spend (team_id, month, spent_mc) select id, '2026-11-01', 5 from team where org_id = '$org';
insert into endpoint (id, org_id, scheme, host, port) values (gen_random_uuid(), '$org', 'https', 'hook.example', 443);
insert into event (id, org_id, monitor_id, row_id, tick_id, event_group_id, event_type, field)
  values (gen_random_uuid(), '$org', '$monitor', '$row', $tick, gen_random_uuid(), 0, 'price');
insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, slots, row_count)
  values ('$monitor', $tick, '$org', 0, now(), now(), 1, 1);
insert into check_log (monitor_id, block, tick_id, first, org_id, outcomes) values ('$monitor', 0, $tick, 0, '$org', '\x01');
insert into snapshot (id, org_id, monitor_id, row_id, tick_id, url, is_rendered, text_hash, text_bytes)
  values (gen_random_uuid(), '$org', '$monitor', '$row', $tick, 'https://a.example', false, '\x01', 1);
insert into snapshot_content (org_id, hash, body) values ('$org', '\x01', '\x02');
insert into failed_page (row_id, id, org_id, monitor_id, picture)
  values ('$row', gen_random_uuid(), '$org', '$monitor', '\x01');
insert into delivery_attempt (delivery_id, attempt, org_id, monitor_id, row_id, event_group_id, type, created_at,
  attempted_at, delivered, duration_us)
  values (gen_random_uuid(), 1, '$org', '$monitor', '$row', gen_random_uuid(), 0, now(), now(), true, 1);
insert into email_fact (org_id, address, verdict, stated, provider, checked_at, until)
  values ('$org', 'a@b.example', 1, false, 'x', now(), now() + interval '1 day');
insert into email_owner (org_id, address, person_key) values ('$org', 'a@b.example', decode(repeat('00', 16), 'hex'));
insert into domain_pattern (org_id, domain, pattern, hits, misses, last_at) values ('$org', 'b.example', 1, 1, 0, now());
insert into company_domain (org_id, company_key, domain, hits, last_at)
  values ('$org', decode(repeat('00', 16), 'hex'), 'b.example', 1, now());
insert into search_exclusion (id, org_id, name, mode) values (gen_random_uuid(), '$org', 'seen', 0);
insert into search_exclusion_entity (list_id, entity_id) select id, 'p1' from search_exclusion where org_id = '$org';
insert into search_import (id, mode, org_id, state, lines) values (gen_random_uuid(), 0, '$org', 2, 1);
insert into search_entity (import_id, id, doc) select id, 'p1', '{"a": 1}' from search_import where org_id = '$org';
insert into search_top (import_id, field, fields_hash, total, missing, counted, top)
  select id, 'a', 'h', 1, 0, 1, '[]' from search_import where org_id = '$org';
insert into job (id, org_id, kind, part_rows, params, caller_kind, caller_id, remote_address, estimate_mc, reserved_mc, month,
  deadline_at) values ('$job', '$org', 5, 1, '{}', 0, gen_random_uuid(), '', 10, 10, '2026-11-01', now() + interval '1 day');
update account set balance_mc = balance_mc - 10 where org_id = '$org';
insert into job_block (job_id, block, type, specs, lane, price_mc, after_drop, parts_total, part_window)
  values ('$job', 0, 'x', '{}', 0, 1, false, 1, 1);
insert into job_chunk (id, org_id, lane, rank, available_at, due_at, job_id, block, part)
  values (gen_random_uuid(), '$org', 0, 0, now(), now(), '$job', 0, 0);
insert into job_part (job_id, block, part, rows, row_count) values ('$job', 0, 0, '[["a"]]', 1);
insert into run_key (job_id, block, key_hash) values ('$job', 0, decode(repeat('00', 16), 'hex'));
insert into run_data (org_id, day, shard, bytes) values ('$org', '2026-11-01', 0, 1);
insert into run_data_unread (job_id, bytes) values ('$job', 1);
insert into investigation (id, org_id, seeds, depth, findings_max, subjects) values ('$job', '$org', '[]', 1, 1, 1);
insert into finding (investigation_id, seq, id, org_id, kind, subject, predicate, confidence, evidence, sources, provider,
  derived_from, block, part) values ('$job', 1, gen_random_uuid(), '$org', 0, '{}', 'is', 1, '', '[]', 'x', '{}', 0, 0);
insert into upload (id, org_id, expires_at, finished_at) values (gen_random_uuid(), '$org', now() + interval '1 day', now());
insert into upload_part (upload_id, part, first_line, row_count, text) select id, 0, 1, 1, 'a' from upload
  where org_id = '$org';
insert into audit (id, actor, action, target, org_id, remote_address, seq, salt, details, hash)
  values (gen_random_uuid(), 'a', 'b', 'c', '$org', '', 1, '\x01', '\x02', '\x03');
insert into api_key (id, org_id, name, prefix, key_sha256)
  values (gen_random_uuid(), '$org', 'k', 'vd_live_abcdef', sha256('$org'));
insert into oauth_client (id, org_id, name, created_by_label) values (gen_random_uuid(), '$org', 'c', 'o');
insert into oauth_client_key (client_id, kid, algorithm, public_key) select id, 'k', 0, '\x01' from oauth_client
  where org_id = '$org';
insert into access_token (token_sha256, id, kind, org_id, principal_id, expires_at)
  values (sha256('t$org'), gen_random_uuid(), 1, '$org', gen_random_uuid(), now() + interval '1 hour');
insert into assertion_jti (client_id, jti_sha256, expires_at)
  select id, sha256('j'), now() + interval '1 hour' from oauth_client where org_id = '$org';
insert into org_user (org_id, user_id, role) values ('$org', 'ann@b.example', 0);
insert into member_password (email, password) values ('ann@b.example', 'argon');
insert into passkey (id, email, credential_id, public_key, algorithm, sign_count, name)
  values (gen_random_uuid(), 'ann@b.example', '\x01', '\x02', 7, 0, 'phone');
insert into one_time_secret (secret_sha256, purpose, email, org_id, expires_at)
  values (sha256('o$org'), 4, 'ann@b.example', '$org', now() + interval '1 hour');
insert into invitation (id, org_id, email, role, token_sha256, invited_by, expires_at)
  values (gen_random_uuid(), '$org', 'bob@b.example', 0, sha256('i$org'), 'ann', now() + interval '1 day');
insert into idempotency_key (org_id, key, body_sha256, monitor_id, answer)
  values ('$org', 'k', sha256('b'), '$monitor', '{}');
insert into row_switch (monitor_id, position, is_active) values ('$monitor', 0, true);
insert into monitor_import (monitor_id, org_id, upload_id) select '$monitor', '$org', id from upload where org_id = '$org';
insert into recipient (id, org_id, digest) values (gen_random_uuid(), '$org', sha256('r'));
insert into notice (id, org_id, kind, about) values (gen_random_uuid(), '$org', 0, '$org');
insert into delivery (id, org_id, endpoint_id, monitor_id, row_id, event_group_id, type, available_at)
  select gen_random_uuid(), '$org', id, '$monitor', '$row', gen_random_uuid(), 0, now() + interval '1 hour' from endpoint
  where org_id = '$org';
insert into suppression (id, kind, hash, org_id, reason) values (gen_random_uuid(), 0, sha256('s'), '$org', 'r'),
  (gen_random_uuid(), 0, sha256('e'), null, 'of everybody');
insert into workflow (id, org_id, name, description, definition, caller_kind, caller_id)
  values (gen_random_uuid(), '$org', 'w', '', '{}', 0, gen_random_uuid());
insert into workflow_template (id, org_id, slug, document) values (gen_random_uuid(), '$org', 't', '{}');
insert into workflow_schedule (id, org_id, workflow_id, name, frequency, frequency_s, anchor_at, overlap, catch_up_s, is_active,
  caller_kind, caller_id, next_at, look_at)
  select gen_random_uuid(), '$org', id, 's', '1h', 3600, now(), 0, 0, true, 0, gen_random_uuid(), now(), now() from workflow
  where org_id = '$org';
insert into workflow_slot (schedule_id, slot, state, reason) select id, now(), 1, 'late' from workflow_schedule
  where org_id = '$org';
)sql";

class OrgMoveTest : public PipelineTest {
 protected:
  OrgMoveTest() {
    monitor = NewMonitor({.rows = 3, .webhook_url = "http://hooks.example"}).ToString();
    NewMonitor({.rows = 1});
    std::string seed = Filled(kSeed);
    for (std::size_t at = 0; at < seed.size();) {
      const std::size_t end = std::min(seed.find(";\n", at), seed.size());
      if (end > at + 1) Sql(seed.substr(at, end - at));
      at = end + 2;
    }
    SealSome();
    Cut();  // chunks for the monitors
    // Somebody else, who stays.
    NewMonitor({.rows = 2, .org = NewOrganisation(1000)});
    there.Sql("insert into organisation (id, name) values (gen_random_uuid(), 'their own')");
    there.Sql("insert into credit_entry (org_id, amount_mc) select id, 1 from organisation");
  }

  std::string Filled(std::string text) {
    const std::map<std::string, std::string> words = {
        {"$org", org.ToString()},
        {"$monitor", monitor},
        {"$row", Sql("select id from monitor_row where monitor_id = '" + monitor + "' limit 1")},
        {"$job", job},
        {"$tick", "(extract(epoch from now()) * 1000000)::bigint"}};
    for (const auto& [word, value] : words) {
      for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;
           at += value.size()) {
        text.replace(at, word.size(), value);
      }
    }
    return text;
  }

  void SealSome() {
    const auto literal = [](const std::string& bytes) {
      return "'\\x" + base::HexEncode(bytes) + "'";
    };
    const auto secret = base::Uuid::V4().ToString();
    const auto sealed = store::Seal(old_security, "sk_whsec_of_acme", secret);
    const auto headers = store::Seal(old_security, "{}", store::RequestHeadersBinding(org));
    const auto typed = store::Seal(old_security, "{}", store::ProbeSecretsBinding(org));
    const auto url = store::Seal(old_security, "https://chat", store::ChannelUrlBinding(org));
    Sql("insert into signing_secret (id, org_id, sealed, encryption_key_id) values ('" + secret +
        "', '" + org.ToString() + "', " + literal(sealed.bytes) + ", '" + sealed.key_id + "')");
    Sql("update monitor set request_header_names = '{a}', request_headers = " +
        literal(headers.bytes) + ", request_headers_key_id = '" + headers.key_id +
        "' where id = '" + monitor + "'");
    Sql("insert into monitor_login (monitor_id, org_id, secrets, secrets_key_id) values ('" +
        monitor + "', '" + org.ToString() + "', " + literal(typed.bytes) + ", '" + typed.key_id +
        "')");
    Sql("insert into channel (id, org_id, name, kind, events, shown_url, sealed_url, "
        "sealed_url_key_id, digest_at) values (gen_random_uuid(), '" +
        org.ToString() + "', 'chat', 1, '{0}', 'https://...', " + literal(url.bytes) + ", '" +
        url.key_id + "', now())");
    Sql("insert into digest_event (channel_id, monitor_id, row_id, event_group_id, type) select "
        "id, '" +
        monitor + "', gen_random_uuid(), gen_random_uuid(), 0 from channel");
  }

  store::OrgMove Move(const std::function<void(std::string_view)>& passed = nullptr) {
    store::MoveOptions options;
    options.org_id = org;
    options.drain_max = options.standstill_max = std::chrono::seconds(30);
    options.quiet = std::chrono::milliseconds(0);
    options.grace = std::chrono::seconds(0);
    options.resets_sign_in = resets_sign_in;
    if (passed) options.passed = passed;
    return store::OrgMove({"", config, old_security}, {"c3", new_config, new_security},
                          std::move(options), clock, metrics,
                          base::Logger(base::LogLevel::kError, base::LogFormat::kText));
  }

  std::string Rows(const store::MovedTable& table) const {
    return store::ForOrganisation(table.rows, "'" + org.ToString() + "'::uuid");
  }
  std::map<std::string, std::string> Digests(TestDatabase& where) {
    std::map<std::string, std::string> digests;
    for (const store::MovedTable& table : store::MovedTables()) {
      std::string rows = Rows(table);
      if (table.name == "audit") rows += " and t.action <> 'org.move'";
      digests[std::string(table.name)] = where.Sql(
          "select count(*) || ' ' || coalesce(string_agg(r, E'\\n' order by r), '') from (select "
          "(to_jsonb(t) - " +
          Differing(table.name) + ")::text as r from " + std::string(table.name) + " t where " +
          rows + ") rows");
    }
    digests["organisation"] = where.Sql(
        "select name || features::text || locked || created_at from organisation where id = '" +
        org.ToString() + "'");
    return digests;
  }
  void ExpectSame(const std::map<std::string, std::string>& a,
                  const std::map<std::string, std::string>& b) {
    for (const auto& [table, rows] : a) EXPECT_EQ(rows, b.at(table)) << table;
  }
  void ExpectNothingIn(TestDatabase& where) {
    for (const store::MovedTable& table : store::MovedTables()) {
      if (table.how != store::MovedHow::kItsOwn) continue;
      EXPECT_EQ(
          where.Sql("select count(*) from " + std::string(table.name) + " t where " + Rows(table)),
          "0")
          << table.name;
    }
    EXPECT_EQ(where.Sql("select count(*) from organisation where id = '" + org.ToString() + "'"),
              "0");
  }

  // Runs until a commit that none of the runs before has passed; false: there was none.
  bool RunToTheNext(std::set<std::string>* passed) {
    try {
      Move([&](std::string_view point) {
        if (!passed->emplace(point).second) return;
        killed_at = point;
        throw Killed();
      }).Run();
      return false;
    } catch (const Killed&) {
      return true;
    }
  }

  std::string killed_at;
  bool resets_sign_in = false;
  TestDatabase there;
  config::DatabaseConfig new_config = there.config();
  config::SecurityConfig old_security{std::string(32, 'o'), {}};
  config::SecurityConfig new_security{std::string(32, 'n'), {}};
  std::string monitor;
  std::string job = base::Uuid::V7(clock).ToString();
};

TEST_F(OrgMoveTest, EveryTableMovesOrIsSaidToStay) {
  std::set<std::string, std::less<>> known;
  for (const store::MovedTable& table : store::MovedTables()) known.emplace(table.name);
  for (const std::string_view name : store::UnmovedTables()) known.emplace(name);
  const std::string tables =
      Sql("select string_agg(relname, ' ' order by relname) from pg_class where relnamespace = "
          "'public'::regnamespace and relkind in ('r', 'p') and not relispartition");
  for (std::size_t at = 0; at < tables.size();) {
    const std::size_t end = std::min(tables.find(' ', at), tables.size());
    const std::string table = tables.substr(at, end - at);
    EXPECT_TRUE(known.contains(table))
        << table << " is a new table: say in store/move/moved_tables.cc how a move finds its rows";
    at = end + 1;
  }
  for (const store::MovedTable& table : store::MovedTables()) {
    EXPECT_NE(Sql("select count(*) from " + std::string(table.name) + " t where " + Rows(table)),
              "0")
        << "this test has no row of " << table.name;
  }
}

TEST_F(OrgMoveTest, EveryRowIsAtTheNewSideAndWorksThereAlone) {
  const auto before = Digests(database);
  Move().Run();
  ExpectSame(before, Digests(there));
  EXPECT_EQ(there.Sql("select a.balance_mc + j.reserved_mc - (select sum(amount_mc) from "
                      "credit_entry e where e.org_id = a.org_id) from account a, job j"),
            "0");
  const std::string id = "'" + org.ToString() + "'";
  EXPECT_EQ(there.Sql("select cell from cell_directory where org_id = " + id), "c3");
  EXPECT_EQ(Sql("select cell from cell_directory where org_id = " + id), "c3");
  EXPECT_EQ(Sql("select locked and lives_at = 'c3' from organisation where id = " + id), "t");
  for (const char* table : {"chunk", "delivery", "job_chunk", "account", "digest_event",
                            "workflow_schedule", "monitor_import"}) {
    EXPECT_EQ(Sql("select count(*) from " + std::string(table) + " t where " +
                  (std::string(table) == "digest_event" ? "true" : "org_id = " + id)),
              "0")
        << table;
  }
  EXPECT_EQ(Sql("select count(*) from job where finished_at is null"), "0");
  EXPECT_EQ(Sql("select count(*) from monitor_sched"), "1") << "the neighbour's";
  // The next entry's number is above all that came.
  EXPECT_EQ(
      there.Sql("with made as (insert into credit_entry (org_id, amount_mc) select id, 1 from "
                "organisation limit 1 returning id) select m.id > (select max(id) from "
                "credit_entry) from made m"),
      "t");
}

TEST_F(OrgMoveTest, SecretsOpenWithTheNewSidesKeyAlone) {
  Move().Run();
  store::Session new_side(new_config, {.name = "test"}, clock, metrics,
                          base::Logger(base::LogLevel::kError, base::LogFormat::kText));
  EXPECT_EQ(store::ReadSigningSecrets(new_side, {org}, new_security).at(org).secrets,
            std::vector<std::string>{"sk_whsec_of_acme"});
  EXPECT_FALSE(store::ReadSigningSecrets(new_side, {org}, old_security).at(org).readable);
  const std::string key = store::EncryptionKeyId(new_security.encryption_key);
  EXPECT_EQ(there.Sql("select request_headers_key_id from monitor where request_headers is not "
                      "null"),
            key);
  EXPECT_EQ(there.Sql("select secrets_key_id from monitor_login"), key);
  EXPECT_EQ(there.Sql("select sealed_url_key_id from channel"), key);
}

TEST_F(OrgMoveTest, KilledAtAnyStepItGoesOn) {
  const auto before = Digests(database);
  std::set<std::string> passed;
  while (RunToTheNext(&passed)) {
  }
  EXPECT_TRUE(passed.contains("brought the rest") && passed.contains("opened at the new side"));
  ExpectSame(before, Digests(there));
  EXPECT_EQ(there.Sql("select count(*) from audit where action = 'org.move'"), "1");
}

TEST_F(OrgMoveTest, TakenBackAtAnyStepItIsAsItWas) {
  const auto before = Digests(database);
  std::set<std::string> passed;
  // One of the groups stands for the others.
  const std::set<std::string> steps = {
      "begun at the new side", "copied parts", "draining", "locked", "brought the rest", "sealed"};
  while (RunToTheNext(&passed) && killed_at != "switched") {
    if (!steps.contains(killed_at)) continue;
    Move().Abandon();
    ExpectSame(before, Digests(database));
    ExpectNothingIn(there);
    EXPECT_EQ(Sql("select count(*) from org_move"), "0");
    if (HasFailure()) FAIL() << "taken back at: " << killed_at;
  }
  EXPECT_TRUE(std::includes(passed.begin(), passed.end(), steps.begin(), steps.end()));
  EXPECT_THROW(Move().Abandon(), store::MoveRefused);
}

TEST_F(OrgMoveTest, WhatChangesWhileItIsCopiedIsBrought) {
  const std::string id = "'" + org.ToString() + "'";
  std::map<std::string, std::string> before;
  Move([&](std::string_view point) {
    if (point != "draining") return;
    Sql("update monitor_row set known = '{\"price\": 2}' where position = 1 and monitor_id = '" +
        monitor + "'");
    Sql("delete from state_block where monitor_id = '" + monitor + "'");
    Sql("delete from monitor_row where position = 2 and monitor_id = '" + monitor + "'");
    Sql("delete from event where org_id = " + id);
    Sql(
        Filled("insert into event (id, org_id, monitor_id, row_id, tick_id, event_group_id, "
               "event_type, field) values (gen_random_uuid(), '$org', '$monitor', '$row', $tick, "
               "gen_random_uuid(), 0, 'name')"));
    Sql("insert into credit_entry (org_id, amount_mc) values (" + id + ", 7)");
    Sql("update account set balance_mc = balance_mc + 7 where org_id = " + id);
    NewMonitor({.rows = 2});
    before = Digests(database);
  }).Run();
  ExpectSame(before, Digests(there));
}

TEST_F(OrgMoveTest, AKeyGoesFromRowToRowWhileTheyAreCopied) {
  const std::string removed = " where position = 1 and monitor_id = '" + monitor + "'";
  Sql(
      Filled("insert into search_import (id, mode, org_id, lines) values (gen_random_uuid(), 0, "
             "'$org', 2)"));
  std::map<std::string, std::string> before;
  Move([&](std::string_view point) {
    if (point != "draining") return;
    const std::string key = Sql("select key_hash from monitor_row" + removed);
    Sql("update monitor_row set removed_at = now(), key_hash = uuid_send(gen_random_uuid())" +
        removed);
    Sql("insert into monitor_row (monitor_id, position, id, org_id, key_hash, subject, baseline) "
        "select monitor_id, 100, gen_random_uuid(), org_id, '" +
        key + "', subject, baseline from monitor_row" + removed);
    Sql("update search_import set state = 3 where lines = 1");
    Sql("update search_import set state = 2 where lines = 2");
    // What has let go of its key is read after what has it now.
    Sql("update monitor_row set updated_at = now()" + removed);
    Sql("update search_import set touched_at = now() where lines = 1");
    before = Digests(database);
  }).Run();
  ExpectSame(before, Digests(there));
}

TEST_F(OrgMoveTest, WhatTheNewSideRemovesMeanwhileIsBroughtAgain) {
  const auto before = Digests(database);
  Move([&](std::string_view point) {
    if (point != "draining") return;
    for (const char* table : {"check_log", "event", "snapshot_content", "delivery_attempt",
                              "email_fact", "upload_part", "upload", "search_entity"}) {
      EXPECT_NE(there.Sql("with gone as (delete from " + std::string(table) +
                          " returning 1) select count(*) from gone"),
                "0");
    }
  }).Run();
  ExpectSame(before, Digests(there));
}

// What is copied first has nothing yet at the new side to which it belongs, and ages there, too.
TEST_F(OrgMoveTest, TheNewSidesMaintenanceKeepsWhatHasComeUntilAllHas) {
  const std::string old = "now() - interval '400 days'";
  Sql("delete from monitor_import");
  Sql("update workflow_schedule set specs_override = json_build_object('resource_handle_id', "
      "(select id from upload))");
  for (const char* aged : {"upload set expires_at", "email_fact set until",
                           "domain_pattern set last_at", "company_domain set last_at",
                           "snapshot_content set used_at", "failed_page set failed_at"}) {
    Sql("update " + std::string(aged) + " = " + old);
  }
  Sql("update search_import set state = 3, touched_at = " + old);
  Sql("update monitor set status = 4, archived_at = now(), deleted_at = " + old + " where id <> '" +
      monitor + "' and org_id = '" + org.ToString() + "'");
  Sql("update monitor_sched set live = false where monitor_id <> '" + monitor + "'");
  const auto before = Digests(database);
  const auto retention =
      config::LoadConfig(std::nullopt, {{"VEDETTE_DATABASE_URL", there.url()}}).retention;
  const auto maintain = [&] {
    store::Session session(new_config, {.name = "scheduler"}, clock, metrics,
                           base::Logger(base::LogLevel::kError, base::LogFormat::kText));
    store::MaintenanceState state;
    EXPECT_TRUE(store::Maintain(session, retention, &state).failures.empty());
  };
  std::map<std::string, std::string> copied, kept;
  Move([&](std::string_view point) {
    if (point != "draining") return;
    copied = Digests(there);
    maintain();
    kept = Digests(there);
  }).Run();
  ExpectSame(copied, kept);
  ExpectSame(before, Digests(there));
  maintain();
  EXPECT_EQ(there.Sql("select count(*) from email_fact"), "0");
  EXPECT_EQ(there.Sql("select count(*) from upload"), "1") << "its schedule has come";
}

TEST_F(OrgMoveTest, WhenItComesBackTheChainOfItsAuditIsWhole) {
  Move().Run();
  Move().Remove();
  const std::string kept =
      "select string_agg(id || coalesce(encode(hash, 'hex'), ''), ' ' order by id) from audit "
      "where "
      "action <> 'org.move' and org_id = '" +
      org.ToString() + "'";
  Sql("insert into audit (id, actor, action, target, org_id, remote_address, seq, salt, details, "
      "hash) values (gen_random_uuid(), 'a', 'b', 'c', '" +
      org.ToString() + "', '', 2, '\\x01', '\\x02', '\\x04')");
  const std::string before = Sql(kept);
  store::MoveOptions options;
  options.org_id = org;
  options.quiet = std::chrono::milliseconds(0);
  store::OrgMove({"c3", new_config, new_security}, {"", config, old_security}, options, clock,
                 metrics, base::Logger(base::LogLevel::kError, base::LogFormat::kText))
      .Run();
  EXPECT_EQ(Sql(kept), before);
  EXPECT_EQ(Sql("select count(*) from audit where action = 'org.move'"), "2");
}

TEST_F(OrgMoveTest, WhatIsWrittenUnderTheLockIsBroughtToo) {
  std::map<std::string, std::string> before;
  Move([&](std::string_view point) {
    if (point != "sealed" || !before.empty()) return;
    Sql("update job set name = 'late' where id = '" + job + "'");
    before = Digests(database);
  }).Run();
  EXPECT_EQ(there.Sql("select name from job"), "late");
  EXPECT_EQ(Digests(there).at("job"), before.at("job"));
}

TEST_F(OrgMoveTest, WhatIsUnderWayIsWaitedForAndNamedAndGoesOn) {
  const auto before = Digests(database);
  ASSERT_FALSE(ClaimAll().chunks.empty());
  store::MoveOptions options;
  options.org_id = org;
  options.drain_max = std::chrono::milliseconds(300);
  store::OrgMove move({"", config, old_security}, {"c3", new_config, new_security}, options, clock,
                      metrics, base::Logger(base::LogLevel::kError, base::LogFormat::kText));
  try {
    move.Run();
    FAIL() << "moved with a chunk under way";
  } catch (const store::MoveRefused& refused) {
    EXPECT_NE(std::string(refused.what()).find("chunks of checks"), std::string::npos)
        << refused.what();
  }
  auto after = Digests(database);
  for (const char* table : {"monitor_sched", "delivery", "workflow_schedule", "channel",
                            "organisation", "monitor_import"}) {
    EXPECT_EQ(after.at(table), before.at(table)) << table;
  }
}

TEST_F(OrgMoveTest, ChunksOfJobsEndBeforeTheLockAndNoneBegins) {
  const auto lane = static_cast<domain::Lane>(0);
  const auto claim = [&] {
    return store::ClaimJobChunks(session, {{lane, org, 1, 10}}, base::Uuid::V4(),
                                 std::chrono::hours(1), {})
        .chunks.size();
  };
  store::MoveOptions options;
  options.org_id = org;
  options.drain_max = std::chrono::milliseconds(300);
  options.passed = [&](std::string_view point) {
    EXPECT_NE(point, "locked");
    if (point != "draining") return;
    EXPECT_EQ(claim(), 0U);
    EXPECT_TRUE(store::ScanDueJobs(session, {{lane, base::Uuid()}}, 10).due.empty());
    Sql("update job_chunk set lease_token = gen_random_uuid(), available_at = now() + interval '1 "
        "hour'");
  };
  try {
    store::OrgMove({"", config, old_security}, {"c3", new_config, new_security}, options, clock,
                   metrics, base::Logger(base::LogLevel::kError, base::LogFormat::kText))
        .Run();
    FAIL() << "moved with a part of a job under way";
  } catch (const store::MoveRefused& refused) {
    EXPECT_NE(std::string(refused.what()).find("1 chunks of jobs"), std::string::npos)
        << refused.what();
  }
  Sql("update job_chunk set lease_token = null, available_at = now()");
  EXPECT_EQ(claim(), 1U) << "it goes on";
}

TEST_F(OrgMoveTest, ADatabaseThatIsGoneUnderTheLockLetsTheOrganisationGoOn) {
  const auto before = Digests(database);
  try {
    Move([&](std::string_view point) {
      if (point != "locked") return;
      there.Sql(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = "
          "'vedette move' and datname = current_database()");
    }).Run();
    FAIL() << "moved to a database that is gone";
  } catch (const std::runtime_error& failed) {
    EXPECT_NE(std::string(failed.what()).find("goes on at"), std::string::npos) << failed.what();
  }
  ExpectSame(before, Digests(database));
  EXPECT_EQ(Sql("select state from org_move"), "0");
  Move().Run();
  ExpectSame(before, Digests(there));
}

TEST_F(OrgMoveTest, WithoutTheNewSideItIsTakenBackByHalves) {
  const auto before = Digests(database);
  std::set<std::string> passed;
  while (RunToTheNext(&passed) && killed_at != "locked") {
  }
  store::MoveOptions options;
  options.org_id = org;
  store::OrgMove::LetGoOn({"", config, old_security}, options);
  ExpectSame(before, Digests(database));
  Move().Abandon();
  ExpectNothingIn(there);
  EXPECT_THROW(store::OrgMove::LetGoOn({"", config, old_security}, options), store::MoveRefused);
}

TEST_F(OrgMoveTest, AStateThatIsNotItsOwnIsNeitherLockedNorSwitched) {
  const auto with = [&](store::MoveOptions options) {
    options.org_id = org;
    options.quiet = std::chrono::milliseconds(0);
    return store::OrgMove({"", config, old_security}, {"c3", new_config, new_security}, options,
                          clock, metrics,
                          base::Logger(base::LogLevel::kError, base::LogFormat::kText));
  };
  store::MoveOptions drains;
  drains.say = [&](const std::string& what) {
    if (what.ends_with("under way end")) Sql("update org_move set state = 2");
  };
  EXPECT_THROW(with(drains).Run(), std::runtime_error);
  EXPECT_EQ(Sql("select locked from organisation where id = '" + org.ToString() + "'"), "f");
  store::MoveOptions finishes;
  finishes.passed = [&](std::string_view point) {
    if (point == "brought the rest") Sql("update org_move set state = 0");
  };
  EXPECT_THROW(with(finishes).Run(), std::runtime_error);
  EXPECT_EQ(Sql("select count(*) from account where org_id = '" + org.ToString() + "'"), "1");
}

TEST_F(OrgMoveTest, TheOldSideIsClearedAfterTheGraceAndWhatStraysIsNamed) {
  EXPECT_THROW(Move().Remove(), store::MoveRefused) << "it has not moved";
  const auto neighbours = Sql("select count(*) from monitor_row");
  Move().Run();
  Sql("update recipient set status = 1");
  Sql("update passkey set sign_count = 9");  // a sign-in that was told where to go
  Sql("insert into suppression (id, kind, hash, org_id, reason) values (gen_random_uuid(), 0, "
      "sha256('late'), '" +
      org.ToString() + "', 'r'), (gen_random_uuid(), 0, sha256('late'), null, 'of everybody')");
  try {
    Move().Remove();
    FAIL() << "removed what was written after the switch";
  } catch (const store::MoveRefused& refused) {
    EXPECT_NE(std::string(refused.what()).find(": recipient, suppression;"), std::string::npos)
        << refused.what();
  }
  store::MoveOptions options;
  options.org_id = org;
  options.grace = std::chrono::seconds(0);
  options.discards_strays = true;
  store::OrgMove({"", config, old_security}, {"c3", new_config, new_security}, options, clock,
                 metrics, base::Logger(base::LogLevel::kError, base::LogFormat::kText))
      .Remove();
  ExpectNothingIn(database);
  EXPECT_EQ(Sql("select count(*) from monitor_row"), "2") << neighbours;
  EXPECT_EQ(Sql("select count(*) from suppression"), "2") << "everybody's stay";
}

TEST_F(OrgMoveTest, AWayInThatIsMadeBeforeTheSwitchEndsItOrIsReset) {
  there.Sql(
      "insert into org_user (org_id, user_id, role) select id, 'ann@b.example', 0 from "
      "organisation");
  const auto make = [&](std::string_view point) {
    if (point == "locked") {
      there.Sql(
          "insert into member_password (email, password) values ('ann@b.example', 'strange')");
    }
  };
  there.Sql("insert into member_password values ('ann@b.example', 'argon')");
  there.Sql(
      "insert into passkey (id, email, credential_id, public_key, algorithm, sign_count, name) "
      "values "
      "(gen_random_uuid(), 'ann@b.example', '\\x01', '\\x02', 7, 44, 'the same, used more often')");
  Move().Plan();
  there.Sql("delete from passkey");
  EXPECT_THROW(Move().Plan(), store::MoveRefused) << "one of two ways";
  there.Sql("delete from member_password");
  there.Sql("delete from org_user");
  try {
    Move(make).Run();
    FAIL() << "moved to where somebody else has the address";
  } catch (const store::MoveRefused& refused) {
    EXPECT_NE(std::string(refused.what()).find("ann@b.example"), std::string::npos);
  }
  EXPECT_EQ(Sql("select locked from organisation where id = '" + org.ToString() + "'"), "f");
  resets_sign_in = true;
  Move().Run();
  EXPECT_EQ(there.Sql("select count(*) from passkey"), "0");
  EXPECT_EQ(there.Sql("select count(*) from member_password where password like '$argon2id$%'"),
            "1");
  EXPECT_EQ(there.Sql("select count(*) from one_time_secret"), "0");
  EXPECT_EQ(Sql("select password from member_password"), "argon") << "the old side's stays";
}

TEST_F(OrgMoveTest, WhatCannotBeMovedIsRefusedWithItsReason) {
  const auto refused = [&](const std::function<void()>& run) -> std::string {
    try {
      run();
    } catch (const store::MoveRefused& why) {
      return why.what();
    }
    return "";
  };
  EXPECT_NE(refused([&] {
              store::OrgMove({"", config, old_security}, {"c3", config, new_security}, {org}, clock,
                             metrics, base::Logger(base::LogLevel::kError, base::LogFormat::kText));
            }).find("same database"),
            std::string::npos);
  const std::string key = old_security.encryption_key;
  old_security.encryption_key = std::string(32, 'x');
  EXPECT_NE(refused([&] { Move().Run(); }).find("sealed with the key"), std::string::npos);
  old_security.encryption_key = key;
  there.Sql("insert into organisation (id, name) values ('" + org.ToString() + "', 'twin')");
  EXPECT_NE(refused([&] { Move().Run(); }).find("has this organisation already"),
            std::string::npos);
  there.Sql("update schema_migration set version = version + 1000");
  EXPECT_NE(refused([&] { Move(); }).find("schemas differ"), std::string::npos);
}

}  // namespace
}  // namespace vedette::test
