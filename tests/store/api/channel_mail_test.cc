// Channels of kind email: who is asked, and what the links do.
#include <gmock/gmock.h>

#include "config/security_config.h"
#include "domain/channel/mail.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using domain::MailLink;
using testing::HasSubstr;
using testing::Not;

class ApiChannelMail : public ApiTest {
 public:
  ApiChannelMail()
      : ApiTest({{"VEDETTE_SECURITY_ENCRYPTION_KEY", std::string(64, 'a')},
                 {"VEDETTE_API_PUBLIC_URL", "https://v.example"},
                 {"VEDETTE_MAIL_RELAY", "smtps://relay.example"},
                 {"VEDETTE_MAIL_FROM", "alerts@v.example"}}) {}

  Reply Make(const Json& addresses) {
    return Ask("POST", "/channels",
               Json{{"name", "n"}, {"kind", "email"}, {"target", {{"addresses", addresses}}}});
  }
  std::string IdOf(const std::string& address) {
    return Sql("select id from recipient where address = '" + address + "'");
  }
  std::string LinkOf(const std::string& address, MailLink link) {
    return domain::MailLinkPath(*base::Uuid::Parse(IdOf(address)), link,
                                config.security.encryption_key);
  }
  std::string StatusOf(const std::string& channel) {
    return Ask("GET", "/channels/" + channel).body["status"];
  }
  std::string Asked() { return Sql("select count(*) from delivery where type = 3 and state = 3"); }
};

