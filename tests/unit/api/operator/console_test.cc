#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>

// The files of the console and of the dashboard: what they must not contain, whatever is added to
// them.
namespace vedette::admin {
namespace {

// Those of a folder, with what both have.
std::map<std::string, std::string> Files(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const std::string& one : {folder, std::string("shared")}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(VEDETTE_SOURCE_DIR "/web/" + one)) {
      const std::string name = entry.path().filename();
      EXPECT_FALSE(files.contains(name)) << name << " is there twice";
      std::ifstream in(entry.path());
      files[name] = std::string(std::istreambuf_iterator<char>(in), {});
    }
  }
  return files;
}

class Console : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Pages, Console, testing::Values("console", "dashboard"));

TEST_P(Console, NeverTakesTextForMarkupOrCode) {
  const std::regex forbidden(
      R"(innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval\(|new Function|srcdoc)");
  const auto files = Files(GetParam());
  ASSERT_TRUE(files.contains("app.js"));
  for (const auto& [name, text] : files) {
    EXPECT_FALSE(std::regex_search(text, forbidden)) << name;
  }
}

TEST_P(Console, HasNoInlineScriptOrStyleAndNoAddressBeyondThePort) {
  for (const auto& [name, text] : Files(GetParam())) {
    EXPECT_FALSE(
        std::regex_search(text, std::regex(R"(<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=")")))
        << name;
    EXPECT_FALSE(std::regex_search(text, std::regex(R"(https?://(?!www\.w3\.org/2000/svg))")))
        << name;
  }
}

TEST_P(Console, EveryFileThatIsNamedIsThere) {
  auto files = Files(GetParam());
  // The build adds the charting library, and two names are routes (api/operator/sign_in.cc).
  for (const char* name : {"uplot.js", "uplot.css", "sign-in", "sign-out"}) files[name];
  const std::regex reference(R"((?:from '\./|/console/|/dashboard/assets/)([\w.-]+))");
  int references = 0;
  for (const auto& [name, text] : files) {
    for (std::sregex_iterator it(text.begin(), text.end(), reference), end; it != end; ++it) {
      EXPECT_TRUE(files.contains((*it)[1])) << name << " names " << (*it)[1];
      ++references;
    }
  }
  EXPECT_GT(references, 10);
}

}  // namespace
}  // namespace vedette::admin
