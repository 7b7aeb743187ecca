#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// Parts of the typed configuration (config.h).
namespace vedette::config {

// Counting the values of fields (docs/search.md).
struct SearchConfig {
  std::string backend;  // postgres; opensearch, or Elasticsearch; empty: nothing is counted
  // Of the backend opensearch: where it is, and what it calls things.
  std::string url;
  std::string index_people;
  std::string index_company;
  std::string org_field;  // has the id of the organisation that a document belongs to
  // How it knows us: by user and password, by an API key, or not at all.
  std::string user;
  std::string password;                  // from password or password_file
  std::string api_key;                   // from api_key or api_key_file
  int in_flight_max;                     // counts that it is asked for at once, by one process
  std::string fields_file;               // the catalogue of fields; empty: the one compiled in
  std::chrono::milliseconds timeout_ms;  // of one count

  bool operator==(const SearchConfig&) const = default;
};

// Investigations (docs/investigations.md).
struct InvestigationsConfig {
  std::vector<std::string> providers;  // whom each subject is looked up with, in order
  std::string rdap_url;                // of an RDAP server, for the provider rdap
  std::string ct_url;                  // of a search in logs of certificates, for the provider ct
  std::chrono::milliseconds deadline_ms;  // of one investigation
  std::int64_t expansion_mc;              // [prices.investigation] expansion: of each subject

  bool operator==(const InvestigationsConfig&) const = default;
};

}  // namespace vedette::config
