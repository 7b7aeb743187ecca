#include "domain/channel/mail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/crypto.h"

namespace vedette::domain {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kLeave = "https://v.example/mail-addresses/a?token=t";

MailEnvelope Envelope() {
  return {"alerts@v.example", "ann@acme.example", base::Uuid::V4(),
          base::ParseTimestamp("2026-11-25T09:05:00Z"), "Prices"};
}

ChannelNews News(const std::string& monitor) {
  ChannelNews news;
  news.monitor_name = monitor;
  Event& event = news.events.emplace_back();
  event.field = "price";
  event.previous_value_json = "\"1\"";
  event.current_value_json = "\"<b>2</b>\"";
  event.evidence = "was 1";
  event.sources_json = R"j(["https://a.example/?a=1&b=2","javascript:alert(1)"])j";
  return news;
}

// The content of the n-th part, decoded.
std::string Part(const std::string& message, const std::string& type) {
  std::size_t at = message.find("Content-Type: text/" + type);
  at = message.find("\r\n\r\n", at) + 4;
  std::string text = message.substr(at, message.find("--vedette-", at) - at);
  std::erase_if(text, [](char c) { return c == '\r' || c == '\n' || c == '='; });
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return base::Base64UrlDecode(text).value_or("not base64");
}

TEST(ChannelMail, TellsWhatChangedAsTextAndAsHtmlWithoutTheMarkupOfPages) {
  const std::string mail =
      NewsMail(Envelope(), News("Titles"), "https://v.example/monitors", kLeave);
  EXPECT_THAT(mail, HasSubstr("Date: Wed, 25 Nov 2026 09:05:00 +0000\r\n"));
  EXPECT_THAT(mail, HasSubstr("Subject: Titles: a row changed\r\n"));
  EXPECT_THAT(mail, HasSubstr("To: ann@acme.example\r\n"));
  const std::string text = Part(mail, "plain");
  EXPECT_THAT(text, HasSubstr("price: 1 → <b>2</b>\n  Evidence: was 1\n"));
  EXPECT_THAT(text, HasSubstr("  Source: https://a.example/?a=1&b=2\n"));
  EXPECT_THAT(text, HasSubstr("https://v.example/monitors/"));
  const std::string html = Part(mail, "html");
  EXPECT_THAT(html, HasSubstr("1 → &lt;b&gt;2&lt;/b&gt;"));
  EXPECT_THAT(html, HasSubstr("<a href=\"https://a.example/?a=1&amp;b=2\">"));
  EXPECT_THAT(text + html, Not(HasSubstr("javascript:")));
}

TEST(ChannelMail, NoNameAndNoValueTurnsTheWordsAroundIt) {
  MailEnvelope envelope = Envelope();
  envelope.channel_name = "\u202EPri\u2067ces\u200F";
  ChannelNews news = News("\u202ETitles\u061C");
  news.events.front().current_value_json = "\"\u202D2\u2066\"";
  news.events.front().evidence = "\u202Awas 1";
  for (const std::string& mail : {NewsMail(envelope, news, "", kLeave),
                                  ConfirmationMail(envelope, "https://v.example/c", kLeave)}) {
    EXPECT_THAT(mail, Not(HasSubstr("Subject: =?"))) << "there is none in the subject";
    const std::string html = Part(mail, "html");
    for (const char* mark :
         {"\u061C", "\u200F", "\u202A", "\u202D", "\u202E", "\u2066", "\u2067"}) {
      EXPECT_THAT(Part(mail, "plain") + html, Not(HasSubstr(mark)));
    }
    EXPECT_THAT(html, HasSubstr("the channel \"<bdi>Prices</bdi>\""));
  }
}

TEST(ChannelMail, ItsPagesSuitAPhoneAndAReader) {
  const std::string page = MailPage("Unsubscribe", "You will not be told anything.", true);
  for (const char* part :
       {"<html lang=\"en\">", "width=device-width", "<main>", "<h1>Unsubscribe</h1>"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(ChannelMail, CanBeLeftWithOneClick) {
  const std::string mail = NewsMail(Envelope(), News("Titles"), "", kLeave);
  EXPECT_THAT(mail, HasSubstr(std::string("List-Unsubscribe: <") + kLeave + ">\r\n"));
  EXPECT_THAT(mail, HasSubstr("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"));
  EXPECT_THAT(ConfirmationMail(Envelope(), "https://v.example/c", kLeave),
              Not(HasSubstr("List-Unsubscribe")));
}

TEST(ChannelMail, ANameAddsNoHeaderAndNoLineIsLong) {
  std::string name = "a\r\nBcc: eve@evil.example\r\n";
  for (int i = 0; i < 60; ++i) name += "ü";
  const std::string mail = NewsMail(Envelope(), News(name), "", kLeave);
  EXPECT_THAT(mail, Not(HasSubstr("\nBcc:")));
  EXPECT_THAT(mail, HasSubstr("Subject: =?UTF-8?B?"));
  for (std::size_t at = 0; at < mail.size();) {
    const std::size_t end = mail.find("\r\n", at);
    ASSERT_NE(end, std::string::npos) << "each line ends";
    EXPECT_LE(end - at, 78U) << mail.substr(at, end - at);
    at = end + 2;
  }
  EXPECT_TRUE(std::all_of(mail.begin(), mail.end(), [](char c) { return (c & 0x80) == 0; }));
}

TEST(ChannelMail, WithoutValuesSaysThatSomethingChangedAlone) {
  ChannelNews news = News("Titles");
  news.include_values = false;
  const std::string mail = NewsMail(Envelope(), news, "", kLeave);
  EXPECT_THAT(Part(mail, "plain"), Not(HasSubstr("price")));
  EXPECT_THAT(Part(mail, "html"), Not(HasSubstr("price")));
}

TEST(ChannelMail, ALinkIsOfOneAddressOneUseAndOneKey) {
  const base::Uuid id = base::Uuid::V4();
  const std::string path = MailLinkPath(id, MailLink::kUnsubscribe, "k");
  const std::string token = path.substr(path.find("token=") + 6);
  EXPECT_EQ(ReadMailLink(id, token, {"k"}), MailLink::kUnsubscribe);
  EXPECT_EQ(ReadMailLink(id, token, {"new", "k"}), MailLink::kUnsubscribe);
  EXPECT_EQ(ReadMailLink(base::Uuid::V4(), token, {"k"}), std::nullopt);
  EXPECT_EQ(ReadMailLink(id, token, {"other"}), std::nullopt);
  EXPECT_EQ(ReadMailLink(id, "", {"k"}), std::nullopt);
}

TEST(ChannelMail, AChannelIsToldAsLongAsOneAddressIsConfirmed) {
  const auto with = [](std::vector<MailStatus> statuses) {
    std::vector<MailAddress> addresses;
    for (const MailStatus status : statuses) addresses.push_back({{}, "a@b.example", status, {}});
    return addresses;
  };
  using enum MailStatus;
  EXPECT_EQ(StatusOfMail(with({kUnconfirmed, kConfirmed})), ChannelStatus::kActive);
  EXPECT_EQ(StatusOfMail(with({kUnconfirmed, kSuspended})), ChannelStatus::kUnconfirmed);
  EXPECT_EQ(StatusOfMail(with({kUnsubscribed, kSuspended})), ChannelStatus::kSuspended);
  EXPECT_EQ(StatusOfMail({}), ChannelStatus::kSuspended);
  EXPECT_EQ(ReasonOfMail(with({kConfirmed})), std::nullopt);
  EXPECT_EQ(ReasonOfMail(with({kConfirmed, kSuspended, kUnconfirmed})),
            "of 3 addresses 1 wait for their link, 1 are refused by the relay for good");
}

TEST(MailRelayUrl, NamesHostPortUserAndSecurity) {
  const auto relay = ParseMailRelay("smtps://me@corp.example@relay.example");
  ASSERT_TRUE(relay);
  EXPECT_EQ(relay->user, "me@corp.example");
  EXPECT_EQ(relay->host, "relay.example");
  EXPECT_EQ(relay->port, 465);
  EXPECT_EQ(relay->security, MailRelay::Security::kTls);
  EXPECT_EQ(ParseMailRelay("smtp://me%40corp.example@relay.example:25")->user, "me@corp.example");
  EXPECT_EQ(ParseMailRelay("smtp://relay.example:2525")->security, MailRelay::Security::kStartTls);
  EXPECT_EQ(ParseMailRelay("smtp://127.0.0.1:25")->security, MailRelay::Security::kNone);
  EXPECT_EQ(ParseMailRelay("smtp://127.evil.example")->security, MailRelay::Security::kStartTls);
  EXPECT_EQ(ParseMailRelay("smtps://[2001:db8::1]:465")->host, "2001:db8::1");
  for (const char* none : {"", "relay.example", "https://a.example", "smtps://", "smtps://a:b@c",
                           "smtps://a.example:0", "smtps://a.example:x", "smtps://a.example/x",
                           "smtps://a b.example", "smtps://[::1", "smtps://u%0d@a.example"}) {
    EXPECT_FALSE(ParseMailRelay(none)) << none;
  }
}

TEST(MailRelayUrl, MailGoesToPlainAddressesAlone) {
  for (const char* good : {"ann@acme.example", "a.b+c@xn--mller-kva.example"}) {
    EXPECT_TRUE(IsMailable(good)) << good;
  }
  for (const char* bad : {"ann", "ann@localhost", "\"a b\"@acme.example", "ünn@acme.example",
                          "a..b@acme.example", ".a@acme.example", "ann@acme.example\r\nRSET"}) {
    EXPECT_FALSE(IsMailable(bad)) << bad;
  }
  EXPECT_EQ(MailDigest("Ann@ACME.example"), MailDigest("ann@acme.example"));
  EXPECT_EQ(MailDigest("ann"), "");
}

}  // namespace
}  // namespace vedette::domain
