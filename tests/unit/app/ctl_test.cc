#include "app/ctl/ctl_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "api/operator/handlers.h"
#include "app/ctl/ctl.h"
#include "app/ctl/ctl_audit.h"
#include "app/ctl/ctl_text.h"
#include "app/json_client.h"
#include "base/crypto.h"
#include "config/parts.h"
#include "config/server_config.h"
#include "store/audit_chain.h"

namespace vedette::app {
namespace {

using base::Json;
using testing::AllOf;
using testing::HasSubstr;

const CtlCommand& Command(std::string_view name) {
  for (const CtlCommand& command : CtlCommands()) {
    if (command.name == name) return command;
  }
  throw std::logic_error("no such command");
}

// "/orgs/{id}/teams/{team}" -> "/orgs/{}/teams/{}"
std::string Shape(std::string_view pattern) {
  std::string shape;
  bool inside = false;
  for (const char c : pattern) {
    if (c == '}') inside = false;
    if (!inside) shape += c;
    if (c == '{') inside = true;
  }
  return shape;
}

TEST(Ctl, HasACommandForEveryRouteAndARouteForEveryCommand) {
  std::set<std::string> routes;
  for (const admin::Route& route : admin::Routes()) {
    // Files, which are no JSON, are the console's.
    const bool is_file = route.pattern == "/" || route.pattern.starts_with("/console") ||
                         route.pattern.starts_with("/admin/v1/snapshots/");
    if (is_file) continue;
    // What `cells` and `cell-map` ask each cell for (app/ctl/ctl_cells.h).
    if (route.pattern == "/admin/v1/cell" || route.pattern == "/admin/v1/cell/routes") continue;
    routes.insert(std::string(route.method) + " " + Shape(route.pattern));
  }
  std::set<std::string> commands;
  for (const CtlCommand& command : CtlCommands()) {
    // What a command asks for with a query is the same route.
    const std::string_view path = command.path;
    commands.insert(std::string(command.method) + " " + Shape(path.substr(0, path.find('?'))));
  }
  EXPECT_EQ(commands, routes);
}

TEST(Ctl, NamesEveryCommandAndItsOptionsOnce) {
  std::set<std::string_view> names;
  for (const CtlCommand& command : CtlCommands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    std::set<std::string_view> flags;
    for (const CtlOption& option : command.options) {
      EXPECT_TRUE(flags.insert(option.flag).second) << command.name << option.flag;
    }
  }
}

// What changes nothing has no reason, and the body of an import is documents alone.
TEST(Ctl, AsksWhyWhereverTheAuditKeepsIt) {
  std::set<std::string_view> without;
  for (const CtlCommand& command : CtlCommands()) {
    if (command.method == "GET") continue;
    const bool asks = std::any_of(command.options.begin(), command.options.end(),
                                  [](const CtlOption& option) { return option.key == "reason"; });
    if (!asks) without.insert(command.name);
  }
  EXPECT_EQ(without, (std::set<std::string_view>{"channel-test", "monitor-preview",
                                                 "schedule-preview", "search-import"}));
}

TEST(Ctl, VerifiesAChainAndFollowsItFromWhereItIsTold) {
  const Json entry{{"seq", 1}, {"id", "i"}, {"at", "t"}, {"actor", "a"}, {"action", "b"}};
  const std::string details = store::AuditDetails("s", entry);
  const std::string hash = store::AuditHash(std::string(32, '\0'), 1, entry, details);
  Json shown = entry;
  shown["salt"] = base::HexEncode("s");
  shown["details"] = base::HexEncode(details);
  shown["hash"] = base::HexEncode(hash);
  const AskAdmin ask = [&shown](const std::string& target) {
    const bool behind = target.find("after=1") != std::string::npos;
    return Json{{"items", behind ? Json::array() : Json::array({shown})},
                {"head", {{"seq", 1}, {"hash", shown["hash"]}}},
                {"checkpoint", {{"seq", 0}, {"hash", std::string(64, '0')}}}};
  };
  EXPECT_EQ(VerifyAudit(ask, {}),
            (Json{{"seq", 1}, {"hash", base::HexEncode(hash)}, {"entries", 1}, {"erased", 0}}));
  EXPECT_EQ(VerifyAudit(ask, {2, base::HexEncode(hash)})["entries"], 0) << "nothing is behind it";
  std::vector<Json> followed;
  std::vector<std::string> asked;
  const StreamAdmin stream = [&](const std::string& target,
                                 const std::function<bool(std::string_view)>& take) {
    asked.push_back(target);
    EXPECT_TRUE(take("")) << "a line without an entry says that the process is there";
    EXPECT_FALSE(take(base::DumpJson(shown)));
    return net::StreamEnd{};
  };
  FollowAudit(stream, 0, [&followed](const Json& one) {
    followed.push_back(one);
    return false;
  });
  EXPECT_EQ(followed, std::vector<Json>{shown});
  EXPECT_EQ(asked, std::vector<std::string>{"/admin/v1/audit?follow=true&after=0"});
  shown["actor"] = "another";
  EXPECT_THROW(VerifyAudit(ask, {}), RequestFailed);
  shown.erase("hash");
  EXPECT_THROW(VerifyAudit(ask, {}), RequestFailed) << "it is no chain";
  EXPECT_THROW(VerifyAudit(ask, {1, "00"}), std::invalid_argument);
  EXPECT_THROW(PlaceOf("-1"), std::invalid_argument);
}

TEST(CtlRequest, AFileOfJsonIsTheBody) {
  const CtlRequest made = MakeCtlRequest(
      Command("template-create"),
      {{"id", {"o"}}, {"--file", {R"({"slug":"s","tags":[1]})"}}, {"--reason", {"r"}}});
  EXPECT_EQ(made.target, "/admin/v1/orgs/o/templates");
  EXPECT_EQ(base::DumpJson(*made.body), R"({"slug":"s","tags":[1],"reason":"r"})");
  const CtlRequest exact = MakeCtlRequest(
      Command("template-create"), {{"id", {"o"}}, {"--file", {R"({"n":9007199254740993.10})"}}});
  EXPECT_EQ(base::DumpJson(*exact.body), R"({"n":9007199254740993.10})");
  for (const char* text : {"", "{", "[]", "5"}) {
    EXPECT_THROW(MakeCtlRequest(Command("template-create"), {{"id", {"o"}}, {"--file", {text}}}),
                 std::invalid_argument)
        << text;
  }
}

TEST(CtlRequest, PutsWhatIsGivenIntoPathQueryAndBody) {
  const CtlRequest list =
      MakeCtlRequest(Command("orgs"), {{"--query", {"a b&c"}}, {"--limit", {"5"}}});
  EXPECT_EQ(list.method, "GET");
  EXPECT_EQ(list.target, "/admin/v1/orgs?q=a%20b%26c&limit=5");
  EXPECT_FALSE(list.body);
  const CtlRequest credits = MakeCtlRequest(
      Command("credits"), {{"id", {"../x"}}, {"amount", {"-2.5"}}, {"--reason", {"r"}}});
  EXPECT_EQ(credits.target, "/admin/v1/orgs/..%2Fx/credits");
  EXPECT_EQ(base::DumpJson(*credits.body), R"({"amount":-2.5,"reason":"r"})");
  const CtlRequest lock = MakeCtlRequest(Command("org-lock"), {{"id", {"o"}}});
  EXPECT_EQ(base::DumpJson(*lock.body), R"({"locked":true})");
  const CtlRequest revoke = MakeCtlRequest(Command("key-revoke"), {{"id", {"o"}}, {"key", {"k"}}});
  EXPECT_EQ(revoke.target, "/admin/v1/orgs/o/api-keys/k");
  EXPECT_FALSE(revoke.body);
  const CtlRequest key = MakeCtlRequest(Command("key-create"), {{"id", {"o"}}, {"name", {"k"}}});
  EXPECT_FALSE(key.body->contains("scopes")) << "a list that is not given is left out";
}

TEST(CtlRequest, AReasonGoesWithWhatIsDeletedToo) {
  const CtlRequest revoke = MakeCtlRequest(
      Command("key-revoke"), {{"id", {"o"}}, {"key", {"k"}}, {"--reason", {"it leaked"}}});
  EXPECT_EQ(revoke.method, "DELETE");
  ASSERT_TRUE(revoke.body);
  EXPECT_EQ(base::DumpJson(*revoke.body), R"({"reason":"it leaked"})");
}

const std::string kOrg = "018f0000-0000-7000-8000-000000000001";
const std::string kOther = "018f0000-0000-7000-8000-000000000002";
const std::string kTeam = "018f0000-0000-7000-8000-000000000003";

Json Named(const std::string& id, const std::string& name) {
  return Json{{"id", id}, {"name", name}};
}

// An admin port with two organisations named alike, and Acme with a team.
class FakeAdmin {
 public:
  Json operator()(const std::string& target) {
    targets.push_back(target);
    Json answer = Json::object();
    if (target.starts_with("/admin/v1/orgs?q=Twin&")) {
      answer["items"] = Json::array({Named(kOrg, "Twin"), Named(kOther, "Twin")});
    } else if (target.starts_with("/admin/v1/orgs?q=")) {
      answer["items"] = Json::array({Named(kOrg, "Acme & Co"), Named(kOther, "Acme")});
    } else if (target.starts_with("/admin/v1/monitors?q=many")) {
      answer["items"] = Json::array();
      answer["next_cursor"] = "c";
    } else if (target.starts_with("/admin/v1/monitors?q=")) {
      answer["items"] = Json::array({Named(kOther, "Prices")});
    } else {
      answer["teams"] = Json::array({Named(kTeam, "red")});
    }
    return answer;
  }
  std::vector<std::string> targets;
};

// What a command's values become, or what is said of them.
CtlValues Resolved(std::string_view command, CtlValues values, FakeAdmin* server) {
  ResolveNames(
      Command(command), [server](const std::string& t) { return (*server)(t); }, &values);
  return values;
}
std::string SaidOf(std::string_view command, const CtlValues& values) {
  FakeAdmin server;
  try {
    Resolved(command, values, &server);
  } catch (const RequestFailed& failure) {
    return failure.what();
  }
  return "nothing";
}

TEST(CtlNames, OrganisationsMonitorsAndTeamsGoByTheirNamesToo) {
  FakeAdmin server;
  const CtlValues key = Resolved(
      "key-create", {{"id", {"Acme & Co"}}, {"name", {"red"}}, {"--team", {"red"}}}, &server);
  EXPECT_EQ(key.at("id"), std::vector{kOrg});
  EXPECT_EQ(key.at("--team"), std::vector{kTeam});
  EXPECT_EQ(key.at("name"), std::vector<std::string>{"red"}) << "that of the key";
  EXPECT_EQ(server.targets[0], "/admin/v1/orgs?q=Acme%20%26%20Co&limit=1000");
  EXPECT_EQ(server.targets[1], "/admin/v1/orgs/" + kOrg);
  EXPECT_EQ(Resolved("pause", {{"id", {"Prices"}}, {"--reason", {"r"}}}, &server).at("id"),
            std::vector{kOther});
  EXPECT_EQ(Resolved("monitors", {{"--org", {"Acme"}}}, &server).at("--org"), std::vector{kOther});
  EXPECT_EQ(Resolved("team-delete", {{"id", {kOrg}}, {"team", {"red"}}}, &server).at("team"),
            std::vector{kTeam});
}

TEST(CtlNames, IdsAreNotAskedFor) {
  FakeAdmin server;
  Resolved("team-change", {{"id", {kOrg}}, {"team", {kTeam}}, {"--name", {"blue"}}}, &server);
  Resolved("delivery", {{"id", {"no id of an organisation"}}}, &server);
  EXPECT_EQ(server.targets, std::vector<std::string>{});
}

TEST(CtlNames, WhatIsNoNameOfOneThingIsRefusedWithWhatThereIs) {
  EXPECT_EQ(
      SaidOf("org-lock", {{"id", {"Twin"}}}),
      "several organisations are named \"Twin\", give the id of one: " + kOrg + ", " + kOther);
  EXPECT_EQ(SaidOf("org", {{"id", {"acme"}}}),
            "no organisation is named \"acme\"; there are \"Acme & Co\", \"Acme\"");
  EXPECT_EQ(SaidOf("monitor", {{"id", {"prices"}}}),
            "no monitor is named \"prices\"; there is \"Prices\"");
  EXPECT_EQ(SaidOf("monitor", {{"id", {"many"}}}),
            "\"many\" is in the names of too many monitors, give the id");
  EXPECT_EQ(SaidOf("key-create", {{"id", {kOrg}}, {"name", {"k"}}, {"--team", {"blue"}}}),
            "no team is named \"blue\"; there is \"red\"");
}

TEST(CtlRequest, TellsNoneFromANumber) {
  const CtlRequest lifted = MakeCtlRequest(
      Command("team-change"), {{"id", {"o"}}, {"team", {"t"}}, {"--spend-limit", {"none"}}});
  EXPECT_EQ(base::DumpJson(*lifted.body), R"({"spend_limit":null})");
  EXPECT_THROW(MakeCtlRequest(Command("team-change"),
                              {{"id", {"o"}}, {"team", {"t"}}, {"--spend-limit", {"much"}}}),
               std::invalid_argument);
  EXPECT_THROW(MakeCtlRequest(Command("credits"), {{"id", {"o"}}, {"amount", {"\"5\""}}}),
               std::invalid_argument);
}

TEST(CtlRequest, NothingThatIsGivenBesideFollowIsDropped) {
  const CtlCommand& audit = Command("audit");
  EXPECT_NO_THROW(MakeCtlRequest(audit, {{"--follow", {}}, {"--after", {"2"}}}));
  EXPECT_NO_THROW(MakeCtlRequest(audit, {{"--actor", {"a"}}, {"--org", {"o"}}}));
  EXPECT_THROW(MakeCtlRequest(audit, {{"--after", {"2"}}}), std::invalid_argument);
  EXPECT_THROW(MakeCtlRequest(audit, {{"--follow", {}}, {"--actor", {"a"}}}),
               std::invalid_argument);
}

TEST(CtlRequest, ReplaysEverythingOnlyWhenToldSo) {
  const CtlCommand& replay = Command("replay-many");
  EXPECT_THROW(MakeCtlRequest(replay, {}), std::invalid_argument);
  EXPECT_THROW(MakeCtlRequest(replay, {{"--reason", {"r"}}}), std::invalid_argument);
  EXPECT_EQ(base::DumpJson(*MakeCtlRequest(replay, {{"--all", {}}}).body), "{}");
  EXPECT_EQ(base::DumpJson(*MakeCtlRequest(replay, {{"--org", {"o"}}}).body), R"({"org_id":"o"})");
}

// Takes lines as the server does, but for `from` lines that it has already.
class FakeImport {
 public:
  explicit FakeImport(std::int64_t from = 0) : lines_(from) {}

