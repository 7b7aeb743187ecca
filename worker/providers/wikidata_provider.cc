#include "worker/providers/wikidata_provider.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "config/lookup_config.h"
#include "domain/email/suppression.h"
#include "worker/providers/held_fetch.h"
#include "worker/providers/wikidata_answer.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

struct FoundReading final : pages::Reading {
  std::vector<std::string> ids;
  std::size_t bytes() const override { return sizeof *this; }
};

struct ItemsReading final : pages::Reading {
  std::vector<WikidataItem> items;
  std::size_t bytes() const override { return sizeof *this; }
};

// Empty for a question that is not asked.
std::string NameToAsk(const LookupRequest& request) {
  if (!request.person) return "";
  if (request.lookup == Lookup::kVerifyAge) return domain::WholeName(*request.person);
  return request.lookup == Lookup::kCompanyDomain ? request.person->company : std::string();
}

domain::Failure Unreadable() {
  return {"bad_content", "Wikidata's answer cannot be read.", false, {}};
}

pages::Fetched ReadFound(const pages::FetchedPage& page, pages::ReadingTime&) {
  auto ids = ReadWikidataSearch(page.body);
  if (!ids) return Unreadable();
  auto reading = std::make_shared<FoundReading>();
  reading->ids = std::move(*ids);
  return std::shared_ptr<const pages::Reading>(std::move(reading));
}

pages::Fetched ReadItems(const pages::FetchedPage& page, pages::ReadingTime&) {
  auto items = ReadWikidataItems(page.body);
  if (!items) return Unreadable();
  auto reading = std::make_shared<ItemsReading>();
  reading->items = std::move(*items);
  return std::shared_ptr<const pages::Reading>(std::move(reading));
}

// The distinct employers of people.
std::vector<std::string> EmployersOf(const std::vector<WikidataItem>& items) {
  std::vector<std::string> employers;
  for (const WikidataItem& item : items) {
    if (!item.is_human) continue;
    for (const std::string& id : item.employers) {
      const bool is_known = std::find(employers.begin(), employers.end(), id) != employers.end();
      if (!is_known && employers.size() < kWikidataEmployersMax) employers.push_back(id);
    }
  }
  return employers;
}

}  // namespace

struct WikidataProvider::Dependencies {
  const base::Clock& clock;
  pages::Fetcher& fetcher;
  const std::string url;
};

// One person or company. It lives as long as a question about it is under way.
class WikidataProvider::Search : public std::enable_shared_from_this<Search> {
 public:
  Search(const std::shared_ptr<const Dependencies>& deps, LookupRequest request,
         std::function<void(LookupAnswer)> done)
      : deps_(deps),
        request_(std::move(request)),
        subject_{*request_.person, request_.urls},
        deadline_(deps->clock.SinceBoot() + std::min(request_.timeout, kTimeMax)),
        done_(std::move(done)) {}

  void Begin(const std::string& api_url, const std::string& name) {
    Get(WikidataSearchUrl(api_url, name), ReadFound, &Search::OnFound);
  }

 private:
  using Then = void (Search::*)(const pages::Reading& reading);

  void Get(std::string url, pages::ReadPage read, Then then) {
    const auto deps = deps_.lock();
    if (deps == nullptr) return;
    if (!request_.MayCall()) {
      return done_(domain::Failure{
          std::string(kLookupUnheld), "Nobody waits for the lookup any more.", true, {}});
    }
    pages::FetchRequest fetch;
    fetch.org_id = request_.org_id;
    fetch.url = std::move(url);
    fetch.body_bytes_max = kAnswerBytesMax;
    fetch.timeout = std::max(std::chrono::floor<milliseconds>(deadline_ - deps->clock.SinceBoot()),
                             milliseconds(1));
    fetch.turn_wait_max = fetch.timeout;
    fetch.thread_wait_max = fetch.timeout;
    FetchHeld(deps->fetcher, std::move(fetch), request_.may_call, std::move(read),
              [self = shared_from_this(), then](const pages::Fetched& fetched) {
                // The provider has ended: its callbacks are dropped.
                if (self->deps_.expired()) return;
                if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
                  return self->done_(
                      JudgedByTime(LookupAnswer(*failure), self->request_.timeout, kTimeMax));
                }
                ((*self).*then)(*std::get<std::shared_ptr<const pages::Reading>>(fetched));
              });
  }

  void OnFound(const pages::Reading& reading) {
    const auto& ids = static_cast<const FoundReading&>(reading).ids;
    const auto deps = deps_.lock();
    if (ids.empty() || deps == nullptr) return done_(Nothing{});
    Get(WikidataItemsUrl(deps->url, ids), ReadItems, &Search::OnItems);
  }

  void OnItems(const pages::Reading& reading) {
    items_ = static_cast<const ItemsReading&>(reading).items;
    if (request_.lookup == Lookup::kCompanyDomain) {
      std::string domain = CompanyDomainOfItems(request_.person->company, items_);
      return domain.empty() ? done_(Nothing{}) : done_(CompanyDomainFound{std::move(domain)});
    }
    const auto employers = EmployersOf(items_);
    const auto deps = deps_.lock();
    if (employers.empty() || deps == nullptr) return Finish({});
    Get(WikidataItemsUrl(deps->url, employers), ReadItems, &Search::OnEmployers);
  }

  void OnEmployers(const pages::Reading& reading) {
    std::map<std::string, WikidataItem> employers;
    for (const WikidataItem& employer : static_cast<const ItemsReading&>(reading).items) {
      employers.emplace(employer.id, employer);
    }
    Finish(employers);
  }

  void Finish(const std::map<std::string, WikidataItem>& employers) {
    domain::AgeClaims claims = ClaimsOfItems(subject_, items_, employers);
    if (claims.empty()) return done_(Nothing{});
    done_(std::move(claims));
  }

  const std::weak_ptr<const Dependencies> deps_;
  const LookupRequest request_;
  const domain::AgeSubject subject_;
  const std::chrono::nanoseconds deadline_;
  const std::function<void(LookupAnswer)> done_;
  std::vector<WikidataItem> items_;
};

WikidataProvider::WikidataProvider(const base::Clock& clock, pages::Fetcher& fetcher,
                                   const config::AgeConfig& config)
    : deps_(
          std::make_shared<const Dependencies>(Dependencies{clock, fetcher, config.wikidata_url})) {
}

WikidataProvider::~WikidataProvider() = default;

void WikidataProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  const std::string name = NameToAsk(request);
  if (name.empty()) return done(Nothing{});
  std::make_shared<Search>(deps_, std::move(request), std::move(done))->Begin(deps_->url, name);
}

}  // namespace vedette::worker
