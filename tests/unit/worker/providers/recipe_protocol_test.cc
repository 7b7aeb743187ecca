#include "worker/providers/recipe_provider.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace vedette::worker {
namespace {

using domain::Recipe;
using domain::RecipeField;

base::JsonPointer At(const char* text) {
  return *base::JsonPointer::Parse(text);
}

// The same as docs/examples/recipes/hunter.toml and prospeo.toml.
Recipe Finder() {
  Recipe recipe;
  recipe.id = "mine";
  recipe.modes = {domain::FindMode::kProfessional};
  recipe.needs = {{RecipeField::kFirstName, RecipeField::kLastName, RecipeField::kDomain}};
  recipe.request.url = "https://api.example/find/{domain}";
  recipe.request.query = {{"first", "{first_name}"}, {"at", "{company}"}};
  recipe.request.headers = {{"X-KEY", "{key}"}, {"X-Title", "{title}"}};
  recipe.request.key = "k-1";
  recipe.answer.email = At("/data/email");
  recipe.answer.pending_statuses = {202};
  recipe.answer.nothing_statuses = {404};
  recipe.answer.busy_statuses = {403};
  recipe.answer.nothing_when = domain::RecipeTest{At("/message"), {"NO_RESULT"}};
  recipe.answer.fail_when = domain::RecipeTest{At("/error"), {true}};
  recipe.answer.confidence = domain::RecipeConfidence{At("/data/score"), 100};
  recipe.answer.sources = domain::RecipeSources{At("/data/sources"), At("/uri")};
  domain::RecipeStatus status{At("/data/status"), {}};
  status.rules.push_back({domain::AddressStatus::kOk, {"valid"}, {}});
  status.rules.push_back({domain::AddressStatus::kNotFound, {"invalid"}, {}});
  recipe.answer.status = status;
  return recipe;
}

LookupRequest Ask(domain::Person person) {
  LookupRequest request;
  request.person = std::make_shared<const domain::Person>(std::move(person));
  return request;
}

domain::Person Ann() {
  domain::Person person;
  person.first_name = "Ann";
  person.last_name = "Example";
  person.domain = "acme.com";
  return person;
}

net::HttpResponse Response(int status, std::string body = "{}") {
  net::HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

LookupAnswer Read(const Recipe& recipe, int status, std::string body = "{}") {
  return std::get<LookupAnswer>(ReadRecipeAnswer(recipe, Response(status, std::move(body)), {}));
}

std::string FailureOf(const LookupAnswer& answer) {
  const auto* failure = std::get_if<domain::Failure>(&answer);
  if (failure == nullptr) return "";
  return failure->error_class + (failure->retryable ? " may pass" : "");
}

bool IsNothing(const LookupAnswer& answer) {
  return std::holds_alternative<Nothing>(answer);
}

TEST(RecipeQuestions, EachValueIsEncodedForItsPlaceAndWhatIsNotKnownIsLeftOut) {
  domain::Person person = Ann();
  person.first_name = "Ann & co=";
  const auto question = RecipeQuestion(Finder(), Ask(person));
  ASSERT_TRUE(question);
  EXPECT_EQ(question->method, "GET");
  EXPECT_EQ(question->url, "https://api.example/find/acme.com?first=Ann%20%26%20co%3D");
  ASSERT_EQ(question->headers.size(), 1U);
  EXPECT_EQ(question->headers[0], (std::pair<std::string, std::string>{"X-KEY", "k-1"}));
  EXPECT_EQ(question->body, "");
}

TEST(RecipeQuestions, ABodyIsJsonWhoseTextsAreFilledIn) {
  Recipe recipe = Finder();
  recipe.request.method = domain::RecipeMethod::kPost;
  recipe.request.body = base::ParseJsonOrThrow(
      R"({"who": {"first": "{first_name}", "title": "{title}"}, "list": ["{domain}", "{title}"],
          "limit": 1, "deep": true})");
  domain::Person person = Ann();
  person.first_name = "A\"nn\n";
  const auto question = RecipeQuestion(recipe, Ask(person));
  ASSERT_TRUE(question);
  EXPECT_EQ(question->body,
            R"({"who":{"first":"A\"nn\n"},"list":["acme.com"],"limit":1,"deep":true})");
  EXPECT_EQ(question->headers.back(),
            (std::pair<std::string, std::string>{"Content-Type", "application/json"}));
}

