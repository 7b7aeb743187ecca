#pragma once

#include <optional>
#include <string_view>

// The documents that are served to everybody, made from openapi/ when the binary is built.
namespace vedette::api {

// How a document's bytes are coded for the wire.
enum class Coding { kIdentity, kGzip };

// What a header such as Accept says of `name`: that it is taken, or, by a weight of 0, that it is
// not; nothing where it does not name it.
std::optional<bool> Accepts(std::string_view header, std::string_view name);

// The coding that a client gets who sent this Accept-Encoding (RFC 9110, 12.5.3): gzip where it is
// named, or "*" is, without a weight of 0.
Coding CodingFor(std::string_view accept_encoding);

std::string_view OpenApiJson(Coding coding = Coding::kIdentity);
// A page of its own: nothing is fetched from elsewhere.
std::string_view DocsHtml(Coding coding = Coding::kIdentity);
// Its Content-Security-Policy, which names the one script that stands in it.
std::string_view DocsPolicy();

}  // namespace vedette::api
