#pragma once

#include <string>
#include <string_view>

// Splitting http and https URLs, once for everybody in net/. Pure.
namespace vedette::net {

// "http://Example.com:81/a?b" in parts. Nothing is decoded.
struct UrlParts {
  std::string scheme;     // lower case
  std::string_view host;  // as given, brackets included
  int port = 0;           // the scheme's where none is given (0 for an unknown scheme)
  std::string_view rest;  // from the '/' or '?' on, without the fragment; may be empty
  bool has_userinfo = false;
  bool has_fragment = false;
};

// The parts point into `text`. On failure `*error` is a sentence.
bool SplitUrl(std::string_view text, UrlParts* parts, std::string* error);

// What a URL may be called where nobody's business with its host shall be read: "https://a.example"
// of "https://a.example/ann?mail=x". Empty where it is no URL.
std::string OriginOf(std::string_view url);

// `rest` as a request's target: never empty, bytes outside ASCII percent-encoded.
std::string EncodeTarget(std::string_view rest);

}  // namespace vedette::net