TEST(RecipeQuestions, WhoIsNotKnownWellEnoughIsNotAskedAbout) {
  domain::Person person = Ann();
  person.domain.clear();
  EXPECT_FALSE(RecipeQuestion(Finder(), Ask(person)));
  Recipe recipe = Finder();
  recipe.needs.push_back({RecipeField::kLinkedin});
  recipe.request.url = "https://api.example/find";
  person.linkedin = "https://linkedin.com/in/ann";
  EXPECT_TRUE(RecipeQuestion(recipe, Ask(person))) << "one of the sets is enough";
}

TEST(RecipeQuestions, AWholeNameStandsForItsParts) {
  domain::Person person;
  person.name = "Dr. Ann Marie van der Berg";
  person.domain = "acme.com";
  Recipe recipe = Finder();
  recipe.request.query = {{"f", "{first_name}"}, {"l", "{last_name}"}, {"n", "{name}"}};
  const auto question = RecipeQuestion(recipe, Ask(person));
  ASSERT_TRUE(question);
  EXPECT_EQ(question->url,
            "https://api.example/find/acme.com?f=ann&l=van%20der%20berg&"
            "n=Dr.%20Ann%20Marie%20van%20der%20Berg");
}

// Nothing of a lead ends a line, a segment or a value.
TEST(RecipeQuestions, NoValueGetsOutOfItsPlace) {
  Recipe recipe = Finder();
  recipe.request.url = "https://api.example/p/{title}/x";
  recipe.request.headers = {{"X-Title", "{title}"}};
  const auto url_of = [&](const std::string& title) {
    domain::Person person = Ann();
    person.title = title;
    const auto question = RecipeQuestion(recipe, Ask(person));
    return question ? question->url : "not asked";
  };
  for (const char* title : {"a\r\nX-Evil: 1", "a\nb", ".", ".."}) {
    EXPECT_EQ(url_of(title), "not asked") << title;
  }
  EXPECT_EQ(url_of("../../admin?x=1#y"),
            "https://api.example/p/..%2F..%2Fadmin%3Fx%3D1%23y/x?first=Ann");
  EXPECT_EQ(url_of("{key}"), "https://api.example/p/%7Bkey%7D/x?first=Ann");
}

TEST(RecipeAnswers, TheAddressComesWithStatusConfidenceAndSources) {
  const auto answer = Read(Finder(), 200,
                           R"({"data": {"email": " ann@acme.com ", "score": 87, "status": "valid",
                               "sources": [{"uri": "https://acme.com/team"}, {"uri": "javascript:x"},
                                           {"url": "https://acme.com"}]}})");
  const auto& candidate = std::get<domain::Candidates>(answer).at(0);
  EXPECT_EQ(candidate.address, "ann@acme.com");
  EXPECT_EQ(candidate.status, domain::AddressStatus::kOk);
  EXPECT_EQ(candidate.confidence, 9);
  EXPECT_EQ(candidate.sources, (std::vector<std::string>{"https://acme.com/team"}));
  EXPECT_TRUE(candidate.stated);
}

