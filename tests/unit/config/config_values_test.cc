// The validation of single values and secrets, whatever their section is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/config/config_support.h"

namespace vedette::config {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Values, ABadOneNamesKeyValueAndWhatIsAllowed) {
  EXPECT_THAT(ErrorOf("[limits]\nrequests_per_minute = -1"),
              HasSubstr("[limits] requests_per_minute = -1: must be a whole number from 0 to "));
  EXPECT_THAT(EnvironmentErrorOf("VEDETTE_LOG_FORMAT", "xml"),
              HasSubstr("VEDETTE_LOG_FORMAT = \"xml\": must be one of text, json"));
}

TEST(Values, TypesAndRangesAreChecked) {
  for (const char* text : {"[limits]\nrequests_per_minute = \"5\"",
                           "[limits]\nrequests_per_minute = 5.0",
                           "[limits]\nrequests_per_minute = true",
                           "[limits]\nrequests_per_minute = 99999999999",
                           "[api]\nlisten = 8080",
                           "[api]\nlisten = \"8080\"",
                           "[api]\nlisten = \":8080\"",
                           "[api]\nlisten = \"127.0.0.1:65536\"",
                           "[api]\nlisten = \"::1:80\"",
                           "[net]\nallow = \"10.0.0.0/8\"",
                           "[net]\nallow = [1]",
                           "[net]\nallow = [\"10.0.0.0/33\"]",
                           "[net]\nallow = [\"intranet\"]",
                           "[net]\nallow = [\"10.0.0.0/\"]",
                           "[security]\nencryption_key = \"abc\"",
                           "[security]\nencryption_keys_old = [\"\"]",
                           "[retention]\nevents = \"90\"",
                           "[retention]\nevents = \"90m\"",
                           "[retention]\nevents = 90",
                           "[prices]\nlow = -1",
                           "[prices]\nlow = 0.0001",
                           "[prices]\nlow = \"1\"",
                           "[prices]\nlow = nan",
                           "[scheduler]\nspread = 1.5",
                           "[scheduler]\nspread = nan",
                           "[probes.low]\nkind = \"telepathy\"",
                           "[probes.low]\ndeadline_ms = 600001",
                           "[limits]\nfrequency_min = \"fast\"",
                           "[limits]\nfrequency_min = \"31d\"",
                           "[limits]\n[limits.requests_per_minute]\nx = 1"}) {
    EXPECT_NE(ErrorOf(text), "no error") << text;
  }
  EXPECT_EQ(Load("[api]\nlisten = \"[::1]:0\"").api.listen, "[::1]:0");
}

TEST(Values, APublicUrlIsOneThatPathsCanBeWrittenBehind) {
  for (const std::string url :
       {"x.example", "ftp://x.example", "https://x.example/", "https://x.example?y=1",
        "https://x.example/a?y=1", "https://x.example#f", "https://u:p@x.example",
        "https://u@x.example", "https:// x.example", "https://x.example:99999",
        "https://x.example:0", "https://x.example:", "https://x.example:a", "https://:443",
        "https://[::1", "https://x.example\\n", "https://x.example/a b",
        "https://x.example/\\u0007", "https://x.example\\\\a"}) {
    EXPECT_THAT(ErrorOf("[api]\npublic_url = \"" + url + "\"\n"), HasSubstr("[api] public_url"))
        << url;
  }
  for (const std::string url :
       {"", "https://x.example", "http://127.0.0.1:8080", "https://[::1]", "https://[::1]:65535",
        "https://x.example/a/b", "https://x.example:443/@a"}) {
    EXPECT_EQ(Load("[api]\npublic_url = \"" + url + "\"\n").public_url, url);
  }
}

TEST(Values, ADatabaseOfAnotherKindStopsTheStart) {
  for (const char* url : {"mysql://root@db/vedette", "http://db:5432/", "postgres+psycopg://db/"}) {
    EXPECT_THAT(EnvironmentErrorOf("VEDETTE_DATABASE_URL", url), HasSubstr("postgresql://")) << url;
  }
  for (const char* url : {"postgresql://db/vedette", "postgres://db", "host=db dbname=vedette",
                          "password=a://b host=db"}) {
    EXPECT_EQ(FromEnvironment({{"VEDETTE_DATABASE_URL", url}}).database.url, url);
  }
}

TEST(Values, ASecretIsNeverShown) {
  for (const std::string& error :
       {ErrorOf("[security]\nencryption_key = \"hunter2\""),
        EnvironmentErrorOf("VEDETTE_SECURITY_ENCRYPTION_KEYS_OLD", "hunter2"),
        EnvironmentErrorOf("VEDETTE_NET_PROXY", "hunter2")}) {
    EXPECT_THAT(error, HasSubstr("(not shown)"));
    EXPECT_THAT(error, Not(HasSubstr("hunter2")));
  }
}

TEST(Secrets, KeyAndFileTogetherAreAnError) {
  const TempFile secret("x");
  EXPECT_THAT(ErrorOf("[database]\nurl = \"a\"\nurl_file = \"" + secret.path() + "\""),
              HasSubstr("[database] url and [database] url_file are both set"));
  EXPECT_THAT(ErrorOf("", {{"VEDETTE_ADMIN_TOKEN", "a"}, {"VEDETTE_ADMIN_TOKENS_DEFAULT", "b"}}),
              HasSubstr("are both set"));
  // A later layer's way wins over an earlier layer's other way.
  EXPECT_EQ(
      Load("[database]\nurl = \"a\"", {{"VEDETTE_DATABASE_URL_FILE", secret.path()}}).database.url,
      "x");
}

TEST(Secrets, AFileIsReadWithoutItsLastLineEnd) {
  const TempFile secret(" keep the rest \r\n\n");
  EXPECT_EQ(FromEnvironment({{"VEDETTE_PROBES_LOW_API_KEY_FILE", secret.path()}})
                .probes.at("low")
                .api_key,
            " keep the rest ");
  EXPECT_EQ(EnvironmentErrorOf("VEDETTE_PROBES_LOW_API_KEY_FILE", "/nowhere/key"),
            "VEDETTE_PROBES_LOW_API_KEY_FILE: cannot read /nowhere/key: No such file or directory");
  EXPECT_THAT(EnvironmentErrorOf("VEDETTE_PROBES_LOW_API_KEY_FILE", ""),
              HasSubstr("must be the path of a file"));
}

}  // namespace
}  // namespace vedette::config
