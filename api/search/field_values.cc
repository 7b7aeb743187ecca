// The values of a field, with how many documents have each (interface 2.9 and 4.5).
#include <chrono>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "api/handlers.h"
#include "api/search/values_body.h"
#include "base/json_or_null.h"
#include "config/config.h"
#include "domain/search/document.h"
#include "domain/search/values.h"
#include "rest/failure_reply.h"
#include "rest/serve.h"
#include "store/search/exclusion_lists.h"

namespace vedette::api {
namespace {

namespace search = domain::search;

constexpr double kShareUnit = 1e6;  // six decimals

base::Json ValuesJson(const search::Field& field, const search::TopValues& top) {
  base::Json values = base::Json::array();
  for (const search::ValueCount& value : top.values) {
    const double share = static_cast<double>(value.count) / static_cast<double>(top.total);
    values.push_back({{"count", value.count},
                      {"percent_of_scope", std::round(share * kShareUnit) / kShareUnit},
                      {"value", value.value},
                      {"filter_snippet", search::FilterSnippet(field, value.value)}});
  }
  return values;
}

base::Json AnswerJson(const std::string& asked, const store::ValuesQuestion& question,
                      const search::EngineCount& count, std::chrono::milliseconds duration) {
  const search::Field& field = *question.field;
  const search::TopValues& top = count.top;
  return {{"field", asked},
          {"canonical_field", field.name},
          {"value_type", search::FieldTypeName(field.value_type())},
          {"supports_top_values", field.has_values()},
          {"supports_exact_filter_snippet", field.has_values()},
          {"total_scoped_documents", top.total},
          {"missing_count", top.missing},
          {"other_count", top.other},
          {"approximate", count.approximate},
          {"mode", search::ModeName(question.mode)},
          {"aggregation_field", base::OrNull(field.aggregation_field)},
          {"nested_path", base::OrNull(field.nested_path)},
          {"related_fields", field.related},
          {"preferred_for_exact_match", field.preferred},
          {"request_duration_ms", duration.count()},
          {"values", ValuesJson(field, top)}};
}

rest::Reply FailedReply(const store::Failure& failure, const std::string& request_id) {
  if (failure.kind == store::Failure::Kind::kFault) return rest::FailureReply(failure, request_id);
  return rest::Unavailable("search_upstream_error",
                           "the documents cannot be counted now; try again");
}

rest::Reply TimedOut() {
  return rest::Unavailable("search_timeout",
                           "the count took too long; narrow the filter to fewer documents");
}

std::chrono::milliseconds Since(const Parts& parts, std::chrono::nanoseconds began_at) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(parts.clock.SinceBoot() - began_at);
}

rest::Reply EngineReply(const Parts& parts, const std::string& asked,
                        const store::ValuesQuestion& question, std::chrono::nanoseconds began_at,
                        const SearchEngine::Outcome& outcome) {
  switch (outcome.kind) {
    case SearchEngine::Outcome::Kind::kCounted:
      return rest::JsonReply(200,
                             AnswerJson(asked, question, outcome.count, Since(parts, began_at)));
    case SearchEngine::Outcome::Kind::kTimedOut:
      return TimedOut();
    case SearchEngine::Outcome::Kind::kTooLarge:
      return rest::ErrorReply(400, "filter_too_large",
                              "the filter is too large for the search engine");
    case SearchEngine::Outcome::Kind::kBusy:
      return rest::Unavailable("search_upstream_error", "too many counts are under way; try again");
    case SearchEngine::Outcome::Kind::kFailed:
      break;
  }
  return rest::Unavailable("search_upstream_error",
                           "the documents cannot be counted now; try again");
}

// The count itself, on a thread of the search pool.
rest::Handled Count(store::Session& session, const Parts& parts, const std::string& asked,
                    const store::ValuesQuestion& question, std::chrono::nanoseconds began_at) {
  try {
    const search::TopValues top =
        store::CountFieldValues(session, question, parts.config.search.timeout_ms);
    return rest::JsonReply(200, AnswerJson(asked, question, {top, false}, Since(parts, began_at)));
  } catch (const store::SearchTimedOut&) {
    return TimedOut();
  }
}

// Adds what the saved lists name. A 404 for one that is missing or another organisation's, and a
// 400 for one that may not be named here.
std::optional<rest::Reply> ExcludeListed(Call& call, const std::vector<base::Uuid>& lists,
                                         store::ValuesQuestion* question) {
  if (lists.empty()) return std::nullopt;
  int named = 0;
  for (const base::Uuid& id : lists) {
    const auto list = store::GetExclusionList(call.session, call.caller.org_id, id);
    if (!list) return rest::NotFound("exclusion list");
    if (const auto error =
            search::JudgeExclusionList(id.ToString(), list->mode, list->state, question->mode)) {
      return rest::ErrorReply(400, error->code, error->message);
    }
    named += list->entities;
  }
  if (const auto error = search::JudgeExcludedSum(named)) {
    return rest::ErrorReply(400, error->code, error->message);
  }
  const auto bytes = static_cast<std::size_t>(named) * search::kDocumentIdCharsMax;
  if (auto reply = TakeBytes(call, bytes)) return reply;
  auto listed = store::ReadExcludedIds(call.session, call.caller.org_id, lists);
  std::vector<std::string>& excluded = question->excluded_ids;
  std::move(listed.begin(), listed.end(), std::back_inserter(excluded));
  return std::nullopt;
}

// Counted at the import: one row by its key, which waits for no count of documents (G10).
std::optional<rest::Reply> ImportedReply(Call& call, const std::string& asked,
                                         const store::ValuesQuestion& question,
                                         std::chrono::nanoseconds began_at) {
  const Parts& parts = call.parts;
  if (parts.search.engine != nullptr) return std::nullopt;
  const auto top =
      store::ReadImportedValues(call.session, parts.search.fields.of(question.mode), question);
  if (!top) return std::nullopt;
  return rest::JsonReply(200, AnswerJson(asked, question, {*top, false}, Since(parts, began_at)));
}

}  // namespace

