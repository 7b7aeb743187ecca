#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "domain/auth/jwt.h"

// What an identity provider says of itself (OpenID Connect Discovery 1.0). Pure.
namespace vedette::domain {

// The URL of this issuer's document.
std::string DiscoveryUrl(std::string_view issuer);

// Reads the document: the URL of the provider's keys. Its `issuer` must be the configured one, byte
// for byte, and the URL https, or http where the issuer itself is. The fault is one sentence.
std::variant<std::string, JwtFault> ReadDiscovery(std::string_view text, std::string_view issuer);

}  // namespace vedette::domain
