#include "app/ctl/ctl_cells.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <stdexcept>
#include <utility>

#include "api/operator/admin.h"
#include "api/operator/admin_json.h"
#include "app/ctl/ctl_commands.h"
#include "app/ctl/ctl_text.h"
#include "base/text.h"
#include "config/parts.h"
#include "domain/auth/cell.h"
#include "store/accounts/accounts.h"
#include "store/accounts/auth.h"

namespace vedette::app {
namespace {

using admin::CellAnswer;
using base::Json;
using config::CellPort;

constexpr int kRoutesAtOnce = 1000;
Json Answered(const CellPort& cell, const std::string& target, const CallCell& call) {
  JsonClient::Answer answer = call(cell, target);
  if (answer.status == 200) return std::move(answer.body);
  throw RequestFailed(answer.status, fmt::format("cell \"{}\": {}", cell.id,
                                                 RefusalText(answer.status, answer.body)));
}

CellAnswer AnswerOf(const CellPort& cell, const std::string& target, const CallCell& call) {
  CellAnswer answer{cell.id, cell.url, {}, {}};
  try {
    JsonClient::Answer got = call(cell, target);
    if (got.status == 200) {
      answer.body = std::move(got.text);
    } else {
      answer.error = RefusalText(got.status, got.body);
    }
  } catch (const RequestFailed& failure) {
    answer.error = failure.what();
  }
  return answer;
}

std::vector<CellAnswer> AskEach(const std::vector<CellPort>& cells, const std::string& target,
                                const CallCell& call) {
  std::vector<std::future<CellAnswer>> asked;
  asked.reserve(cells.size());
  for (const CellPort& cell : cells) {
    asked.push_back(std::async(std::launch::async, [&] { return AnswerOf(cell, target, call); }));
  }
  std::vector<CellAnswer> answers;
  answers.reserve(cells.size());
  for (auto& one : asked) answers.push_back(one.get());
  return answers;
}

// The routes of a cell, page by page.
void EachRoute(const CellPort& cell, const CallCell& call,
               const std::function<void(const Json&)>& take) {
  std::string cursor;
  while (true) {
    const Json page = Answered(
        cell, fmt::format("/admin/v1/cell/routes?limit={}{}", kRoutesAtOnce, cursor), call);
    for (const Json& route : page.at("items")) take(route);
    if (!page.contains("next_cursor")) return;
    cursor = "&cursor=" + base::UrlEncode(page["next_cursor"].get<std::string>());
  }
}

std::string Line(std::string_view key, const CellPort& cell) {
  return fmt::format("{} cell_{}\n", key, cell.id);
}

}  // namespace

std::vector<CellPort> CtlCells(const std::string& path, const std::string& token) {
  std::vector<CellPort> cells = config::ReadCells(path);
  for (CellPort& cell : cells) {
    if (cell.token.empty()) cell.token = token;
  }
  return cells;
}

Json ShowCells(const std::vector<CellPort>& cells, const CallCell& call) {
  Json body{{"items", Json::array()}};
  for (const CellAnswer& answer : AskEach(cells, "/admin/v1/cell", call)) {
    admin::AddCell(answer, &body);
  }
  return body;
}

Json FindOrganisations(const std::vector<CellPort>& cells, const std::string& text,
                       const CallCell& call) {
  Json body = admin::NothingFound();
  for (const CellAnswer& answer :
       AskEach(cells, "/admin/v1/orgs?q=" + base::UrlEncode(text), call)) {
    admin::AddFound(answer, &body);
  }
  return body;
}

std::string WriteCellMap(std::string_view map, const std::vector<CellPort>& cells,
                         const CallCell& call) {
  const bool by_prefix = map == "prefixes";
  if (map != "cells" && !by_prefix && map != "organisations") {
    throw config::ConfigError("ctl cell-map: name one of cells, prefixes and organisations");
  }
  std::string text;
  for (const CellPort& cell : cells) {
    if (const Json seen = Answered(cell, "/admin/v1/cell", call); seen.at("cell") != cell.id) {
      throw RequestFailed(409, fmt::format("{} is cell \"{}\", and not \"{}\"", cell.url,
                                           seen.at("cell").get<std::string>(), cell.id));
    }
    if (map == "cells") {
      text += Line(domain::CellWord(cell.id), cell);
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

void ReplaceFile(const std::string& path, std::string_view text) {
  // A rename would put a file in the place of a device.
  if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path)) {
    throw std::runtime_error(fmt::format("{} is not a file", path));
  }
  const std::string unfinished = fmt::format("{}.{}.new", path, getpid());
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file.fail() || std::rename(unfinished.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    unlink(unfinished.c_str());
    throw std::runtime_error(fmt::format("cannot write {}: {}", path, reason));
  }
}

}  // namespace vedette::app