TEST(RecipeAnswers, AStatusThatIsNotNamedIsUnknownAndSoIsAnOkThatIsNotTrusted) {
  const auto status_of = [](const Recipe& recipe, const char* status) {
    const auto answer = Read(
        recipe, 200, std::string(R"({"data": {"email": "a@acme.com", "status": )") + status + "}}");
    return std::get<domain::Candidates>(answer).at(0).status;
  };
  EXPECT_EQ(status_of(Finder(), R"("valid")"), domain::AddressStatus::kOk);
  EXPECT_EQ(status_of(Finder(), R"("invalid")"), domain::AddressStatus::kNotFound);
  EXPECT_EQ(status_of(Finder(), R"("accept_all")"), domain::AddressStatus::kUnknown);
  EXPECT_EQ(status_of(Finder(), "null"), domain::AddressStatus::kUnknown);
  Recipe doubted = Finder();
  doubted.trust = false;
  EXPECT_EQ(status_of(doubted, R"("valid")"), domain::AddressStatus::kUnknown);
}

TEST(RecipeAnswers, AMissingValueIsNothingAndNothingIsCheckedBeforeAFailure) {
  EXPECT_TRUE(IsNothing(Read(Finder(), 404)));
  EXPECT_TRUE(IsNothing(Read(Finder(), 200, R"({"data": {}})")));
  EXPECT_TRUE(IsNothing(Read(Finder(), 200, R"({"data": {"email": "no address"}})")));
  EXPECT_TRUE(IsNothing(Read(Finder(), 200, R"({"error": true, "message": "NO_RESULT"})")));
  EXPECT_EQ(FailureOf(Read(Finder(), 200, R"({"error": true, "message": "BAD_KEY"})")),
            "service_error");
  EXPECT_TRUE(IsNothing(Read(Finder(), 200, R"({"error": "true"})"))) << "a text is not true";
}

TEST(RecipeAnswers, StatusesSayWhetherAFailureMayPass) {
  EXPECT_EQ(FailureOf(Read(Finder(), 401)), "http_status");
  EXPECT_EQ(FailureOf(Read(Finder(), 402)), "http_status");
  EXPECT_EQ(FailureOf(Read(Finder(), 301)), "http_status") << "it is never redirected";
  EXPECT_EQ(FailureOf(Read(Finder(), 403)), "http_status may pass") << "busy, by the recipe";
  for (const int status : {408, 425, 429, 500, 503}) {
    EXPECT_EQ(FailureOf(Read(Finder(), status)), "http_status may pass") << status;
  }
  EXPECT_EQ(FailureOf(Read(Finder(), 200, "<html>")), "invalid_answer");
  net::HttpResponse busy = Response(403);
  busy.headers = {{"retry-after", "7"}};
  const auto answer = std::get<LookupAnswer>(ReadRecipeAnswer(Finder(), busy, {}));
  EXPECT_EQ(std::get<domain::Failure>(answer).retry_after, std::chrono::seconds(7));
}

TEST(RecipeAnswers, AServiceThatHasNotEndedIsAskedAgain) {
  net::HttpResponse pending = Response(202);
  const auto wait = [&] {
    return std::get<RecipePending>(ReadRecipeAnswer(Finder(), pending, {})).wait;
  };
  EXPECT_EQ(wait(), std::chrono::seconds(1));
  pending.headers = {{"retry-after", "3"}};
  EXPECT_EQ(wait(), std::chrono::seconds(3));
  pending.headers = {{"retry-after", "0"}};
  EXPECT_GT(wait().count(), 0);
}

TEST(RecipeAnswers, OnlyTheStatusesThatAreNamedAreRead) {
  Recipe recipe = Finder();
  recipe.answer.read_statuses = {200, 400};
  EXPECT_TRUE(IsNothing(Read(recipe, 400, R"({"error": true, "message": "NO_RESULT"})")));
  EXPECT_EQ(FailureOf(Read(recipe, 201, R"({"data": {"email": "a@acme.com"}})")), "http_status");
}