rest::Handled ListFieldValues(Call& call) {
  const auto began_at = call.parts.clock.SinceBoot();
  rest::BodyRules rules = BodyRulesOf(call);
  rules.json.keep_numbers = false;  // 1e2 is 100 in a filter
  rest::Judged<rest::JsonBody> json = ReadJsonObject(call, rules);
  if (auto* reply = std::get_if<rest::Reply>(&json)) return std::move(*reply);
  rest::Problems problems;
  const ValuesBody body = ReadValuesBody(std::get<rest::JsonBody>(json).members, &problems);
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  auto made = MakeValuesQuestion(body, call.parts.search.fields.of(body.mode));
  if (const auto* error = std::get_if<search::FilterError>(&made)) {
    return rest::ErrorReply(400, error->code, error->message);
  }
  const SearchParts& parts = call.parts.search;
  if (parts.pool == nullptr && parts.engine == nullptr) {
    return rest::Unavailable("search_not_configured", "no documents are counted here");
  }
  auto question =
      std::make_shared<store::ValuesQuestion>(std::get<store::ValuesQuestion>(std::move(made)));
  question->org_id = call.caller.org_id;
  if (auto reply = ExcludeListed(call, body.exclusions.list_ids, question.get())) {
    return std::move(*reply);
  }
  if (auto reply = ImportedReply(call, body.field, *question, began_at)) return std::move(*reply);
  call.answer->DropBody();
  if (parts.engine != nullptr) {
    parts.engine->Count(*question,
                        [&all = call.parts, answer = call.answer, question, asked = body.field,
                         began_at](const SearchEngine::Outcome& outcome) {
                          answer->Send(EngineReply(all, asked, *question, began_at, outcome));
                        });
    return rest::Parked{};
  }
  rest::Serve(
      *parts.pool, call.caller.org_id, call.answer,
      [&parts = call.parts, question, asked = body.field, began_at](store::Session& session) {
        return Count(session, parts, asked, *question, began_at);
      },
      [id = call.answer->request_id()](const store::Failure& failure) {
        return FailedReply(failure, id);
      });
  return rest::Parked{};
}

}  // namespace vedette::api
