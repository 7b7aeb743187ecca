#pragma once

#include <string_view>

// The documents that are served to everybody, made from openapi/ when the binary is built.
namespace vedette::api {

std::string_view OpenApiJson();
// A page of its own: nothing is fetched from elsewhere.
std::string_view DocsHtml();
// Its Content-Security-Policy, which names the one script that stands in it.
std::string_view DocsPolicy();

}  // namespace vedette::api