  JsonClient::Answer operator()(const Json& body) {
    bodies.push_back(body);
    if (fails-- > 0) throw RequestFailed(0, "no answer");
    const auto first = body["first_line"].get<std::int64_t>();
    const auto given = static_cast<std::int64_t>(body["lines"].size());
    if (first == lines_) lines_ += given;
    const bool is_last = body.value("last", false) && first + given == lines_;
    if (is_last) ++finished;
    const char* state = !is_last ? "receiving" : finished < 3 ? "counting" : "current";
    return {200, Json{{"lines", lines_}, {"state", state}}, ""};
  }

  std::vector<Json> bodies;
  int fails = 0;
  int finished = 0;

 private:
  std::int64_t lines_;
};

JsonClient::Answer SendAll(FakeImport* server, int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += std::to_string(i) + "\n";
  std::istringstream file(text);
  return SendLines([server](const Json& body) { return (*server)(body); }, Json{{"import_id", "i"}},
                   file, false);
}

TEST(CtlLines, AFileGoesInBatchesAndIsCountedAtItsEnd) {
  FakeImport server;
  EXPECT_EQ(SendAll(&server, 2500).body["state"], "current");
  ASSERT_EQ(server.bodies.size(), 5U);
  EXPECT_EQ(server.bodies[1]["first_line"], 1000);
  EXPECT_EQ(server.bodies[1]["lines"][0], "1000");
  EXPECT_FALSE(server.bodies[1].contains("last"));
  EXPECT_EQ(server.bodies[2]["lines"].size(), 500U);
  EXPECT_EQ(server.bodies[4]["lines"], Json::array());
}

TEST(CtlLines, ABrokenImportIsGoneOnWithWhereItStopped) {
  FakeImport server(1700);
  EXPECT_EQ(SendAll(&server, 2500).body["lines"], 2500);
  EXPECT_EQ(server.bodies[1]["first_line"], 1700);
  EXPECT_EQ(server.bodies[1]["lines"][0], "1700");
}

TEST(CtlLines, AFileThatIsShorterThanWhatWasReceivedEndsNothing) {
  for (const int lines : {10, 1200, 1699}) {
    FakeImport server(1700);
    EXPECT_THROW(SendAll(&server, lines), RequestFailed) << lines;
    EXPECT_EQ(server.finished, 0);
  }
}

TEST(CtlLines, WhatNobodySeesAtTheEndIsNoSuccess) {
  std::istringstream file("1\n");
  const auto former = [](const Json& /*body*/) {
    return JsonClient::Answer{200, Json{{"lines", 1}, {"state", "former"}}, ""};
  };
  EXPECT_THROW(SendLines(former, Json{{"import_id", "i"}}, file, false), RequestFailed);
}

TEST(CtlLines, ABatchWithoutAnAnswerIsSentAgainAFewTimes) {
  FakeImport server;
  server.fails = 4;
  EXPECT_EQ(SendAll(&server, 10).body["lines"], 10);
  server = FakeImport();
  server.fails = 5;
  EXPECT_THROW(SendAll(&server, 10), RequestFailed);
}

// Ends as a disk does that fails, or a directory.
class FailingFile : public std::stringbuf {
 public:
  using std::stringbuf::stringbuf;

