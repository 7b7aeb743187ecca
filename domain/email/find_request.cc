#include "domain/email/find_request.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/json.h"
#include "domain/email/found.h"
#include "domain/email/lead.h"

namespace vedette::domain {
namespace {

struct ChargeRuleText {
  ChargeRule rule;
  std::string_view name;
};
constexpr ChargeRuleText kChargeRules[] = {
    {ChargeRule::kAlways, "always"}, {ChargeRule::kFound, "found"}, {ChargeRule::kOk, "ok"}};

}  // namespace

std::string_view ChargeRuleName(ChargeRule rule) {
  return kChargeRules[static_cast<std::size_t>(rule)].name;
}

ChargeRule ParseChargeRule(const std::string& name) {
  for (const ChargeRuleText& known : kChargeRules) {
    if (known.name == name) return known.rule;
  }
  throw std::invalid_argument("a stored lookup has an unknown rule of charge");
}

namespace {

base::Json SpecsJson(const FindRequest& request) {
  base::Json json = base::Json::object();
  json["mode"] = FindModeName(request.mode);
  json["verify_emails"] = request.verify_emails;
  json["providers"] = request.providers;
  json["charge"] = ChargeRuleName(request.charge);
  json["verify_mc"] = request.verify_mc;
  if (request.short_cells) json["short_cells"] = true;
  return json;
}

}  // namespace

std::string_view FindModeName(FindMode mode) {
  return mode == FindMode::kProfessional ? "PROFESSIONAL" : "PERSONAL";
}

std::optional<FindMode> ParseFindMode(std::string_view name) {
  for (const FindMode mode : {FindMode::kProfessional, FindMode::kPersonal}) {
    if (FindModeName(mode) == name) return mode;
  }
  return std::nullopt;
}

base::Json FindRowCell(const FindRow& row) {
  return row.copy_of ? base::Json::array({*row.copy_of, row.lead.Value()}) : row.lead.Value();
}

FindRow ReadFindRow(base::Json cell) {
  if (cell.is_object()) return {std::move(cell), std::nullopt};
  const bool is_copy =
      cell.is_array() && cell.size() == 2 && cell[0].is_number_unsigned() && cell[1].is_object();
  if (!is_copy) throw std::invalid_argument("a stored lookup has a row that is no lead");
  return {std::move(cell[1]), cell[0].get<std::size_t>()};
}

std::vector<FindRow> MakeFindRows(std::vector<base::Json> leads) {
  std::vector<FindRow> rows;
  std::map<std::string, std::size_t> first;  // by key of the lead
  for (base::Json& lead : leads) {
    const auto read = ReadLead(lead);
    base::Assert(std::holds_alternative<Person>(read),
                 "a lead was validated before it becomes a row");
    const auto [it, is_new] = first.try_emplace(LeadKey(std::get<Person>(read)), rows.size());
    FindRow row{std::move(lead), std::nullopt};
    if (!is_new) row.copy_of = it->second;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string FindParamsJson(const FindRequest& request) {
  base::Json json = base::Json::object();
  base::Json& rows = json["rows"] = base::Json::array();
  for (const FindRow& row : request.rows) rows.push_back(FindRowCell(row));
  json.update(SpecsJson(request));
  return base::DumpJson(json);
}

std::string FindSpecsJson(const FindRequest& request) {
  return base::DumpJson(SpecsJson(request));
}

FindRequest ReadFindRequest(std::string_view json) {
  base::Json stored = base::ReadJsonCell(json);  // a lead comes back with its numbers as they were
  try {
    FindRequest request;
    const auto mode = ParseFindMode(stored.at("mode").get_ref<const std::string&>());
    if (!mode) throw std::invalid_argument("a stored lookup has an unknown mode");
    request.mode = *mode;
    request.verify_emails = stored.at("verify_emails").get<bool>();
    request.providers = stored.at("providers").get<std::vector<std::string>>();
    request.charge = ParseChargeRule(stored.at("charge").get_ref<const std::string&>());
    request.verify_mc = stored.at("verify_mc").get<std::int64_t>();
    request.short_cells = stored.value("short_cells", false);
    if (const auto rows = stored.find("rows"); rows != stored.end()) {
      for (base::Json& cell : *rows) request.rows.push_back(ReadFindRow(std::move(cell)));
    }
    return request;
  } catch (const base::Json::exception&) {
    throw std::invalid_argument("a stored lookup is not of the form of one");
  }
}

std::int64_t FindPriceMc(FindMode mode, const FindEmailPrices& prices) {
  return mode == FindMode::kProfessional ? prices.professional_mc : prices.personal_mc;
}

std::int64_t FindEstimateMc(const FindRequest& request, const FindEmailPrices& prices) {
  std::int64_t estimate_mc = 0;
  for (const FindRow& row : request.rows) {
    const auto read = ReadLead(row.lead.Value());
    const auto* person = std::get_if<Person>(&read);
    const std::int64_t price_mc = FindPriceMc(request.mode, prices);
    if (row.copy_of) continue;
    if (person == nullptr) {
      estimate_mc += price_mc;
    } else if (!AnswerAtOnce(request.mode, *person, request.verify_emails)) {
      const bool is_own = OwnAddressToVerify(request.mode, *person).has_value();
      estimate_mc += is_own ? std::min(prices.verify_mc, price_mc) : price_mc;
    }
  }
  return estimate_mc;
}

}  // namespace vedette::domain
