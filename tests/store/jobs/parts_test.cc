#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pqxx/pqxx>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "config/database_config.h"
#include "domain/job/block_progress.h"
#include "store/queries.h"
#include "tests/store/support/jobs_support.h"
#include "tests/support/in_full.h"

// What a record opens, beside the pure function that says the same (domain/job/block_progress.h).
namespace vedette::test {
namespace {

using domain::JobStatus;

class JobsParts : public JobsTest {
 public:
  // A tree of blocks over a payload: each block below the first works on some block before it.
  store::NewJob Tree(std::mt19937& random) {
    const auto pick = [&random](int from, int to) {
      return std::uniform_int_distribution<int>(from, to)(random);
    };
    auto run = Run(pick(1, 6), pick(1, 5), 1);
    for (std::size_t i = 1; i < run.blocks.size(); ++i) {
      run.blocks[i].input = pick(0, static_cast<int>(i) - 1);
      run.blocks[i].part_window = pick(1, 4);
    }
    return run;
  }

  // What the oracle says of every block, from the same start and the same records.
  struct Model {
    std::vector<domain::BlockProgress> blocks;
    std::vector<std::vector<std::int64_t>> parts;  // that exist, by block

    void Open() {
      for (auto& block : blocks) {
        if (!block.input) continue;
        block.opened += domain::PartsToOpen(block, parts[static_cast<std::size_t>(*block.input)]);
      }
    }
    void Record(int block, int part) {
      auto& made = parts[static_cast<std::size_t>(block)];
      made.insert(std::upper_bound(made.begin(), made.end(), part), part);
      ++blocks[static_cast<std::size_t>(block)].parts_done;
      Open();
    }
    std::string Text() const {
      std::string text;
      for (const auto& b : blocks) text += fmt::format("{}/{} ", b.opened, b.parts_done);
      return text;
    }
  };
  static Model ModelOf(const store::NewJob& run) {
    Model model;
    const int total = run.blocks[0].parts_total;
    for (const auto& block : run.blocks) {
      model.blocks.push_back({block.input, total, 0, 0, block.part_window});
      model.parts.emplace_back();
    }
    model.blocks[0].opened = model.blocks[0].parts_done = total;
    for (int i = 0; i < total; ++i) model.parts[0].push_back(i);
    model.Open();
    return model;
  }

