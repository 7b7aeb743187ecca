#pragma once

#include <string_view>

// The documents that are served to everybody, made from openapi/ when the binary is built.
namespace vedette::api {

std::string_view OpenApiJson();
// A page of its own: no script, nothing fetched from elsewhere.
std::string_view DocsHtml();

}  // namespace vedette::api
