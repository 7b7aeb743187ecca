#include "worker/providers/reverse_providers.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "config/lookup_config.h"
#include "domain/email/address.h"
#include "domain/people/openpgp.h"
#include "domain/people/people_answer.h"
#include "domain/people/person_found.h"
#include "html/http_failure.h"
#include "html/url_reference.h"
#include "worker/providers/people_on_pages.h"
#include "worker/providers/site_crawler.h"

namespace vedette::worker {

ServiceGetter::ServiceGetter(net::HttpClient& client, base::ByteBudget& answers,
                             const base::Clock& clock, GetService service)
    : client_(client), answers_(answers), clock_(clock), service_(std::move(service)) {}

void ServiceGetter::Get(GetQuestion question, std::function<void(GetAnswer)> done) {
  net::HttpRequest get;
  get.url = std::move(question.url);
  get.headers = {{"Accept", "application/json"}, {"User-Agent", service_.user_agent}};
  if (!service_.api_key.empty()) {
    get.headers.emplace_back("Authorization", "Bearer " + service_.api_key);
  }
  get.trust = net::Trust::kOperator;
  get.org = question.org_id;
  get.timeout = question.timeout;
  get.on_turn = [may_call = std::move(question.may_call)](std::chrono::milliseconds) {
    return may_call();
  };
  get.budget = &answers_;
  get.body_bytes_max = service_.body_bytes_max;
  client_.Send(std::move(get),
               live_.Guard([this, done = std::move(done)](net::HttpResponse response) {
                 done(AnswerOf(std::move(response)));
               }));
}

GetAnswer ServiceGetter::AnswerOf(net::HttpResponse response) const {
  if (response.error_class != net::HttpErrorClass::kNone) {
    return html::TransportFailure(response, service_.name);
  }
  if (response.status == 200 || response.status == 404) return response;
  return html::StatusFailure(response, service_.name, clock_.Now());
}

namespace {

constexpr std::size_t kAnswerBytesMax = 256 * 1024;
constexpr base::JsonLimits kAnswerLimits{.values_max = 20'000};

std::string TextOf(const base::Json& object, const char* name) {
  return base::CutCharacters(domain::CleanName(base::TextMember(object, name)),
                             domain::kPersonFieldCharactersMax);
}

void AddProfiles(const base::Json& profile, domain::PersonFound* person) {
  const auto accounts = profile.find("verified_accounts");
  if (accounts == profile.end() || !accounts->is_array()) return;
  for (const base::Json& account : *accounts) {
    if (!account.is_object() || person->profiles.size() == domain::kPersonUrlsMax) continue;
    std::string url = TextOf(account, "url");
    if (!base::HasWebScheme(url)) continue;
    if (person->linkedin.empty() && url.find("linkedin.com/in/") != std::string::npos) {
      person->linkedin = url;
    }
    person->profiles.push_back(std::move(url));
  }
}

}  // namespace

std::string GravatarUrl(std::string_view base_url, std::string_view address) {
  while (base_url.ends_with('/')) base_url.remove_suffix(1);
  const std::string key = base::AsciiLower(base::Trim(address));
  return std::string(base_url) + "/profiles/" + base::HexEncode(base::Sha256(key));
}

LookupAnswer ReadGravatarProfile(std::string_view body) {
  base::Json profile;
  if (base::ParseJson(body, &profile, kAnswerLimits) || !profile.is_object()) {
    return domain::Failure{"invalid_answer", "Gravatar's answer is not a JSON object.", false, {}};
  }
  domain::PersonFound person;
  const std::string first = TextOf(profile, "first_name");
  const std::string last = TextOf(profile, "last_name");
  person.name = domain::StatedName(first + " " + last);
  if (!person.name.empty()) {
    person.first_name = first;
    person.last_name = last;
  } else {
    person.name = domain::StatedName(TextOf(profile, "display_name"));
  }
  if (person.name.empty()) return Nothing{};
  person.confidence = GravatarProvider::kConfidence;
  person.title = TextOf(profile, "job_title");
  person.company = TextOf(profile, "company");
  person.location = TextOf(profile, "location");
  std::string url = TextOf(profile, "profile_url");
  if (base::HasWebScheme(url)) person.sources = {std::move(url)};
  AddProfiles(profile, &person);
  person.evidence = base::CutCharacters("The profile at Gravatar: " + person.name,
                                        domain::kPersonEvidenceCharactersMax);
  return person;
}

GravatarProvider::GravatarProvider(net::HttpClient& client, const ServiceBudgets& budgets,
                                   const base::Clock& clock, const config::GravatarConfig& config,
                                   const std::string& user_agent)
    : config_(config),
      getter_(client, budgets.answers, clock,
              {"Gravatar", config.api_key, user_agent, kAnswerBytesMax}) {}

void GravatarProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  if (request.lookup != Lookup::kReverseEmail) return done(Nothing{});
  GetQuestion question;
  question.org_id = request.org_id;
  question.url = GravatarUrl(config_.url, request.address);
  question.timeout = std::min(request.timeout, config_.timeout_ms);
  question.may_call = std::move(request.may_call);
  const auto given = question.timeout;
  const auto limit = config_.timeout_ms;
  getter_.Get(std::move(question), [given, limit, done = std::move(done)](GetAnswer raw) {
    auto answer = ClassifyTimeout(std::move(raw), given, limit);
    if (auto* failure = std::get_if<domain::Failure>(&answer)) return done(std::move(*failure));
    const auto& response = std::get<net::HttpResponse>(answer);
    if (response.status == 404) return done(Nothing{});
    done(ReadGravatarProfile(response.body));
  });
}

namespace {

using std::chrono::milliseconds;

struct KeyReading final : html::Reading {
  domain::PersonFound person;
  std::size_t bytes() const override { return sizeof *this; }
};

}  // namespace

struct WkdProvider::Dependencies {
  const base::Clock& clock;
  html::Fetcher& fetcher;
  const OriginOf origin_of;
};

// One address. It lives as long as a URL of it is asked.
class WkdProvider::Question : public std::enable_shared_from_this<Question> {
 public:
  Question(const std::shared_ptr<const Dependencies>& deps, LookupRequest request,
           domain::Address address, std::function<void(LookupAnswer)> done)
      : deps_(deps),
        request_(std::move(request)),
        address_(std::move(address)),
        urls_(WkdUrls(address_, deps->origin_of)),
        deadline_(deps->clock.SinceBoot() + std::min(request_.timeout, kTimeMax)),
        done_(std::move(done)) {}

