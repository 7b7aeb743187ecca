#include "api/kit/published_keys.h"

#include <utility>
#include <variant>

#include "api/kit/answer.h"
#include "base/json.h"

namespace vedette::rest {
namespace {

using base::Json;
using Outcome = KeyFetcher::Outcome;

KeyReport Store(store::Session& session, const KeyOrder& order, store::FetchFence fence,
                int keys_max, const Outcome& outcome) {
  if (outcome.kind == Outcome::Kind::kBusy) {
    store::AbandonKeyFetch(session, order.client_id, fence);
    return {KeyReport::Kind::kBusy, {}, outcome.text};
  }
  std::string error = outcome.text;
  if (outcome.kind == Outcome::Kind::kCame) {
    auto read = domain::ReadJwks(outcome.text, keys_max);
    if (auto* reports = std::get_if<std::vector<domain::JwkReport>>(&read)) {
      const std::vector<domain::SetKey> usable = domain::UsableKeys(*reports);
      if (!usable.empty()) {
        store::StoreKeys(session, order.client_id, fence, usable);
        return {KeyReport::Kind::kStored, std::move(*reports), {}};
      }
      error = domain::NoUsableKey().reason;
      store::StoreNoKeys(session, order.client_id, fence, error);
      return {KeyReport::Kind::kFailed, std::move(*reports), std::move(error)};
    }
    error = std::get<domain::JwtFault>(read).reason;
  }
  store::StoreKeyFailure(session, order.client_id, fence, error);
  return {KeyReport::Kind::kFailed, {}, std::move(error)};
}

Json ReportedKeyJson(const domain::JwkReport& report) {
  const auto* key = std::get_if<domain::SetKey>(&report.key);
  const auto* fault = std::get_if<domain::JwtFault>(&report.key);
  Json algorithm = nullptr;
  if (key != nullptr) {
    algorithm = base::SignatureAlgorithmName(key->algorithm ? *key->algorithm
                                                            : key->key.DefaultAlgorithm());
  }
  return {{"kid", report.kid ? Json(*report.kid) : Json(nullptr)},
          {"algorithm", std::move(algorithm)},
          {"usable", key != nullptr},
          {"reason", fault == nullptr ? Json(nullptr) : Json(fault->reason)}};
}

}  // namespace

Parked FetchKeys(const KeyFetchDependencies& parts, const std::shared_ptr<Answer>& answer,
                 const std::optional<base::Uuid>& turn, const KeyOrder& order,
                 store::FetchFence fence, AfterKeyFetch then) {
  parts.fetcher.Fetch(order.org_id, order.url,
                      [&pool = parts.pool, keys_max = parts.keys_max, answer, turn, order, fence,
                       then = std::move(then)](Outcome outcome) {
                        Serve(pool, turn, answer,
                              [order, fence, keys_max, then,
                               outcome = std::move(outcome)](store::Session& session) -> Handled {
                                return then(session,
                                            Store(session, order, fence, keys_max, outcome));
                              });
                      });
  return {};
}

Reply KeyReportReply(const KeyReport& report, base::Timestamp now) {
  if (report.kind == KeyReport::Kind::kBusy) return Unavailable(report.error);
  Json keys = Json::array();
  for (const domain::JwkReport& one : report.keys) keys.push_back(ReportedKeyJson(one));
  const bool valid = !domain::UsableKeys(report.keys).empty();
  std::string error = report.error;
  if (!valid && error.empty()) error = domain::NoUsableKey().reason;
  return JsonReply(200, {{"valid", valid},
                         {"keys", std::move(keys)},
                         {"error", error.empty() ? Json(nullptr) : Json(error)},
                         {"validated_at", base::FormatTimestamp(now)}});
}

Reply NoKeysUrl() {
  return ErrorReply(409, "client_has_no_jwks_uri",
                    "the client's keys are uploaded: it has no jwks_uri that could be fetched");
}

}  // namespace vedette::rest
