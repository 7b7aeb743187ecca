#include "app/ctl.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "app/blocking_http.h"
#include "app/json_client.h"
#include "config/config.h"

namespace vedette::app {
namespace {

using base::Json;

constexpr const char* kDefaultUrl = "http://127.0.0.1:9464";
constexpr std::size_t kCellCharsMax = 60;

std::string Cell(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : base::DumpJson(value);
}

// Characters as a terminal counts them, nearly: UTF-8 continuation bytes are none.
std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string Cut(std::string text) {
  if (Width(text) <= kCellCharsMax) return text;
  std::size_t end = kCellCharsMax - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string FormatTable(const Json& items) {
  if (items.empty()) return "none\n";
  std::vector<std::string> columns;
  for (const auto& [key, value] : items[0].items()) columns.push_back(key);
  std::vector<std::vector<std::string>> lines = {columns};
  for (const Json& item : items) {
    std::vector<std::string> line;
    for (const std::string& column : columns) {
      line.push_back(item.contains(column) ? Cut(Cell(item[column])) : "");
    }
    lines.push_back(std::move(line));
  }
  std::vector<std::size_t> widths(columns.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], Width(line[i]));
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      row += line[i] + std::string(widths[i] - Width(line[i]) + 2, ' ');
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::string UrlEncode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

}  // namespace

std::string FormatAnswer(const Json& answer) {
  if (answer.is_object() && answer.contains("items")) {
    std::string text = FormatTable(answer["items"]);
    if (answer.contains("next_cursor")) {
      text += fmt::format("more: --cursor {}\n", Cell(answer["next_cursor"]));
    }
    return text;
  }
  if (!answer.is_object()) return answer.is_null() ? "done\n" : Cell(answer) + "\n";
  std::size_t width = 0;
  for (const auto& [key, value] : answer.items()) width = std::max(width, Width(key));
  std::string text;
  for (const auto& [key, value] : answer.items()) {
    text += fmt::format("{}{}  {}\n", key, std::string(width - Width(key), ' '), Cell(value));
  }
  return text;
}

struct Ctl::Impl {
  std::string url;
  std::string token;
  bool json = false;

  // What a chosen subcommand fills in; one is chosen a run.
  std::string id;
  std::string name;
  std::string reason;
  std::string team_id;
  std::string limit;
  std::string cursor;
  std::string status;
  std::string state;
  std::string org_id;
  std::string monitor_id;
  std::string query;
  std::string since;
  std::string until;
  std::vector<std::string> features;
  double amount = 0;
  double spend_limit = 0;
  int overlap_hours = 24;

  void Run(const std::string& method, const std::string& path,
           const std::optional<Json>& body = std::nullopt) const;
  std::string Query(
      const std::vector<std::pair<const char*, const std::string*>>& parameters) const;
  Json Reason() const;

