#include "store/database_url.h"

#include <libpq-fe.h>

#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

namespace vedette::store {
namespace {

constexpr const char* kNotShown = "(not shown)";

using Parameters = std::map<std::string, std::string, std::less<>>;

std::optional<Parameters> Parse(const std::string& url) {
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(
      PQconninfoParse(url.c_str(), nullptr), &PQconninfoFree);
  if (!options) return std::nullopt;
  Parameters parameters;
  for (const PQconninfoOption* one = options.get(); one->keyword != nullptr; ++one) {
    parameters[one->keyword] = one->val == nullptr ? "" : one->val;
  }
  return parameters;
}

// One for each host, separated by commas; an empty one is the default. libpq looks at them only
// when it connects, and then repeats them.
bool ArePorts(std::string_view text) {
  while (true) {
    const std::string_view port = text.substr(0, text.find(','));
    int number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    const bool is_number = error == std::errc() && end == port.data() + port.size();
    if (!port.empty() && !(is_number && number >= 1 && number <= 65535)) return false;
    if (port.size() == text.size()) return true;
    text.remove_prefix(port.size() + 1);
  }
}

// Whether an @ was meant to separate a password from what follows. At the beginning of a host it
// is that of a socket without a file.
bool HasStrayAt(const Parameters& parameters, bool is_uri) {
  return parameters.at("host").find('@', 1) != std::string::npos ||
         (is_uri && parameters.at("dbname").find('@') != std::string::npos);
}

}  // namespace

std::string DatabaseUrlFault(const std::string& url) {
  const auto parameters = Parse(url);
  const bool is_uri = url.find("://") != std::string::npos;
  if (parameters && ArePorts(parameters->at("port")) && !HasStrayAt(*parameters, is_uri)) return {};
  return "a URL of PostgreSQL, such as postgresql://user:password@host:5432/vedette, in which "
         "special characters of the user and the password are percent-encoded (@ as %40, / as %2F, "
         "% as %25)";
}

std::string WithoutPassword(const std::string& url, std::string text) {
  if (!DatabaseUrlFault(url).empty()) return "the URL is not one of PostgreSQL";
  const std::string password = Parse(url)->at("password");
  if (password.empty()) return text;
  for (std::size_t at = text.find(password); at != std::string::npos;
       at = text.find(password, at + std::string_view(kNotShown).size())) {
    text.replace(at, password.size(), kNotShown);
  }
  return text;
}

}  // namespace vedette::store
