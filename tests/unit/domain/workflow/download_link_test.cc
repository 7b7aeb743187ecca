#include "domain/workflow/result_file.h"

#include <gtest/gtest.h>

namespace vedette::domain {
namespace {

const std::string kKey(32, 'k');
const base::Timestamp kNow = base::ParseTimestamp("2026-11-22T09:30:00.250000Z");
const ResultFile kFile{*base::Uuid::Parse("01939a5e-7c00-7f3a-9d2b-4f0c8b1e2a3d"), 3,
                       ResultFormat::kCsv};

GivenLink Split(const std::string& path) {
  const std::string run_and_file = path.substr(std::string("/storage/download/").size());
  const std::size_t slash = run_and_file.find('/');
  const std::size_t mark = run_and_file.find('?');
  const std::size_t ampersand = run_and_file.find('&');
  const std::size_t expires = mark + std::string("?expires=").size();
  return {run_and_file.substr(0, slash), run_and_file.substr(slash + 1, mark - slash - 1),
          run_and_file.substr(expires, ampersand - expires),
          run_and_file.substr(ampersand + std::string("&signature=").size())};
}

GivenLink Given() {
  return Split(DownloadPath(kFile, kNow + kDownloadLifetime, kKey));
}

LinkCheck Validate(const GivenLink& link, std::chrono::seconds later = {}) {
  return VerifyLink(link, {kKey}, kNow + later);
}

TEST(DownloadLink, IsServedFor899SecondsAndRefusedAfter901) {
  const LinkCheck taken = Validate(Given(), std::chrono::seconds(899));
  ASSERT_TRUE(std::holds_alternative<LinkTaken>(taken));
  EXPECT_EQ(std::get<LinkTaken>(taken).file, kFile);
  EXPECT_EQ(Validate(Given(), std::chrono::seconds(901)), LinkCheck(LinkRefused::kExpired));
}

TEST(DownloadLink, AnyCharacterThatIsChangedMakesItInvalid) {
  const GivenLink given = Given();
  EXPECT_EQ(given.signature->size(), 43U);
  const auto each = [&](std::string GivenLink::*part) {
    for (std::size_t i = 0; i < (given.*part).size(); ++i) {
      GivenLink changed = given;
      char& c = (changed.*part)[i];
      c = c == '7' ? '8' : '7';
      EXPECT_EQ(Validate(changed), LinkCheck(LinkRefused::kInvalid)) << (changed.*part);
    }
  };
  each(&GivenLink::run_id);
  each(&GivenLink::file);
  for (auto part : {&GivenLink::expires, &GivenLink::signature}) {
    for (std::size_t i = 0; i < (given.*part)->size(); ++i) {
      GivenLink changed = given;
      char& c = (*(changed.*part))[i];
      c = c == '7' ? '8' : '7';
      EXPECT_EQ(Validate(changed), LinkCheck(LinkRefused::kInvalid)) << *(changed.*part);
    }
    GivenLink without = given;
    (without.*part).reset();
    EXPECT_EQ(Validate(without), LinkCheck(LinkRefused::kInvalid));
  }
  GivenLink upper = given;
  for (char& c : upper.run_id) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(Validate(upper), LinkCheck(LinkRefused::kInvalid)) << "an id has one spelling here";
  GivenLink other = given;
  other.file = "3.ndjson";
  EXPECT_EQ(Validate(other), LinkCheck(LinkRefused::kInvalid));
}

TEST(DownloadLink, FormerKeysVerify) {
  const std::string former(32, 'f');
  EXPECT_TRUE(std::holds_alternative<LinkTaken>(VerifyLink(
      Split(DownloadPath(kFile, kNow + kDownloadLifetime, former)), {kKey, former}, kNow)));
  EXPECT_EQ(VerifyLink(Split(DownloadPath(kFile, kNow + kDownloadLifetime, former)), {kKey}, kNow),
            LinkCheck(LinkRefused::kInvalid));
}

TEST(DownloadLink, FileNamesHavePlainCharacters) {
  EXPECT_EQ(ResultFileName("Leads: ä/..\\\"x\"", 7, "filter", kFile),
            "Leads________x__7_filter_01939a5e.csv");
}

}  // namespace
}  // namespace vedette::domain
