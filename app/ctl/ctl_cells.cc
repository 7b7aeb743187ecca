#include "app/ctl/ctl_cells.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <utility>

#include "app/ctl/ctl_commands.h"
#include "app/ctl/ctl_text.h"
#include "base/text.h"
#include "config/config.h"
#include "domain/auth/cell.h"
#include "store/accounts/accounts.h"
#include "store/accounts/auth.h"

namespace vedette::app {
namespace {

using base::Json;

constexpr int kRoutesAtOnce = 1000;
constexpr std::string_view kFirst = "\"\"";  // how the file writes the first one's id

CtlCell ReadCell(std::istringstream& words, const std::string& where, const std::string& token) {
  const auto fail = [&](const std::string& rule) {
    return config::ConfigError(where + ": " + rule);
  };
  CtlCell cell;
  std::string token_file;
  words >> cell.id >> cell.url >> token_file;
  if (cell.id == kFirst) cell.id.clear();
  if (!cell.id.empty() && !domain::IsCellId(cell.id)) {
    throw fail(fmt::format("\"{}\" must be 1 to {} lower-case letters and digits, or {}", cell.id,
                           domain::kCellCharsMax, kFirst));
  }
  if (!cell.url.starts_with("http://") && !cell.url.starts_with("https://")) {
    throw fail("behind the id stands the URL of the cell's admin port");
  }
  cell.token = token;
  if (token_file.empty()) return cell;
  std::ifstream file(token_file);
  if (!std::getline(file, cell.token)) throw fail("cannot read a token from " + token_file);
  cell.token = base::Trim(cell.token);
  return cell;
}

Json Answered(const CtlCell& cell, const std::string& target, const CallCell& call) {
  JsonClient::Answer answer = call(cell, target);
  if (answer.status == 200) return std::move(answer.body);
  throw RequestFailed(answer.status, fmt::format("cell \"{}\": {}", cell.id,
                                                 RefusalText(answer.status, answer.body)));
}

// The routes of a cell, page by page.
void EachRoute(const CtlCell& cell, const CallCell& call,
               const std::function<void(const Json&)>& take) {
  std::string cursor;
  while (true) {
    const Json page = Answered(
        cell, fmt::format("/admin/v1/cell/routes?limit={}{}", kRoutesAtOnce, cursor), call);
    for (const Json& route : page.at("items")) take(route);
    if (!page.contains("next_cursor")) return;
    cursor = "&cursor=" + UrlEncode(page["next_cursor"].get<std::string>());
  }
}

std::string Line(std::string_view key, const CtlCell& cell) {
  return fmt::format("{} cell_{}\n", key, cell.id);
}

}  // namespace

std::vector<CtlCell> ReadCells(const std::string& path, const std::string& token) {
  std::ifstream file(path);
  if (!file) throw config::ConfigError("ctl cannot read " + path);
  std::vector<CtlCell> cells;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line);
    const std::string_view text = base::Trim(line);
    if (text.empty() || text.front() == '#') continue;
    cells.push_back(ReadCell(words, fmt::format("{}:{}", path, number), token));
  }
  if (cells.empty()) throw config::ConfigError(path + ": it names no cell");
  return cells;
}

Json ShowCells(const std::vector<CtlCell>& cells, const CallCell& call) {
  Json items = Json::array();
  for (const CtlCell& cell : cells) {
    Json item{{"cell", cell.id}, {"reachable", false}};
    try {
      const Json seen = Answered(cell, "/admin/v1/cell", call);
      item.update(seen);
      item["reachable"] = seen.at("cell") == cell.id;
      if (seen.at("cell") != cell.id) item["error"] = "it says that it is another cell";
    } catch (const RequestFailed& failure) {
      item["error"] = failure.what();
    }
    items.push_back(std::move(item));
  }
  return {{"items", std::move(items)}};
}

Json FindOrganisations(const std::vector<CtlCell>& cells, const std::string& text,
                       const CallCell& call) {
  Json items = Json::array();
  for (const CtlCell& cell : cells) {
    const Json page = Answered(cell, "/admin/v1/orgs?q=" + UrlEncode(text), call);
    for (const Json& org : page.at("items")) {
      Json item{{"cell", cell.id}};
      item.update(org);
      items.push_back(std::move(item));
    }
  }
  return {{"items", std::move(items)}};
}

std::string WriteCellMap(std::string_view map, const std::vector<CtlCell>& cells,
                         const CallCell& call) {
  const bool by_prefix = map == "prefixes";
  if (map != "cells" && !by_prefix && map != "organisations") {
    throw config::ConfigError("ctl cell-map: name one of cells, prefixes and organisations");
  }
  std::string text;
  for (const CtlCell& cell : cells) {
    if (const Json seen = Answered(cell, "/admin/v1/cell", call); seen.at("cell") != cell.id) {
      throw RequestFailed(409, fmt::format("{} is cell \"{}\", and not \"{}\"", cell.url,
                                           seen.at("cell").get<std::string>(), cell.id));
    }
    if (map == "cells") {
      if (!cell.id.empty()) text += Line(cell.id, cell);
      continue;
    }
    if (by_prefix && !cell.id.empty()) {
      for (const std::string_view prefix :
           {std::string_view(store::kApiKeyPrefix), store::kClientTokenPrefix,
            store::kSessionTokenPrefix}) {
        text += Line(domain::CellPrefix(prefix, cell.id), cell);
      }
      text += Line(domain::WithCell(cell.id, ""), cell);
    }
    EachRoute(cell, call, [&](const Json& route) {
      if (by_prefix) {
        for (const Json& prefix : route.at("prefixes")) {
          text += Line(prefix.get<std::string>(), cell);
        }
        return;
      }
      text += Line(route.at("org_id").get<std::string>(), cell);
      const Json& external = route.at("external_id");
      // A name with a space in it cannot stand in a map: such an organisation is named by its id.
      if (external.is_string() &&
          external.get_ref<const std::string&>().find_first_of(" \t#") == std::string::npos) {
        text += Line(external.get<std::string>(), cell);
      }
    });
  }
  return text;
}

}  // namespace vedette::app
