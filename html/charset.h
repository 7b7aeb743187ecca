#pragma once

#include <string>
#include <string_view>

namespace vedette::html {

// "text/html; charset=UTF-8" in parts, both lower case; empty where there is none.
struct MediaType {
  std::string type;
  std::string charset;
};
MediaType ParseMediaType(std::string_view content_type);

// The body of a page of this type as valid UTF-8 without NUL. The encoding, as browsers choose it:
// a byte order mark, then the header's charset, then (in the first 4 KiB) a <meta> that names one,
// or an XML declaration; else UTF-8 where the bytes are that, and windows-1252. Only encodings of
// the web are known (never UTF-7); an unknown name counts as none. What cannot be decoded becomes
// U+FFFD. Pure; any thread.
std::string DecodeBody(std::string_view body, const MediaType& type);

}  // namespace vedette::html
