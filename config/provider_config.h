#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

// Keys of [providers] and [gravatar].
// config/config.h says what all of it is.
namespace vedette::domain {
struct Recipe;  // domain/recipe/recipe.h
}

namespace vedette::config {

using std::chrono::milliseconds;

// A service of the operator's that answers lookups: [providers.http.<id>]. What the file does not
// say is as it stands here.
struct HttpProviderConfig {
  std::string url;
  std::string api_key;         // from api_key or api_key_file; sent as bearer token
  std::string signing_secret;  // from signing_secret or signing_secret_file
  milliseconds timeout_ms{20'000};
  std::size_t body_bytes_max = 1024 * 1024;
  int in_flight_max = 64;  // of one process
  bool trust = true;       // an OK that it states is taken; otherwise it is UNKNOWN

  bool operator==(const HttpProviderConfig&) const = default;
};

// A language model that points to statements about people's ages: [providers.llm.<id>]. What the
// file does not say is as it stands here.
struct LlmProviderConfig {
  std::string url;  // OpenAI-compatible
  std::string model;
  std::string api_key;  // from api_key or api_key_file
  milliseconds timeout_ms{60'000};
  std::size_t body_bytes_max = 1024 * 1024;  // of an answer
  std::optional<double> temperature = 0;     // empty: not sent
  int tokens_max = 1024;                     // of one answer
  std::string tokens_max_field = "max_tokens";
  std::string answer_format = "json_schema";  // json_schema, json_object, text
  std::size_t page_text_bytes_max = 16384;    // of a page's text given to the model

  bool operator==(const LlmProviderConfig&) const = default;
};

// Gravatar, which is asked only where it has a URL: it learns the addresses that are looked up.
struct GravatarConfig {
  std::string url;
  std::string api_key;  // from api_key or api_key_file; empty: 100 questions an hour
  milliseconds timeout_ms;

  bool operator==(const GravatarConfig&) const = default;
};

struct ProvidersConfig {
  int breaker_failures;  // in a row, until a provider is left out for a while
  milliseconds breaker_ms;
  std::map<std::string, LlmProviderConfig> llm;    // by id
  std::map<std::string, HttpProviderConfig> http;  // by id
  std::string recipes_dir;                         // a folder of *.toml; empty: there is none
  std::map<std::string, std::shared_ptr<const domain::Recipe>> recipes;  // by id

  bool operator==(const ProvidersConfig&) const = default;
};

}  // namespace vedette::config
