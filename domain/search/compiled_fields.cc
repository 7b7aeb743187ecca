#include <string_view>
#include <utility>

#include "domain/search/fields.h"

namespace vedette::domain::search {
namespace {

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "search_fields.inc"
};

}  // namespace

Catalogue::Catalogue() : Catalogue(kFiles[0].second) {}

}  // namespace vedette::domain::search
