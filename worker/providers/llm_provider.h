#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "net/http_client.h"
#include "pages/fetch.h"
#include "worker/providers/provider.h"
#include "worker/providers/site_walk.h"
#include "worker/services/request_room.h"

namespace vedette::worker {

// A language model that points to statements about a person's age, to pages that name who is behind
// an address, or to those that state a person's address, [providers.llm.<id>]. It is believed in
// nothing: each page that it points to is read (G9, robots.txt), the quote has to stand on it word
// for word, and what it says is read by the rules for every page (domain/age/page_claims.h,
// reverse_reading.h); a name has to stand in the quote.
//
//   the pages of `pages` (subject_pages.h) --> the model --> the pages it points to --> claims
//                                                                                   \-> a person,
//                                                                                       addresses
//
// What a page tells the model to say so changes at most which pages are read. Serves verify_age,
// reverse_email and find_email: an address has to stand in the quote, and to be the person's by the
// rules for every page (site_reading.h). The model's URL is the operator's: exempt from G9, never
// redirected. Its failures: those of ServiceAnswer, invalid_answer, refusal.
class LlmProvider final : public Provider {
 public:
  // Everything handed in must outlive this object, but for `id` and the configurations.
  LlmProvider(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
              const base::Clock& clock, pages::Fetcher& fetcher, std::string id,
              const config::LlmProviderConfig& config, const config::EmailConfig& site,
              OriginOf origin_of = OverHttps());
  ~LlmProvider() override;  // callbacks of what is under way are dropped

  std::string_view id() const override;
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::worker
