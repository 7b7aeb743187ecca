#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "domain/job/job.h"
#include "store/jobs/keeper.h"
#include "tests/store/support/jobs_support.h"
#include "tests/support/in_full.h"

// Parts that become larger while their run goes on.
namespace vedette::test {
namespace {

class JobsGrow : public JobsTest {};

// Rows that a block hands on as they came.
store::JobChunkRecord HandedOn(const store::ClaimedJobChunk& chunk) {
  auto record = JobsTest::PartEnd(chunk, chunk.row_count);
  std::get<store::JobPartEnd>(record.what).rows_json = *chunk.rows_json;
  return record;
}

// The rows of a part, "[1]" each: they have one cell, a number.
std::vector<std::string> RowsOf(const store::ClaimedJobChunk& chunk) {
  const std::string& text = *chunk.rows_json;
  std::vector<std::string> rows;
  for (std::size_t at = 1; at + 1 < text.size(); at += rows.back().size() + 1) {
    rows.push_back(text.substr(at, text.find(']', at) + 1 - at));
  }
  return rows;
}

// A first row's end, and that the other rows of the part have none yet.
store::JobChunkRecord FirstRowEnd(const store::ClaimedJobChunk& chunk) {
  auto rows = RowsOf(chunk);
  std::fill(rows.begin() + 1, rows.end(), "null");
  return JobsTest::Progress(chunk, fmt::format("{{\"rows\":[{}]}}", fmt::join(rows, ",")));
}

// What was asked under which id (domain::JobRowId), in every block.
class AskedRows {
 public:
  void Add(const store::ClaimedJobChunk& chunk) {
    const auto rows = RowsOf(chunk);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const base::Uuid id =
          domain::JobRowId(chunk.job_id, chunk.block, chunk.part, static_cast<int>(i));
      const std::string row = fmt::format("{} of block {}", rows[i], chunk.block);
      EXPECT_EQ(rows_.emplace(id, row).first->second, row) << "an id stands for one row";
      EXPECT_EQ(ids_.emplace(row, id).first->second, id) << "a row has one id";
    }
  }

