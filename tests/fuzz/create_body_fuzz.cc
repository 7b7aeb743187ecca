// The body of POST /monitors: parsed, its types and limits read, its rules validated.
#include <cstdlib>
#include <string_view>

#include "api/tenant/monitors/monitor_body.h"
#include "config/limits_config.h"
#include "tests/fuzz/target.h"

namespace vedette {

FUZZ_TARGET(create_body, text) {
  config::LimitsConfig limits{};
  limits.rows_per_request_max = 1000;
  limits.struct_fields_max = 64;
  limits.name_chars_max = 200;
  limits.metadata_bytes_max = 16384;
  limits.row_bytes_max = 65536;
  limits.struct_bytes_max = 262144;
  rest::JsonBody body;
  const auto rules = api::RowsBodyRules(std::size_t{1} << 24, limits.rows_per_request_max);
  if (rest::ParseBody(text, rules, &body)) return;
  if (!body.members.is_object()) return;
  rest::Problems update_problems;
  api::ReadUpdateBody(body.members, limits, &update_problems);
  rest::Problems problems;
  api::CreateBody create = api::ReadCreateBody(std::move(body), limits, &problems);
  if (problems.any()) {
    problems.Items();
    return;
  }
  try {
    const api::CreateOrder accepted =
        api::TakeOrder(&create, limits, net::AddressPolicy({}), base::Timestamp{});
    // What is stored is JSON, whatever came in.
    for (const domain::RowValues& row : accepted.rows) {
      base::ParseJsonOrThrow(row.subject_json);
      base::ParseJsonOrThrow(row.baseline_json);
      if (row.key_hash.size() != 16 || !row.has_key) std::abort();
    }
  } catch (const rest::Refusal& refusal) {
    if (refusal.reply().status != 400) std::abort();
  }
}

}  // namespace vedette
