#include <phonenumbers/phonenumberutil.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "domain/workflow/blocks/blocks.h"
#include "domain/workflow/cells.h"

// Verifies the phone number of each row by the numbering plans that libphonenumber has. This file
// is part of the build where that library is (docs/decisions/0036-phone-numbers.md).
namespace vedette::domain {
namespace {

using base::Json;
using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

constexpr std::string_view kSchema = R"({
  "type": "object", "additionalProperties": false, "required": ["phone_column"],
  "properties": {
    "phone_column": {"type": "string", "minLength": 1, "maxLength": 200},
    "name_column": {"type": ["string", "null"], "minLength": 1, "maxLength": 200, "default": null,
      "description": "A row without a value in it is not verified."},
    "default_region": {"type": ["string", "null"], "minLength": 2, "maxLength": 2, "default": null,
      "description": "The country of numbers without a country code, such as DE."}
  }
})";

constexpr std::string_view kMissingName = "Missing Name";
constexpr std::string_view kPossibleNotValid = "Possible Not Valid";
constexpr std::string_view kRegionAssumed = "Region Assumed";

// By PhoneNumberUtil::PhoneNumberType; the last one, UNKNOWN, is no value.
constexpr std::array<const char*, 11> kTypes{
    "FIXED_LINE",  "MOBILE", "FIXED_LINE_OR_MOBILE", "TOLL_FREE", "PREMIUM_RATE",
    "SHARED_COST", "VOIP",   "PERSONAL_NUMBER",      "PAGER",     "UAN",
    "VOICEMAIL"};

// What the library says for no region.
constexpr std::string_view kNoRegion = "ZZ";

