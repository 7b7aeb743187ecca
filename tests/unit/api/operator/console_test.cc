#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>

// The console's files: what they must not contain, whatever is added to them.
namespace vedette::admin {
namespace {

std::map<std::string, std::string> Files() {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(VEDETTE_SOURCE_DIR "/web/console")) {
    std::ifstream in(entry.path());
    files[entry.path().filename()] = std::string(std::istreambuf_iterator<char>(in), {});
  }
  return files;
}

TEST(Console, NeverTakesTextForMarkupOrCode) {
  const std::regex forbidden(
      R"(innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval\(|new Function|srcdoc)");
  const auto files = Files();
  ASSERT_TRUE(files.contains("app.js"));
  for (const auto& [name, text] : files) {
    EXPECT_FALSE(std::regex_search(text, forbidden)) << name;
  }
}

TEST(Console, HasNoInlineScriptOrStyleAndNoAddressBeyondThePort) {
  for (const auto& [name, text] : Files()) {
    EXPECT_FALSE(
        std::regex_search(text, std::regex(R"(<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=")")))
        << name;
    EXPECT_FALSE(std::regex_search(text, std::regex(R"(https?://(?!www\.w3\.org/2000/svg))")))
        << name;
  }
}

TEST(Console, EveryFileThatIsNamedIsThere) {
  auto files = Files();
  // The build adds the charting library.
  for (const char* name : {"uplot.js", "uplot.css"}) files[name];
  const std::regex reference(R"((?:from '\./|/console/)([\w.-]+))");
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
