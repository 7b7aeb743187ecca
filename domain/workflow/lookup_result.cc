#include "domain/workflow/lookup_result.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "domain/email/find_request.h"
#include "domain/email/found.h"
#include "domain/money/money.h"
#include "domain/people/people_answer.h"

namespace vedette::domain {
namespace {

using base::Json;

bool IsBulk(JobKind kind) {
  return kind == JobKind::kFindEmailBulk || kind == JobKind::kReverseEmailBulk;
}

// What the client sees of every row, by kind.
Json SeenRows(const EndedLookup& lookup) {
  const bool expired = lookup.status == JobStatus::kCompleted;
  const std::string_view unrecorded = expired ? kResultExpired : JobStatusName(lookup.status);
  switch (lookup.kind) {
    case JobKind::kFindEmail:
    case JobKind::kFindEmailBulk:
      return FindResults(ReadFindRequest(lookup.params_json), lookup.rows_json, unrecorded);
    case JobKind::kReverseEmail:
    case JobKind::kReverseEmailBulk:
      return PeopleResults(PeopleQuestion::kReverseEmail, ReadPeopleRequest(lookup.params_json),
                           lookup.rows_json, unrecorded);
    case JobKind::kVerifyAge:
      return PeopleResults(PeopleQuestion::kVerifyAge, ReadPeopleRequest(lookup.params_json),
                           lookup.rows_json, unrecorded);
    case JobKind::kInvestigation:
    case JobKind::kWorkflow:
      break;
  }
  return Json::array();
}

bool HasRecordedRow(const EndedLookup& lookup) {
  if (!lookup.rows_json) return false;
  const Json rows = base::ParseJsonOrThrow(*lookup.rows_json);
  return std::any_of(rows.begin(), rows.end(), [](const Json& row) { return !row.is_null(); });
}

Json CallbackJson(const EndedLookup& lookup, Json result, double cents_per_credit) {
  return {{"task_id", lookup.id.ToString()},
          {"task_type", JobKindName(lookup.kind)},
          {"status", ShownJobStatus(lookup.status)},
          {"result", std::move(result)},
          {"error", JobErrorOf(lookup.status, lookup.status_reason, lookup.error)},
          {"charge_amount", CentsOf(lookup.charged_mc, cents_per_credit)},
          {"created_at", base::FormatTimestamp(lookup.created_at)},
          {"finished_at", base::FormatTimestamp(lookup.finished_at)}};
}

}  // namespace

std::string_view ShownJobStatus(JobStatus status) {
  return JobStatusName(status == JobStatus::kQueued ? JobStatus::kRunning : status);
}

// A thousandth of a cent is to a cent what a millicredit is to a credit.
base::Json CentsOf(std::int64_t mc, double cents_per_credit) {
  return CreditsToJson(std::llround(static_cast<double>(mc) * cents_per_credit));
}

base::Json WaitedResult(const EndedLookup& lookup, double cents_per_credit) {
  Json rows = SeenRows(lookup);
  Json charge = CentsOf(lookup.charged_mc, cents_per_credit);
  if (IsBulk(lookup.kind)) {
    return {{"task_id", lookup.id.ToString()},
            {"results", std::move(rows)},
            {"charge_amount", std::move(charge)}};
  }
  if (rows.empty() || rows[0].is_null()) return {};
  Json& details = rows[0]["details"];
  details["task_id"] = lookup.id.ToString();
  details["charge_amount"] = std::move(charge);
  return std::move(rows[0]);
}

base::Json LookupResult(const EndedLookup& lookup, double cents_per_credit) {
  if (lookup.kind == JobKind::kWorkflow) return {{"run_id", lookup.id.ToString()}};
  // A completed lookup has recorded all of its rows: without them they are past their retention.
  if (!HasRecordedRow(lookup)) return {};
  if (!IsBulk(lookup.kind) && lookup.status != JobStatus::kCompleted) return {};
  return WaitedResult(lookup, cents_per_credit);
}

base::Json JobErrorOf(JobStatus status, const std::optional<std::string>& status_reason,
                      const std::optional<std::string>& error) {
  if (!IsEnd(status) || status == JobStatus::kCompleted) return {};
  const std::string name(JobStatusName(status));
  return {{"error", status_reason.value_or(name)},
          {"message", error.value_or("The job is " + name + ".")}};
}

std::string LookupCallbackBody(const EndedLookup& lookup, double cents_per_credit,
                               std::size_t bytes_max) {
  std::string body = base::DumpJson(
      CallbackJson(lookup, LookupResult(lookup, cents_per_credit), cents_per_credit));
  if (body.size() <= bytes_max) return body;
  return base::DumpJson(CallbackJson(lookup, Json(), cents_per_credit));
}

}  // namespace vedette::domain
