#include "api/search/values_body.h"

#include <fmt/format.h>

#include <utility>

#include "api/search/excluded_ids.h"
#include "rest/body_reader.h"

namespace vedette::api {
namespace {

namespace search = domain::search;
using rest::Presence;
using search::FilterError;

constexpr std::size_t kFieldCharsMax = 200;
constexpr int kTopDefault = 25;
constexpr std::size_t kCursorCharsMax = 2048;

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
std::optional<FilterError> JudgeCursor(const ValuesBody& body) {
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

}  // namespace

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
  body.has_cursor = reader.Text("cursor", Presence::kOptional, 0, kCursorCharsMax).has_value();
  reader.Finish();
  return body;
}

std::variant<store::ValuesQuestion, FilterError> MakeValuesQuestion(
    const ValuesBody& body, const domain::search::Fields& fields) {
  store::ValuesQuestion question;
  question.mode = body.mode;
  question.values_max = body.top_k;
  question.field = fields.Find(body.field);
  if (question.field == nullptr) return domain::search::UnknownField(body.field, fields);
  if (auto error = search::JudgeExclusions(body.exclusions, body.mode)) return std::move(*error);
  if (auto error = JudgeCursor(body)) return std::move(*error);
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

}  // namespace vedette::api
