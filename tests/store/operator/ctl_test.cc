#include <CLI/CLI.hpp>

#include "app/ctl/ctl.h"
#include "config/server_config.h"
#include "net/http_server.h"
#include "tests/store/support/operator_support.h"

// `vedette ctl` against a live admin port: sockets, HTTP and database included.
namespace vedette::test {
namespace {

using app::Ctl;
using base::Json;

class CtlTest : public AdminTest {
 protected:
  struct Outcome {
    int status;
    std::string out;
    std::string err;
    Json json() const {
      EXPECT_EQ(status, Ctl::kDone) << err;
      return base::ParseJsonOrThrow(out);
    }
  };

  CtlTest() : server(config.admin, admin, log) { server.Start(); }

  Outcome Run(std::vector<std::string> arguments, const std::string& token = kToken) {
    arguments.insert(arguments.begin(),
                     {"ctl", "--url", "http://" + server.address() + "/", "--token", token});
    const std::string name = arguments[5];
    std::reverse(arguments.begin(), arguments.end());
    CLI::App app;
    int status = -1;
    Ctl ctl;
    ctl.AddTo(app, &status);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    std::string thrown;
    try {
      app.parse(arguments);
    } catch (const std::exception& error) {
      thrown = error.what();
    }
    Outcome outcome{status, testing::internal::GetCapturedStdout(),
                    testing::internal::GetCapturedStderr()};
    EXPECT_EQ(thrown, "") << name;  // parsing takes the arguments
    return outcome;
  }

