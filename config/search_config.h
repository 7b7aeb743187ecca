#pragma once

#include <chrono>
#include <string>

// Keys of [search].
// config/parts.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

// Counting the values of fields (docs/search.md).
struct SearchConfig {
  std::string backend;  // postgres; opensearch, or Elasticsearch; empty: nothing is counted
  // The address of the backend opensearch, and its names of things.
  std::string url;
  std::string index_people;
  std::string index_company;
  std::string org_field;  // has the id of the organisation that a document belongs to
  // How it knows us: by user and password, by an API key, or not at all.
  std::string user;
  std::string password;     // from password or password_file
  std::string api_key;      // from api_key or api_key_file
  std::string fields_file;  // the catalogue of fields; empty: the one compiled in

  // These have no keys.
  int in_flight_max = 16;          // counts that it is asked for at once, by one process
  milliseconds timeout_ms{5'000};  // of one count, which is given up then

  bool operator==(const SearchConfig&) const = default;
};

}  // namespace vedette::config