 protected:
  int_type underflow() override {
    const int_type next = std::stringbuf::underflow();
    if (next == traits_type::eof()) throw std::ios_base::failure("a broken disk");
    return next;
  }
};

TEST(CtlLines, WhatCannotBeReadIsNotTheEndOfTheFile) {
  for (const char* text : {"", "1\n", "1\n2"}) {
    FakeImport server;
    FailingFile broken{std::string(text)};
    std::istream file(&broken);
    const auto call = [&server](const Json& body) { return server(body); };
    EXPECT_THROW(SendLines(call, Json{{"import_id", "i"}}, file, true), RequestFailed) << text;
    for (const Json& body : server.bodies) EXPECT_FALSE(body.contains("last"));
  }
}

TEST(CtlLines, AFileWithoutDocumentsReplacesNothingUnlessItMayBeEmpty) {
  for (const char* text : {"", "\n \n\n"}) {
    FakeImport server;
    const auto call = [&server](const Json& body) { return server(body); };
    std::istringstream file(text);
    EXPECT_THROW(SendLines(call, Json{{"import_id", "i"}}, file, false), RequestFailed) << text;
    EXPECT_TRUE(server.bodies.empty());
    std::istringstream again(text);
    EXPECT_EQ(SendLines(call, Json{{"import_id", "i"}}, again, true).status, 200) << text;
  }
}

TEST(CtlText, WhatOthersWroteCannotSteerTheTerminal) {
  EXPECT_EQ(Printable("a\x1b[31mb\x07"), "a\xef\xbf\xbd[31mb\xef\xbf\xbd");
  EXPECT_EQ(Printable("c1 \xc2\x9b dir \xe2\x80\xae"), "c1 \xef\xbf\xbd dir \xef\xbf\xbd");
  EXPECT_EQ(Printable("two\nlines\tété"), "two lines été");
  const Json list = base::ParseJsonOrThrow(R"({"items":[{"name":"x\u001b]0;owned"}]})");
  EXPECT_EQ(FormatForPeople(list, {}).find('\x1b'), std::string::npos);
}

TEST(CtlText, JsonOfSeveralLinesHasItsNumbersAsTheyCame) {
  Json answer;
  ASSERT_FALSE(base::ParseJson(R"({"n":12345678901234567890123,"p":[1.10,-1],"é":{},"l":[]})",
                               &answer, {.keep_numbers = true}));
  EXPECT_EQ(IndentedJson(answer),
            "{\n"
            "  \"n\": 12345678901234567890123,\n"
            "  \"p\": [\n"
            "    1.10,\n"
            "    -1\n"
            "  ],\n"
            "  \"\\u00e9\": {},\n"
            "  \"l\": []\n"
            "}");
  const Json plain =
      base::ParseJsonOrThrow(R"({"a":[{"b":null,"c":"\u001b é"},[[]],true],"d":0.5})");
  EXPECT_EQ(IndentedJson(plain), plain.dump(2, ' ', true));
  EXPECT_EQ(IndentedJson(Json("\xff")), "\"\\ufffd\"");
}

TEST(CtlText, AListIsATableOfTheChosenColumns) {
  const Json list = base::ParseJsonOrThrow(
      R"({"items":[{"id":"a","n":1,"x":0},{"id":"bcd"}],"next_cursor":"c"})");
  EXPECT_EQ(FormatForPeople(list, {"n", "id"}),
            "n  id\n"
            "1  a\n"
            "   bcd\n"
            "more: --cursor c\n");
  EXPECT_EQ(FormatForPeople(base::ParseJsonOrThrow(R"({"rows":[]})"), {}), "none\n");
  const Json moved = base::ParseJsonOrThrow(R"({"items":[],"lives_at":"c3"})");
  EXPECT_EQ(FormatForPeople(moved, {"id"}), "none\nby the directory it lives at cell c3\n");
  EXPECT_EQ(FormatForPeople(Json{{"items", Json::array()}, {"lives_at", nullptr}}, {}), "none\n");
  EXPECT_EQ(FormatForPeople(Json::array(), {"id"}), "none\n");
}

TEST(CtlText, AColumnMayBeAMemberOfAnObject) {
  const Json list = base::ParseJsonOrThrow(
      R"({"rows":[{"id":"a","failure":{"since":"now","message":"dns: no such name"}},{"id":"b"},
                  {"id":"c","failure":null}]})");
  EXPECT_EQ(FormatForPeople(list, {"id", "failure.message"}),
            "id  failure.message\n"
            "a   dns: no such name\n"
            "b\n"
            "c\n");
}