 private:
  std::map<base::Uuid, std::string> rows_;
  std::map<std::string, base::Uuid> ids_;
};

// A run whose parts of two rows were cut for rows of 5 s.
store::NewJob CutTooSmall(store::NewJob run) {
  run.blocks[1].pace = std::chrono::seconds(5);
  for (std::size_t part = 0; part < run.parts.size(); ++part) {
    run.parts[part].rows_json = fmt::format("[[{}],[{}]]", 2 * part, 2 * part + 1);
  }
  return run;
}

// The end of a part that says that its rows take 300 ms.
store::JobChunkRecord QuickEnd(const store::ClaimedJobChunk& chunk) {
  auto record = HandedOn(chunk);
  record.rows_done -= chunk.progress;  // a record before it was of one row
  record.rows_timed = record.block == 1 ? 10 : 0;
  record.rows_took = std::chrono::milliseconds(record.rows_timed * 300);
  return record;
}

constexpr store::GrowRules kGrow{std::chrono::seconds(10), 4096};

TEST_F(JobsGrow, PartsThatGrowLoseDoubleAndDisorderNoRowInRandomHistories) {
  constexpr int kParts = 150;
  const int growing = InFull(12, 5);  // histories
  std::mt19937 random(20261124);
  const auto pick = [&random](std::size_t from, std::size_t to) {
    return std::uniform_int_distribution<std::size_t>(from, to)(random);
  };
  // Its part ends, or it is given back, some with a row that is recorded.
  const auto work = [&](const base::Uuid& job, const store::ClaimedJobChunk& chunk) {
    if (pick(0, 3) > 0) {
      ASSERT_EQ(RecordOne(job, QuickEnd(chunk)), store::JobRecorded::kRecorded);
      return;
    }
    if (chunk.progress == 0 && pick(0, 1) == 0) {
      ASSERT_EQ(RecordOne(job, FirstRowEnd(chunk)), store::JobRecorded::kRecorded);
    }
    store::GiveBackJobChunks(session, {{chunk.lease, std::chrono::hours(pick(0, 1))}});
  };
  // Its process drains.
  const auto give_back = [&](std::vector<store::ClaimedJobChunk>* held) {
    for (const auto& chunk : *held) store::GiveBackJobChunks(session, {{chunk.lease, {}}});
    held->clear();
  };
  int grown = 0;
  for (int history = 0; history < growing; ++history) {
    auto run = CutTooSmall(Run(kParts, 3, static_cast<int>(pick(1, 200))));
    run.blocks[3].input = 1;
    const auto job = Start(run);
    std::vector<store::ClaimedJobChunk> held;
    AskedRows asked;
    for (;;) {
      auto claim = Claim(static_cast<int>(pick(1, 40)));
      for (const auto& chunk : claim.chunks) asked.Add(chunk);
      held.insert(held.end(), claim.chunks.begin(), claim.chunks.end());
      if (held.empty()) break;
      std::shuffle(held.begin(), held.end(), random);
      for (std::size_t n = pick(1, std::min<std::size_t>(held.size(), 8)); n > 0; --n) {
        ASSERT_NO_FATAL_FAILURE(work(job, held.back()));
        held.pop_back();
      }
      if (pick(0, 2) == 0) give_back(&held);
      const auto before = Job(job, "part_rows");
      EXPECT_TRUE(store::GrowParts(session, kGrow).failures.empty());
      grown += Job(job, "part_rows") == before ? 0 : 1;
      // The hour passes for what was given back.
      Sql("update job_chunk set available_at = now(), due_at = now() where lease_token is null and "
          "available_at > now()");
    }
    ASSERT_EQ(Job(job, "status"), "2") << "history " << history;
    for (int block = 0; block < 4; ++block) {
      ASSERT_EQ(Sql(fmt::format(
                    "select count(*) || ' ' || bool_and(v = n - 1) || ' ' || (select rows_done "
                    "from job_block where job_id = '{0}' and block = {1}) from (select (r ->> "
                    "0)::int as "
                    "v, row_number() over (order by part, i) as n from job_part cross join lateral "
                    "json_array_elements(rows) with ordinality as e(r, i) where job_id = '{0}' and "
                    "block = {1}) x",
                    job.ToString(), block)),
                "300 true 300")
          << "block " << block << " of history " << history;
    }
  }
  EXPECT_GE(grown, growing) << "each of them grows";
}

TEST_F(JobsGrow, G1_PartsThatWereGivenBackStayAsTheyAreWhereTheirRunGrows) {
  const auto job = Start(CutTooSmall(Run(150, 1, 8)));
  const auto chunks = Claim(5).chunks;
  ASSERT_EQ(chunks.size(), 5U);
  RecordOne(job, QuickEnd(chunks[0]));
  RecordOne(job, FirstRowEnd(chunks[1]));
  RecordOne(job, FirstRowEnd(chunks[2]));
  // With and without a delay, with a row that is recorded and with rows that were asked at most.
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    store::GiveBackJobChunks(session, {{chunks[i].lease, std::chrono::hours(i % 2)}});
  }
  EXPECT_TRUE(store::GrowParts(session, kGrow).failures.empty());
  ASSERT_NE(Job(job, "part_rows"), "2") << "it has grown";
  int last = 0;
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    last = std::max(last, chunks[i].part);
    EXPECT_EQ(Sql(fmt::format("select progress || ' ' || (done is not null) from job_chunk where "
                              "id = '{}'",
                              chunks[i].lease.id.ToString())),
              i < 3 ? "1 true" : "0 false")
        << "chunk " << i;
    EXPECT_EQ(
        Sql(fmt::format("select rows from job_part where block = 0 and part = {}", chunks[i].part)),
        *chunks[i].rows_json);
  }
  EXPECT_NE(Sql(fmt::format("select row_count from job_part where block = 0 and part = {}",
                            std::max(last, chunks[0].part) + 1)),
            "2")
      << "what nobody has had grows";
}

}  // namespace
}  // namespace vedette::test
