#include "domain/email/address.h"
#include "domain/email/find_request.h"
#include "domain/email/verdict.h"
#include "domain/workflow/blocks/blocks.h"
#include "domain/workflow/lookup_rows.h"

// Asks mail servers about the address of each row. It is the lookup of a lead that has nothing but
// its address.
namespace vedette::domain {
namespace {

using base::Json;

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false,
  "properties": {
    "email_column": {"type": "string", "minLength": 1, "maxLength": 200, "default": "email"}
  }
})";

// Mail servers are asked, which take their time.
constexpr std::chrono::milliseconds kPace{3000};

enum Added : std::size_t { kStatus, kReason };

LookupColumns AddedTo(const Columns& input) {
  return {input, {"email_status", "email_reason"}, "email_error"};
}

class VerifyEmail final : public LookupRows {
 public:
  VerifyEmail(const Json& specs, const Columns& input)
      : LookupRows(AddedTo(input)), address_at_(PlaceOfAddress(specs, input)) {}

  std::string RequestJson(const LookupPricing& terms) const override {
    FindRequest request;
    request.short_cells = true;
    request.charge = terms.charge;
    request.verify_mc = terms.verify_mc;
    return FindSpecsJson(request);
  }

  RowLead LeadOf(const TextCells& row) const override {
    const std::string address = TextAt(row, address_at_);
    if (address.empty()) return EmptyRow();
    if (ParseAddress(address)) return AskedLead{Json{{"email", address}}};
    TextCells cells = columns_.Begin(row);
    columns_.Set(kStatus, "NOT_FOUND", &cells);
    columns_.Set(kReason, VerdictReasonName(VerdictReason::kInvalidAddress), &cells);
    return cells;
  }

  TextCells Answered(const TextCells& row, const Json& cell) const override {
    TextCells cells = columns_.Begin(row);
    columns_.Set(kStatus, cell.at("email").at(0).at(1), &cells);
    columns_.Set(kReason, cell.at("details").at("reason"), &cells);
    return cells;
  }

 private:
  const std::size_t address_at_;
};

}  // namespace

const BlockType kVerifyEmailBlock{
    .name = "verify_email",
    .description =
        "Verifies the email address of each row. A row is charged whatever the answer, "
        "unless the organisation knew it already.",
    .specs_schema = kSchema,
    .category = BlockCategory::kEnrich,
    .work = BlockWork::kLookup,
    .lane = Lane::kSmtp,
    .pace = kPace,
    .price = BlockPrice::kVerifyEmail,
    .bind = BindLookup<VerifyEmail>,
    .lookup = "find_email",
    .make_lookup = MakeLookup<VerifyEmail>,
};

}  // namespace vedette::domain
