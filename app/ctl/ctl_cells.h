#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/json_client.h"
#include "base/json.h"

namespace vedette::app {

// What `vedette ctl` does over several cells (domain/auth/cell.h).

struct CtlCell {
  std::string id;  // empty: the first one
  std::string url;
  std::string token;
};

// The cells that a file names, one a line: its id ("" is the first one's), its admin port and the
// file of its token, without which it is `token`. Lines that begin with # say nothing.
//
//   c2 https://c2.internal:9464 /run/secrets/c2
//
// Throws config::ConfigError.
std::vector<CtlCell> ReadCells(const std::string& path, const std::string& token);

// The calls of one cell's admin port.
using CallCell = std::function<JsonClient::Answer(const CtlCell& cell, const std::string& target)>;

// {"items": [{"cell", "reachable", "organisations", "checks_due", "lag_ms", "error"}]}: one a cell;
// of one that does not answer there are no numbers.
base::Json ShowCells(const std::vector<CtlCell>& cells, const CallCell& call);

// {"items": [{"cell", "id", "name", ...}]}: organisations with this id, external id or part of a
// name, at all cells. Throws RequestFailed where a cell does not answer.
base::Json FindOrganisations(const std::vector<CtlCell>& cells, const std::string& text,
                             const CallCell& call);

// A map of HAProxy's, a line an entry, from what a request shows to the backend "cell_<id>":
// "cells" by the id, "prefixes" by what keys, tokens and cursors begin with (keys of organisations
// that have moved by their own beginning), "organisations" by the ids that identity providers have
// for them. Throws RequestFailed where a cell does not answer, or is another one than the file
// says: a map with a hole in it would send what it lacks to the first cell.
// Throws config::ConfigError for another map.
std::string WriteCellMap(std::string_view map, const std::vector<CtlCell>& cells,
                         const CallCell& call);

}  // namespace vedette::app
