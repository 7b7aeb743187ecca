#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "config/config_fwd.h"
#include "pages/fetch.h"
#include "worker/providers/provider.h"

namespace vedette::worker {

// Looks a person or a company up in Wikidata (wikidata_answer.h), which so learns the name. Serves
// verify_age and company_domain; who has no name is not asked about. Answers are read on the
// threads that read pages, in turns with them. Its failures: those of pages::Fetcher.
class WikidataProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "wikidata";
  static constexpr std::size_t kAnswerBytesMax = 8 << 20;
  static constexpr std::chrono::milliseconds kTimeMax{30'000};  // of all questions about a person

  // Everything handed in must outlive this object, but for `config`.
  WikidataProvider(const base::Clock& clock, pages::Fetcher& fetcher,
                   const config::AgeConfig& config);
  ~WikidataProvider() override;  // callbacks of what is under way are dropped

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  class Search;
  struct Dependencies;
  const std::shared_ptr<const Dependencies> deps_;
};

}  // namespace vedette::worker
