#pragma once

#include <functional>
#include <optional>
#include <string>

namespace vedette::api {

// Why the selector in a watched field's description cannot be read, as one sentence; nothing for
// one that can, and for prose. Any thread. Built by app from worker/probes, which the API must not
// include.
using SelectorFault = std::function<std::optional<std::string>(const std::string& field,
                                                               const std::string& description)>;

}  // namespace vedette::api
