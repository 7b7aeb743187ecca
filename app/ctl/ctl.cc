#include "app/ctl/ctl.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "app/ctl/ctl_audit.h"
#include "app/ctl/ctl_cells.h"
#include "app/ctl/ctl_commands.h"
#include "app/ctl/ctl_text.h"
#include "app/json_client.h"
#include "base/text.h"
#include "config/net_config.h"
#include "config/parts.h"
#include "config/server_config.h"

namespace vedette::app {
namespace {

constexpr const char* kDefaultUrl = "http://127.0.0.1:9464";

std::string WithoutTrailingSlash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

// A command whose name has two words belongs to the group that the first one names.
CLI::App* Group(CLI::App* ctl, std::string_view name) {
  for (CLI::App* known : ctl->get_subcommands([](CLI::App*) { return true; })) {
    if (known->get_name() == name) return known;
  }
  CLI::App* group = ctl->add_subcommand(std::string(name), "What vedette does with mail servers");
  group->require_subcommand(1);
  return group;
}

std::string TokenOfFile(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {
    throw config::ConfigError(fmt::format("ctl cannot read a token from {}", path));
  }
  return std::string(base::Trim(line));
}

// A public key that a command sends.
constexpr std::size_t kKeyFileBytesMax = 65536;

config::ConfigError CannotRead(const std::string& path, std::string_view why) {
  return config::ConfigError(fmt::format("ctl cannot read {}: {}", path, why));
}

std::string TextOfFile(const std::string& path, std::size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw CannotRead(path, std::strerror(errno));
  std::string text(bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw CannotRead(path, std::strerror(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.empty() || text.size() > bytes_max) {
    throw CannotRead(path, fmt::format("it must have 1 to {} bytes", bytes_max));
  }
  return text;
}

// The defaults, and certificate authorities of the operator's own: the port may be behind a proxy
// with a certificate of these.
config::NetConfig ClientConfig() {
  config::Environment environment = config::ProcessEnvironment();
  std::erase_if(environment, [](const auto& one) { return one.first != "VEDETTE_NET_CA_FILE"; });
  return config::LoadConfig(std::nullopt, environment).net;
}

// What the admin port has at a target.
base::Json Found(const std::string& target, JsonClient* client) {
  JsonClient::Answer answer = client->Call("GET", target);
  if (answer.status != 200) {
    throw RequestFailed(answer.status, RefusalText(answer.status, answer.body));
  }
  return std::move(answer.body);
}

}  // namespace

struct Ctl::Impl {
  std::string url;
  std::string token;
  std::string token_file;
  std::string cells_file;
  std::string cell;
  bool chosen = false;  // whether --cell was given; the first one's id is empty
  bool json = false;
  std::string asked;  // of cell-map: its one argument
  std::string out;    // of cell-map
  // What each subcommand was given, by its name and the option's flag.
  std::map<std::string_view, std::map<std::string_view, std::string>> texts;
  std::map<std::string_view, std::map<std::string_view, std::vector<std::string>>> lists;
  std::map<std::string_view, std::map<std::string_view, bool>> switches;

  void Add(CLI::App* ctl, const CtlCommand& command, int* status);
  CtlValues Values(const CtlCommand& command, const CLI::App& parsed);
  void Run(const CtlCommand& command, const CLI::App& parsed);
  bool RunOnChain(const CtlCommand& command, const CtlValues& values, JsonClient* client) const;
  void AddCellMap(CLI::App* ctl, int* status);
  std::vector<config::CellPort> Cells();
  void ChooseCell();
  bool RunOnCells(const CtlCommand& command, const CtlValues& values);
  std::string ForPeople(const base::Json& body, const std::vector<std::string_view>& columns) const;
  static void Guarded(const std::function<void()>& run, int* status);
  JsonClient::Answer Send(const CtlCommand& command, const CtlRequest& request, JsonClient* client);
  void Print(const CtlCommand& command, const JsonClient::Answer& answer) const;
};

void Ctl::Impl::Add(CLI::App* ctl, const CtlCommand& command, int* status) {
  const std::size_t space = command.name.find(' ');
  const bool is_grouped = space != std::string_view::npos;
  CLI::App* parent = is_grouped ? Group(ctl, command.name.substr(0, space)) : ctl;
  CLI::App* added = parent->add_subcommand(
      std::string(is_grouped ? command.name.substr(space + 1) : command.name),
      std::string(command.help));
  for (const CtlOption& option : command.options) {
    const std::string flag(option.flag);
    const std::string help(option.help);
    if (option.type == CtlOption::Type::kSwitch) {
      added->add_flag(flag, switches[command.name][option.flag], help);
    } else if (option.type == CtlOption::Type::kList) {
      added->add_option(flag, lists[command.name][option.flag], help)
          ->required(option.required)
          ->allow_extra_args(false)
          ->type_name("");
    } else {
      added->add_option(flag, texts[command.name][option.flag], help)
          ->required(option.required)
          ->type_name("");
    }
  }
  added->callback(
      [this, &command, added, status] { Guarded([&] { Run(command, *added); }, status); });
}

void Ctl::Impl::Guarded(const std::function<void()>& run, int* status) {
  if (status == nullptr) return run();
  try {
    run();
    *status = kDone;
  } catch (const RequestFailed& failure) {
    fmt::print(stderr, "vedette ctl: {}\n", Printable(failure.what()));
    *status = failure.status() == 0 ? kUnreachable : kRefused;
  }
}

namespace {

// A search that has not reached every cell fails, behind what it has found.
void TellSilent(const base::Json& found) {
  if (!found.is_object() || !found.contains("unreachable") || found["unreachable"].empty()) return;
  std::string silent;
  for (const base::Json& cell : found["unreachable"]) {
    silent += fmt::format("{}cell \"{}\": {}", silent.empty() ? "" : "; ",
                          cell["cell"].get<std::string>(), cell["error"].get<std::string>());
  }
  const base::Json lives_at = found.value("lives_at", base::Json());
  if (lives_at.is_string()) {
    silent += fmt::format("; the directory has it at cell \"{}\"", lives_at.get<std::string>());
  }
  throw RequestFailed(0, "not all cells were searched: " + silent);
}

}  // namespace

std::vector<config::CellPort> Ctl::Impl::Cells() {
  if (cells_file.empty()) {
    throw config::ConfigError(
        "ctl does not know the cells: name them in a file, and give it by --cells or "
        "VEDETTE_CELLS_FILE");
  }
  if (token.empty() && !token_file.empty()) token = TokenOfFile(token_file);
  return CtlCells(cells_file, token);
}

// Takes the address and the token of the chosen cell.
void Ctl::Impl::ChooseCell() {
  if (!chosen) return;
  for (const config::CellPort& known : Cells()) {
    if (known.id != cell) continue;
    url = known.url;
    token = known.token;
    return;
  }
  throw config::ConfigError(fmt::format("ctl: {} names no cell \"{}\"", cells_file, cell));
}

namespace {

struct Word {
  const char* name;
  const char* help;
};
constexpr Word kCellMap{"cell-map", "Print a map for HAProxy: cells, prefixes or organisations"};

JsonClient::Answer CallCellPort(const config::CellPort& cell, const std::string& target) {
  BlockingHttp http(ClientConfig());
  JsonClient client(http, cell.url, {"Authorization", "Bearer " + cell.token});
  return client.Call("GET", target);
}

}  // namespace

// The command that asks every cell itself, and no port that knows them.
void Ctl::Impl::AddCellMap(CLI::App* ctl, int* status) {
  CLI::App* added = ctl->add_subcommand(kCellMap.name, kCellMap.help);
  added->add_option("map", asked)->required()->type_name("");
  added->add_option("--out", out, "Write it to this file, which stays as it is where a cell fails")
      ->type_name("");
  added->callback([this, status] {
    Guarded(
        [this] {
          const std::string text = WriteCellMap(asked, Cells(), CallCellPort);
          if (out.empty()) {
            fmt::print("{}", text);
          } else {
            ReplaceFile(out, text);
          }
        },
        status);
  });
}

std::string Ctl::Impl::ForPeople(const base::Json& body,
                                 const std::vector<std::string_view>& columns) const {
  if (!json) return FormatForPeople(body, columns);
  return IndentedJson(body) + "\n";
}

CtlValues Ctl::Impl::Values(const CtlCommand& command, const CLI::App& parsed) {
  CtlValues values;
  for (const CtlOption& option : command.options) {
    if (parsed.get_option(std::string(option.flag))->count() == 0) continue;
    auto& given = values[option.flag];
    if (option.type == CtlOption::Type::kList) {
      given = lists[command.name][option.flag];
    } else if (option.type == CtlOption::Type::kFile) {
      given = {TextOfFile(texts[command.name][option.flag], kKeyFileBytesMax)};
    } else if (option.type == CtlOption::Type::kJsonFile) {
      given = {TextOfFile(texts[command.name][option.flag], config::AdminServer().body_bytes_max)};
    } else if (option.type != CtlOption::Type::kSwitch) {
      given = {texts[command.name][option.flag]};
    }
  }
  return values;
}

void Ctl::Impl::Run(const CtlCommand& command, const CLI::App& parsed) {
  CtlValues values = Values(command, parsed);
  CtlRequest request;
  try {
    request = MakeCtlRequest(command, values);
  } catch (const std::invalid_argument& error) {
    throw config::ConfigError(fmt::format("ctl {}", error.what()));
  }
  if (RunOnCells(command, values)) return;
  ChooseCell();
  if (token.empty() && !token_file.empty()) token = TokenOfFile(token_file);
  if (token.empty() && command.path.starts_with("/admin/")) {
    throw config::ConfigError(
        "ctl needs the admin token: set VEDETTE_ADMIN_TOKEN or VEDETTE_ADMIN_TOKEN_FILE, or give "
        "--token or --token-file");
  }
  BlockingHttp http(ClientConfig());
  JsonClient client(http, WithoutTrailingSlash(url), {"Authorization", "Bearer " + token});
  if (RunOnChain(command, values, &client)) return;
  const CtlValues written = values;
  ResolveNames(
      command, [&](const std::string& target) { return Found(target, &client); }, &values);
  if (values != written) request = MakeCtlRequest(command, values);
  const JsonClient::Answer answer = Send(command, request, &client);
  const bool refused = answer.status < 200 || answer.status > 299;
  // A process that is not ready says why in the answer itself.
  if (refused && !answer.body.contains("reasons")) {
    throw RequestFailed(answer.status, RefusalText(answer.status, answer.body));
  }
  Print(command, answer);
  if (refused) throw RequestFailed(answer.status, "the process is not ready");
  TellSilent(answer.body);
}

// What the admin port answers that knows all cells, made here where they are named: with --cells,
// unless one of them is chosen.
bool Ctl::Impl::RunOnCells(const CtlCommand& command, const CtlValues& values) {
  if (cells_file.empty() || chosen) return false;
  base::Json found;
  if (command.name == "cells") {
    found = ShowCells(Cells(), CallCellPort);
  } else if (command.name == "org-find") {
    found = FindOrganisations(Cells(), values.at("text").front(), CallCellPort);
  } else {
    return false;
  }
  Print(command, {.status = 200, .body = found, .text = {}});
  TellSilent(found);
  return true;
}

// What reads the audit's chain, page by page, or follows it; false for every other command.
bool Ctl::Impl::RunOnChain(const CtlCommand& command, const CtlValues& values,
                           JsonClient* client) const {
  const bool verifies = command.calls == CtlCommand::Calls::kVerify;
  if (!verifies && !values.contains("--follow")) return false;
  const AskAdmin ask = [client](const std::string& target) { return Found(target, client); };
  const auto place = [&values](std::string_view flag) -> std::optional<std::int64_t> {
    const auto it = values.find(flag);
    if (it == values.end()) return std::nullopt;
    return PlaceOf(it->second.front());
  };
  try {
    if (verifies) {
      ChainStart start{place("--from"), std::nullopt};
      const auto checkpoint = values.find("--checkpoint");
      if (checkpoint != values.end()) start.checkpoint = checkpoint->second.front();
      Print(command, {.status = 200, .body = VerifyAudit(ask, start), .text = {}});
      return true;
    }
    const StreamAdmin stream = [this](const std::string& target, const auto& take) {
      return net::ReadLines({.url = WithoutTrailingSlash(url) + target,
                             .headers = {{"Authorization", "Bearer " + token}}},
                            ClientConfig(), take);
    };
    FollowAudit(stream, place("--after"), [](const base::Json& entry) {
      fmt::print("{}\n", base::DumpJson(entry));
      return std::fflush(stdout) == 0;
    });
  } catch (const std::invalid_argument& error) {
    throw config::ConfigError(fmt::format("ctl {}: {}", command.name, error.what()));
  }
  return true;
}

JsonClient::Answer Ctl::Impl::Send(const CtlCommand& command, const CtlRequest& request,
                                   JsonClient* client) {
  for (const CtlOption& option : command.options) {
    if (option.place != CtlOption::Place::kFile) continue;
    const std::string& path = texts[command.name][option.flag];
    if (std::filesystem::is_directory(path)) throw CannotRead(path, std::strerror(EISDIR));
    std::ifstream file(path);
    if (!file) throw CannotRead(path, std::strerror(errno));
    const auto call = [&](const base::Json& body) {
      return client->Call(request.method, request.target, body);
    };
    return SendLines(call, *request.body, file, switches[command.name]["--empty"]);
  }
  JsonClient::Answer answer = client->Call(request.method, request.target, request.body);
  std::optional<base::Json> body = request.body;
  while (command.calls == CtlCommand::Calls::kUntilTheEnd && answer.status == 200 &&
         answer.body.contains("next_cursor")) {
    (*body)["cursor"] = answer.body["next_cursor"];
    const JsonClient::Answer next = client->Call(request.method, request.target, body);
    if (next.status != 200) throw RequestFailed(next.status, RefusalText(next.status, next.body));
    AddAnswer(next.body, &answer.body);
  }
  return answer;
}

void Ctl::Impl::Print(const CtlCommand& command, const JsonClient::Answer& answer) const {
  std::string text;
  if (answer.body.is_null()) {
    text = answer.text.empty() ? "done\n" : answer.text;
    if (json && answer.text.empty()) text.clear();
  } else {
    text = ForPeople(answer.body, command.columns);
  }
  fmt::print("{}", text);
}

Ctl::Ctl() : impl_(std::make_unique<Impl>()) {}

Ctl::~Ctl() = default;

void Ctl::AddTo(CLI::App& app, int* status) {
  CLI::App* ctl = app.add_subcommand("ctl", "Operate a running vedette through its admin port");
  ctl->require_subcommand(1);
  ctl->add_option("--url", impl_->url, "The admin port")
      ->envname("VEDETTE_ADMIN_URL")
      ->default_val(kDefaultUrl);
  ctl->add_option("--token", impl_->token, "Better in VEDETTE_ADMIN_TOKEN: others see arguments")
      ->envname("VEDETTE_ADMIN_TOKEN");
  ctl->add_option("--token-file", impl_->token_file,
                  "A file whose first line is the token; a token that is given itself wins")
      ->envname("VEDETTE_ADMIN_TOKEN_FILE");
  ctl->add_option(
         "--cells", impl_->cells_file,
         "A file with a line for each cell: its id, the URL of its admin port, its token's file")
      ->envname("VEDETTE_CELLS_FILE");
  ctl->add_option_function<std::string>(
      "--cell",
      [this](const std::string& id) {
        impl_->cell = id;
        impl_->chosen = true;
      },
      "Ask this cell of --cells; \"\" is the first one");
  ctl->add_flag("--json", impl_->json, "Print the answer as it is");
  ctl->fallthrough();
  for (const CtlCommand& command : CtlCommands()) impl_->Add(ctl, command, status);
  impl_->AddCellMap(ctl, status);
}

}  // namespace vedette::app