// The same as docs/examples/recipes/reacher.toml.
Recipe Verifier() {
  Recipe recipe;
  recipe.id = "reacher";
  recipe.lookup = domain::RecipeLookup::kVerifyEmail;
  recipe.needs = {{RecipeField::kEmail}};
  recipe.request.method = domain::RecipeMethod::kPost;
  recipe.request.url = "http://reacher.internal:8080/v1/check_email";
  recipe.request.body = base::ParseJsonOrThrow(R"({"to_email": "{email}"})");
  domain::RecipeStatus status{At("/is_reachable"), {}};
  status.rules.push_back(
      {domain::AddressStatus::kOk, {"safe"}, {{At("/smtp/is_catch_all"), false}}});
  status.rules.push_back(
      {domain::AddressStatus::kNotFound, {"invalid"}, {{At("/smtp/can_connect_smtp"), true}}});
  recipe.answer.status = status;
  return recipe;
}

TEST(RecipeAnswers, AVerifierThatKnowsSaysSoAndOneThatCouldNotAskRefusesNobody) {
  LookupRequest request;
  request.lookup = Lookup::kVerifyEmail;
  request.address = "ann@acme.com";
  EXPECT_EQ(RecipeQuestion(Verifier(), request)->body, R"({"to_email":"ann@acme.com"})");
  const auto verdict = [](const char* body) {
    const auto answer = Read(Verifier(), 200, body);
    const auto& said = std::get<domain::AddressVerdict>(answer);
    return std::pair(said.verdict, VerdictReasonName(said.reason));
  };
  using domain::Verdict;
  EXPECT_EQ(verdict(R"({"is_reachable": "safe", "smtp": {"is_catch_all": false}})"),
            (std::pair(Verdict::kOk, std::string_view())));
  EXPECT_EQ(verdict(R"({"is_reachable": "safe", "smtp": {"is_catch_all": true}})").first,
            Verdict::kUnknown);
  EXPECT_EQ(verdict(R"({"is_reachable": "safe"})").first, Verdict::kUnknown);
  EXPECT_EQ(verdict(R"({"is_reachable": "invalid", "smtp": {"can_connect_smtp": true}})"),
            (std::pair(Verdict::kRefused, std::string_view("refused"))));
  EXPECT_EQ(verdict(R"({"is_reachable": "invalid", "smtp": {"can_connect_smtp": false}})"),
            (std::pair(Verdict::kUnknown, std::string_view("unverified_by_server"))));
  EXPECT_EQ(verdict(R"({"is_reachable": "risky"})").first, Verdict::kUnknown);
}

// The same as docs/examples/recipes/pdl_email.toml.
TEST(RecipeAnswers, APersonIsReadAsTheProtocolOfServicesHasOne) {
  Recipe recipe;
  recipe.lookup = domain::RecipeLookup::kReverseEmail;
  recipe.needs = {{RecipeField::kEmail}};
  recipe.request.url = "https://api.example/enrich";
  recipe.request.query = {{"email", "{email}"}};
  recipe.answer.person = domain::RecipeMembers{{"name", At("/data/full_name")},
                                               {"first_name", At("/data/first")},
                                               {"last_name", At("/data/last")},
                                               {"title", At("/data/title")}};
  recipe.answer.confidence = domain::RecipeConfidence{At("/likelihood"), 10};
  LookupRequest request;
  request.lookup = Lookup::kReverseEmail;
  request.address = "Ann@acme.com";
  EXPECT_EQ(RecipeQuestion(recipe, request)->url,
            "https://api.example/enrich?email=Ann%40acme.com");
  const auto person_of = [&](const char* body) {
    const auto answer = Read(recipe, 200, body);
    const auto* found = std::get_if<domain::PersonFound>(&answer);
    return found == nullptr ? domain::PersonFound() : *found;
  };
  const auto ann =
      person_of(R"({"likelihood": 8, "data": {"full_name": " Ann  Example", "title": true}})");
  EXPECT_EQ(ann.name, "Ann Example");
  EXPECT_EQ(ann.title, "") << "no text";
  EXPECT_EQ(ann.confidence, 8);
  EXPECT_EQ(person_of(R"({"data": {"first": "Ann", "last": "Example"}})").name, "Ann Example");
  EXPECT_EQ(person_of(R"({"data": {"full_name": null}})").name, "");
  recipe.trust = false;
  EXPECT_LT(person_of(R"({"likelihood": 8, "data": {"full_name": "Ann Example"}})").confidence, 5);
}

