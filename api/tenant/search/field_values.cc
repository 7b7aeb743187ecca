#include <chrono>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "api/kit/answer.h"
#include "api/kit/body.h"
#include "api/kit/cursor.h"
#include "api/kit/query_reader.h"
#include "api/kit/reply.h"
#include "api/tenant/handlers.h"
#include "api/tenant/search/exclusion_lists.h"
#include "base/json.h"
#include "config/parts.h"
#include "config/search_config.h"
#include "domain/search/documents.h"
#include "domain/search/fields.h"
#include "domain/search/filter.h"
#include "domain/search/filter_reader.h"
#include "store/search/exclusion_lists.h"
#include "store/search/field_values.h"

namespace vedette::api {
namespace {

// The body of POST /search/filter-field-values. Pure.

struct ValuesBody {
  std::string field;
  domain::search::Mode mode = domain::search::Mode::kCompany;
  int top_k = 0;
  base::Json filters;         // an object, or null
  base::Json simple_filters;  // as filters
  domain::search::Exclusions exclusions;
  bool has_cursor = false;  // of an answer that has no next page
};

namespace search = domain::search;
using rest::Presence;
using search::FilterError;

constexpr std::size_t kFieldCharsMax = 200;
constexpr int kTopDefault = 25;

base::Json ReadFilterMember(rest::BodyReader* reader, std::string_view name,
                            rest::Problems* problems) {
  const base::Json* given = reader->Member(name, Presence::kOptional);
  if (given == nullptr) return nullptr;
  if (given->is_object()) return *given;
  problems->Add(rest::BodyReader::Loc(name), "dict_type", "Input should be an object", *given);
  return nullptr;
}

// The ids of saved lists; one that is no id is one of no list.
std::vector<base::Uuid> ReadListIds(rest::BodyReader* reader, rest::Problems* problems) {
  constexpr std::string_view kName = "exclusion_list_ids";
  const auto texts = reader->Texts(kName, Presence::kOptional);
  std::vector<base::Uuid> ids;
  if (!texts) return ids;
  if (texts->size() > search::kExclusionListsNamedMax) {
    problems->Add(rest::BodyReader::Loc(kName), "too_long",
                  fmt::format("List should have at most {} items", search::kExclusionListsNamedMax),
                  nullptr);
    return ids;
  }
  for (const std::string& text : *texts) {
    ids.push_back(base::Uuid::Parse(text).value_or(base::Uuid{}));
  }
  return ids;
}

search::Exclusions ReadExclusions(rest::BodyReader* reader, rest::Problems* problems) {
  search::Exclusions read;
  read.public_ids = ReadExcludedIds(reader, "exclude_public_ids", Presence::kOptional, problems);
  read.entity_ids = ReadExcludedIds(reader, "exclude_entity_ids", Presence::kOptional, problems);
  read.list_ids = ReadListIds(reader, problems);
  return read;
}

// A count is answered whole, so that no cursor was ever given out.
std::optional<FilterError> ValidateCursor(const ValuesBody& body) {
  if (!body.has_cursor) return std::nullopt;
  if (body.exclusions.any()) {
    return FilterError{std::string(search::kInvalidExclusions),
                       "exclusions do not go together with a cursor"};
  }
  return FilterError{"invalid_cursor", "a count has no pages, and so no cursor"};
}

// The documents without these public ids.
std::variant<search::Filter, FilterError> WithoutPublicIds(const std::vector<std::string>& ids,
                                                           const search::Fields& fields) {
  const search::Field* field = fields.Find(search::kPublicIdField);
  if (field == nullptr) return search::UnknownField(search::kPublicIdField, fields);
  if (!field->has_values() || !search::IsText(field->type)) {
    return FilterError{"field_has_no_values",
                       fmt::format("{} is no text with exact values here", field->name)};
  }
  search::OneOf listed{field, {ids.begin(), ids.end()}};
  return search::Filter{search::None{{search::Filter{std::move(listed)}}}};
}

// What is wrong with its form becomes a problem.
ValuesBody ReadValuesBody(const base::Json& members, rest::Problems* problems) {
  rest::BodyReader reader(members, problems);
  ValuesBody body;
  body.field = reader.Text("field", Presence::kRequired, 1, kFieldCharsMax).value_or("");
  if (const base::Json* given = reader.Member("mode", Presence::kOptional)) {
    const auto mode =
        given->is_string() ? domain::search::ParseMode(given->get<std::string>()) : std::nullopt;
    if (!mode) {
      problems->Add(rest::BodyReader::Loc("mode"), "enum", "Input should be 'people' or 'company'",
                    *given);
    }
    body.mode = mode.value_or(body.mode);
  }
  body.top_k =
      reader.Integer("top_k", Presence::kOptional, 1, store::kTopValuesMax).value_or(kTopDefault);
  body.filters = ReadFilterMember(&reader, "filters", problems);
  body.simple_filters = ReadFilterMember(&reader, "simple_filters", problems);
  body.exclusions = ReadExclusions(&reader, problems);
  body.has_cursor =
      reader.Text("cursor", Presence::kOptional, 0, rest::kCursorCharsMax).has_value();
  reader.Finish();
  return body;
}

// The question that the body asks, of no organisation yet: with both filters a document meets both.
// What it excludes is validated, and in it, but for saved lists. Its field and filter point into
// `fields`.
std::variant<store::ValuesQuestion, FilterError> MakeValuesQuestion(
    const ValuesBody& body, const domain::search::Fields& fields) {
  store::ValuesQuestion question;
  question.mode = body.mode;
  question.values_max = body.top_k;
  question.field = fields.Find(body.field);
  if (question.field == nullptr) return domain::search::UnknownField(body.field, fields);
  if (auto error = search::ValidateExclusions(body.exclusions, body.mode)) return std::move(*error);
  if (auto error = ValidateCursor(body)) return std::move(*error);
  std::vector<search::Filter> parts;
  const auto add = [&](const base::Json& given, auto read) -> std::optional<FilterError> {
    if (given.is_null()) return std::nullopt;
    auto filter = read(given, fields);
    if (auto* error = std::get_if<FilterError>(&filter)) return std::move(*error);
    parts.push_back(std::move(std::get<search::Filter>(filter)));
    return std::nullopt;
  };
  if (auto error = add(body.filters, domain::search::ReadDslFilter)) return std::move(*error);
  if (auto error = add(body.simple_filters, domain::search::ReadSimpleFilter)) {
    return std::move(*error);
  }
  if (!body.exclusions.public_ids.empty()) {
    auto without = WithoutPublicIds(body.exclusions.public_ids, fields);
    if (auto* error = std::get_if<FilterError>(&without)) return std::move(*error);
    parts.push_back(std::get<search::Filter>(std::move(without)));
  }
  question.filter = search::AllOf(std::move(parts));
  question.excluded_ids = body.exclusions.entity_ids;
  return question;
}

// The values of a field, with how many documents have each.

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

std::chrono::milliseconds Since(const Dependencies& parts, std::chrono::nanoseconds began_at) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(parts.clock.SinceBoot() - began_at);
}

rest::Reply EngineReply(const Dependencies& parts, const std::string& asked,
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
rest::Handled Count(store::Session& session, const Dependencies& parts, const std::string& asked,
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
void ExcludeListed(Call& call, const std::vector<base::Uuid>& lists,
                   store::ValuesQuestion* question) {
  if (lists.empty()) return;
  int named = 0;
  for (const base::Uuid& id : std::set<base::Uuid>(lists.begin(), lists.end())) {
    const auto list = store::GetExclusionList(call.session(), call.caller.org_id, id);
    if (!list) throw rest::Refusal(rest::NotFound("exclusion list"));
    if (const auto error =
            search::ValidateExclusionList(id.ToString(), list->mode, list->state, question->mode)) {
      throw rest::Refusal(400, error->code, error->message);
    }
    named += list->entities;
  }
  if (const auto error = search::ValidateExcludedSum(named)) {
    throw rest::Refusal(400, error->code, error->message);
  }
  const auto bytes = static_cast<std::size_t>(named) * search::kDocumentIdCharsMax;
  TakeBytes(call, bytes);
  auto listed = store::ReadExcludedIds(call.session(), call.caller.org_id, lists);
  std::vector<std::string>& excluded = question->excluded_ids;
  std::move(listed.begin(), listed.end(), std::back_inserter(excluded));
}

// Counted at the import: one row by its key, which waits for no count of documents (G10).
std::optional<rest::Reply> ImportedAnswer(Call& call, const std::string& asked,
                                          const store::ValuesQuestion& question,
                                          std::chrono::nanoseconds began_at) {
  const Dependencies& parts = call.parts;
  if (parts.search.engine != nullptr) return std::nullopt;
  const auto top =
      store::ReadImportedValues(call.session(), parts.search.fields.of(question.mode), question);
  if (!top) return std::nullopt;
  return rest::JsonReply(200, AnswerJson(asked, question, {*top, false}, Since(parts, began_at)));
}

}  // namespace

rest::Handled ListFieldValues(Call& call) {
  const auto began_at = call.parts.clock.SinceBoot();
  rest::BodyRules rules = BodyRulesOf(call);
  rules.json.keep_numbers = false;  // 1e2 is 100 in a filter
  const auto json = ReadJsonObject(call, rules);
  rest::Problems problems;
  const ValuesBody body = ReadValuesBody(json.members, &problems);
  problems.Check();
  auto made = MakeValuesQuestion(body, call.parts.search.fields.of(body.mode));
  if (const auto* error = std::get_if<search::FilterError>(&made)) {
    return rest::ErrorReply(400, error->code, error->message);
  }
  const SearchDependencies& parts = call.parts.search;
  if (parts.pool == nullptr && parts.engine == nullptr) {
    return rest::Unavailable("search_not_configured", "no documents are counted here");
  }
  auto question =
      std::make_shared<store::ValuesQuestion>(std::get<store::ValuesQuestion>(std::move(made)));
  question->org_id = call.caller.org_id;
  ExcludeListed(call, body.exclusions.list_ids, question.get());
  if (auto answer = ImportedAnswer(call, body.field, *question, began_at)) {
    return std::move(*answer);
  }
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

// What filters may say, and of which fields.

namespace {

constexpr const char* kSimpleOperators[] = {
    "$eq",    "$ne",     "$gt",  "$gte", "$lt",  "$lte", "$in",        "$nin",   "$exists",
    "$match", "$phrase", "$and", "$or",  "$not", "$nor", "$elemMatch", "$search"};

base::Json FieldJson(const search::Field& field) {
  const bool has_order = field.has_values() && field.type != search::FieldType::kBoolean;
  return {{"field", field.name},
          {"field_type", search::FieldTypeName(field.type)},
          {"nested_path", base::OrNull(field.nested_path)},
          {"queryable", true},
          {"sortable", false},
          {"rangeable", has_order},
          {"sort_field", nullptr},
          {"aggregation_field", base::OrNull(field.aggregation_field)},
          {"value_type", search::FieldTypeName(field.value_type())},
          {"supports_top_values", field.has_values()},
          {"supports_exact_filter_snippet", field.has_values()},
          {"related_fields", field.related},
          {"preferred_for_exact_match", field.preferred}};
}

}  // namespace

rest::Handled ShowFilterCapabilities(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const auto given =
      query.Text("mode").value_or(std::string(search::ModeName(search::Mode::kCompany)));
  const auto mode = search::ParseMode(given);
  if (!mode) query.Refuse("mode", "enum", "Input should be 'people' or 'company'");
  query.Boolean("refresh", false);  // nothing is kept that could be read again
  query.Finish();
  problems.Check();
  const search::Fields& fields = call.parts.search.fields.of(*mode);
  base::Json listed = base::Json::array();
  for (const search::Field& field : fields.all()) listed.push_back(FieldJson(field));
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      call.parts.clock.Now().time_since_epoch());
  return rest::JsonReply(200, {{"mode", search::ModeName(*mode)},
                               {"index_name", search::ModeName(*mode)},
                               {"fields", std::move(listed)},
                               {"nested_paths", fields.nested_paths()},
                               {"limits",
                                {{"max_query_depth", search::kFilterDepthMax},
                                 {"max_clause_count", search::kFilterClausesMax},
                                 {"max_terms_per_clause", search::kFilterValuesMax},
                                 {"max_sort_clauses", 0},
                                 {"max_string_length", search::kFilterCharsMax}}},
                               {"cache_ttl_seconds", 0},
                               {"generated_at_epoch_ms", now.count()},
                               {"mapping_hash", fields.hash()},
                               {"simple_query_operators", kSimpleOperators}});
}

}  // namespace vedette::api
