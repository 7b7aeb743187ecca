#include "pages/challenge_page.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/text.h"

namespace vedette::pages {
namespace {

// Walls are small and say early what they are.
constexpr std::size_t kSearchedBytes = 16384;

// All marks of one line together make a wall; each alone may stand on an ordinary page.
using Marks = std::array<std::string_view, 2>;
constexpr std::array<Marks, 7> kMarks{{
    {"<title>just a moment...</title>", "/cdn-cgi/challenge-platform/"},
    {"<title>just a moment...</title>", "cf-browser-verification"},
    {"<title>attention required! | cloudflare</title>", "cf-error-details"},
    {"_incapsula_resource", "incapsula incident id"},
    {"<title>pardon our interruption</title>", "distil"},
    {"<title>access denied</title>", "errors.edgesuite.net"},
    {"px-captcha", "window._pxappid"},
}};

}  // namespace

bool IsChallengePage(const net::HttpResponse& response) {
  if (response.Header("cf-mitigated").value_or("") == "challenge") return true;
  const std::string beginning =
      base::AsciiLower(std::string_view(response.body).substr(0, kSearchedBytes));
  return std::any_of(kMarks.begin(), kMarks.end(), [&](const Marks& marks) {
    return std::all_of(marks.begin(), marks.end(), [&](std::string_view mark) {
      return beginning.find(mark) != std::string::npos;
    });
  });
}

}  // namespace vedette::pages
