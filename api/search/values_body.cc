#include "api/search/values_body.h"

#include <fmt/format.h>

#include <utility>

#include "rest/body_reader.h"

namespace vedette::api {
namespace {

using domain::search::FilterError;
using rest::Presence;

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
  if (!question.field->has_values()) {
    return FilterError{"field_has_no_values",
                       fmt::format("{} is a text without exact values, so that there are none to "
                                   "count",
                                   question.field->name)};
  }
  std::vector<domain::search::Filter> parts;
  const auto add = [&](const base::Json& given, auto read) -> std::optional<FilterError> {
    if (given.is_null()) return std::nullopt;
    auto filter = read(given, fields);
    if (auto* error = std::get_if<FilterError>(&filter)) return std::move(*error);
    parts.push_back(std::move(std::get<domain::search::Filter>(filter)));
    return std::nullopt;
  };
  if (auto error = add(body.filters, domain::search::ReadDslFilter)) return std::move(*error);
  if (auto error = add(body.simple_filters, domain::search::ReadSimpleFilter)) {
    return std::move(*error);
  }
  question.filter = domain::search::AllOf(std::move(parts));
  return question;
}

}  // namespace vedette::api
