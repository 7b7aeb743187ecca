#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/event_loop.h"
#include "base/uuid.h"
#include "domain/email/candidate.h"
#include "domain/email/find_request.h"
#include "domain/email/finders.h"
#include "domain/email/lead.h"
#include "domain/email/verdict.h"
#include "domain/monitor/failure.h"
#include "domain/people/age.h"
#include "domain/people/person_found.h"
#include "worker/providers/may_call.h"

// Providers answer lookups. A further lookup adds a name here, and what is answered to it.
namespace vedette::worker {

enum class Lookup : std::uint8_t {
  kFindEmail,
  kVerifyEmail,
  kReverseEmail,
  kVerifyAge,
  kCompanyDomain,
};
std::string_view LookupName(Lookup lookup);  // "find_email", "verify_email", ...

// One question to one provider, about one row of a job.
struct LookupRequest {
  base::Uuid row_id;  // the Idempotency-Key of every call that is made for the row
  base::Uuid org_id;  // who shares what the provider has with others
  base::Uuid job_id;
  Lookup lookup = Lookup::kFindEmail;
  domain::FindMode mode = domain::FindMode::kProfessional;
  bool verify_emails = true;                     // the client wants addresses that were validated
  std::shared_ptr<const domain::Person> person;  // null of kVerifyEmail
  std::string address{};            // of kVerifyEmail and kReverseEmail, as it was given
  std::vector<std::string> urls{};  // of kVerifyAge: pages that the client names as the person's
  bool guess = false;               // the address was made from a pattern
  int attempt = 0;                  // how often Later was answered about this address before
  bool waited = false;              // a client waits
  bool may_wait = true;  // no client waits, so that Later is an answer; otherwise it is UNKNOWN
  std::chrono::milliseconds timeout{};  // it is answered within it, waits included
  MayCall may_call{};  // a provider that lets questions wait asks it before it goes on with one
};

// The class of a failure to read the pages of a subject: a fault of their hosts, and not of the
// provider.
inline constexpr std::string_view kLookupSiteUnread = "site_unread";

// The failure of a question whose turn came when may_call said no: nobody was asked.
inline constexpr std::string_view kLookupUnheld = "unheld";
domain::Failure LookupUnheld();

// The class of the failure of a call for which its lookup had less time left than the provider may
// take by its settings: it says nothing about the provider.
inline constexpr std::string_view kLookupOutOfTime = "out_of_time";

// What a provider that may take `limit` answered to a call that had `given`: with that class in
// place of "timeout" where it had less.
template <typename Answer>
Answer ClassifyTimeout(Answer answer, std::chrono::milliseconds given,
                       std::chrono::milliseconds limit) {
  auto* failure = std::get_if<domain::Failure>(&answer);
  if (failure != nullptr && failure->error_class == "timeout" && given < limit) {
    failure->error_class = kLookupOutOfTime;
  }
  return answer;
}

// The provider looked and found nothing: the next one is asked.
struct Nothing {};

// It cannot be said before `wait` is over: a greylist lets us pass then, or permits are there
// again. Only where the request may wait. The same address is to be asked again; `verdict` is what
// it has to end as where there is no time for that.
struct Later {
  std::chrono::milliseconds wait{};
  domain::AddressVerdict verdict;
};

// The domain of the company that the person is at, in lower case and without "www.".
struct CompanyDomainFound {
  std::string domain;
};

// Candidates: of kFindEmail; at least one, each of valid syntax, the best first. AddressVerdict and
// Later: of kVerifyEmail. PersonFound: of kReverseEmail; a name or a candidate at least. AgeClaims:
// of kVerifyAge; at least one. CompanyDomainFound: of kCompanyDomain.
using LookupAnswer =
    std::variant<domain::Candidates, domain::AddressVerdict, domain::PersonFound, domain::AgeClaims,
                 CompanyDomainFound, Later, Nothing, domain::Failure>;

// Answers lookups. Loop thread only. It must outlive what it started, or drop it unanswered.
class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view id() const = 0;  // ^[a-z][a-z0-9_]{1,31}$

  // `done` is called exactly once, on the loop, possibly before Start returns.
  virtual void Start(LookupRequest request, std::function<void(LookupAnswer)> done) = 0;
};

// Asks nobody, for benchmarks and tests ([testing] null_provider): every lead with a name has the
// OK address that is made of its name and its domain, at null.example where the domain is not
// known. A lead without a name has none. Behind every address is the person whom its local part
// names, and everybody was born on 6 May 1980.
class NullProvider final : public Provider {
 public:
  static constexpr std::string_view kId = domain::kNullProvider;

  // `delay`: of every answer; 0: it answers from inside Start. `loop` must outlive this object.
  explicit NullProvider(base::EventLoop& loop, std::chrono::milliseconds delay = {});
  ~NullProvider() override;  // callbacks of what is under way are dropped

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  base::EventLoop& loop_;
  const std::chrono::milliseconds delay_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::unique_ptr<base::Timer>> timers_;
};

}  // namespace vedette::worker
