#include "config/domain_list_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "config/config.h"
#include "domain/email/idn.h"

namespace vedette::config {
namespace {

std::string ReadText(const std::string& path, std::string_view setting) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kDomainListBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.eof() || file.bad()) {
    throw ConfigError(fmt::format("{}: {} cannot be read, or is longer than {} bytes", setting,
                                  path, kDomainListBytesMax));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

std::vector<std::string> ReadDomainList(const std::string& path, std::string_view setting) {
  std::vector<std::string> domains;
  if (path.empty()) return domains;
  const std::string text = ReadText(path, setting);
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = base::Trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty() || line.front() == '#') continue;
    auto parsed = domain::AsciiDomain(line);
    if (!parsed) throw ConfigError(fmt::format("{}:{}: \"{}\" is no domain", path, number, line));
    domains.push_back(std::move(*parsed));
  }
  std::sort(domains.begin(), domains.end());
  domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  return domains;
}

}  // namespace vedette::config
