#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "domain/monitor/failure.h"
#include "domain/people/age_claims.h"
#include "html/fetch.h"
#include "html/page_reading.h"
#include "net/http_client.h"
#include "worker/providers/provider.h"
#include "worker/providers/site_crawler.h"
#include "worker/services/request_room.h"

// What a model is asked about a person's age, or about who is behind an address, and what is taken
// from its answer: pointers to quotes on pages, and nothing else. Pure.
namespace vedette::worker {

inline constexpr std::size_t kPointersMax = 16;     // of an answer
inline constexpr std::size_t kPointedPagesMax = 8;  // of an answer, that are read

struct Pointer {
  std::string url;    // a web address
  std::string quote;  // what is said to stand there, word for word
};

// To what it is to point.
enum class PointTo : std::uint8_t {
  kAddress,  // an address of the person's
  kAge,      // statements about the subject's birth, age or death
  kPerson,   // the name of who is behind the subject's address
};

// The body of POST /chat/completions. The pages and the person stand in it as JSON strings, which
// their text cannot end. A model that has a search of its own may point to other pages.
std::string PointersRequestBody(const config::LlmProviderConfig& config, PointTo what,
                                const domain::AgeSubject& subject,
                                const std::vector<html::PageText>& pages);

// The pointers of an answer, each once: {"items": [{"url", "quote"}]}. What is none of that form is
// left out; an answer that is no such object is the failure invalid_answer, a refusal `refusal`.
std::variant<std::vector<Pointer>, domain::Failure> ReadPointers(std::string_view body);

// A language model that points to statements about a person's age, to pages that name who is behind
// an address, or to those that state a person's address, [providers.llm.<id>]. It is believed in
// nothing: each page that it points to is read (G9, robots.txt), the quote has to stand on it word
// for word, and what it says is read by the rules for every page (domain/people/age_claims.h); a
// name has to stand in the quote.
//
//   the pages of `pages` --> the model --> the pages it points to --> claims
//                                                                                   \-> a person,
//                                                                                       addresses
//
// What a page tells the model to say so changes at most which pages are read. Serves verify_age,
// reverse_email and find_email: an address has to stand in the quote, and to be the person's by the
// rules for every page. The model's URL is the operator's: exempt from G9, never
// redirected. Its failures: those of ServiceAnswer, invalid_answer, refusal.
class LlmProvider final : public Provider {
 public:
  // Everything handed in must outlive this object, but for `id` and the configurations.
  LlmProvider(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
              const base::Clock& clock, html::Fetcher& fetcher, std::string id,
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
