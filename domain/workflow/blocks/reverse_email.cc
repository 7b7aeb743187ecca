#include <array>

#include "domain/people/people_request.h"
#include "domain/workflow/blocks/blocks.h"
#include "domain/workflow/lookup_rows.h"

// Finds who is behind the address of each row, as POST /reverse-email does.
namespace vedette::domain {
namespace {

using base::Json;

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false,
  "properties": {
    "email_column": {"type": "string", "minLength": 1, "maxLength": 200, "default": "email"}
  }
})";

// Pages are read.
constexpr std::chrono::milliseconds kPace{3000};

// What it adds, which are members of the lookup's answer.
constexpr std::array kAdded{"name", "title", "company", "location", "linkedin"};

LookupColumns AddedTo(const Columns& input) {
  return {input, {"name", "title", "company", "location", "linkedin"}, "reverse_error"};
}

class ReverseEmail final : public LookupRows {
 public:
  ReverseEmail(const Json& specs, const Columns& input)
      : LookupRows(AddedTo(input)), address_at_(PlaceOfAddress(specs, input)) {}

  std::string RequestJson(const LookupPricing& terms) const override {
    PeopleRequest request;
    request.charge = terms.charge;
    return PeopleSpecsJson(request);
  }

  RowLead LeadOf(const TextCells& row) const override {
    const std::string address = TextAt(row, address_at_);
    if (address.empty()) return EmptyRow();
    return AskedLead{Json{{"email", address}}};
  }

  TextCells Answered(const TextCells& row, const Json& cell) const override {
    TextCells cells = columns_.Begin(row);
    std::size_t added = 0;
    for (const char* name : kAdded) columns_.Fill(added++, cell.at(name), &cells);
    return cells;
  }

 private:
  const std::size_t address_at_;
};

}  // namespace

const BlockType kReverseEmailBlock{
    .name = "reverse_email",
    .description =
        "Finds who is behind the email address of each row; a value that a row has "
        "already stays. A row is charged where a name was found.",
    .specs_schema = kSchema,
    .category = BlockCategory::kEnrich,
    .work = BlockWork::kLookup,
    .lane = Lane::kLookup,
    .takes = Frame::kLead,
    .pace = kPace,
    .price = BlockPrice::kReverseEmail,
    .bind = BindLookup<ReverseEmail>,
    .lookup = "reverse_email",
    .make_lookup = MakeLookup<ReverseEmail>,
};

}  // namespace vedette::domain