TEST_F(ApiChannelMail, IsToldOnceAnOwnerHasConfirmed) {
  const Reply made = Make({"ann@acme.example", "bob@acme.example"});
  ASSERT_EQ(made.status, 200) << made.raw.body;
  EXPECT_EQ(made.body["target"], (Json{{"addresses", {"ann@acme.example", "bob@acme.example"}}}));
  EXPECT_EQ(made.body["status"], "unconfirmed");
  EXPECT_EQ(Asked(), "2");
  EXPECT_EQ(Ask("POST", "/channels/" + made.body["id"].get<std::string>() + "/test", Json::object())
                .status,
            409);
  const Reply page = Ask("GET", LinkOf("ann@acme.example", MailLink::kConfirm));
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.Header("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(StatusOf(made.body["id"]), "active");
  EXPECT_EQ(Ask("GET", "/channels").body["channels"][0]["recipients"],
            (Json{{{"address", "ann@acme.example"}, {"status", "confirmed"}},
                  {{"address", "bob@acme.example"}, {"status", "unconfirmed"}}}));
  EXPECT_THAT(Sql("select string_agg(t::text, ' ') from audit t"), Not(HasSubstr("acme.example")));
}

TEST_F(ApiChannelMail, NobodyIsAskedTwiceADayWhateverChannelsNameThem) {
  const std::string first = Make({"ann@acme.example"}).body["id"];
  EXPECT_EQ(Make({"Ann@ACME.example"}).body["status"], "unconfirmed");
  Ask("DELETE", "/channels/" + first);
  Make({"ann@acme.example"});
  EXPECT_EQ(Asked(), "1");
  Sql("update recipient set asked_at = now() - interval '25 hours'");
  Make({"ann@acme.example"});
  EXPECT_EQ(Asked(), "2");
}

TEST_F(ApiChannelMail, AnOrganisationAsksAtMostSoManyADay) {
  Sql("insert into recipient (id, org_id, digest, asked_at) select gen_random_uuid(), '" +
      acme.org_id + "', sha256(n::text::bytea), now() from generate_series(1, " +
      std::to_string(domain::kMailQuestionsPerDay - 1) + ") n");
  Make({"ann@acme.example", "bob@acme.example"});
  EXPECT_EQ(Asked(), "1");
  Sql("update recipient set asked_at = now() - interval '25 hours' where asked_at is not null");
  Make({"ann@acme.example", "bob@acme.example"});
  EXPECT_EQ(Asked(), "3");
}

TEST_F(ApiChannelMail, WhoLeftStaysSoAndIsNotKeptByName) {
  const std::string channel = Make({"ann@acme.example"}).body["id"];
  Ask("GET", LinkOf("ann@acme.example", MailLink::kConfirm));
  const std::string leave = LinkOf("ann@acme.example", MailLink::kUnsubscribe);
  EXPECT_THAT(Ask("GET", leave).raw.body, HasSubstr("<button>"));
  EXPECT_EQ(StatusOf(channel), "active") << "to look is no click";
  EXPECT_EQ(Ask("POST", leave).status, 200);
  EXPECT_EQ(StatusOf(channel), "suspended");
  Ask("GET", LinkOf("ann@acme.example", MailLink::kConfirm));
  EXPECT_EQ(StatusOf(channel), "suspended");
  Ask("DELETE", "/channels/" + channel);
  EXPECT_EQ(Sql("select count(*) from recipient where address is not null"), "0");
  Sql("update recipient set asked_at = null");
  const Reply again = Make({"ann@acme.example"});
  EXPECT_EQ(again.body["status"], "suspended");
  EXPECT_THAT(again.body["status_reason"].get<std::string>(), HasSubstr("unsubscribed"));
  EXPECT_EQ(Asked(), "1");
  EXPECT_EQ(Sql("select count(*) from recipient where address is not null"), "0");
}

TEST_F(ApiChannelMail, ALinkDoesNothingAtACellThatTheOrganisationHasLeft) {
  Make({"ann@acme.example"});
  const std::string confirm = LinkOf("ann@acme.example", MailLink::kConfirm);
  const std::string leave = LinkOf("ann@acme.example", MailLink::kUnsubscribe);
  const std::string row = Sql("select r::text from recipient r");
  Sql("update organisation set locked = true, moving_until = now() + interval '1 minute'");
  for (const char* method : {"GET", "POST"}) {
    for (const std::string& link : {confirm, leave}) {
      EXPECT_EQ(Ask(method, link).error(), "organisation_moving") << method << link;
    }
  }
  Sql("update organisation set moving_until = null, lives_at = 'c3'");
  for (const std::string& link : {confirm, leave}) {
    EXPECT_EQ(Ask("GET", link).status, 307);
    EXPECT_EQ(Ask("GET", link).Header("Location"), link.substr(link.find('?')) + "&cell=c3");
    const Reply posted = Ask("POST", link);  // RFC 8058 wants no redirect
    EXPECT_EQ(posted.status, 421);
    EXPECT_EQ(posted.body["cell"], "c3");
  }
  EXPECT_EQ(Sql("select r::text from recipient r"), row);
}

TEST_F(ApiChannelMail, AChangeOfAddressesAsksTheNewAndForgetsTheOld) {
  const std::string channel = Make({"ann@acme.example"}).body["id"];
  Ask("GET", LinkOf("ann@acme.example", MailLink::kConfirm));
  const Json change{{"target", {{"addresses", {"bob@acme.example", "ann@acme.example"}}}}};
  const Json now = Ask("POST", "/channels/" + channel + "/update", change).body;
  EXPECT_EQ(now["target"]["addresses"], (Json{"bob@acme.example", "ann@acme.example"}));
  EXPECT_EQ(now["status"], "active");
  EXPECT_EQ(Asked(), "2");
  const Json rest{{"target", {{"addresses", {"bob@acme.example"}}}}};
  EXPECT_EQ(Ask("POST", "/channels/" + channel + "/update", rest).body["status"], "unconfirmed");
  EXPECT_EQ(IdOf("ann@acme.example"), "");
  EXPECT_EQ(Ask("POST", "/channels/" + channel + "/update", Json{{"name", "m"}})
                .body["target"]["addresses"],
            (Json{"bob@acme.example"}));
}

TEST_F(ApiChannelMail, AddressesThatCannotBeMailedAreRefused) {
  EXPECT_EQ(Make(Json::array()).loc(), R"(["body","target","addresses"])");
  EXPECT_EQ(Make(Json(std::vector<std::string>(26, "a@b.example"))).loc(),
            R"(["body","target","addresses"])");
  EXPECT_EQ(Make({"a@b.example", "ann"}).loc(), R"(["body","target","addresses",1])");
  EXPECT_EQ(Make({"a@b.example\r\nBcc: c@d.example"}).loc(), R"(["body","target","addresses",0])");
  EXPECT_EQ(Make({"ann@acme.example", "ANN@acme.example"}).body["target"]["addresses"],
            (Json{"ann@acme.example"}));
  EXPECT_EQ(Ask("POST", "/channels", Json{{"name", "n"}, {"kind", "email"}}).loc(),
            R"(["body","target"])");
  EXPECT_EQ(Ask("POST", "/channels",
                Json{{"name", "n"}, {"kind", "email"}, {"target", {{"url", "https://a.example"}}}})
                .status,
            422);
}

TEST_F(ApiChannelMail, ALinkWithAnotherTokenIsA404) {
  Make({"ann@acme.example", "bob@acme.example"});
  const std::string confirm = LinkOf("ann@acme.example", MailLink::kConfirm);
  const std::string token = confirm.substr(confirm.find("token="));
  for (const char* method : {"GET", "POST"}) {
    EXPECT_EQ(Ask(method, "/mail-addresses/" + IdOf("bob@acme.example") + "?" + token).status, 404);
    EXPECT_EQ(Ask(method, "/mail-addresses/" + IdOf("ann@acme.example")).status, 404);
    EXPECT_EQ(Ask(method, "/mail-addresses/x?" + token).status, 404);
  }
  EXPECT_EQ(Sql("select count(*) from recipient where status <> 0"), "0");
}

}  // namespace
}  // namespace vedette::test
