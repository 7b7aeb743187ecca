#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/jobs/claim.h"
#include "store/jobs/end.h"
#include "store/jobs/keeper.h"
#include "store/jobs/read.h"
#include "store/jobs/record.h"
#include "store/jobs/start.h"
#include "tests/store/support/pipeline_support.h"

namespace vedette::test {

// A lookup of `rows` rows in one part, each at `price_mc`.
store::NewJob NewLookup(const base::Uuid& org, const base::Clock& clock, int rows = 1,
                        std::int64_t price_mc = 0);

// Jobs on a database with an organisation that has 1,000 credits, and short ways to look.
class JobsTest : public PipelineTest {
 public:
  store::NewJob Lookup(int rows = 1, std::int64_t price_mc = 0) const {
    return NewLookup(org, clock, rows, price_mc);
  }
  // A run: a source of `parts` parts that the request gave, of two rows each, and further blocks,
  // each of which works on the block before it.
  store::NewJob Run(int parts, int blocks, int window) const;

  // Fails the test where the job does not start.
  base::Uuid Start(const store::NewJob& job);

  store::JobClaim Claim(int chunks_max = 100);
  // A record that ends the chunk's part with `rows` rows, of which `charged` are charged.
  static store::JobChunkRecord PartEnd(const store::ClaimedJobChunk& chunk, int rows = 1,
                                       int charged = 0, std::int64_t price_mc = 0);
  // A record of one row of several.
  static store::JobChunkRecord Progress(const store::ClaimedJobChunk& chunk,
                                        const std::string& done_json, int charged = 0,
                                        std::int64_t price_mc = 0);
  store::JobRecordResult RecordJob(const base::Uuid& job,
                                   const std::vector<store::JobChunkRecord>& records);
  // How the job of a record ended in it, if it did.
  static std::optional<domain::JobStatus> EndIn(const store::JobRecordResult& result);
  // One record, of one chunk.
  store::JobRecorded RecordOne(const base::Uuid& job, const store::JobChunkRecord& record);

  std::optional<store::JobEndOutcome> End(const base::Uuid& job, domain::JobStatus status,
                                          const std::string& reason = "a_reason");

  // A column of the job as text.
  std::string Job(const base::Uuid& job, const std::string& column);
  std::int64_t BalanceOf(const base::Uuid& organisation);

  // G4: of every organisation and of every job; an ended job holds nothing.
  void ExpectJobMoneyAddsUp();

  // How many statements with a name this test's sessions have run.
  double StatementsSoFar();

  // A session of another process; with [testing] where it is given.
  std::unique_ptr<store::Session> OtherSession(const config::TestingConfig* testing = nullptr,
                                               const base::Clock* other_clock = nullptr);

  std::chrono::milliseconds job_lease{30000};
  store::StartLimits start_limits{10000};
};

}  // namespace vedette::test