  void AskNext() {
    const auto deps = deps_.lock();
    if (deps == nullptr) return;
    if (!request_.may_call()) {
      return done_(LookupUnheld());
    }
    const auto left = std::chrono::floor<milliseconds>(deadline_ - deps->clock.SinceBoot());
    if (asked_ == urls_.size() || left <= milliseconds(0)) return done_(Nothing{});
    html::FetchRequest fetch;
    fetch.org_id = request_.org_id;
    fetch.url = urls_[asked_++];
    fetch.body_bytes_max = domain::kOpenPgpBytesMax;
    fetch.timeout = left;
    fetch.turn_wait_max = left;
    fetch.thread_wait_max = left;
    auto read = [address = address_](const html::FetchedPage& page,
                                     html::ReadingTime&) -> html::Fetched {
      auto reading = std::make_shared<KeyReading>();
      reading->person = PersonOfKey(address, page.url, page.body);
      return std::shared_ptr<const html::Reading>(std::move(reading));
    };
    FetchHeld(deps->fetcher, std::move(fetch), request_.may_call, std::move(read),
              [self = shared_from_this()](const html::Fetched& fetched) {
                // The provider has ended: its callbacks are dropped.
                if (!self->deps_.expired()) self->OnKey(fetched);
              });
  }

 private:
  void OnKey(const html::Fetched& fetched) {
    if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
      if (SaysNothing(*failure)) return done_(*failure);
      return AskNext();
    }
    const auto& person =
        static_cast<const KeyReading&>(*std::get<std::shared_ptr<const html::Reading>>(fetched))
            .person;
    if (person.name.empty() && person.candidates.empty()) return AskNext();
    done_(person);
  }