std::string RegionOf(const Json& spec) {
  std::string region = spec.get<std::string>();
  std::transform(region.begin(), region.end(), region.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return region;
}

enum Added : std::size_t { kE164, kValid, kPossible, kType, kRegion, kWarnings, kErrors };
constexpr std::array<const char*, 6> kAdded{"phone_e164", "phone_valid",  "phone_possible",
                                            "phone_type", "phone_region", "phone_warnings"};

// The columns of the output, and where those stand that are added, by Added.
struct Places {
  Columns output;
  std::vector<std::size_t> added;
};

Places PlacesIn(const Columns& input) {
  Places places{input, {}};
  for (const char* name : kAdded) places.added.push_back(PlaceOf(name, &places.output));
  places.added.push_back(PlaceOfError("phone_errors", &places.output));
  return places;
}

Json Fault(std::string_view code, const std::string& field, std::string_view message) {
  return {{"code", code}, {"field", field}, {"message", message}};
}

class VerifyPhone final : public RowFunction {
 public:
  VerifyPhone(const Json& specs, const Columns& input)
      : places_(PlacesIn(input)), phone_column_(specs.at("phone_column").get<std::string>()) {
    phone_at_ = ColumnAt(input, phone_column_);
    if (specs.at("name_column").is_string()) {
      name_column_ = specs.at("name_column").get<std::string>();
      const auto at = std::find(input.begin(), input.end(), name_column_);
      name_at_ = static_cast<std::size_t>(at - input.begin());
    }
    if (specs.at("default_region").is_string()) {
      region_ = RegionOf(specs.at("default_region"));
    }
  }

  std::optional<Cells> Apply(Cells row) const override {
    const std::optional<std::string> phone = CellValue(row.at(phone_at_));
    const bool is_named = name_column_.empty() || HasName(row);
    row.resize(places_.output.size());
    for (const std::size_t place : places_.added) row[place] = nullptr;
    if (!phone) return row;
    if (!is_named) {
      At(kWarnings, &row) = kMissingName;
      At(kErrors, &row) = Json::array(
          {Fault("MissingRequiredInput", name_column_, "the row has a phone, but no name")});
      return row;
    }
    Verify(*phone, &row);
    return row;
  }

 private:
  // A column that the input does not have has no value.
  bool HasName(const Cells& row) const {
    return name_at_ < row.size() && CellValue(row[name_at_]).has_value();
  }

  Json& At(Added added, Cells* row) const { return row->at(places_.added.at(added)); }

  void Refuse(std::string_view code, std::string_view message, Cells* row) const {
    At(kValid, row) = false;
    At(kPossible, row) = false;
    At(kErrors, row) = Json::array({Fault(code, phone_column_, message)});
  }

  void Verify(const std::string& phone, Cells* row) const {
    const PhoneNumberUtil& util = *PhoneNumberUtil::GetInstance();
    PhoneNumber number;
    const std::string region = region_.empty() ? std::string(kNoRegion) : region_;
    const auto error = util.ParseAndKeepRawInput(phone, region, &number);
    if (error == PhoneNumberUtil::INVALID_COUNTRY_CODE_ERROR && region_.empty() &&
        IsNational(phone)) {
      return Refuse("MissingRegion", "the number has no country code, and there is no region", row);
    }
    if (error != PhoneNumberUtil::NO_PARSING_ERROR || !util.IsPossibleNumber(number)) {
      return Refuse("InvalidNumber", "no country has such a number", row);
    }
    Show(number, row);
  }

  // Whether what has no country code is a number where one is assumed.
  static bool IsNational(const std::string& phone) {
    PhoneNumber number;
    return PhoneNumberUtil::GetInstance()->Parse(phone, "US", &number) !=
           PhoneNumberUtil::INVALID_COUNTRY_CODE_ERROR;
  }

  void Show(const PhoneNumber& number, Cells* row) const {
    const PhoneNumberUtil& util = *PhoneNumberUtil::GetInstance();
    const bool is_valid = util.IsValidNumber(number);
    std::string e164;
    util.Format(number, PhoneNumberUtil::E164, &e164);
    At(kE164, row) = e164;
    At(kValid, row) = is_valid;
    At(kPossible, row) = true;
    const auto type = static_cast<std::size_t>(util.GetNumberType(number));
    if (type < kTypes.size()) At(kType, row) = kTypes[type];
    std::string region;
    util.GetRegionCodeForNumber(number, &region);
    if (region != kNoRegion) At(kRegion, row) = region;
    std::string warnings;
    if (!is_valid) warnings = kPossibleNotValid;
    if (number.country_code_source() == PhoneNumber::FROM_DEFAULT_COUNTRY) {
      warnings += (warnings.empty() ? "" : "; ") + std::string(kRegionAssumed);
    }
    if (!warnings.empty()) At(kWarnings, row) = warnings;
  }

  const Places places_;
  const std::string phone_column_;
  std::size_t phone_at_ = 0;
  std::string name_column_;  // empty: names do not matter
  std::size_t name_at_ = 0;
  std::string region_;  // empty: none is assumed
};

Columns Bind(const Json& specs, const Columns& input) {
  ColumnAt(input, specs.at("phone_column").get_ref<const std::string&>());
  return PlacesIn(input).output;
}

std::unique_ptr<const RowFunction> Make(const Json& specs, const Columns& input) {
  return std::make_unique<VerifyPhone>(specs, input);
}

std::optional<SpecFault> Validate(const Json& specs) {
  if (specs.at("default_region").is_null()) return std::nullopt;
  std::set<std::string> regions;
  PhoneNumberUtil::GetInstance()->GetSupportedRegions(&regions);
  if (regions.contains(RegionOf(specs.at("default_region")))) return std::nullopt;
  return SpecFault{Json::array({"default_region"}), "enum",
                   "default_region should be the two letters of a country"};
}

}  // namespace

const BlockType kVerifyPhoneBlock{
    .name = "verify_phone",
    .description = "Verifies the phone number of each row, and writes it as the world dials it.",
    .specs_schema = kSchema,
    .category = BlockCategory::kTransform,
    .work = BlockWork::kRowFunction,
    .bind = Bind,
    .make = Make,
    .validate = Validate,
};

}  // namespace vedette::domain
