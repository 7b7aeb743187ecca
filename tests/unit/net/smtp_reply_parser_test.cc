#include "net/smtp/dialogue.h"

#include <gtest/gtest.h>

#include "domain/email/address.h"
#include "net/dns_records.h"
#include "net/smtp/socks5.h"

namespace vedette::net {
namespace {

std::optional<SmtpReply> Parse(const std::string& text) {
  SmtpReplyParser parser;
  parser.Feed(text);
  return parser.Next();
}
bool IsBroken(const std::string& text) {
  SmtpReplyParser parser;
  parser.Feed(text);
  while (parser.Next()) {
  }
  return parser.broken();
}

TEST(SmtpReplies, AreReadByteByByteAsAtOnce) {
  const std::string text = "250-mx.test greets\r\n250-SIZE 1000\r\n250 2.1.0 fine\r\n";
  SmtpReplyParser parser;
  std::optional<SmtpReply> reply;
  for (const char c : text) {
    EXPECT_FALSE(reply);
    parser.Feed(std::string(1, c));
    reply = parser.Next();
  }
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->code, 250);
  EXPECT_EQ(reply->enhanced, "2.1.0");
  EXPECT_EQ(reply->lines.size(), 3U);
  EXPECT_TRUE(parser.drained());
}

TEST(SmtpReplies, MayEndWithoutTextAndWithLineFeedsAlone) {
  EXPECT_EQ(Parse("550\n")->code, 550);
  EXPECT_EQ(Parse("550 5.1.1 no such user here\n")->enhanced, "5.1.1");
  EXPECT_EQ(Parse("550 5.1.1234 no\n")->enhanced, "");
  EXPECT_EQ(Parse("550 5.1.10\n")->enhanced, "5.1.10");
  EXPECT_EQ(Parse("550 #5.1.0 no\n")->enhanced, "");
}

TEST(SmtpReplies, AreRefusedOverEveryBound) {
  EXPECT_TRUE(IsBroken("hello\r\n"));
  EXPECT_TRUE(IsBroken("25\r\n"));
  EXPECT_TRUE(IsBroken("250-a\r\n251 b\r\n"));
  EXPECT_TRUE(IsBroken("999 no\r\n"));
  EXPECT_TRUE(IsBroken("250 " + std::string(kSmtpLineBytesMax, 'x') + "\r\n"));
  EXPECT_TRUE(IsBroken(std::string(kSmtpLineBytesMax + 1, '2')));
  std::string many;
  for (std::size_t i = 0; i <= kSmtpReplyLinesMax; ++i) many += "250-x\r\n";
  EXPECT_TRUE(IsBroken(many));
}

TEST(SmtpReplies, WithANulAreRefused) {
  EXPECT_TRUE(IsBroken(std::string("220 mx\0.test\r\n", 14)));
  EXPECT_TRUE(IsBroken(std::string("220-mx.test\r\n220 \0\0\0\r\n", 22)));
  EXPECT_TRUE(IsBroken(std::string(4, '\0') + "220 mx.test\r\n"));
  EXPECT_EQ(Parse("220 mx\x01.test\r\n")->lines.front(), "mx?.test") << "others are shown as '?'";
}

SmtpPath PathOf(const std::string& text) {
  const auto address = domain::ParseAddress(text);
  return *SmtpPath::Of(*address, *domain::AsciiDomain(address->domain));
}

TEST(SmtpPaths, HoldWhatWasParsedAndQuotedAgain) {
  EXPECT_EQ(PathOf("ann@example.org").text(), "ann@example.org");
  EXPECT_EQ(PathOf("\"a b\"@example.org").text(), "\"a b\"@example.org");
  EXPECT_EQ(PathOf("ann@m\xc3\xbcller.example").text(), "ann@xn--mller-kva.example");
  EXPECT_TRUE(PathOf("j\xc3\xb6rg@example.org").needs_utf8());
}

// Whatever a client writes: it is no address, or it stays within one command.
TEST(SmtpPaths, LetNoAddressEndACommandOrBeginAnotherOne) {
  const std::vector<std::string> attacks{"\r\nDATA",
                                         "\nRCPT TO:<x@y.z>",
                                         "\r",
                                         "\n",
                                         std::string(1, '\0'),
                                         "\x7f",
                                         "\x1b[2J",
                                         "\t",
                                         "> SIZE=1",
                                         "<",
                                         ">",
                                         "> BODY=8BITMIME",
                                         "\xe2\x80\xa8RSET",
                                         "\xc2\x85",
                                         "%0d%0aDATA",
                                         "\\\r\n",
                                         "\"\r\n",
                                         ",x@y.z",
                                         ";",
                                         "(x)",
                                         " NOTIFY=NEVER"};
  const std::vector<std::string> frames{"ann%@example.org",
                                        "%ann@example.org",
                                        "an%n@example.org",
                                        "ann@exa%mple.org",
                                        "ann@example.org%",
                                        "\"%\"@example.org",
                                        "\"a%b\"@example.org",
                                        "ann@%example.org",
                                        "%",
                                        "@relay.example:ann%@example.org",
                                        "ann@[127.0.0.1%]",
                                        "ann@example%.org",
                                        "\"\\%\"@example.org",
                                        "a.%.b@example.org",
                                        "ann+%@example.org"};
  int tried = 0;
  for (const std::string& frame : frames) {
    for (const std::string& attack : attacks) {
      ++tried;
      std::string text = frame;
      text.replace(text.find('%'), 1, attack);
      const auto address = domain::ParseAddress(text);
      const auto ascii = address ? domain::AsciiDomain(address->domain) : std::nullopt;
      const auto path = ascii ? SmtpPath::Of(*address, *ascii) : std::nullopt;
      if (!path) continue;
      for (const char c : path->text()) {
        const auto byte = static_cast<unsigned char>(c);
        EXPECT_TRUE(byte >= ' ' && byte != 0x7f) << text;
      }
      if (!path->text().starts_with('"')) {
        EXPECT_EQ(path->text().find_first_of(" <>"), std::string::npos) << text;
      }
    }
  }
  EXPECT_GE(tried, 300);
}

SmtpReply Reply(int code, std::vector<std::string> lines = {""}) {
  return {code, "", std::move(lines)};
}

TEST(SmtpDialogue, SaysMailWithoutParameters) {
  SmtpDialogue dialogue({"verify.example", "postmaster@verify.example", true, false});
  EXPECT_EQ(dialogue.OnReply(Reply(220)).line, "EHLO verify.example");
  EXPECT_EQ(dialogue.OnReply(Reply(250, {"mx", "SIZE 10", "SMTPUTF8"})).line,
            "MAIL FROM:<postmaster@verify.example>");
  EXPECT_EQ(dialogue.OnReply(Reply(250)).want, SmtpDialogue::Want::kRecipient);
  EXPECT_EQ(dialogue.Recipient(PathOf("ann@example.org")).line, "RCPT TO:<ann@example.org>");
  EXPECT_EQ(dialogue.OnReply(Reply(550)).want, SmtpDialogue::Want::kRecipient);
  EXPECT_EQ(dialogue.Finish().line, "RSET");
  EXPECT_EQ(dialogue.OnReply(Reply(250)).line, "QUIT");
  EXPECT_EQ(dialogue.OnReply(Reply(221)).want, SmtpDialogue::Want::kClose);
  EXPECT_EQ(dialogue.end(), SmtpDialogue::End::kFinished);
}

TEST(SmtpDialogue, GreetsAgainAfterTheHandshakeAndForgetsWhatWasOfferedBefore) {
  SmtpDialogue dialogue({"verify.example", "p@verify.example", true, true});
  dialogue.OnReply(Reply(220));
  EXPECT_EQ(dialogue.OnReply(Reply(250, {"mx", "starttls", "SMTPUTF8"})).line, "STARTTLS");
  EXPECT_EQ(dialogue.OnReply(Reply(220)).want, SmtpDialogue::Want::kHandshake);
  EXPECT_EQ(dialogue.OnSecured().line, "EHLO verify.example");
  EXPECT_EQ(dialogue.OnReply(Reply(250, {"mx"})).line, "QUIT");
  EXPECT_EQ(dialogue.end(), SmtpDialogue::End::kUtf8NotOffered);
}

TEST(MxOrder, IsByPreferenceWithoutLiteralsAndBounded) {
  std::mt19937 random(1);
  DnsRecords<MxRecord> answer{DnsStatus::kFound,
                              {{20, "b.example"}, {10, "A.example."}, {5, "192.0.2.1"}}};
  EXPECT_EQ(ChooseMx(answer, 16, random).hosts,
            (std::vector<std::string>{"a.example", "b.example"}));
  EXPECT_EQ(ChooseMx(answer, 1, random).hosts, std::vector<std::string>{"a.example"});
  EXPECT_EQ(ChooseMx({DnsStatus::kFound, {{0, ""}}}, 16, random).kind, MxKind::kNull);
  EXPECT_EQ(ChooseMx({DnsStatus::kNoRecord, {}}, 16, random).kind, MxKind::kNone);
  EXPECT_EQ(ChooseMx({DnsStatus::kNoName, {}}, 16, random).kind, MxKind::kNoName);
  EXPECT_EQ(ChooseMx({DnsStatus::kFailed, {}}, 16, random).kind, MxKind::kFailed);
}

TEST(ReverseNames, AreThoseOfTheDns) {
  EXPECT_EQ(ReverseName(*IpAddress::Parse("192.0.2.1")), "1.2.0.192.in-addr.arpa");
  EXPECT_EQ(ReverseName(*IpAddress::Parse("2001:db8::1")),
            "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa");
}

TEST(Socks5, IsGivenTheAddressAndKeepsWhatComesBehindTheOpening) {
  Socks5Opening opening(*IpAddress::Parse("192.0.2.1"), 25);
  EXPECT_EQ(opening.Greeting(), std::string("\x05\x01\x00", 3));
  std::string bytes("\x05\x00", 2);
  EXPECT_EQ(opening.Take(&bytes), std::string("\x05\x01\x00\x01\xc0\x00\x02\x01\x00\x19", 10));
  bytes = std::string("\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00", 10) + "220 mx";
  opening.Take(&bytes);
  EXPECT_EQ(opening.state(), Socks5Opening::State::kOpen);
  EXPECT_EQ(bytes, "220 mx");
}

}  // namespace
}  // namespace vedette::net