  CLI::App* Add(CLI::App* parent, const char* command, const char* what,
                std::function<void()> run) const;
  void AddId(CLI::App* command, const char* what) {
    command->add_option("id", id, what)->required();
  }
  void AddPaging(CLI::App* command);
  void AddMonitors(CLI::App* ctl);
  void AddDeliveries(CLI::App* ctl);
  void AddOrganisations(CLI::App* ctl);
};

void Ctl::Impl::Run(const std::string& method, const std::string& path,
                    const std::optional<Json>& body) const {
  if (token.empty()) {
    throw config::ConfigError("ctl needs the admin token: set VEDETTE_ADMIN_TOKEN or give --token");
  }
  BlockingHttp http(config::LoadConfig(std::nullopt, {}).net);
  std::string base = url;
  while (!base.empty() && base.back() == '/') base.pop_back();
  JsonClient client(http, base, {"Authorization", "Bearer " + token});
  const Json answer = client.Expect(method, path, body);
  const std::string text = json ? answer.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                                : FormatAnswer(answer);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

std::string Ctl::Impl::Query(
    const std::vector<std::pair<const char*, const std::string*>>& parameters) const {
  std::string text;
  for (const auto& [key, value] : parameters) {
    if (value->empty()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "?" : "&", key, UrlEncode(*value));
  }
  return text;
}

Json Ctl::Impl::Reason() const {
  Json body = Json::object();
  if (!reason.empty()) body["reason"] = reason;
  return body;
}

CLI::App* Ctl::Impl::Add(CLI::App* parent, const char* command, const char* what,
                         std::function<void()> run) const {
  CLI::App* added = parent->add_subcommand(command, what);
  added->callback(std::move(run));
  return added;
}

void Ctl::Impl::AddPaging(CLI::App* command) {
  command->add_option("--limit", limit, "At most so many");
  command->add_option("--cursor", cursor, "Where the last page ended");
}

void Ctl::Impl::AddMonitors(CLI::App* ctl) {
  CLI::App* list = Add(ctl, "monitors", "List monitors", [this] {
    Run("GET", "/admin/v1/monitors" + Query({{"status", &status},
                                             {"org_id", &org_id},
                                             {"q", &query},
                                             {"limit", &limit},
                                             {"cursor", &cursor}}));
  });
  list->add_option("--status", status, "starting, failed, active, paused, cancelled");
  list->add_option("--org", org_id, "Of one organisation");
  list->add_option("--query", query, "Part of the name, or an id");
  AddPaging(list);
  AddId(Add(ctl, "monitor", "Show a monitor with its last ticks",
            [this] { Run("GET", "/admin/v1/monitors/" + UrlEncode(id)); }),
        "The monitor's id");
  const auto action = [this, ctl](const char* name_of, const char* what) {
    return Add(ctl, name_of, what, [this, name_of] {
      Run("POST", fmt::format("/admin/v1/monitors/{}/{}", UrlEncode(id), name_of), Reason());
    });
  };
  for (const auto& [command, what, reason_required] :
       {std::tuple{"pause", "Pause a monitor: none of its checks starts 5 s later", true},
        {"resume", "Resume a paused or cancelled monitor", false},
        {"cancel", "Cancel a monitor", false},
        {"trigger", "Check a monitor now", false}}) {
    CLI::App* added = action(command, what);
    AddId(added, "The monitor's id");
    added->add_option("--reason", reason, "For the owner and the audit")->required(reason_required);
  }
}

void Ctl::Impl::AddDeliveries(CLI::App* ctl) {
  CLI::App* list = Add(ctl, "deliveries", "List deliveries", [this] {
    Run("GET", "/admin/v1/deliveries" + Query({{"state", &state},
                                               {"org_id", &org_id},
                                               {"monitor_id", &monitor_id},
                                               {"limit", &limit},
                                               {"cursor", &cursor}}));
  });
  list->add_option("--state", state, "pending, dead, delivered");
  list->add_option("--org", org_id, "Of one organisation");
  list->add_option("--monitor", monitor_id, "Of one monitor");
  AddPaging(list);
  AddId(Add(ctl, "delivery", "Show a delivery with its attempts",
            [this] { Run("GET", "/admin/v1/deliveries/" + UrlEncode(id)); }),
        "The delivery's id");
  CLI::App* replay =
      Add(ctl, "replay", "Send dead deliveries again: one, or all that match", [this] {
        if (!id.empty()) {
          Run("POST", "/admin/v1/deliveries/" + UrlEncode(id) + "/replay", Json::object());
          return;
        }
        Json body = Json::object();
        for (const auto& [key, value] : {std::pair{"org_id", &org_id},
                                         {"monitor_id", &monitor_id},
                                         {"since", &since},
                                         {"until", &until}}) {
          if (!value->empty()) body[key] = *value;
        }
        if (body.empty()) {
          throw config::ConfigError(
              "ctl replay needs a delivery's id, or at least one of --org, --monitor, --since, "
              "--until");
        }
        Run("POST", "/admin/v1/deliveries/replay", body);
      });
  replay->add_option("id", id, "The delivery's id");
  replay->add_option("--org", org_id, "All of one organisation");
  replay->add_option("--monitor", monitor_id, "All of one monitor");
  replay->add_option("--since", since, "RFC 3339");
  replay->add_option("--until", until, "RFC 3339");
}

void Ctl::Impl::AddOrganisations(CLI::App* ctl) {
  CLI::App* list = Add(ctl, "orgs", "List organisations", [this] {
    Run("GET", "/admin/v1/orgs" + Query({{"q", &query}, {"limit", &limit}, {"cursor", &cursor}}));
  });
  list->add_option("--query", query, "Part of the name, or an id");
  AddPaging(list);
  AddId(Add(ctl, "org", "Show an organisation",
            [this] { Run("GET", "/admin/v1/orgs/" + UrlEncode(id)); }),
        "The organisation's id");
  CLI::App* create = Add(ctl, "org-create", "Make an organisation", [this] {
    Run("POST", "/admin/v1/orgs", Json{{"name", name}, {"features", features}});
  });
  create->add_option("name", name, "Its name")->required();
  create->add_option("--feature", features, "monitors, testing_monitors, high_tier; repeatable");
  for (const bool locked : {true, false}) {
    AddId(Add(ctl, locked ? "org-lock" : "org-unlock",
              locked ? "Lock an organisation: its checks stop" : "Lift the lock",
              [this, locked] {
                Run("PATCH", "/admin/v1/orgs/" + UrlEncode(id), Json{{"locked", locked}});
              }),
          "The organisation's id");
  }
  CLI::App* credits = Add(ctl, "credits", "Give credits, or take them (negative)", [this] {
    Run("POST", "/admin/v1/orgs/" + UrlEncode(id) + "/credits",
        Json{{"amount", amount}, {"reason", reason}});
  });
  AddId(credits, "The organisation's id");
  credits->add_option("amount", amount, "At most three decimals")->required();
  credits->add_option("--reason", reason, "For the audit")->required();
  CLI::App* key = Add(ctl, "key-create", "Make an API key; it is shown once", [this] {
    Json body = {{"name", name}};
    if (!team_id.empty()) body["team_id"] = team_id;
    Run("POST", "/admin/v1/orgs/" + UrlEncode(id) + "/api-keys", body);
  });
  AddId(key, "The organisation's id");
  key->add_option("name", name, "What it is for")->required();
  key->add_option("--team", team_id, "Limit it to one team");
  AddId(Add(ctl, "keys", "List an organisation's API keys",
            [this] { Run("GET", "/admin/v1/orgs/" + UrlEncode(id) + "/api-keys"); }),
        "The organisation's id");
  CLI::App* rotate = Add(ctl, "secret-rotate", "Make a signing secret; it is shown once", [this] {
    Run("POST", "/admin/v1/orgs/" + UrlEncode(id) + "/signing-secrets/rotate",
        Json{{"overlap_hours", overlap_hours}});
  });
  AddId(rotate, "The organisation's id");
  rotate->add_option("--overlap-hours", overlap_hours, "How long the former one still signs")
      ->capture_default_str();
}

Ctl::Ctl() : impl_(std::make_unique<Impl>()) {}

Ctl::~Ctl() = default;

void Ctl::AddTo(CLI::App& app) {
  CLI::App* ctl = app.add_subcommand("ctl", "Operate a running vedette through its admin port");
  ctl->require_subcommand(1);
  ctl->add_option("--url", impl_->url, "The admin port")
      ->envname("VEDETTE_ADMIN_URL")
      ->default_val(kDefaultUrl);
  ctl->add_option("--token", impl_->token, "Better in VEDETTE_ADMIN_TOKEN: others see arguments")
      ->envname("VEDETTE_ADMIN_TOKEN");
  ctl->add_flag("--json", impl_->json, "Print the answer as it is");
  ctl->fallthrough();
  impl_->Add(ctl, "overview", "Queues, lag and the fleet's members",
             [this] { impl_->Run("GET", "/admin/v1/overview"); });
  impl_->AddMonitors(ctl);
  impl_->AddDeliveries(ctl);
  impl_->AddOrganisations(ctl);
  CLI::App* audit = impl_->Add(ctl, "audit", "Who did what", [this] {
    impl_->Run("GET", "/admin/v1/audit" +
                          impl_->Query({{"limit", &impl_->limit}, {"cursor", &impl_->cursor}}));
  });
  impl_->AddPaging(audit);
}

}  // namespace vedette::app