TEST(CtlText, AnObjectIsLinesWithATableForEachListInIt) {
  const Json object = base::ParseJsonOrThrow(
      R"({"id":"a","chunks":{"due":1,"leased":2},"tags":[],"teams":[{"id":"b"}]})");
  EXPECT_EQ(FormatForPeople(object, {}),
            "id             a\n"
            "chunks.due     1\n"
            "chunks.leased  2\n"
            "tags           []\n"
            "\n"
            "teams:\n"
            "id\n"
            "b\n");
  EXPECT_EQ(FormatForPeople(base::ParseJsonOrThrow(R"({"id":"m","rows":[{"id":"r"}]})"), {"name"}),
            "id  m\n\nrows:\nid\nr\n")
      << "a monitor is no list of its rows";
  EXPECT_EQ(FormatForPeople(nullptr, {}), "done\n");
}

TEST(CtlText, ATableOfAnObjectThatIsTooWideGoesOnBelowBehindItsFirstColumn) {
  const std::string b(200, 'b');
  const std::string c(300, 'c');
  const Json object = {{"blocks", {{{"a", 7}, {"b", b}, {"c", c}, {"d", 1}, {"e", 2}}}}};
  EXPECT_EQ(FormatForPeople(object, {}),
            "blocks:\na  b\n7  " + b + "\n\na  c\n7  " + c + "\n\na  d  e\n7  1  2\n");
  const std::string line = FormatForPeople(base::Json{{"items", object["blocks"]}}, {"b", "c"});
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 2) << "lists are a line each item";
}

