#include <fmt/format.h>

#include "domain/people/people_request.h"
#include "domain/workflow/blocks/blocks.h"
#include "domain/workflow/lookup_rows.h"

// Finds how old the person of each row is, as POST /verify-age does.
namespace vedette::domain {
namespace {

using base::Json;

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false,
  "properties": {
    "columns": {"type": "object", "additionalProperties": false, "default": {},
      "description": "Which column has what; absent: the column of that name, if there is one.",
      "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 200},
        "company": {"type": "string", "minLength": 1, "maxLength": 200},
        "linkedin": {"type": "string", "minLength": 1, "maxLength": 200},
        "email": {"type": "string", "minLength": 1, "maxLength": 200},
        "location": {"type": "string", "minLength": 1, "maxLength": 200}
      }}
  }
})";

// Many pages are read.
constexpr std::chrono::milliseconds kPace{5000};

enum Added : std::size_t { kDate, kDateConfidence, kAge, kAgeAsOf, kAgeConfidence, kSources };

LookupColumns AddedTo(const Columns& input) {
  return {input,
          {"date_of_birth", "dob_confidence", "age", "age_as_of", "age_confidence", "age_sources"},
          "age_error"};
}

// What is known of it: 1980, 1980-05 or 1980-05-06; null where not even the year is.
Json DateText(const Json& date) {
  if (date.at("year").is_null()) return nullptr;
  std::string text = fmt::format("{:04}", date.at("year").get<int>());
  for (const char* part : {"month", "day"}) {
    if (date.at(part).is_null()) break;
    text += fmt::format("-{:02}", date.at(part).get<int>());
  }
  return text;
}

// A confidence in nothing is none.
Json Beside(const Json& value, const Json& shown) {
  return value.is_null() ? Json(nullptr) : shown;
}

class VerifyAge final : public LookupRows {
 public:
  VerifyAge(const Json& specs, const Columns& input)
      : LookupRows(AddedTo(input)),
        lead_(specs.at("columns"), input, {"name", "company", "linkedin", "email", "location"}) {}

  std::string RequestJson(const LookupPricing& terms) const override {
    PeopleRequest request;
    request.charge = terms.charge;
    request.minimum_age = terms.minimum_age;
    return PeopleSpecsJson(request);
  }

  RowLead LeadOf(const TextCells& row) const override { return lead_.LeadOf(row); }

  TextCells Answered(const TextCells& row, const Json& cell) const override {
    TextCells cells = columns_.Begin(row);
    const Json& date = cell.at("date_of_birth");
    const Json text = DateText(date);
    const Json& age = cell.at("age");
    const Json& value = age.at("value");
    const Json& sources = cell.at("sources");
    columns_.Set(kDate, text, &cells);
    columns_.Set(kDateConfidence, Beside(text, date.at("confidence")), &cells);
    columns_.Set(kAge, value, &cells);
    columns_.Set(kAgeAsOf, Beside(value, age.at("as_of")), &cells);
    columns_.Set(kAgeConfidence, Beside(value, age.at("confidence")), &cells);
    columns_.Set(kSources, sources.empty() ? Json(nullptr) : sources, &cells);
    return cells;
  }

 private:
  const LeadColumns lead_;
};

}  // namespace

const BlockType kVerifyAgeBlock{
    .name = "verify_age",
    .description =
        "Finds the date of birth or the age of the person of each row, each with its "
        "sources. A row is charged where a year or an age was found.",
    .specs_schema = kSchema,
    .category = BlockCategory::kEnrich,
    .work = BlockWork::kLookup,
    .lane = Lane::kResearch,
    .takes = Frame::kLead,
    .pace = kPace,
    .price = BlockPrice::kVerifyAge,
    .bind = BindLookup<VerifyAge>,
    .lookup = "verify_age",
    .make_lookup = MakeLookup<VerifyAge>,
};

}  // namespace vedette::domain
