#pragma once

#include "config/config_fwd.h"
#include "domain/search/fields.h"

namespace vedette::app {

// The catalogue that [search] names, or the one that is compiled in. Throws std::runtime_error with
// a sentence where the file cannot be read, or is none.
domain::search::Catalogue LoadSearchFields(const config::SearchConfig& config);

}  // namespace vedette::app