TEST(CtlText, WhatATickCountedIsShownAndAnErrorOfOneThingToItsEnd) {
  const std::string error(100, 'e');
  const Json object = base::ParseJsonOrThrow(
      R"({"ticks":[{"id":1,"outcomes":{"changed":1,"unchanged":9}},{"id":2,"outcomes":{}}],)"
      R"("attempts":[{"error":")" +
      error + R"("}]})");
  EXPECT_EQ(FormatForPeople(object, {}),
            "ticks:\n"
            "id  outcomes\n"
            "1   changed 1, unchanged 9\n"
            "2   -\n"
            "\n"
            "attempts:\n"
            "error\n" +
                error + "\n");
}

TEST(CtlText, CutsLongCellsBetweenCharacters) {
  Json list = Json::array();
  std::string text;
  for (int i = 0; i < 81; ++i) text += "é";
  list.push_back({{"t", text}});
  std::string expected = "t\n";
  for (int i = 0; i < 77; ++i) expected += "é";
  EXPECT_EQ(FormatForPeople(list, {}), expected + "...\n");
}

TEST(CtlText, AMaskedSecretAndAnErrorAreWholeInAList) {
  const std::string masked = "sk_whsec_" + std::string(60, '*') + "abcd";
  const std::string error(100, 'e');
  const Json list = {{"items", {{{"preview", masked}, {"error", error}}}}};
  const std::string text = FormatForPeople(list, {"preview", "error"});
  EXPECT_THAT(text, AllOf(HasSubstr(masked), HasSubstr(error)));
}