  std::string Stored(const base::Uuid& job) {
    return Sql(
        fmt::format("select string_agg(opened || '/' || parts_done || ' ', '' order by "
                    "block) from job_block where job_id = '{}'",
                    job.ToString()));
  }
};

TEST_F(JobsParts, WhatIsOpenedIsWhatTheOracleOpensInRandomHistories) {
  std::mt19937 random(20261122);
  const int histories = InFull(60, 20);
  int records = 0;
  for (int history = 0; history < histories; ++history) {
    const auto run = Tree(random);
    const auto job = Start(run);
    Model model = ModelOf(run);
    ASSERT_EQ(Stored(job), model.Text()) << "history " << history;
    std::vector<store::ClaimedJobChunk> held;
    for (;;) {
      auto claim = Claim();
      held.insert(held.end(), claim.chunks.begin(), claim.chunks.end());
      if (held.empty()) break;
      std::shuffle(held.begin(), held.end(), random);
      const std::size_t n = std::uniform_int_distribution<std::size_t>(
          1, std::min<std::size_t>(held.size(), 8))(random);
      std::vector<store::JobChunkRecord> batch;
      for (std::size_t i = 0; i < n; ++i) {
        batch.push_back(PartEnd(held.back(), 2));
        held.pop_back();
      }
      RecordJob(job, batch);
      for (const auto& record : batch) model.Record(record.block, record.part);
      records += static_cast<int>(n);
      ASSERT_EQ(Stored(job), model.Text()) << "history " << history;
    }
    ASSERT_EQ(Job(job, "status"), "2") << "history " << history;
  }
  EXPECT_GT(records, histories * 5);
}

// One consumer of one input, in any state that a history can reach, and in some that none can.
struct PartsState {
  domain::BlockProgress block;
  std::vector<std::int64_t> parts;  // that the input has made
};

PartsState RandomState(std::mt19937& random) {
  const auto pick = [&random](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  PartsState state;
  state.block.parts_total = pick(1, 12);
  state.block.opened = pick(0, state.block.parts_total);
  state.block.parts_done = pick(0, state.block.opened);
  state.block.part_window = pick(1, 5);
  if (pick(0, 5) > 0) state.block.input = 0;
  const int chance = pick(0, 10);
  for (int part = 0; part < state.block.parts_total; ++part) {
    if (pick(1, 10) <= chance) state.parts.push_back(part);
  }
  return state;
}

TEST_F(JobsParts, TheStatementAndTheOracleAgreeOnRandomStates) {
  const int states_max = InFull(10'000, 2'000);
  std::mt19937 random(7);
  pqxx::connection connection(database.url());
  connection.prepare("parts_open", store::QueryText("parts_open"));
  pqxx::work tx(connection);
  // Hundreds of thousands of rows without statistics want plans by the indexes, as in a service.
  tx.exec("set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan");
  std::vector<std::pair<std::string, PartsState>> states;
  std::string jobs, blocks, parts;
  for (int i = 0; i < states_max; ++i) {
    const std::string id = base::Uuid::V4().ToString();
    const PartsState state = RandomState(random);
    const auto& b = state.block;
    jobs += fmt::format(
        "{}('{}', '{}', 5, 2, '{{}}', 0, '{}', '', 0, 0, '2026-11-01', now() + interval '1 hour')",
        i == 0 ? "" : ",", id, org.ToString(), id);
    blocks += fmt::format("{}('{}', 1, 't', '{{}}', {}, 0, 0, false, {}, {}, {}, {})",
                          i == 0 ? "" : ",", id, b.input ? "0" : "null", b.parts_total, b.opened,
                          b.parts_done, b.part_window);
    for (const auto part : state.parts) {
      parts += fmt::format("{}('{}', 0, {}, '[]', 0)", parts.empty() ? "" : ",", id, part);
    }
    states.emplace_back(id, state);
  }
  tx.exec(
      "insert into job (id, org_id, kind, part_rows, params, caller_kind, caller_id, "
      "remote_address, estimate_mc, reserved_mc, month, deadline_at) values " +
      jobs);
  tx.exec(
      "insert into job_block (job_id, block, type, specs, input, lane, price_mc, after_drop, "
      "parts_total, opened, parts_done, part_window) values " +
      blocks);
  tx.exec("insert into job_part (job_id, block, part, rows, row_count) values " + parts);
  int opened_in_all = 0;
  for (const auto& [id, state] : states) {
    tx.exec_prepared("parts_open", "{" + id + "}", "{1}");
    opened_in_all += domain::PartsToOpen(state.block, state.parts);
  }
  std::map<std::string, int> opened;
  for (const auto& row : tx.exec("select job_id, opened from job_block")) {
    opened.emplace(row[0].c_str(), row[1].as<int>());
  }
  int wrong = 0;
  for (const auto& [id, state] : states) {
    const int expected = state.block.opened + domain::PartsToOpen(state.block, state.parts);
    wrong += opened.at(id) == expected ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(opened_in_all, states_max / 2);
  EXPECT_EQ(tx.exec("select count(*) from job_chunk")[0][0].as<int>(), opened_in_all);
}

TEST_F(JobsParts, AProducerAndAConsumerThatRaceNeitherLoseNorDoubleAPart) {
  const auto job = Start(Run(60, 3, 4));
  const auto work = [&] {
    const auto own = OtherSession();
    for (;;) {
      const auto claim =
          store::ClaimJobChunks(*own, {{domain::Lane::kTransform, org, 1, 2}}, base::Uuid::V4(),
                                job_lease, [&](const base::Uuid& id) { return id == job; });
      if (claim.chunks.empty()) {
        const auto view = store::GetJob(*own, {}, job);
        if (domain::IsEnd(view->status)) return;
        std::this_thread::yield();
        continue;
      }
      for (const auto& chunk : claim.chunks) {
        const auto result = store::RecordJobChunks(*own, clock, {PartEnd(chunk, 2)});
        EXPECT_EQ(result.chunks.at(0), store::JobRecorded::kRecorded);
      }
    }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(Job(job, "status"), "2");
  EXPECT_EQ(Sql("select count(*) from job_part"), "240");
  EXPECT_EQ(Sql("select count(*) from job_block where parts_done = 60 and opened = 60"), "4");
}

// Each safety that the tests of the fleet switch off: without it something here goes wrong.
class JobsSafeties : public JobsTest {
 public:
  std::unique_ptr<store::Session> Without(const std::string& safety) {
    testing_config.disable = {safety};
    return OtherSession(&testing_config);
  }
  config::TestingConfig testing_config{};
};

TEST_F(JobsSafeties, WithoutTheLeaseFenceALostLeaseIsRecorded) {
  Start(Lookup(1, 1000));
  const auto frozen = Claim().chunks.at(0);
  Sql("update job_chunk set available_at = now()");
  Claim();
  const auto unsafe = Without("job_lease_fence");
  EXPECT_EQ(store::RecordJobChunks(*unsafe, clock, {PartEnd(frozen, 1, 1, 1000)}).chunks[0],
            store::JobRecorded::kRecorded);
}

TEST_F(JobsSafeties, WithoutTheProgressFenceARowIsChargedTwice) {
  const auto job = Start(Lookup(2, 1000));
  const auto record = Progress(Claim().chunks.at(0), R"({"rows": [["a"], null]})", 1, 1000);
  const auto unsafe = Without("job_progress_fence");
  store::RecordJobChunks(*unsafe, clock, {record});
  store::RecordJobChunks(*unsafe, clock, {record});
  EXPECT_EQ(Job(job, "charged_mc"), "2000");
}

TEST_F(JobsSafeties, WithoutTheReservationMoneyIsLost) {
  const auto unsafe = Without("job_reservation");
  store::StartJob(*unsafe, clock, Lookup(1, 1000), start_limits);
  EXPECT_EQ(Sql("select balance_mc + (select sum(reserved_mc) from job) from account"), "999000");
}

TEST_F(JobsSafeties, WithoutTheHeldReadAnEndedJobGoesOn) {
  const auto job = Start(Lookup());
  const auto chunk = Claim().chunks.at(0);
  End(job, JobStatus::kCancelled);
  const auto unsafe = Without("job_held");
  EXPECT_TRUE(store::ReadHeldJobChunks(*unsafe, {chunk.lease}).at(0).may_run);
}

TEST_F(JobsSafeties, WithoutOpeningInTheRecordAJobStalls) {
  const auto job = Start(Run(3, 1, 1));
  const auto unsafe = Without("open_later");
  store::RecordJobChunks(*unsafe, clock, {PartEnd(Claim().chunks.at(0), 2)});
  EXPECT_EQ(Sql("select count(*) from job_chunk"), "0");
  EXPECT_EQ(Job(job, "status"), "1");
}

}  // namespace
}  // namespace vedette::test