  const std::weak_ptr<const Dependencies> deps_;
  const LookupRequest request_;
  const domain::Address address_;
  const std::vector<std::string> urls_;
  const std::chrono::nanoseconds deadline_;
  const std::function<void(LookupAnswer)> done_;
  std::size_t asked_ = 0;  // of the URLs
};

WkdProvider::WkdProvider(const base::Clock& clock, html::Fetcher& fetcher, OriginOf origin_of)
    : deps_(std::make_shared<const Dependencies>(
          Dependencies{clock, fetcher, std::move(origin_of)})) {}

WkdProvider::~WkdProvider() = default;

void WkdProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  const auto address = domain::ParseAddress(request.address);
  if (!address || request.lookup != Lookup::kReverseEmail) return done(Nothing{});
  std::make_shared<Question>(deps_, std::move(request), *address, std::move(done))->AskNext();
}

std::string ZBase32(std::string_view bytes) {
  constexpr std::string_view kDigits = "ybndrfg8ejkmcpqxot1uwisza345h769";
  constexpr unsigned kDigitBits = 5;
  std::string text;
  unsigned value = 0;
  unsigned bits = 0;
  for (const char c : bytes) {
    value = (value << 8 | static_cast<unsigned char>(c)) & 0xFFFF;
    for (bits += 8; bits >= kDigitBits; bits -= kDigitBits) {
      text += kDigits[(value >> (bits - kDigitBits)) & 0x1F];
    }
  }
  if (bits > 0) text += kDigits[(value << (kDigitBits - bits)) & 0x1F];
  return text;
}

std::vector<std::string> WkdUrls(const domain::Address& address, const OriginOf& origin_of) {
  const auto domain = domain::AsciiDomain(address.domain);
  if (!domain) return {};
  constexpr std::string_view kPath = "/.well-known/openpgpkey/";
  const std::string file = "hu/" + ZBase32(base::Sha1(base::AsciiLower(address.local))) +
                           "?l=" + html::EncodeComponent(address.local);
  return {origin_of("openpgpkey." + *domain) + std::string(kPath) + *domain + "/" + file,
          origin_of(*domain) + std::string(kPath) + file};
}

domain::PersonFound PersonOfKey(const domain::Address& address, const std::string& url,
                                std::string_view key) {
  const std::string asked = domain::MailboxKey(address);
  domain::PersonFound person;
  for (const domain::UserId& id : domain::ReadUserIds(key)) {
    const auto of = domain::ParseAddress(id.address);
    const std::string name = domain::StatedName(id.name);
    if (!of || domain::MailboxKey(*of) != asked || name.empty()) continue;
    const std::string evidence = base::CutCharacters(
        "A user id of the address's OpenPGP key: " + name, domain::kPersonEvidenceCharactersMax);
    const auto& all = person.candidates;
    const bool is_known = std::any_of(all.begin(), all.end(), [&](const auto& other) {
      return domain::IsSameName(other.name, name);
    });
    if (is_known || all.size() == domain::kPersonCandidatesMax) continue;
    person.candidates.push_back({name, kBesideConfidence, std::string(WkdProvider::kId), evidence});
  }
  if (person.candidates.size() != 1) return person;
  person.name = person.candidates.front().name;
  person.evidence = person.candidates.front().evidence;
  person.confidence = WkdProvider::kConfidence;
  person.sources = {url};
  person.candidates.clear();
  return person;
}

void LocalPartProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  const std::string name = request.lookup == Lookup::kReverseEmail
                               ? domain::NameOfLocalPart(request.address)
                               : std::string();
  if (name.empty()) return done(Nothing{});
  domain::PersonFound person;
  person.candidates.push_back(
      {name, kConfidence, std::string(kId), "The local part of the address is made of it."});
  done(std::move(person));
}

}  // namespace vedette::worker
