#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/json_client.h"
#include "base/json.h"
#include "config/setting_files.h"

namespace vedette::app {

// What `vedette ctl` does over several cells (domain/auth/cell.h).

// The cells that a file names (config/setting_files.h). Those for which it names no token have
// `token`. Throws config::ConfigError.
std::vector<config::CellPort> CtlCells(const std::string& path, const std::string& token);

// The calls of one cell's admin port; on several threads at once. Throws RequestFailed.
using CallCell =
    std::function<JsonClient::Answer(const config::CellPort& cell, const std::string& target)>;

// What GET /admin/v1/cells and /admin/v1/directory of an admin port that knows the cells answer,
// made here of what each of them answers. All are asked at once, so that one that is silent costs
// no more than its own time.
base::Json ShowCells(const std::vector<config::CellPort>& cells, const CallCell& call);
base::Json FindOrganisations(const std::vector<config::CellPort>& cells, const std::string& text,
                             const CallCell& call);

// A map of HAProxy's, a line an entry, from what a request shows to the backend "cell_<id>":
// "cells" by the id, "prefixes" by what keys, tokens and cursors begin with (keys of organisations
// that have moved by their own beginning), "organisations" by the ids that identity providers have
// for them. Throws RequestFailed where a cell does not answer, or is another one than the file
// says: a map with a hole in it would send what it lacks to the first cell.
// Throws config::ConfigError for another map.
std::string WriteCellMap(std::string_view map, const std::vector<config::CellPort>& cells,
                         const CallCell& call);

// Puts the text in the place of the file in one step: a reader sees the old or the new one,
// whole. Throws std::runtime_error, and the file is the old one.
void ReplaceFile(const std::string& path, std::string_view text);

}  // namespace vedette::app