  net::HttpServer server;
};

TEST_F(CtlTest, RunsAnOrganisationFromItsMakingToItsLock) {
  const Outcome made = Run({"--json", "org-create", "Acme", "--feature", "monitors", "--feature",
                            "high_tier", "--reason", "contract 7"});
  ASSERT_EQ(made.status, Ctl::kDone) << made.err;
  const auto org = made.json()["id"].get<std::string>();
  EXPECT_EQ(Run({"credits", org, "12.5", "--reason", "invoice"}).out, "balance  12.5\n");
  EXPECT_EQ(Run({"credits", org, "-2", "--reason", "refund"}).out, "balance  10.5\n");
  const Outcome refused = Run({"credits", org, "-11", "--reason", "r"});
  EXPECT_EQ(refused.status, Ctl::kRefused);
  EXPECT_EQ(refused.err,
            "vedette ctl: the balance is 10.5 and cannot become negative (status 409)\n");
  EXPECT_EQ(refused.out, "");

  const auto team = Run({"--json", "team-create", org, "red", "--spend-limit", "5"}).json()["id"];
  EXPECT_EQ(
      Run({"--json", "team-change", org, team, "--spend-limit", "none"}).json()["spend_limit"],
      nullptr);
  Json key = Run({"--json", "key-create", org, "ci", "--team", team}).json();
  const Outcome keys = Run({"keys", org});
  EXPECT_NE(keys.out.find(key["id"].get<std::string>()), std::string::npos) << keys.out;
  const Outcome revoked = Run({"key-revoke", org, key["id"]});
  EXPECT_EQ(revoked.status, Ctl::kDone) << revoked.err;
  EXPECT_EQ(revoked.out, "done\n");
  EXPECT_EQ(Run({"keys", org}).out, "none\n");
  const Outcome secret = Run({"secret-rotate", org, "--overlap-hours", "0"});
  EXPECT_NE(secret.out.find("sk_whsec_"), std::string::npos) << secret.err;

  EXPECT_EQ(Run({"--json", "org-lock", org}).json()["locked"], true);
  EXPECT_EQ(Run({"--json", "org-unlock", org}).json()["locked"], false);
  EXPECT_EQ(Run({"--json", "org-features", org, "--none"}).json()["features"], Json::array());
  const Outcome shown = Run({"org", org});
  EXPECT_NE(shown.out.find("balance"), std::string::npos);
  EXPECT_NE(shown.out.find("teams:\n"), std::string::npos) << shown.out;
  const Outcome audit = Run({"audit", "--limit", "100"});
  EXPECT_NE(audit.out.find("contract 7"), std::string::npos) << audit.out;
}

TEST_F(CtlTest, ListsAsTablesWithTheCursorOfTheNextPage) {
  NewOrganisation("first");
  NewOrganisation("second");
  const Outcome page = Run({"orgs", "--limit", "1"});
  EXPECT_TRUE(page.out.starts_with("id")) << page.out;
  const std::size_t more = page.out.find("more: --cursor ");
  ASSERT_NE(more, std::string::npos);
  std::string cursor = page.out.substr(more + 15);
  cursor.pop_back();
  const Outcome rest = Run({"orgs", "--limit", "1", "--cursor", cursor});
  EXPECT_EQ(rest.status, Ctl::kDone) << rest.err;
  EXPECT_EQ(rest.out.find("more:"), std::string::npos);
  EXPECT_EQ(Run({"monitors"}).out, "none\n");
  EXPECT_EQ(Run({"jobs", "--status", "running", "--kind", "workflow"}).out, "none\n");
  EXPECT_EQ(Run({"runs", "--status", "active"}).out, "none\n");
  EXPECT_EQ(Run({"deliveries", "--state", "dead"}).out, "none\n");
  EXPECT_EQ(Run({"deliveries", "--job", base::Uuid::V4().ToString()}).out, "none\n");
}

TEST_F(CtlTest, ShowsTheProcess) {
  EXPECT_EQ(Run({"health"}).status, Ctl::kDone);
  EXPECT_EQ(Run({"ready"}).status, Ctl::kDone);
  EXPECT_NE(Run({"metrics"}).out.find("# TYPE vedette_"), std::string::npos);
  EXPECT_NE(Run({"overview"}).out.find("deliveries.pending"), std::string::npos);
  state.ready = false;
  const Outcome waiting = Run({"ready"});
  EXPECT_EQ(waiting.status, Ctl::kRefused);
  EXPECT_NE(waiting.out.find("the database cannot be reached"), std::string::npos);
  EXPECT_EQ(Run({"drain", "--reason", "upgrade"}).status, Ctl::kDone);
  EXPECT_TRUE(state.drained);
}

TEST_F(CtlTest, TellsRefusalsWithTheirReason) {
  const std::string nobody = base::Uuid::V4().ToString();
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"pause", nobody, "--reason", "r"},
        {"resume", nobody},
        {"cancel", nobody, "--reason", "r"},
        {"trigger", nobody},
        {"monitor", nobody},
        {"rows", nobody},
        {"events", nobody, nobody},
        {"job", nobody},
        {"job-terminate", nobody, "--reason", "r"},
        {"run-show", nobody},
        {"run-cancel", nobody, "--reason", "r"},
        {"delivery", nobody},
        {"replay", nobody},
        {"org", nobody},
        {"key-revoke", nobody, nobody}}) {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.status, Ctl::kRefused) << arguments[0];
    EXPECT_NE(outcome.err.find("(status 404)"), std::string::npos) << outcome.err;
  }
  // What is no id is a name, and never a part of a path.
  const Outcome path = Run({"org", "../../healthz"});
  EXPECT_EQ(path.status, Ctl::kRefused);
  EXPECT_NE(path.err.find("no organisation is named"), std::string::npos) << path.err;
  const Outcome field = Run({"org-create", "x", "--feature", "root"});
  EXPECT_EQ(field.status, Ctl::kRefused);
  EXPECT_NE(field.err.find("features: "), std::string::npos) << field.err;
  const Outcome stranger = Run({"orgs"}, "wrong");
  EXPECT_EQ(stranger.status, Ctl::kRefused);
  EXPECT_NE(stranger.err.find("(status 401)"), std::string::npos);
  EXPECT_EQ(Run({"--json", "replay-many", "--all"}).json()["replayed"], 0);
}

TEST_F(CtlTest, ABodyOverTheLimitIsRefusedReadably) {
  // Beyond the request's own header, whatever the limit is.
  const std::string name(config.admin.body_bytes_max + 1, 'x');
  const Outcome outcome = Run({"org-create", name});
  EXPECT_EQ(outcome.status, Ctl::kRefused);
  EXPECT_NE(outcome.err.find("(status 413)"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace vedette::test
