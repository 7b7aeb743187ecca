#include "config/setting_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "config/config.h"
#include "config/rules.h"
#include "domain/email/recipe.h"

namespace vedette::config {
namespace {

using domain::Recipe;
using testing::HasSubstr;
using testing::Not;

// A folder that is gone when the test is.
class Folder {
 public:
  Folder() {
    char path[] = "/tmp/vedette-recipes-XXXXXX";
    path_ = mkdtemp(path);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr const char* kTop = R"(id = "mine"
lookup = "find_email"
modes = ["PROFESSIONAL"]
needs = [["name"]]
)";
constexpr const char* kRequest = R"([request]
method = "GET"
url = "https://api.example/v1"
)";
constexpr const char* kAnswer = R"([answer]
email = "/email"
)";

std::string ErrorOf(const std::string& text) {
  try {
    ReadRecipe(text, "mine.toml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::string RequestError(const std::string& request) {
  return ErrorOf(std::string(kTop) + "[request]\n" + request + "\n" + kAnswer);
}
std::string AnswerError(const std::string& answer) {
  return ErrorOf(std::string(kTop) + kRequest + kAnswer + answer + "\n");
}

std::string Example(const std::string& name, const std::string& key_file) {
  std::ifstream file(std::string(VEDETTE_SOURCE_DIR "/docs/examples/recipes/") + name);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto at = text.find("/run/secrets/");
  EXPECT_NE(at, text.npos) << name;
  return text.replace(at, text.find('"', at) - at, key_file);
}

TEST(RecipeFile, TheExamplesOfThreeServicesAreRead) {
  const Folder folder;
  const std::string key = folder.Write("key", "k-1\n");
  const Recipe hunter = ReadRecipe(Example("hunter.toml", key), "hunter.toml");
  EXPECT_EQ(hunter.id, "hunter");
  EXPECT_EQ(hunter.request.key, "k-1");
  EXPECT_EQ(hunter.request.per_minute, 300);
  EXPECT_EQ(hunter.answer.nothing_statuses, (std::vector<int>{404, 451}));
  EXPECT_EQ(hunter.answer.confidence->of, 100);
  EXPECT_TRUE(hunter.Finds(domain::FindMode::kProfessional));
  EXPECT_FALSE(hunter.Finds(domain::FindMode::kPersonal));
  const Recipe prospeo = ReadRecipe(Example("prospeo.toml", key), "prospeo.toml");
  EXPECT_EQ(prospeo.request.method, domain::RecipeMethod::kPost);
  EXPECT_EQ(base::DumpJson(*prospeo.request.body),
            R"({"company":"{domain}","first_name":"{first_name}","last_name":"{last_name}"})");
  const Recipe reacher = ReadRecipe(Example("reacher.toml", key), "reacher.toml");
  EXPECT_EQ(reacher.lookup, domain::RecipeLookup::kVerifyEmail);
  const Recipe person = ReadRecipe(Example("pdl_email.toml", key), "pdl_email.toml");
  EXPECT_EQ(person.lookup, domain::RecipeLookup::kReverseEmail);
  EXPECT_EQ(person.answer.person->size(), 6U);
  const Recipe age = ReadRecipe(Example("pdl_age.toml", key), "pdl_age.toml");
  EXPECT_EQ(age.lookup, domain::RecipeLookup::kVerifyAge);
  EXPECT_EQ(age.needs.size(), 3U);
  ASSERT_EQ(reacher.answer.status->rules.size(), 2U);
  EXPECT_EQ(reacher.answer.status->rules[0].only_if.size(), 1U);
}

TEST(RecipeFile, ARecipeOfPeopleSaysWhereTheNameOrTheDateStands) {
  const auto error = [](const char* lookup, const char* answer) {
    return ErrorOf(std::string("id = \"mine\"\nlookup = \"") + lookup +
                   "\"\nneeds = [[\"email\"]]\n" + kRequest + "[answer]\n" + answer + "\n");
  };
  EXPECT_EQ(error("reverse_email", "person = { name = \"/n\" }"), "no error");
  EXPECT_EQ(error("reverse_email", "person = { first_name = \"/f\", last_name = \"/l\" }"),
            "no error");
  EXPECT_THAT(error("reverse_email", ""), HasSubstr("belongs to reverse_email"));
  EXPECT_THAT(error("reverse_email", "person = { title = \"/t\" }"), HasSubstr("needs name"));
  EXPECT_THAT(error("reverse_email", "person = { name = \"/n\", shoe = \"/s\" }"),
              HasSubstr("shoe"));
  EXPECT_THAT(error("verify_age", "person = { name = \"/n\" }"),
              HasSubstr("belongs to reverse_email"));
  EXPECT_EQ(error("verify_age", "claim = { birth = \"/b\" }"), "no error");
  EXPECT_EQ(error("verify_age", "claim = { age = \"/a\", as_of = \"/d\" }"), "no error");
  EXPECT_THAT(error("verify_age", "claim = { age = \"/a\" }"), HasSubstr("age and as_of"));
  EXPECT_THAT(error("verify_age", "email = \"/e\""), HasSubstr("belongs to find_email"));
  EXPECT_THAT(error("verify_age", "claim = { birth = \"b\" }"), HasSubstr("JSON Pointer"));
}

TEST(RecipeFile, WhatIsWrongIsNamedWithItsFileAndLine) {
  EXPECT_EQ(ErrorOf(std::string(kTop) + kRequest + kAnswer), "no error");
  EXPECT_THAT(ErrorOf("id = \"mine\"\nlookup ="), HasSubstr("mine.toml:2: "));
  EXPECT_THAT(ErrorOf("id = \"Mine!\"\nlookup = \"find_email\""), HasSubstr("mine.toml:1: id: "));
  EXPECT_THAT(ErrorOf(std::string(kTop) + "colour = 5\n" + kRequest + kAnswer),
              HasSubstr("mine.toml:5: colour: is no key of a recipe"));
  EXPECT_THAT(AnswerError("staus = 5"), HasSubstr("answer.staus: is no key of a recipe"));
  EXPECT_THAT(AnswerError("domain = \"/d\""), HasSubstr("it belongs to company_domain"));
  EXPECT_THAT(AnswerError("confidence = { at = \"score\" }"), HasSubstr("JSON Pointer"));
  EXPECT_THAT(AnswerError("nothing_when = { at = \"/m\", is = [] }"), HasSubstr("at least one"));
  EXPECT_THAT(AnswerError("status = { at = \"/s\", OK_only_if = { \"/x\" = 1 } }"),
              HasSubstr("stands only beside OK"));
  EXPECT_THAT(AnswerError("busy_statuses = [99]"), HasSubstr("200 to 599"));
  EXPECT_THAT(ErrorOf("id = \"mine\"\nlookup = \"verify_email\"\nneeds = [[\"email\"]]\n" +
                      std::string(kRequest) + "[answer]\n"),
              HasSubstr("status is required"));
  EXPECT_THAT(ErrorOf("id = \"mine\"\nlookup = \"find_email\"\nmodes = [\"PROFESSIONAL\"]\n"
                      "needs = [[\"key\"]]\n"),
              HasSubstr("must name fields of a lead"));
}

TEST(RecipeFile, AFieldStandsInNoSchemeHostOrPort) {
  for (const char* url :
       {"{domain}://api.example/", "https://{domain}/", "https://api.{domain}/v1",
        "https://api.example:{key}/", "https://{key}@api.example/", "https://user@api.example/",
        "ftp://api.example/", "https:///v1", "https://api.example/v1?x={name}",
        "https://api.example/a-{name}", "https://api.example/{name}.json",
        "https://api.example/{name}{email}", "https://api.example/a b", "https://api.example/#x"}) {
    EXPECT_THAT(RequestError(std::string("method = \"GET\"\nurl = \"") + url + "\""),
                HasSubstr("request.url: "))
        << url;
  }
  EXPECT_EQ(RequestError("method = \"GET\"\nurl = \"https://api.example:8080/p/{domain}/x\""),
            "no error");
}

TEST(RecipeFile, TheKeyIsOneLineOfAFileAndIsNeverShown) {
  const Folder folder;
  const auto with = [&](const std::string& content) {
    const std::string path = folder.Write("key", content);
    return RequestError("method = \"GET\"\nurl = \"https://a.example/\"\nkey_file = \"" + path +
                        "\"\nheaders = { X-KEY = \"{key}\" }");
  };
  EXPECT_EQ(with("k-1\n"), "no error");
  for (const char* content : {"", "\n", "secret\nsecret", "sec\rret", "secret\tx"}) {
    EXPECT_THAT(with(content), HasSubstr("request.key_file: must hold one line")) << content;
    EXPECT_THAT(with(content), Not(HasSubstr("secret\n")));
  }
  EXPECT_THAT(with(std::string("se\0cret", 7)), HasSubstr("must hold one line"));
  EXPECT_THAT(RequestError("method = \"GET\"\nurl = \"https://a.example/{key}\""),
              HasSubstr("request.key_file: is the file of {key}"));
  EXPECT_THAT(RequestError("method = \"GET\"\nurl = \"https://a.example/\"\nkey_file = \"/x\""),
              HasSubstr("request.key_file: is the file of {key}"));
  EXPECT_THAT(RequestError("method = \"GET\"\nurl = \"https://a.example/{key}\"\n"
                           "key_file = \"/nowhere\""),
              HasSubstr("cannot be read"));
}

TEST(RecipeFile, HeadersThatTheClientSetsItselfAndLineBreaksAreRefused) {
  const std::string url = "method = \"GET\"\nurl = \"https://a.example/\"\n";
  for (const char* headers :
       {"{ Host = \"x\" }", "{ Content-Length = \"1\" }", "{ \"a b\" = \"x\" }",
        "{ \"a\\r\\nb\" = \"x\" }", "{ x = \"a\\r\\nb: c\" }"}) {
    EXPECT_THAT(RequestError(url + "headers = " + headers), HasSubstr("request.headers: "))
        << headers;
  }
  EXPECT_THAT(RequestError(url + "body = { a = 1 }"), HasSubstr("method = \"POST\""));
  EXPECT_THAT(RequestError(url + "query = { a = \"{nobody}\" }"), HasSubstr("request.query.a: "));
}

class RecipesDir : public testing::Test {
 protected:
  std::string Load(const std::string& lookups) {
    const std::string path = folder_.Write(
        "vedette.conf", "[providers]\nrecipes_dir = \"" + folder_.path() + "\"\n" + lookups);
    try {
      LoadConfig(path, {});
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }
  Folder folder_;
};

TEST_F(RecipesDir, ARecipeIsAProviderOfWhatItServes) {
  folder_.Write("a.toml", std::string(kTop) + kRequest + kAnswer);
  folder_.Write("notes.txt", "not a recipe");
  EXPECT_EQ(Load("[lookups]\nfind_email = [\"store\", \"mine\"]\n"), "no error");
  EXPECT_THAT(Load("[lookups]\nfind_email_personal = [\"mine\"]\n"), HasSubstr("that serves it"));
  EXPECT_THAT(Load("[lookups]\ncompany_domain = [\"mine\"]\n"), HasSubstr("that serves it"));
  EXPECT_THAT(Load("[lookups]\nverifier = \"mine\"\n"), HasSubstr("verifies addresses"));
}

TEST_F(RecipesDir, FindersAreOursTheOperatorsServicesAndRecipesEachInItsModes) {
  folder_.Write("a.toml", std::string(kTop) + kRequest + kAnswer);
  const std::string path =
      folder_.Write("vedette.conf", "[providers]\nrecipes_dir = \"" + folder_.path() +
                                        "\"\n[providers.http.own]\nurl = \"http://a.example/\"\n");
  const domain::KnownFinders known = FindersOf(LoadConfig(path, {}));
  EXPECT_THAT(known.all, testing::ElementsAre("pattern", "store", "website", "local_part", "wkd",
                                              "pages", "wikidata", "own", "mine"));
  EXPECT_THAT(known.personal, testing::ElementsAre("store", "website", "own"));
  EXPECT_THAT(known.professional,
              testing::ElementsAre("pattern", "store", "website", "own", "mine"));
}

TEST_F(RecipesDir, AnIdIsUsedOnce) {
  folder_.Write("a.toml", std::string(kTop) + kRequest + kAnswer);
  EXPECT_THAT(Load("[providers.http.mine]\nurl = \"http://a.example/\"\n"),
              HasSubstr("a recipe has this id, too"));
  folder_.Write("b.toml", std::string(kTop) + kRequest + kAnswer);
  EXPECT_THAT(Load(""), HasSubstr("b.toml: the id \"mine\" is used by another recipe"));
}

TEST_F(RecipesDir, AnIdOfOursIsTaken) {
  std::string top = kTop;
  folder_.Write("a.toml", top.replace(top.find("mine"), 4, "pattern") + kRequest + kAnswer);
  EXPECT_THAT(Load(""), HasSubstr("\"pattern\" is taken"));
}

TEST_F(RecipesDir, AFolderThatIsNotThereStopsTheStart) {
  const std::string path = folder_.Write("x.conf", "[providers]\nrecipes_dir = \"/nowhere\"\n");
  EXPECT_THROW(LoadConfig(path, {}), ConfigError);
}

TEST_F(RecipesDir, ModelsAreNamedLikewiseAndNeedAUrlAndAModel) {
  const std::string model = "[providers.llm.scout]\nurl = \"http://a/\"\nmodel = \"m\"\n";
  const Config config = LoadConfig(folder_.Write("models.conf", model),
                                   {{"VEDETTE_PROVIDERS_LLM_SCOUT_TOKENS_MAX", "7"},
                                    {"VEDETTE_LOOKUPS_VERIFY_AGE", "pages,scout"},
                                    {"VEDETTE_LOOKUPS_FIND_EMAIL", "store,scout"},
                                    {"VEDETTE_LOOKUPS_FIND_EMAIL_PERSONAL", "scout"}});
  ASSERT_EQ(config.providers.llm.size(), 1U);
  EXPECT_TRUE(FindersOf(config).Finds("scout", domain::FindMode::kPersonal));
  EXPECT_EQ(config.providers.llm.at("scout").tokens_max, 7);
  EXPECT_THAT(Load("[providers.llm.scout]\nurl = \"http://a/\"\n"), HasSubstr("a model"));
  EXPECT_THAT(Load("[providers.llm.pages]\nurl = \"http://a/\"\nmodel = \"m\"\n"),
              HasSubstr("is taken"));
  EXPECT_THAT(Load(model + "[lookups]\ncompany_domain = [\"scout\"]\n"),
              HasSubstr("there is no [providers.http.scout]"));
}

TEST(DomainList, HasADomainALine) {
  const char* path = VEDETTE_SOURCE_DIR "/tests/unit/config/domains.txt";
  const std::vector<std::string> domains{"everybodys-mail.test", "mail.test", "xn--mll-hoa.test"};
  EXPECT_EQ(ReadDomainList(path, "[email] free_domains_file"), domains);
  EXPECT_TRUE(ReadDomainList("", "[email] free_domains_file").empty());
  const Config config = LoadConfig(std::nullopt, {{"VEDETTE_EMAIL_FREE_DOMAINS_FILE", path},
                                                  {"VEDETTE_EMAIL_DISPOSABLE_DOMAINS_FILE", path}});
  EXPECT_EQ(config.mail_domains.free, domains);
  EXPECT_EQ(config.mail_domains.disposable, domains);
}

TEST(DomainList, WhatIsNoDomainStopsTheStart) {
  const Folder folder;
  const auto error = [](const std::string& path) -> std::string {
    try {
      ReadDomainList(path, "[email] free_domains_file");
    } catch (const ConfigError& thrown) {
      return thrown.what();
    }
    return "no error";
  };
  const std::string path = folder.Write("domains", "mail.test\n\nann@mail.test\n");
  EXPECT_EQ(error(path), path + ":3: \"ann@mail.test\" is no domain");
  for (const char* line : {"com", "10.0.0.1", "*.test", "a..test", "mail.test # ours"}) {
    EXPECT_THAT(error(folder.Write("domains", line)), HasSubstr(":1: ")) << line;
  }
  EXPECT_THAT(error("/nowhere"), HasSubstr("[email] free_domains_file: /nowhere cannot be read"));
  EXPECT_THAT(error(folder.path()), HasSubstr("cannot be read"));
}

constexpr const char* kBroken = R"(-----BEGIN CERTIFICATE-----
MIIB
-----END CERTIFICATE-----
)";

TEST(CaFile, WhatIsNoBundleOfCertificatesStopsTheStart) {
  const Folder folder;
  const auto error = [](const std::string& path) -> std::string {
    try {
      LoadConfig(std::nullopt, {{"VEDETTE_NET_CA_FILE", path}});
    } catch (const ConfigError& thrown) {
      return thrown.what();
    }
    return "no error";
  };
  EXPECT_EQ(error(VEDETTE_SOURCE_DIR "/tests/unit/config/authority.pem"), "no error");
  EXPECT_EQ(error(""), "no error");
  EXPECT_THAT(error("/nowhere"), HasSubstr("[net] ca_file: /nowhere cannot be read"));
  EXPECT_THAT(error(folder.path()), HasSubstr("cannot be read"));
  EXPECT_THAT(error(folder.Write("bundle", "")), HasSubstr("has no certificate in PEM"));
  EXPECT_THAT(error(folder.Write("bundle", "MIIB")), HasSubstr("has no certificate in PEM"));
  EXPECT_THAT(error(folder.Write("bundle", kBroken)), HasSubstr("a block of PEM that cannot"));
}

TEST(CellList, NamesEachCellWithItsPortAndTheTokenOfIt) {
  const Folder folder;
  const std::string token = folder.Write("token", "secret \n");
  const auto cells = ReadCells(folder.Write(
      "cells",
      "# ours\n\n\"\" http://10.0.1.11:9464/\n  c2 https://c2.internal:9464 " + token + "\n"));
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(cells[0].id + "|" + cells[0].url + "|" + cells[0].token, "|http://10.0.1.11:9464|");
  EXPECT_EQ(cells[1].id + "|" + cells[1].url + "|" + cells[1].token,
            "c2|https://c2.internal:9464|secret");
}

TEST(CellList, WhatIsNoneStopsTheStartAndIsNamed) {
  const Folder folder;
  const auto error = [&](const std::string& text) -> std::string {
    try {
      ReadCells(folder.Write("cells", text));
    } catch (const ConfigError& thrown) {
      return thrown.what();
    }
    return "no error";
  };
  EXPECT_THAT(error(""), HasSubstr("it names no cell"));
  EXPECT_THAT(error("C2 http://a:1\n"), HasSubstr("cells:1: \"C2\" must be 1 to 8"));
  EXPECT_THAT(error("\nc2\n"), HasSubstr("cells:2: behind the id stands the URL"));
  EXPECT_THAT(error("c2 http://a:1 /nowhere\n"), HasSubstr("cannot read a token from /nowhere"));
  EXPECT_THAT(error("c2 http://a:1\nc2 http://b:1\n"),
              HasSubstr(":2: the cell \"c2\" is there twice"));
  std::string many;
  for (std::size_t i = 0; i <= kCellsMax; ++i) many += "c" + std::to_string(i) + " http://a:1\n";
  EXPECT_THAT(error(many), HasSubstr("there are more than 64 cells"));
  EXPECT_THROW(ReadCells("/nowhere"), ConfigError);
}

}  // namespace
}  // namespace vedette::config
