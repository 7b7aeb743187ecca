#include <fmt/format.h>
#include <fmt/ranges.h>

#include "domain/email/address.h"
#include "domain/email/find_request.h"
#include "domain/email/finders.h"
#include "domain/workflow/blocks/blocks.h"
#include "domain/workflow/lookup_rows.h"

// Finds the address of the person of each row, as POST /find-email does.
namespace vedette::domain {
namespace {

using base::Json;

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false,
  "properties": {
    "mode": {"type": "string", "enum": ["PROFESSIONAL", "PERSONAL"], "default": "PROFESSIONAL"},
    "verify_emails": {"type": "boolean", "default": true,
      "description": "Whether mail servers are asked about the addresses that were found."},
    "providers": {"type": ["array", "null"], "minItems": 1, "maxItems": 16, "default": null,
      "items": {"type": "string", "minLength": 1, "maxLength": 32},
      "description": "Who is asked, in this order, in place of the configured ones."},
    "columns": {"type": "object", "additionalProperties": false, "default": {},
      "description": "Which column has what; absent: the column of that name, if there is one.",
      "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 200},
        "first_name": {"type": "string", "minLength": 1, "maxLength": 200},
        "last_name": {"type": "string", "minLength": 1, "maxLength": 200},
        "company": {"type": "string", "minLength": 1, "maxLength": 200},
        "domain": {"type": "string", "minLength": 1, "maxLength": 200},
        "linkedin": {"type": "string", "minLength": 1, "maxLength": 200},
        "email": {"type": "string", "minLength": 1, "maxLength": 200}
      }}
  }
})";

// Pages and mail servers are asked.
constexpr std::chrono::milliseconds kPace{3000};

enum Added : std::size_t { kEmail, kStatus, kType, kPersonalEmail };

LookupColumns AddedTo(const Columns& input) {
  return {input, {"email", "email_status", "email_type", "personal_email"}, "email_error"};
}

// The member of the first of [[address, status, type], ..]; null where there is none.
Json OfFirst(const Json& tuples, std::size_t member) {
  if (tuples.empty()) return nullptr;
  const Json& value = tuples.at(0).at(member);
  return value == "" ? Json(nullptr) : value;
}

// A provider that nobody configured, or that finds nothing in this mode, would be passed over by
// the run, row after row: it is refused where the workflow is saved.
std::vector<SpecFault> ValidateFinders(const Json& specs, const KnownFinders& known) {
  std::vector<SpecFault> faults;
  const Json& named = specs.at("providers");
  if (named.is_null()) return faults;
  const FindMode mode = ParseFindMode(specs.at("mode").get<std::string>()).value();
  for (std::size_t i = 0; i < named.size(); ++i) {
    const auto& id = named.at(i).get_ref<const std::string&>();
    const Json at = Json::array({"providers", i});
    if (!known.Knows(id)) {
      faults.push_back({at, "unknown_provider",
                        fmt::format("\"{}\" is no provider here; those of the mode {} are: {}", id,
                                    FindModeName(mode), fmt::join(known.Serving(mode), ", ")),
                        id, Json{{"known", known.Serving(mode)}}});
    } else if (!known.Finds(id, mode)) {
      faults.push_back({at, "provider_not_for_this",
                        fmt::format("{} does not find addresses in the mode {}; these do: {}", id,
                                    FindModeName(mode), fmt::join(known.Serving(mode), ", ")),
                        id, Json{{"known", known.Serving(mode)}}});
    }
  }
  return faults;
}

class FindEmail final : public LookupRows {
 public:
  FindEmail(const Json& specs, const Columns& input)
      : LookupRows(AddedTo(input)),
        lead_(specs.at("columns"), input,
              {"name", "first_name", "last_name", "company", "domain", "linkedin", "email"}) {
    request_.mode = ParseFindMode(specs.at("mode").get<std::string>()).value();
    request_.verify_emails = specs.at("verify_emails").get<bool>();
    if (!specs.at("providers").is_null()) request_.providers = NamesIn(specs.at("providers"));
  }

  std::string RequestJson(const LookupPricing& terms) const override {
    FindRequest request = request_;
    request.short_cells = true;
    request.charge = terms.charge;
    request.verify_mc = terms.verify_mc;
    return FindSpecsJson(request);
  }

  RowLead LeadOf(const TextCells& row) const override { return lead_.LeadOf(row); }

  TextCells Answered(const TextCells& row, const Json& cell) const override {
    TextCells cells = columns_.Begin(row);
    const bool professional = request_.mode == FindMode::kProfessional;
    const Json& asked = cell.at(professional ? "email" : "personal_email");
    // The row's own may be none.
    const Json address = OfFirst(asked, 0);
    const bool is_address = !address.is_null() && ParseAddress(address.get<std::string>());
    columns_.Replace(kEmail, OfFirst(cell.at("email"), 0), &cells);
    columns_.Set(kStatus, OfFirst(asked, 1), &cells);
    columns_.Set(kType, is_address ? OfFirst(asked, 2) : Json(nullptr), &cells);
    columns_.Replace(kPersonalEmail, OfFirst(cell.at("personal_email"), 0), &cells);
    return cells;
  }

 private:
  const LeadColumns lead_;
  FindRequest request_;
};

}  // namespace

const BlockType kFindEmailBlock{
    .name = "find_email",
    .description =
        "Finds the email address of the person of each row. A row is charged where an "
        "address was found.",
    .specs_schema = kSchema,
    .category = BlockCategory::kEnrich,
    .work = BlockWork::kLookup,
    .lane = Lane::kSmtp,
    .takes = Frame::kLead,
    .pace = kPace,
    .price = BlockPrice::kFindEmail,
    .bind = BindLookup<FindEmail>,
    .lookup = "find_email",
    .make_lookup = MakeLookup<FindEmail>,
    .validate_finders = ValidateFinders,
};

}  // namespace vedette::domain
