#pragma once

#include <string>

namespace vedette::app {

// What `vedette assertion` is given.
struct AssertionOptions {
  std::string client_id;
  std::string key_file;  // the private key, PEM without a password
  std::string audience;
  std::string kid;  // empty: none, so that every key of the client is tried
};

// One assertion of an OAuth client, good for a minute, so that a shell can ask for a token
// (docs/authentication.md). Throws std::runtime_error for a file that holds no such key.
std::string MakeAssertion(const AssertionOptions& options);

}  // namespace vedette::app
