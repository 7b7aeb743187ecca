#include "worker/providers/recipe_provider.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "base/text.h"
#include "domain/email/address.h"
#include "domain/email/person_name.h"
#include "domain/email/suppression.h"
#include "domain/people/date_mention.h"
#include "html/http_failure.h"
#include "net/retry_after.h"
#include "worker/providers/http_provider.h"
#include "worker/providers/lookup_protocol.h"
#include "worker/services/service_call.h"

namespace vedette::worker {
namespace {

using base::Json;
using domain::Recipe;
using domain::RecipeField;
using domain::RecipeValues;
using std::chrono::milliseconds;

// Between two of the same question, where the service does not say; and at least, whatever it says.
constexpr milliseconds kPendingDefault{1000};
constexpr milliseconds kPendingMin{100};
// Values in all: about 20 MB of memory.
constexpr base::JsonLimits kAnswerLimits{.values_max = 200'000};
constexpr std::string_view kWhom = "the service of a recipe";

// The given name and the family name, in lower case, of a lead that has a whole name alone.
void SplitName(const domain::Person& person, RecipeValues* values) {
  const auto words =
      domain::ReadNameWords(person, domain::CountryOfDomain(domain::CompanyDomain(person)));
  const auto* name = std::get_if<domain::NameWords>(&words);
  if (name == nullptr || name->given.empty() || name->family.empty()) return;
  (*values)[RecipeField::kFirstName] = name->given.front();
  (*values)[RecipeField::kLastName] = fmt::format("{}", fmt::join(name->family.front(), " "));
}

RecipeValues ValuesOf(const LookupRequest& request, const std::string& key) {
  RecipeValues values;
  values[RecipeField::kKey] = key;
  if (request.lookup == Lookup::kVerifyEmail || request.lookup == Lookup::kReverseEmail) {
    values[RecipeField::kEmail] = request.address;
    const auto address = domain::ParseAddress(request.address);
    if (address) values[RecipeField::kDomain] = address->domain;
    return values;
  }
  const domain::Person& person = *request.person;
  values[RecipeField::kName] = domain::WholeName(person);
  values[RecipeField::kFirstName] = person.first_name;
  values[RecipeField::kLastName] = person.last_name;
  if (person.first_name.empty() && person.last_name.empty()) SplitName(person, &values);
  values[RecipeField::kCompany] = person.company;
  values[RecipeField::kDomain] = domain::CompanyDomain(person);
  values[RecipeField::kLinkedin] = person.linkedin;
  values[RecipeField::kEmail] = person.email;
  values[RecipeField::kTitle] = person.title;
  values[RecipeField::kLocation] = person.location;
  return values;
}

bool HasWhatItNeeds(const Recipe& recipe, const RecipeValues& values) {
  return std::any_of(recipe.needs.begin(), recipe.needs.end(), [&](const auto& set) {
    return std::all_of(set.begin(), set.end(),
                       [&](RecipeField field) { return !values[field].empty(); });
  });
}

std::string AsItIs(std::string_view text) {
  return std::string(text);
}

// The path's segments, each encoded. Empty where a value is not known or would climb in the path.
std::optional<std::string> UrlOf(const domain::RecipeRequest& request, const RecipeValues& values) {
  constexpr std::string_view kClimbing[] = {".", ".."};
  const auto fields = domain::FieldsOf(request.url);
  for (const RecipeField field : *fields) {
    for (const std::string_view climbing : kClimbing) {
      if (values[field] == climbing) return std::nullopt;
    }
  }
  auto url = domain::FillIn(request.url, values, domain::EncodeForUrl);
  if (!url) return std::nullopt;
  char before = '?';
  for (const auto& [name, text] : request.query) {
    const auto value = domain::FillIn(text, values, AsItIs);
    if (!value) continue;
    *url +=
        fmt::format("{}{}={}", before, domain::EncodeForUrl(name), domain::EncodeForUrl(*value));
    before = '&';
  }
  return url;
}

// Empty where a text in it has a field that is not known.
std::optional<Json> BodyOf(const Json& body, const RecipeValues& values) {
  if (body.is_string()) {
    auto text = domain::FillIn(body.get_ref<const std::string&>(), values, AsItIs);
    return text ? std::optional<Json>(std::move(*text)) : std::nullopt;
  }
  if (body.is_array()) {
    Json list = Json::array();
    for (const Json& one : body) {
      if (auto element = BodyOf(one, values)) list.push_back(std::move(*element));
    }
    return list;
  }
  if (!body.is_object()) return body;
  Json object = Json::object();
  for (const auto& [name, one] : body.items()) {
    if (auto member = BodyOf(one, values)) object[name] = std::move(*member);
  }
  return object;
}

bool Has(const std::vector<int>& statuses, int status) {
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

bool IsOneOf(const Json* value, const std::vector<Json>& values) {
  return value != nullptr && std::find(values.begin(), values.end(), *value) != values.end();
}

bool Holds(const std::optional<domain::RecipeTest>& test, const Json& body) {
  return test && IsOneOf(test->at.Find(body), test->is);
}

// A text that is not blank; empty where there is none.
std::string TextAt(const base::JsonPointer& at, const Json& body) {
  const Json* value = at.Find(body);
  if (value == nullptr || !value->is_string()) return "";
  return std::string(base::Trim(value->get_ref<const std::string&>()));
}

domain::AddressStatus StatusOf(const domain::RecipeStatus& status, const Json& body) {
  const Json* value = status.at.Find(body);
  for (const auto& rule : status.rules) {
    const bool holds = std::all_of(rule.only_if.begin(), rule.only_if.end(), [&](const auto& one) {
      const Json* found = one.first.Find(body);
      return found != nullptr && *found == one.second;
    });
    if (holds && IsOneOf(value, rule.values)) return rule.status;
  }
  return domain::AddressStatus::kUnknown;
}

int ConfidenceAt(const domain::RecipeConfidence& confidence, const Json& body, int otherwise) {
  const Json* value = confidence.at.Find(body);
  if (value == nullptr || !value->is_number()) return otherwise;
  const double share = std::clamp(value->get<double>() / confidence.of, 0.0, 1.0);
  return static_cast<int>(std::lround(share * domain::kConfidenceMax));
}

std::vector<std::string> SourcesAt(const domain::RecipeSources& sources, const Json& body) {
  std::vector<std::string> urls;
  const Json* list = sources.list.Find(body);
  if (list == nullptr || !list->is_array()) return urls;
  for (const Json& one : *list) {
    std::string url = TextAt(sources.each, one);
    if (urls.size() < domain::kCandidateSourcesMax && IsSource(url)) urls.push_back(std::move(url));
  }
  return urls;
}

LookupAnswer CandidateOf(const Recipe& recipe, const Json& body) {
  const domain::RecipeAnswer& answer = recipe.answer;
  domain::Candidate candidate;
  candidate.address = TextAt(*answer.email, body);
  if (!domain::ParseAddress(candidate.address)) return Nothing{};
  if (answer.status) candidate.status = StatusOf(*answer.status, body);
  const bool is_doubted = !recipe.trust && candidate.status == domain::AddressStatus::kOk;
  if (is_doubted) candidate.status = domain::AddressStatus::kUnknown;
  candidate.confidence = DefaultConfidence(candidate.status);
  if (answer.confidence) {
    candidate.confidence = ConfidenceAt(*answer.confidence, body, candidate.confidence);
  }
  if (answer.sources) candidate.sources = SourcesAt(*answer.sources, body);
  return domain::Candidates{std::move(candidate)};
}

LookupAnswer VerdictOf(const Recipe& recipe, const Json& body, base::Timestamp now) {
  domain::AddressVerdict verdict;
  verdict.checked_at = now;
  switch (StatusOf(*recipe.answer.status, body)) {
    case domain::AddressStatus::kOk:
      verdict.verdict = domain::Verdict::kOk;
      verdict.reason = domain::VerdictReason::kNone;
      break;
    case domain::AddressStatus::kUnknown:
      verdict.reason = domain::VerdictReason::kUnverifiedByServer;
      break;
    case domain::AddressStatus::kNotFound:
      verdict.verdict = domain::Verdict::kRefused;
      verdict.reason = domain::VerdictReason::kRefused;
      break;
  }
  return verdict;
}

// The members as the protocol of lookups has them; of values that are neither text nor a number
// nothing.
Json MembersAt(const domain::RecipeMembers& members, const Json& body) {
  Json object = Json::object();
  for (const auto& [name, at] : members) {
    const Json* value = at.Find(body);
    const bool is_known = value != nullptr && (value->is_string() || value->is_number());
    if (is_known) object[name] = *value;
  }
  return object;
}

void AddConfidence(const Recipe& recipe, const Json& body, Json* object) {
  constexpr int kNone = -1;
  if (!recipe.answer.confidence) return;
  const int confidence = ConfidenceAt(*recipe.answer.confidence, body, kNone);
  if (confidence != kNone) (*object)["confidence"] = confidence;
}

LookupAnswer PersonOf(const Recipe& recipe, const Json& body) {
  Json person = MembersAt(*recipe.answer.person, body);
  AddConfidence(recipe, body, &person);
  if (recipe.answer.sources) person["sources"] = SourcesAt(*recipe.answer.sources, body);
  return ParsePersonAnswer(base::DumpJson(Json{{"person", std::move(person)}}), recipe.trust);
}

// A service that names no page is the source itself, and is quoted with what it says.
LookupAnswer ClaimOf(const Recipe& recipe, const Json& body) {
  Json claim = MembersAt(*recipe.answer.claim, body);
  AddConfidence(recipe, body, &claim);
  if (claim.contains("birth")) {
    const Json birth = std::exchange(claim["birth"], nullptr);
    const auto date =
        birth.is_string() ? domain::ReadDateValue(birth.get<std::string>()) : std::nullopt;
    if (date) {
      claim["birth"] = birth;
      claim["year"] = *date->year;
      claim["month"] = date->month ? Json(*date->month) : Json();
      claim["day"] = date->day ? Json(*date->day) : Json();
    }
  }
  for (const char* name : {"birth", "year", "age"}) {
    if (claim.contains("quote") || !claim.contains(name) || claim[name].is_null()) continue;
    const Json& said = claim[name];
    claim["quote"] = fmt::format("{}: {}", name,
                                 said.is_string() ? said.get<std::string>() : base::DumpJson(said));
  }
  const std::string& url = recipe.request.url;
  if (!claim.contains("url")) claim["url"] = url.substr(0, url.find('{'));
  return ParseClaimsAnswer(base::DumpJson(Json{{"claims", Json::array({std::move(claim)})}}),
                           recipe.id, recipe.trust);
}

LookupAnswer ReadBody(const Recipe& recipe, const std::string& text, base::Timestamp now) {
  Json body;
  if (base::ParseJson(text, &body, kAnswerLimits)) {
    return domain::Failure{
        "invalid_answer", "The answer of a recipe's service is not JSON.", false, {}};
  }
  if (Holds(recipe.answer.nothing_when, body)) return Nothing{};
  if (Holds(recipe.answer.fail_when, body)) {
    return domain::Failure{
        "service_error", "The service of a recipe says that it failed.", false, {}};
  }
  switch (recipe.lookup) {
    case domain::RecipeLookup::kVerifyEmail:
      return VerdictOf(recipe, body, now);
    case domain::RecipeLookup::kCompanyDomain:
      return DomainAnswer(TextAt(*recipe.answer.domain, body));
    case domain::RecipeLookup::kReverseEmail:
      return PersonOf(recipe, body);
    case domain::RecipeLookup::kVerifyAge:
      return ClaimOf(recipe, body);
    case domain::RecipeLookup::kFindEmail:
      break;
  }
  return CandidateOf(recipe, body);
}

}  // namespace

std::optional<net::HttpRequest> RecipeQuestion(const Recipe& recipe, const LookupRequest& request) {
  const RecipeValues values = ValuesOf(request, recipe.request.key);
  if (!HasWhatItNeeds(recipe, values)) return std::nullopt;
  const auto url = UrlOf(recipe.request, values);
  if (!url) return std::nullopt;
  net::HttpRequest question;
  question.url = *url;
  for (const auto& [name, text] : recipe.request.headers) {
    auto value = domain::FillIn(text, values, AsItIs);
    if (!value) continue;
    if (!domain::IsHeaderText(*value)) return std::nullopt;
    question.headers.emplace_back(name, std::move(*value));
  }
  if (recipe.request.method == domain::RecipeMethod::kGet) return question;
  question.method = "POST";
  question.headers.emplace_back("Content-Type", "application/json");
  if (recipe.request.body) question.body = base::DumpJson(*BodyOf(*recipe.request.body, values));
  return question;
}

std::variant<LookupAnswer, RecipePending> ReadRecipeAnswer(const Recipe& recipe,
                                                           const net::HttpResponse& response,
                                                           base::Timestamp now) {
  const domain::RecipeAnswer& answer = recipe.answer;
  const int status = response.status;
  if (Has(answer.pending_statuses, status)) {
    const auto wait = net::RetryAfter(response, now).value_or(kPendingDefault);
    return RecipePending{std::max(wait, kPendingMin)};
  }
  if (Has(answer.nothing_statuses, status)) return LookupAnswer(Nothing{});
  domain::Failure failure = html::StatusFailure(response, kWhom, now);
  if (Has(answer.busy_statuses, status)) {
    failure.retryable = true;
    failure.retry_after = net::RetryAfter(response, now);
    return LookupAnswer(std::move(failure));
  }
  const bool is_read = answer.read_statuses.empty() ? status >= 200 && status < 300
                                                    : Has(answer.read_statuses, status);
  if (!is_read) return LookupAnswer(std::move(failure));
  return ReadBody(recipe, response.body, now);
}

namespace {

Lookup LookupOf(domain::RecipeLookup lookup) {
  switch (lookup) {
    case domain::RecipeLookup::kVerifyEmail:
      return Lookup::kVerifyEmail;
    case domain::RecipeLookup::kCompanyDomain:
      return Lookup::kCompanyDomain;
    case domain::RecipeLookup::kReverseEmail:
      return Lookup::kReverseEmail;
    case domain::RecipeLookup::kVerifyAge:
      return Lookup::kVerifyAge;
    case domain::RecipeLookup::kFindEmail:
      break;
  }
  return Lookup::kFindEmail;
}

milliseconds GapOf(const domain::Recipe& recipe) {
  if (recipe.request.per_minute == 0) return milliseconds(0);
  return milliseconds(std::chrono::minutes(1)) / recipe.request.per_minute;
}

}  // namespace

struct RecipeProvider::Impl : std::enable_shared_from_this<RecipeProvider::Impl> {
  using CallId = std::uint64_t;

  // One lookup that is asked; the question is made again for each time that it is asked.
  struct Call {
    LookupRequest request;
    LookupTurns::Done done;
    AttemptTime time;
    std::unique_ptr<base::Timer> timer;  // of the wait before it is asked again
  };

  Impl(base::EventLoop& l, net::HttpClient& c, const ServiceBudgets& b, const base::Clock& k,
       const domain::Recipe& r)
      : loop(l),
        client(c),
        budgets(b),
        clock(k),
        recipe(r),
        turns(l, k, {r.request.in_flight_max, GapOf(r)},
              [this](LookupRequest request, LookupTurns::Done done) {
                Ask(std::move(request), std::move(done));
              }) {}

  bool Serves(const LookupRequest& request) const;
  void Ask(LookupRequest request, LookupTurns::Done done);
  void Send(CallId id);
  void OnResponse(CallId id, const net::HttpResponse& response);
  void AskAgain(CallId id, milliseconds wait);
  void Finish(CallId id, LookupAnswer answer);

  base::EventLoop& loop;
  net::HttpClient& client;
  const ServiceBudgets budgets;
  const base::Clock& clock;
  const domain::Recipe recipe;
  LookupTurns turns;
  std::unordered_map<CallId, Call> calls;
  CallId last_id = 0;
};

bool RecipeProvider::Impl::Serves(const LookupRequest& request) const {
  if (request.lookup != LookupOf(recipe.lookup)) return false;
  return request.lookup != Lookup::kFindEmail || recipe.Finds(request.mode);
}

void RecipeProvider::Impl::Ask(LookupRequest request, LookupTurns::Done done) {
  const milliseconds timeout = std::min(request.timeout, recipe.request.timeout);
  const CallId id = ++last_id;
  Call call;
  call.request = std::move(request);
  call.done = std::move(done);
  call.time = AttemptTime(clock.SinceBoot(), timeout);
  calls.emplace(id, std::move(call));
  Send(id);
}

void RecipeProvider::Impl::Send(CallId id) {
  const Call& call = calls.at(id);
  auto question = RecipeQuestion(recipe, call.request);
  // Start has found that there is one.
  if (!question) return Finish(id, Nothing{});
  question->headers.emplace_back("Accept", "application/json");
  question->trust = net::Trust::kOperator;
  question->org = call.request.org_id;
  question->timeout = call.time.Timeout(clock.SinceBoot());
  question->on_turn = [may_call = call.request.may_call](milliseconds) { return may_call(); };
  question->budget = &budgets.answers;
  question->body_bytes_max = recipe.request.body_bytes_max;
  client.Send(std::move(*question), [id, weak = weak_from_this()](net::HttpResponse response) {
    if (const auto self = weak.lock()) self->OnResponse(id, response);
  });
}

void RecipeProvider::Impl::OnResponse(CallId id, const net::HttpResponse& response) {
  if (response.error_class != net::HttpErrorClass::kNone) {
    return Finish(id, html::TransportFailure(response, "the service of a recipe"));
  }
  auto read = ReadRecipeAnswer(recipe, response, clock.Now());
  if (const auto* pending = std::get_if<RecipePending>(&read)) return AskAgain(id, pending->wait);
  Finish(id, std::move(std::get<LookupAnswer>(read)));
}

void RecipeProvider::Impl::AskAgain(CallId id, milliseconds wait) {
  Call& call = calls.at(id);
  if (wait >= call.time.Left(clock.SinceBoot())) {
    return Finish(
        id, domain::Failure{"timeout", "The service of a recipe did not end within the timeout.",
                            true, wait});
  }
  call.timer = std::make_unique<base::Timer>(loop, [this, id] { Send(id); });
  call.timer->Start(wait);
}

void RecipeProvider::Impl::Finish(CallId id, LookupAnswer answer) {
  auto node = calls.extract(id);
  const Call& call = node.mapped();
  call.done(ClassifyTimeout(std::move(answer), call.request.timeout, recipe.request.timeout));
}

RecipeProvider::RecipeProvider(base::EventLoop& loop, net::HttpClient& client,
                               const ServiceBudgets& budgets, const base::Clock& clock,
                               const domain::Recipe& recipe)
    : impl_(std::make_shared<Impl>(loop, client, budgets, clock, recipe)) {}

RecipeProvider::~RecipeProvider() = default;

std::string_view RecipeProvider::id() const {
  return impl_->recipe.id;
}

void RecipeProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  // A person whom the service cannot be asked about takes no turn.
  if (!impl_->Serves(request) || !RecipeQuestion(impl_->recipe, request)) return done(Nothing{});
  impl_->turns.Start(std::move(request), std::move(done));
}

}  // namespace vedette::worker
