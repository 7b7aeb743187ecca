// What a claim looks at beside the leases of others, as counts that no noise changes.

#include <fmt/format.h>

#include <map>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <vector>

#include "base/json.h"
#include "store/queries.h"
#include "tests/store/support/pipeline_support.h"

namespace vedette::test {
namespace {

constexpr int kLeased = 10'000;
constexpr int kClaimers = 8;
constexpr int kTaken = 8;  // chunks of a claim
// 160 were measured; one page for each leased chunk would be 10,000.
constexpr double kPagesMax = 400;

// What a statement read.
struct Looked {
  double rows = 0;     // of chunks: returned, or thrown away
  double buffers = 0;  // pages of all relations
};

void AddRows(const base::Json& node, double* rows) {
  if (node.value("Relation Name", "") == "chunk" && !node.contains("Operation")) {
    const double each = node.value("Actual Rows", 0.0) + node.value("Rows Removed by Filter", 0.0) +
                        node.value("Rows Removed by Index Recheck", 0.0);
    *rows += each * node.value("Actual Loops", 0.0);
  }
  if (!node.contains("Plans")) return;
  for (const base::Json& plan : node["Plans"]) AddRows(plan, rows);
}

// A connection of one claimer, with its transaction.
class Claimer {
 public:
  explicit Claimer(const std::string& url) : connection_(url) {
    pqxx::work tx(connection_);
    tx.exec("set plan_cache_mode = force_generic_plan");
    for (const char* name : {"chunk_scan", "chunk_claim"}) {
      tx.exec(fmt::format("prepare {} as {}", name, store::QueryText(name)));
    }
    tx.commit();
  }

  void Begin() { tx_ = std::make_unique<pqxx::work>(connection_); }
  void Commit() {
    tx_->commit();
    tx_.reset();
  }
  int Claim(const base::Uuid& org, int chunks) {
    return static_cast<int>(tx_->exec("execute " + ClaimOf(org, chunks)).size());
  }
  Looked ExplainedClaim(const base::Uuid& org, int chunks) {
    return Explained(ClaimOf(org, chunks));
  }
  Looked ExplainedScan() {
    return Explained(
        CallOf("chunk_scan", {{"cursor", base::Uuid().ToString()}, {"orgs_max", "100"}}));
  }

 private:
  static std::string ClaimOf(const base::Uuid& org, int chunks) {
    return CallOf("chunk_claim", {{"org_id", "{" + org.ToString() + "}"},
                                  {"chunks_max", fmt::format("{{{}}}", chunks)},
                                  {"rows_max", fmt::format("{{{}}}", chunks)},
                                  {"from_at", "{NULL}"},
                                  {"turns_only", "{false}"},
                                  {"apart_s", "0"},
                                  {"token", base::Uuid::V4().ToString()},
                                  {"lease_ms", "600000"},
                                  {"careful_from", std::to_string(kCarefulFrom)}});
  }
  // What follows "execute": the values in the order of the statement's parameters.
  static std::string CallOf(const std::string& statement,
                            const std::map<std::string, std::string>& given) {
    std::string values;
    for (const std::string& name : store::QueryParameters(statement)) {
      values += fmt::format("{}'{}'", values.empty() ? "" : ", ", given.at(name));
    }
    return fmt::format("{}({})", statement, values);
  }
  Looked Explained(const std::string& call) {
    const auto text = tx_->exec("explain (analyze, buffers, format json) execute " + call)[0][0]
                          .as<std::string>();
    const base::Json plan = base::ParseJsonOrThrow(text)[0]["Plan"];
    Looked looked;
    AddRows(plan, &looked.rows);
    looked.buffers = plan.value("Shared Hit Blocks", 0.0) + plan.value("Shared Read Blocks", 0.0);
    return looked;
  }

  pqxx::connection connection_;
  std::unique_ptr<pqxx::work> tx_;
};

class ClaimCosts : public PipelineTest {
 public:
  ClaimCosts() {
    for (int i = 0; i < kClaimers; ++i) {
      claimers.push_back(std::make_unique<Claimer>(database.url()));
    }
  }
  void AddDue(int chunks) {
    Sql(fmt::format(
        "insert into chunk (id, org_id, tier, available_at, monitor_ids, tick_ids, firsts, ends, "
        "due_at, row_count) select gen_random_uuid(), '{}', 1, now() - interval '1 minute', "
        "array[gen_random_uuid()], '{{1}}', '{{0}}', '{{1}}', now(), 1 from generate_series(1, {})",
        org.ToString(), chunks));
  }

  std::vector<std::unique_ptr<Claimer>> claimers;
};

// The claimers work at once: none has committed when the last one claims.
TEST_F(ClaimCosts, G10_AClaimLooksAtNoChunkThatIsLeased) {
  AddDue(kLeased);
  for (int leased = 0; leased < kLeased;) {
    for (auto& claimer : claimers) {
      claimer->Begin();
      leased += claimer->Claim(org, 256);
      claimer->Commit();
    }
  }
  AddDue(kClaimers * kTaken);
  for (auto& claimer : claimers) claimer->Begin();
  for (auto& claimer : claimers) {
    const Looked scan = claimer->ExplainedScan();
    const Looked claim = claimer->ExplainedClaim(org, kTaken);
    EXPECT_LE(scan.rows, 3);
    EXPECT_LE(scan.buffers, kPagesMax);
    EXPECT_LE(claim.rows, kClaimers * kTaken + kTaken)
        << "what the others hold locked, and its own";
  }
  for (auto& claimer : claimers) claimer->Commit();
  EXPECT_EQ(Sql("select count(*) from chunk where lease_token is null"), "0");
}

}  // namespace
}  // namespace vedette::test
