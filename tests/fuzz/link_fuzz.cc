// A link to a result file is refused where any character of it was changed. Each two bytes of the
// input put a character in the place of another; a byte that is left over is added to the end.
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "domain/workflow/result_file.h"
#include "tests/fuzz/target.h"

namespace vedette {
namespace {

const base::Timestamp kNow{std::chrono::seconds(1'800'000'000)};
const std::vector<std::string> kKeys{std::string(32, 'k')};
constexpr std::string_view kPath = "/storage/download/";
constexpr std::string_view kExpires = "?expires=";
constexpr std::string_view kSignature = "&signature=";

// The parts of a good link, each behind the one before: run, file, expires, signature.
std::vector<std::string> GoodLink() {
  const auto run = base::Uuid::Parse("01939a5e-7c00-7f3a-9d2b-4f0c8b1e2a3e");
  const std::string link = domain::DownloadPath({*run, 3, domain::ResultFormat::kCsv},
                                                kNow + domain::kDownloadLifetime, kKeys[0]);
  const std::size_t slash = link.find('/', kPath.size());
  const std::size_t expires = link.find(kExpires);
  const std::size_t signature = link.find(kSignature);
  return {link.substr(kPath.size(), slash - kPath.size()),
          link.substr(slash + 1, expires - slash - 1),
          link.substr(expires + kExpires.size(), signature - expires - kExpires.size()),
          link.substr(signature + kSignature.size())};
}

bool IsTaken(const std::vector<std::string>& parts) {
  return std::holds_alternative<domain::LinkTaken>(
      domain::VerifyLink({parts[0], parts[1], parts[2], parts[3]}, kKeys, kNow));
}

}  // namespace

FUZZ_TARGET(link, bytes) {
  static const std::vector<std::string> kGood = GoodLink();
  std::vector<std::string> parts = kGood;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    std::string& part = parts[static_cast<unsigned char>(bytes[i]) % parts.size()];
    part[(static_cast<unsigned char>(bytes[i]) / parts.size()) % part.size()] = bytes[i + 1];
  }
  if (bytes.size() % 2 == 1)
    parts[static_cast<unsigned char>(bytes.back()) % parts.size()] += bytes.back();
  if (IsTaken(parts) != (parts == kGood)) std::abort();
}

}  // namespace vedette
