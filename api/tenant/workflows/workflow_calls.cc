#include "api/tenant/workflows/workflow_calls.h"

#include <algorithm>
#include <utility>

#include "api/tenant/jobs/lookups.h"
#include "base/json.h"
#include "base/text.h"
#include "base/uuid.h"
#include "config/jobs_config.h"
#include "config/lookup_config.h"
#include "config/parts.h"
#include "config/rules.h"
#include "domain/email/find_request.h"
#include "domain/workflow/lookup_rows.h"
#include "net/public_address.h"
#include "store/jobs/read.h"

namespace vedette::api {

std::shared_ptr<const domain::Definition> KnownDefinitions::Read(const std::string& json) {
  const auto read = [&json] {
    return std::make_shared<const domain::Definition>(domain::ReadStoredDefinition(json));
  };
  if (json.size() > kTextBytesMax) return read();
  {
    const std::lock_guard lock(mutex_);
    if (auto known = known_.Find(json)) return *known;
  }
  auto definition = read();
  const std::lock_guard lock(mutex_);
  known_.Insert(json, definition);
  return definition;
}

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
    return config::MostPricesMc(config).at(specs.at("tier").get<std::string>());
  }
  const auto mode = domain::ParseFindMode(specs.at("mode").get<std::string>());
  return domain::FindPriceMc(mode.value(), config.find_email_prices);
}

domain::BoundSpecs WithTerms(const config::Config& config, const domain::PlannedBlock& planned) {
  domain::BoundSpecs bound = planned.bound;
  if (planned.type->work != domain::BlockWork::kLookup) return bound;
  domain::LookupPricing terms;
  terms.charge = ChargeOf(config, planned.type->price);
  terms.verify_mc = planned.type->price == BlockPrice::kVerifyEmail
                        ? planned.price_mc
                        : config.find_email_prices.verify_mc;
  terms.minimum_age = config.lookups.minimum_result_age;
  bound.terms = domain::LookupPricingJson(terms);
  return bound;
}

domain::Lane LaneOf(const config::Config& config, store::Session& session,
                    const domain::PlannedBlock& planned) {
  if (planned.type->lane != domain::Lane::kSmtp) return planned.type->lane;
  const base::Json& specs = planned.bound.specs;
  const auto verifies = specs.find("verify_emails");
  const bool is_asked = verifies == specs.end() || verifies->get<bool>();
  return is_asked ? VerifyingLane(config, session) : domain::Lane::kLookup;
}

rest::Handled SendArray(Call& call, std::string text, std::optional<std::string> next_cursor) {
  std::vector<rest::Header> headers;
  if (next_cursor) headers.emplace_back(kNextCursor, *std::move(next_cursor));
  return rest::SendPieces(
      call.parts.pool, call.caller.org_id, call.answer, call.session(),
      [text = std::move(text)](store::Session&, std::string* out) {
        out->append(text);
        return true;
      },
      std::move(headers));
}

namespace {

constexpr std::size_t kHostCharsMax = 255;

bool IsHost(std::string_view text) {
  const auto may = [](char c) {
    return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || c == '.' || c == '-' || c == ':' ||
           c == '[' || c == ']';
  };
  return !text.empty() && text.size() <= kHostCharsMax &&
         std::all_of(text.begin(), text.end(), may);
}

}  // namespace

std::string PublicAddress(const config::Config& config, const net::ServerRequest& request) {
  if (!config.public_url.empty()) {
    const std::string& url = config.public_url;
    return url.ends_with('/') ? url.substr(0, url.size() - 1) : url;
  }
  const std::string_view host = request.Header("host");
  if (!IsHost(host)) return {};
  const bool secure = request.Header("x-forwarded-proto") == "https";
  return (secure ? "https://" : "http://") + std::string(host);
}

}  // namespace vedette::api
