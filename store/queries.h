#pragma once

#include <string>
#include <string_view>

namespace vedette::store {

// The statement that store/queries/*.sql names `name` ("-- name: claim_chunks"). Throws
// std::logic_error for an unknown name.
const std::string& QueryText(std::string_view name);

}  // namespace vedette::store
