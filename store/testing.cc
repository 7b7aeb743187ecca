#include "store/session_impl.h"

#include <signal.h>

#include <algorithm>
#include <string>
#include <utility>

#include "config/database_config.h"

namespace vedette::store {
namespace {

// Which statement a safety lives in, and what runs where it is switched off (testing.sql).
struct Safety {
  std::string_view name;
  std::string_view statement;
  std::string_view without;
};
constexpr Safety kSafeties[] = {
    {"lease_fence", "record_lock_chunks", "record_lock_chunks_unfenced"},
    {"row_fence", "record_row_states", "record_row_states_unfenced"},
    {"row_fence", "states_lock", "states_lock_unfenced"},
    {"reservation", "accounts_reserve", "accounts_reserve_nothing"},
    {"lease_renewal", "chunk_renew", "chunk_renew_not"},
    {"job_lease_fence", "job_chunk_lock", "job_chunk_lock_any_token"},
    {"job_progress_fence", "job_chunk_lock", "job_chunk_lock_any_progress"},
    {"job_progress_fence", "job_chunk_progress", "job_chunk_progress_any"},
    {"job_reservation", "job_insert", "job_insert_unreserved"},
    {"job_reservation", "job_start", "job_start_unreserved"},
    {"job_held", "job_chunk_held", "job_chunk_held_always"},
    {"job_end_lock", "job_end_lock", "job_end_lock_not"},
    {"open_later", "parts_open", "parts_open_nothing"},
    {"slot_fence", "workflow_slot_decide", "workflow_slot_decide_unfenced"},
    {"slot_fence", "workflow_schedule_due", "workflow_schedule_due_about_then"},
    {"assertion_once", "assertion_take", "assertion_take_again"},
    {"token_version", "authenticate_token", "authenticate_token_of_any_version"},
    {"key_fetch_limit", "client_keys_fetch_begin", "client_keys_fetch_begin_always"},
};

}  // namespace

// A named point of the pipeline: at a statement, or at the COMMIT of the transaction that ran it.
struct Testing::Place {
  std::string_view point;
  Where where;
  std::string_view statement;
};
const Testing::Place Testing::kPlaces[] = {
    {"after_cut", Where::kAfter, "chunk_insert"},
    {"after_claim", Where::kAfter, "chunk_claim"},
    {"after_reserve", Where::kAfter, "chunk_reserve"},
    {"after_probe", Where::kBefore, "record_lock_chunks"},
    {"before_record_commit", Where::kBeforeCommit, "record_lock_chunks"},
    {"after_record_commit", Where::kAfterCommit, "record_lock_chunks"},
    {"after_send", Where::kBefore, "delivery_settle_delivered"},
    {"before_settle", Where::kBeforeCommit, "delivery_settle_delivered"},
    {"after_job_start", Where::kAfterCommit, "job_insert"},
    {"after_job_start", Where::kAfterCommit, "job_start"},
    {"after_job_claim", Where::kAfter, "job_claim"},
    {"after_row", Where::kBefore, "job_lock"},
    {"before_job_record_commit", Where::kBeforeCommit, "job_chunk_lock"},
    {"after_job_record_commit", Where::kAfterCommit, "job_chunk_lock"},
    {"after_slot_read", Where::kAfter, "workflow_schedule_due"},
    {"before_slot_commit", Where::kBeforeCommit, "workflow_slot_decide"},
    {"after_slot_commit", Where::kAfterCommit, "workflow_slot_decide"},
    {"before_job_end_commit", Where::kBeforeCommit, "job_finish"},
    {"after_job_end_commit", Where::kAfterCommit, "job_finish"},
};

Testing::Testing(const config::TestingConfig& config, base::Logger log)
    : config_(config), log_(log), random_(static_cast<std::uint64_t>(config.fault_seed)) {}

std::string_view Testing::BeforeStatement(std::string_view name) {
  statements_.push_back(name);
  Pass(Where::kBefore, name);
  for (const Safety& safety : kSafeties) {
    if (name != safety.statement) continue;
    const auto& off = config_.disable;
    if (std::find(off.begin(), off.end(), safety.name) != off.end()) return safety.without;
  }
  return name;
}

void Testing::AfterStatement(std::string_view name) {
  for (const Safety& safety : kSafeties) {
    if (name == safety.without) name = safety.statement;
  }
  Pass(Where::kAfter, name);
}

void Testing::BeforeCommit() {
  for (const std::string_view statement : statements_) Pass(Where::kBeforeCommit, statement);
}

void Testing::AfterCommit() {
  for (const std::string_view statement : statements_) Pass(Where::kAfterCommit, statement);
}

void Testing::Pass(Where where, std::string_view statement) {
  for (const Place& place : kPlaces) {
    if (place.where != where || place.statement != statement) continue;
    for (const auto& fault : config_.fault_points) {
      if (fault.point != place.point) continue;
      if (std::uniform_real_distribution<double>(0, 1)(random_) >= fault.probability) continue;
      log_.Warn("a fault by intention", {{"point", fault.point}, {"action", fault.action}});
      // To this thread: one that is sent to the process may be taken by another thread, and this
      // one would be past the point when it is stopped.
      raise(fault.action == "kill" ? SIGKILL : SIGSTOP);
    }
  }
}

}  // namespace vedette::store