// The same as docs/examples/recipes/pdl_age.toml.
TEST(RecipeAnswers, AClaimIsQuotedWithWhatTheServiceSaysAndItsOwnAddress) {
  Recipe recipe;
  recipe.id = "mine";
  recipe.lookup = domain::RecipeLookup::kVerifyAge;
  recipe.needs = {{RecipeField::kName}};
  recipe.request.url = "https://api.example/people/{name}";
  recipe.answer.claim = domain::RecipeMembers{
      {"birth", At("/birth_date")}, {"year", At("/birth_year")}, {"age", At("/age")},
      {"as_of", At("/seen")},       {"url", At("/page")},        {"quote", At("/text")}};
  const auto claim_of = [&](const char* body) {
    const auto answer = Read(recipe, 200, body);
    const auto* claims = std::get_if<domain::AgeClaims>(&answer);
    return claims == nullptr ? domain::AgeClaim() : claims->at(0);
  };
  const auto whole = claim_of(R"({"birth_date": "1980-05-06", "birth_year": 1981})");
  EXPECT_EQ(whole.date, (domain::PartialDate{1980, 5, 6}));
  EXPECT_EQ(whole.quote, "birth: 1980-05-06");
  EXPECT_EQ(whole.url, "https://api.example/people/");
  EXPECT_EQ(whole.standing, domain::AgeClaim::Standing::kService);
  EXPECT_EQ(whole.identity, domain::Identity::kSame);
  EXPECT_EQ(whole.provider, "mine");
  const auto year =
      claim_of(R"({"birth_date": true, "birth_year": 1980, "page": "https://a.example/",
                                 "text": "born in 1980"})");
  EXPECT_EQ(year.date, (domain::PartialDate{1980, {}, {}}));
  EXPECT_EQ(year.quote, "born in 1980");
  EXPECT_EQ(year.url, "https://a.example/");
  const auto unreadable = claim_of(R"({"birth_date": "soon", "birth_year": 1980})");
  EXPECT_EQ(unreadable.quote, "year: 1980");
  const auto age = claim_of(R"({"age": 34, "seen": "2020-02-03"})");
  EXPECT_EQ(age.kind, domain::AgeClaim::Kind::kAge);
  EXPECT_EQ(age.age, 34);
  EXPECT_EQ(age.quote, "age: 34");
  for (const char* nothing : {"{}", R"({"birth_year": null})", R"({"birth_year": "x"})",
                              R"({"age": 34})", R"({"birth_year": 1980, "page": "file:///x"})"}) {
    EXPECT_TRUE(std::holds_alternative<Nothing>(Read(recipe, 200, nothing))) << nothing;
  }
  recipe.trust = false;
  EXPECT_EQ(claim_of(R"({"birth_year": 1980})").identity, domain::Identity::kUnproven);
}

TEST(RecipeAnswers, ADomainIsOneThatACompanyMayHave) {
  Recipe recipe;
  recipe.lookup = domain::RecipeLookup::kCompanyDomain;
  recipe.needs = {{RecipeField::kCompany}};
  recipe.answer.domain = At("/site");
  const auto domain_of = [&](const char* body) {
    const auto answer = Read(recipe, 200, body);
    const auto* found = std::get_if<CompanyDomainFound>(&answer);
    return found == nullptr ? "nothing" : found->domain;
  };
  EXPECT_EQ(domain_of(R"({"site": "https://www.Acme.com/about"})"), "acme.com");
  EXPECT_EQ(domain_of(R"({"site": "gmail.com"})"), "nothing");
  EXPECT_EQ(domain_of(R"({"site": 5})"), "nothing");
}

}  // namespace
}  // namespace vedette::worker
