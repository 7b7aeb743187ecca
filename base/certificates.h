#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace vedette::base {

// How many X.509 certificates a text in PEM holds; empty where one of its blocks cannot be read,
// for which a TLS client refuses the whole bundle. Any thread.
std::optional<std::size_t> CountCertificates(std::string_view pem);

}  // namespace vedette::base
