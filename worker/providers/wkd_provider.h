#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "domain/email/address.h"
#include "pages/fetch.h"
#include "worker/providers/provider.h"
#include "worker/providers/site_walk.h"

namespace vedette::worker {

// Asks the Web Key Directory of an address's own domain for the address's OpenPGP key
// (draft-koch-openpgp-webkey-service), whose user ids name its owner: at the advanced URL, then,
// where that gives no key, at the direct one. Serves reverse_email alone. Every URL is validated
// (G9). A domain without a directory is no failure. Its failures: overloaded, shutdown.
class WkdProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "wkd";
  static constexpr int kConfidence = 8;
  static constexpr std::chrono::milliseconds kTimeMax{10'000};  // both URLs together

  // Everything handed in must outlive this object.
  WkdProvider(const base::Clock& clock, pages::Fetcher& fetcher, OriginOf origin_of = OverHttps());
  ~WkdProvider() override;  // callbacks of what is under way are dropped

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  class Question;
  struct Dependencies;
  const std::shared_ptr<const Dependencies> deps_;
};

// The URLs at which the key of an address may be, in the order to be asked. Empty for a domain that
// no URL can name. Pure.
std::vector<std::string> WkdUrls(const domain::Address& address, const OriginOf& origin_of);

// The person whom the user ids of a key name for the address: those of other addresses do not
// count. Two different names are candidates. `url`: where the key stands. Pure.
domain::PersonFound PersonOfKey(const domain::Address& address, const std::string& url,
                                std::string_view key);

// z-base-32, as directories name local deps. Pure.
std::string ZBase32(std::string_view bytes);

}  // namespace vedette::worker
