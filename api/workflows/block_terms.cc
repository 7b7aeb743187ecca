#include "api/workflows/block_terms.h"

#include "config/config.h"
#include "domain/email/find_request.h"
#include "domain/workflow/lookup_rows.h"
#include "store/jobs/read.h"

namespace vedette::api {
namespace {

using domain::BlockPrice;

domain::ChargeRule ChargeOf(const config::Config& config, BlockPrice price) {
  switch (price) {
    case BlockPrice::kFindEmail:
      return config.find_email_prices.charge;
    case BlockPrice::kReverseEmail:
      return config.reverse_email_price.charge;
    case BlockPrice::kVerifyAge:
      return config.age_price.charge;
    case BlockPrice::kVerifyEmail:
    case BlockPrice::kTier:
    case BlockPrice::kFree:
      break;
  }
  return domain::ChargeRule::kAlways;
}

}  // namespace

std::optional<std::int64_t> ListPriceMc(const config::Config& config,
                                        const domain::BlockType& type) {
  switch (type.price) {
    case BlockPrice::kFree:
      return 0;
    case BlockPrice::kVerifyEmail:
      return config.workflows.verify_email_mc;
    case BlockPrice::kReverseEmail:
      return config.reverse_email_price.row_mc;
    case BlockPrice::kVerifyAge:
      return config.age_price.row_mc;
    case BlockPrice::kTier:
    case BlockPrice::kFindEmail:
      break;
  }
  return std::nullopt;
}

std::int64_t PriceMcOf(const config::Config& config, const domain::BlockType& type,
                       const base::Json& specs) {
  if (const auto listed = ListPriceMc(config, type)) return *listed;
  if (type.price == BlockPrice::kTier) {
    return config.prices_mc.at(specs.at("tier").get<std::string>());
  }
  const auto mode = domain::ParseFindMode(specs.at("mode").get<std::string>());
  return domain::FindPriceMc(mode.value(), config.find_email_prices);
}

domain::BoundSpecs WithTerms(const config::Config& config, const domain::PlannedBlock& planned) {
  domain::BoundSpecs bound = planned.bound;
  if (planned.type->work != domain::BlockWork::kLookup) return bound;
  domain::LookupTerms terms;
  terms.charge = ChargeOf(config, planned.type->price);
  terms.verify_mc = planned.type->price == BlockPrice::kVerifyEmail
                        ? planned.price_mc
                        : config.find_email_prices.verify_mc;
  terms.minimum_age = config.lookups.minimum_result_age;
  bound.terms = domain::LookupTermsJson(terms);
  return bound;
}

domain::Lane LaneOf(const Call& call, const domain::PlannedBlock& planned) {
  if (planned.type->lane != domain::Lane::kSmtp) return planned.type->lane;
  const base::Json& specs = planned.bound.specs;
  const auto verifies = specs.find("verify_emails");
  const bool is_asked = verifies == specs.end() || verifies->get<bool>();
  const bool may_ask = is_asked && call.parts.config.lookups.verifier == "smtp" &&
                       store::ReadServedLanes(call.session).contains(domain::Lane::kSmtp);
  return may_ask ? domain::Lane::kSmtp : domain::Lane::kLookup;
}

}  // namespace vedette::api
