#include "app/demo/demo_mail.h"

#include <gtest/gtest.h>

namespace vedette::app {
namespace {

std::string Query(const std::string& name, char type) {
  std::string query("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12);
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('.', at), name.size());
    query += static_cast<char>(end - at);
    query += name.substr(at, end - at);
    at = end + 1;
  }
  return query + '\0' + '\0' + type + '\0' + '\1';
}

// The answer's code and its number of records.
std::pair<int, int> Said(const std::string& name, char type) {
  const std::string answer = DemoMail::DnsReply(Query(name, type));
  return {answer.at(3) & 0x0F, answer.at(7)};
}

TEST(DemoMail, KnowsTheMailboxesOfItsLeadsAndTakesNoMail) {
  for (const DemoMail::Lead& lead : DemoMail::leads()) {
    EXPECT_EQ(DemoMail::SmtpReply("RCPT TO:<" + lead.address + ">"), "250 2.1.5 ok");
    EXPECT_TRUE(lead.address.ends_with("@" + lead.domain));
  }
  EXPECT_EQ(DemoMail::SmtpReply("RCPT TO:<nobody@aurora-robotics.example>"), "550 5.1.1 unknown");
  EXPECT_EQ(DemoMail::SmtpReply("RCPT TO:<postmaster@aurora-robotics.example>"), "250 2.1.5 ok");
  EXPECT_EQ(DemoMail::SmtpReply("DATA").substr(0, 3), "554");
  EXPECT_EQ(DemoMail::SmtpReply("").substr(0, 3), "250");
}

TEST(DemoMail, ReadsAMessageAsPeopleDo) {
  EXPECT_EQ(DemoMail::SmtpReply("RCPT TO:<reader-1@reader.example>"), "250 2.1.5 ok");
  const DemoMail::Letter letter = DemoMail::ReadLetter(
      "\r\nDate: now\r\nFrom: a@b.example\r\nSubject: One changed\r\n\r\n--x\r\n"
      "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"
      "T25lIGNoYW5n\r\nZWQKCjEg4oaSIDI/Cg==\r\n--x\r\nContent-Type: text/html\r\n\r\n");
  EXPECT_EQ(letter.from, "a@b.example");
  EXPECT_EQ(letter.subject, "One changed");
  EXPECT_EQ(letter.lines, (std::vector<std::string>{"One changed", "1 → 2?"}));
  EXPECT_TRUE(DemoMail::ReadLetter("nothing").lines.empty());
}

TEST(DemoMail, ItsDnsLeadsToItAndRefusesEveryOtherName) {
  EXPECT_EQ(Said("aurora-robotics.example", 15), (std::pair{0, 1}));
  EXPECT_EQ(Said("mx.Aurora-Robotics.example", 1), (std::pair{0, 1}));
  EXPECT_EQ(Said("aurora-robotics.example", 1), (std::pair{0, 0}));
  EXPECT_EQ(Said("www.aurora-robotics.example", 1), (std::pair{0, 0}));
  EXPECT_EQ(Said("example.com", 1), (std::pair{5, 0}));
  for (const std::string& bytes : {std::string(), std::string(12, '\0'), std::string(14, '\x3F')}) {
    EXPECT_EQ(DemoMail::DnsReply(bytes), "");
  }
}

TEST(NameServers, AreThoseOfTheSystemsFile) {
  EXPECT_EQ(NameServersOf("# a\nnameserver 9.9.9.9\n nameserver\t2620:fe::fe \nsearch x\n"
                          "nameserver fe80::1%eth0\nnameserver"),
            (std::vector<std::string>{"9.9.9.9", "2620:fe::fe"}));
  EXPECT_TRUE(NameServersOf("").empty());
}

}  // namespace
}  // namespace vedette::app