TEST(CtlText, WhatIsInAnObjectOfARowIsAColumn) {
  const Json object = base::ParseJsonOrThrow(
      R"({"id":"j","rows":[{"lead":{"name":"Ada"},"result":null},
                           {"lead":{"a.b":"x"},"result":{"email":"a@b.c","seen":{"mx":2}}}]})");
  EXPECT_EQ(FormatForPeople(object, {}),
            "id  j\n\nrows:\n"
            "lead.name  result  lead.a.b  result.email  result.seen\n"
            "Ada        -\n"
            "                   x         a@b.c         mx 2\n");
}

TEST(CtlText, ARefusalNamesTheReasonOrTheFields) {
  EXPECT_EQ(RefusalText(409, base::ParseJsonOrThrow(R"({"error":"e","message":"no way"})")),
            "no way (status 409)");
  EXPECT_EQ(RefusalText(422, base::ParseJsonOrThrow(
                                 R"({"detail":[{"loc":["body","name"],"msg":"Field required"},
                                               {"loc":["body","x"],"msg":"Extra"}]})")),
            "name: Field required; x: Extra (status 422)");
  EXPECT_EQ(RefusalText(500, nullptr), "the server gave no reason (status 500)");
}

int RunCtl(std::vector<std::string> arguments) {
  CLI::App app;
  int status = -1;
  Ctl ctl;
  ctl.AddTo(app, &status);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  app.parse(reversed);
  return status;
}

TEST(Ctl, WaitsAsLongAsThePortWorksForACommand) {
  EXPECT_GT(JsonClient::kWorkTimeout,
            config::PreviewsConfig().preview_timeout_ms + config::ApiMemoryConfig().held_wait_ms);
}

TEST(Ctl, APortThatCannotBeReachedIsToldApartFromARefusal) {
  // Port 1 of the loopback: nothing listens there.
  EXPECT_EQ(RunCtl({"ctl", "--url", "http://127.0.0.1:1", "--token", "t", "overview"}),
            Ctl::kUnreachable);
}

TEST(Ctl, WantsATokenAndACompleteCommandLine) {
  EXPECT_THROW(RunCtl({"ctl", "--token", "", "overview"}), config::ConfigError);
  EXPECT_THROW(RunCtl({"ctl", "--token", "t", "pause", "x"}), CLI::RequiredError);
  EXPECT_THROW(RunCtl({"ctl", "--token", "t", "nonsense"}), CLI::ParseError);
  EXPECT_THROW(RunCtl({"ctl", "--token", "t", "replay-many"}), config::ConfigError);
}

}  // namespace
}  // namespace vedette::app
