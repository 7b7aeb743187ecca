#include "app/search_fields.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "config/lookup_config.h"

namespace vedette::app {

domain::search::Catalogue LoadSearchFields(const config::SearchConfig& config) {
  if (config.fields_file.empty()) return domain::search::Catalogue();
  std::ifstream file(config.fields_file);
  if (!file) {
    throw std::runtime_error(
        fmt::format("[search] fields_file: {} cannot be read", config.fields_file));
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    return domain::search::Catalogue(text);
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(
        fmt::format("[search] fields_file: {}: {}", config.fields_file, error.what()));
  }
}

}  // namespace vedette::app
