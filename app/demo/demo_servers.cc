#include "app/demo/demo_servers.h"

#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace vedette::app {
namespace {

constexpr std::size_t kKept = 500;
constexpr std::size_t kBodyBytesMax = 64 << 10;

}  // namespace

DemoReceiver::DemoReceiver(ReceiverMode mode, const base::Clock& clock)
    : mode_(mode), clock_(clock) {}

void DemoReceiver::SetSecret(std::string secret) {
  if (mode_ == ReceiverMode::kWrongKey) {
    secret = std::string(domain::kSigningSecretPrefix) + std::string(64, '0');
  }
  const std::lock_guard lock(mutex_);
  secret_ = std::move(secret);
}

std::optional<DemoReceiver::Received> DemoReceiver::Find(std::string_view type,
                                                         std::string_view event_group_id) const {
  const std::lock_guard lock(mutex_);
  for (auto it = received_.rbegin(); it != received_.rend(); ++it) {
    if (it->type == type && it->event_group_id == event_group_id) return *it;
  }
  return std::nullopt;
}

std::vector<DemoReceiver::Received> DemoReceiver::Since(std::uint64_t after) const {
  const std::lock_guard lock(mutex_);
  std::vector<Received> found;
  for (const Received& received : received_) {
    if (received.number > after) found.push_back(received);
  }
  return found;
}

std::uint64_t DemoReceiver::received_total() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

void DemoReceiver::HandleWhole(std::shared_ptr<net::Exchange> exchange) {
  const net::ServerRequest& request = exchange->request();
  if (request.path != kPath || request.method != "POST" || request.body_too_large) {
    exchange->Send({.status = request.path == kPath ? 400 : 404, .headers = {}, .body = ""});
    return;
  }
  Received received;
  received.type = request.Header("service-event-type");
  received.event_group_id = request.Header("service-event-id");
  received.attempt = request.Header("service-delivery-attempt");
  if (base::ParseJson(request.body, &received.body)) received.body = nullptr;
  received.refused = mode_ == ReceiverMode::kRefuse;
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_.Now()).time_since_epoch();
  int status = 200;
  {
    const std::lock_guard lock(mutex_);
    received.check = domain::VerifySignature(secret_, request.Header("service-signature"),
                                             request.body, now.count());
    if (received.check != domain::SignatureCheck::kValid) status = 401;
    if (received.refused) status = 503;
    received.number = ++total_;
    received_.push_back(std::move(received));
    if (received_.size() > kKept) received_.pop_front();
  }
  exchange->Send({.status = status, .headers = {}, .body = ""});
}

std::size_t DemoReceiver::BodyBytesMax(std::string_view, std::string_view) const {
  return kBodyBytesMax;
}

namespace {

constexpr std::array<const char*, 4> kChiefs = {"Ines Okafor", "Tomas Lindqvist", "Mara Delacroix",
                                                "Jun Watanabe"};

constexpr const char* kStyle =
    "body{font:16px/1.5 sans-serif;max-width:40em;margin:3em auto}dt{color:#666}dd{margin:0 0 1em}";

}  // namespace

DemoSite::DemoSite()
    : companies_{{"aurora-robotics", "Aurora Robotics", 118, "Ines Okafor", 49},
                 {"blue-harbor-foods", "Blue Harbor Foods", 2310, "Tomas Lindqvist", 15},
                 {"cinder-analytics", "Cinder Analytics", 37, "Mara Delacroix", 290}} {}

base::Json DemoSite::Save() const {
  const std::lock_guard lock(mutex_);
  base::Json saved = base::Json::object();
  for (const Company& company : companies_) {
    saved[company.slug] = {
        {"employees", company.employees}, {"chief", company.chief}, {"price", company.price}};
  }
  return saved;
}

void DemoSite::Load(const base::Json& saved) {
  const std::lock_guard lock(mutex_);
  for (Company& company : companies_) {
    if (!saved.contains(company.slug)) continue;
    const base::Json& values = saved[company.slug];
    company.employees = values.value("employees", company.employees);
    company.chief = values.value("chief", company.chief);
    company.price = values.value("price", company.price);
  }
}

std::vector<DemoSite::Company> DemoSite::companies() const {
  const std::lock_guard lock(mutex_);
  return companies_;
}

base::Json DemoSite::WatchedFields() {
  return {{"employees", "css:dd.employees"},
          {"chief executive", "xpath://dd[@id='chief']"},
          {"starter plan", "css:.plan @data-price"}};
}

DemoSite::Change DemoSite::MakeChange(int number) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::size_t>(number);
  Company& company = companies_[index % companies_.size()];
  switch (index % 4) {
    case 1: {
      const int from = std::exchange(company.price, company.price + 5);
      return {company.name, "starter plan", std::to_string(from), std::to_string(company.price)};
    }
    case 3: {
      std::size_t next = 0;
      while (next < kChiefs.size() && company.chief != kChiefs[next]) ++next;
      const std::string from = std::exchange(company.chief, kChiefs[(next + 1) % kChiefs.size()]);
      return {company.name, "chief executive", from, company.chief};
    }
    default: {
      const int from = std::exchange(company.employees, company.employees + 7);
      return {company.name, "employees", std::to_string(from), std::to_string(company.employees)};
    }
  }
}

std::string DemoSite::Page(const Company& company) const {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>"
      "<style>{4}</style></head>\n<body><h1>{0}</h1>\n<dl>\n"
      "<dt>Employees</dt><dd class=\"employees\">{1}</dd>\n"
      "<dt>Chief executive</dt><dd id=\"chief\">{2}</dd>\n"
      "<dt>Starter plan</dt><dd class=\"plan\" data-price=\"{3}\">{3} euros a month</dd>\n"
      "</dl>\n<p><a href=\"/\">All companies</a></p></body></html>\n",
      company.name, company.employees, company.chief, company.price, kStyle);
}

std::string DemoSite::Index() const {
  std::string list;
  for (const Company& company : companies_) {
    list += fmt::format("<li><a href=\"{}\">{}</a></li>\n", PathOf(company), company.name);
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Companies</title>"
      "<style>{}</style></head>\n<body><h1>Companies</h1><ul>\n{}</ul></body></html>\n",
      kStyle, list);
}

void DemoSite::HandleWhole(std::shared_ptr<net::Exchange> exchange) {
  const net::ServerRequest& request = exchange->request();
  net::ServerResponse response;
  response.headers.emplace_back("Content-Type", "text/html; charset=utf-8");
  response.status = 404;
  response.body = "<!doctype html><title>Not found</title><h1>Not found</h1>\n";
  if (request.method == "GET") {
    const std::lock_guard lock(mutex_);
    if (request.path == "/") {
      response.status = 200;
      response.body = Index();
    }
    if (request.path == kScriptedPath) {
      response.status = 200;
      response.body = fmt::format(
          "<!doctype html>\n<html lang=\"en\"><head><title>Workshop</title></head><body><script>\n"
          "document.body.innerHTML = '<p>Seats left: <b id=\"seats\">{}</b></p>';\n"
          "</script></body></html>\n",
          kSeats);
    }
    for (const Company& company : companies_) {
      if (request.path != PathOf(company)) continue;
      response.status = 200;
      response.body = Page(company);
    }
  }
  exchange->Send(std::move(response));
}

std::size_t DemoSite::BodyBytesMax(std::string_view, std::string_view) const {
  return 0;
}

}  // namespace vedette::app
