// The public API over its real HTTP server: every route, driven through a socket.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>

#include "api/tenant/handlers.h"
#include "config/server_config.h"
#include "net/http_server.h"
#include "tests/store/support/tenant_support.h"
#include "tests/support/jose.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;
using testing::StartsWith;

class ApiHttp : public ApiTest {
 public:
  ApiHttp()
      : ApiTest({{"VEDETTE_API_LISTEN", "127.0.0.1:0"},
                 {"VEDETTE_API_PUBLIC_URL", "https://api.example.com"}}),
        server(config.api, api, log) {
    server.Start();
  }
  ~ApiHttp() override {
    server.Stop();
    pool.Stop();
  }

  // Sends the text and reads until the server closes; the whole answer.
  std::string Raw(const std::string& text) const { return Exchange(text, true); }
  // Sends the text, of which the end is missing, and reads the beginning of the answer.
  std::string RawUnfinished(const std::string& text) const { return Exchange(text, false); }

  std::string Exchange(const std::string& text, bool to_the_end) const {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(server.port()));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    std::size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t n = send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) break;
      sent += static_cast<std::size_t>(n);
    }
    std::string answer;
    char buffer[65536];
    ssize_t n = 0;
    while ((n = recv(fd, buffer, sizeof buffer, 0)) > 0) {
      answer.append(buffer, static_cast<std::size_t>(n));
      if (!to_the_end && answer.find("\r\n\r\n") != std::string::npos) break;
    }
    close(fd);
    return answer;
  }

  struct Answer {
    int status = 0;
    std::string head;
    mutable Json body;
  };
  Answer Http(const std::string& method, const std::string& target,
              const std::string& body = "") const {
    std::string text = method + " " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" +
                       "x-api-key: " + acme.key + "\r\n";
    if (!body.empty()) {
      text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n";
    }
    const std::string answer = Raw(text + "\r\n" + body);
    Answer out;
    if (answer.size() > 12) out.status = std::atoi(answer.c_str() + 9);
    const std::size_t end = answer.find("\r\n\r\n");
    out.head = answer.substr(0, end);
    if (end == std::string::npos) return out;
    std::string payload = answer.substr(end + 4);
    if (out.head.find("chunked") != std::string::npos) payload = Dechunk(payload);
    if (base::ParseJson(payload, &out.body)) out.body = Json::object();
    return out;
  }

  // The route's path with these in the place of its parameters.
  static std::string Filled(const api::Route& route,
                            const std::map<std::string, std::string>& ids) {
    std::string path(route.pattern);
    for (const auto& [param, value] : ids) {
      if (const auto at = path.find(param); at != std::string::npos) {
        path.replace(at, param.size(), value);
      }
    }
    return path;
  }

  static std::string Dechunk(const std::string& text) {
    std::string out;
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t size = std::stoul(text.substr(at), nullptr, 16);
      at = text.find("\r\n", at) + 2;
      if (size == 0) break;
      out += text.substr(at, size);
      at += size + 2;
    }
    return out;
  }

  net::HttpServer server;
};

// In tags_test.cc, members_test.cc, account_test.cc and snapshots_test.cc.
bool IsTestedByItself(const api::Route& route) {
  const bool reads = route.method == "GET";
  return (route.method == "DELETE" && route.pattern == "/monitors/{monitor_id}") ||
         route.pattern.starts_with("/dashboard") || route.pattern.starts_with("/snapshots/") ||
         route.pattern.starts_with("/account/deliveries/{") ||
         (route.pattern.starts_with("/account/") && !reads);
}

TEST_F(ApiHttp, EveryRouteAnswers) {
  Json body = GoodBody();
  body["webhook_url"] = "https://hooks.example.com/";
  const Answer created = Http("POST", "/monitors", body.dump());
  ASSERT_EQ(created.status, 200) << created.head;
  const std::string monitor = created.body["id"];
  const std::string row = created.body["rows"][0]["id"];
  const std::string personal =
      R"({"lead":{"personal_email":"ada@home.example"},"mode":"PERSONAL"})";
  const std::string job = Http("POST", "/find-email-async", personal).body["task_id"];
  const std::string client = Http("POST", "/oauth/clients", R"({"name":"c"})").body["id"];
  const std::string exclusions = R"({"name":"won","entity_type":"company"})";
  const std::string list = Http("POST", "/search/exclusion-lists", exclusions).body["id"];
  const std::string told =
      R"({"name":"n","kind":"webhook","target":{"url":"https://hooks.example.com/"}})";
  const std::string channel = Http("POST", "/channels", told).body["id"];
  const Json key{{"public_key_pem", test::NewKey("P-256").PublicPem()}, {"kid", "k1"}};
  const std::map<std::string, std::string> bodies = {
      {"POST /oauth/clients", R"({"name":"c"})"},
      {"PATCH /oauth/clients/{client_id}", R"({"name":"x"})"},
      {"POST /oauth/clients/{client_id}/keys", key.dump()},
      {"POST /reverse-email-async", R"({"lead":{"email":"info@engines.example"}})"},
      {"POST /reverse-email-bulk-async", R"({"leads":[{"email":"info@engines.example"}]})"},
      {"POST /find-email", personal},
      {"POST /find-email-async", personal},
      {"POST /find-email-bulk-async",
       R"({"leads":[{"personal_email":"ada@home.example"}],"mode":"PERSONAL"})"},
      {"POST /monitors", body.dump()},
      {"POST /search/filter-field-values", R"({"field":"name"})"},
      {"POST /channels", told},
      {"POST /channels/{channel_id}/update", R"({"name":"x"})"},
      {"POST /account/channels", R"({"channel_ids":[]})"},
      {"POST /search/exclusion-lists", exclusions},
      {"POST /search/exclusion-lists/{list_id}/entities", R"({"entity_ids":["c-1"]})"},
      {"POST /schedules/preview", R"({"cron":"0 9 * * *"})"},
      {"POST /monitors/{monitor_id}/update", R"({"name":"x"})"},
      {"POST /monitors/{monitor_id}/rows", R"({"rows":[{"domain":"new.example"}]})"},
      {"POST /monitors/{monitor_id}/rows/{row_id}/update", R"({"is_active":false})"}};
  const std::map<std::string, std::string> ids = {
      {"{monitor_id}", monitor}, {"{row_id}", row},       {"{task_id}", job},
      {"{run_id}", "run"},       {"{client_id}", client}, {"{list_id}", list},
      {"{channel_id}", channel}, {"{kid}", "k1"},         {"{template_key}", "age-check"}};
  for (const api::Route& route : api::Routes()) {
    const std::string name = std::string(route.method) + " " + std::string(route.pattern);
    if (route.body == rest::Body::kUpload) continue;    // tested below
    if (route.pattern == "/find-email-bulk") continue;  // waits; in waiting_requests_test.cc
    if (route.pattern == "/reverse-email" || route.pattern == "/reverse-email-bulk") continue;
    if (route.pattern.starts_with("/verify-age")) continue;  // paid; in test_people.py
    // Cancelled, it could not be triggered.
    if (route.pattern == "/monitors/{monitor_id}/cancel") continue;
    if (IsTestedByItself(route)) continue;
    if (name == "DELETE /oauth/clients/{client_id}") continue;  // its keys follow
    if (name == "DELETE /channels/{channel_id}") continue;      // its test follows
    // In credentials_on_every_route_test.cc.
    if (route.access == rest::Access::kAssertion) continue;
    // In runs_test.cc, investigations_test.cc, published_keys_test.cc.
    if (route.pattern.starts_with("/workflows") || route.access == rest::Access::kSignedLink)
      continue;
    if (route.pattern.starts_with("/v1/atlas")) continue;
    if (route.pattern == "/monitors/preview") continue;  // in preview_test.cc
    if (route.pattern.ends_with("/validate-jwks")) continue;
    const std::string path = Filled(route, ids);
    const auto it = bodies.find(name);
    const Answer answer =
        Http(std::string(route.method), path, it == bodies.end() ? "" : it->second);
    EXPECT_EQ(answer.status / 100, 2) << name << "\n" << answer.head << answer.body.dump();
    EXPECT_THAT(answer.head, HasSubstr("X-Request-Id: ")) << name;
  }
  EXPECT_EQ(Http("POST", "/monitors/" + monitor + "/cancel").status, 200);
}

TEST_F(ApiHttp, DetailOfManyRowsIsStreamedInChunks) {
  Json body = GoodBody();
  Json rows = Json::array();
  for (int i = 0; i < 5000; ++i) rows.push_back({{"domain", std::to_string(i) + ".example"}});
  body["rows"] = std::move(rows);
  const Answer created = Http("POST", "/monitors", body.dump());
  ASSERT_EQ(created.status, 200);
  const Answer detail = Http("GET", "/monitors/" + created.body["id"].get<std::string>());
  EXPECT_THAT(detail.head, HasSubstr("chunked"));
  ASSERT_EQ(detail.body["rows"].size(), 5000U);
  EXPECT_EQ(detail.body["rows"][4999]["subject"]["domain"], "4999.example");
}

TEST_F(ApiHttp, TooLargeABodyIsReadableAsA413) {
  const std::string body(config.api.body_bytes_max + 1, ' ');
  const Answer answer = Http("POST", "/monitors", body);
  EXPECT_EQ(answer.status, 413) << answer.head;
  EXPECT_EQ(answer.body["error"], "body_too_large");
}

TEST_F(ApiHttp, AFileIsUploadedInChunks) {
  std::string text =
      "POST /storage/csv/upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
      "x-api-key: " +
      acme.key +
      "\r\nContent-Type: text/csv\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  std::string file = "domain,price\n";
  for (int i = 0; i < 50000; ++i)
    file += std::to_string(i) + ".example," + std::to_string(i) + "\n";
  for (std::size_t at = 0; at < file.size(); at += 70001) {
    const std::string piece = file.substr(at, 70001);
    char size[32];
    snprintf(size, sizeof size, "%zx\r\n", piece.size());
    text += size + piece + "\r\n";
  }
  const std::string answer = Raw(text + "0\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("\"row_count\":50000"));
  EXPECT_EQ(Sql("select sum(row_count) = 50000 and sum(length(text)) = " +
                std::to_string(file.size() - 13) + " from upload_part"),
            "t");
}

TEST_F(ApiHttp, AMissingKeyIsA401WhateverTheBody) {
  const std::string answer =
      Raw("POST /monitors HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 401"));
}

// Every refusal for the header comes although most of the body never does.
TEST_F(ApiHttp, G11_NoBodyIsReadBeforeItsHeaderIsChecked) {
  Tenant locked = NewTenant("locked");
  Sql("update organisation set locked = true where id = '" + locked.org_id + "'");
  const auto ask = [this](const std::string& line, const std::string& key) {
    // Whole, it would be refused for being no JSON.
    return RawUnfinished(line + " HTTP/1.1\r\nHost: x\r\nContent-Length: 16000000\r\n" + key +
                         "\r\n" + std::string(20000, 'x'));
  };
  EXPECT_THAT(ask("POST /nothing", ""), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(ask("PUT /monitors", ""), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(ask("POST /monitors", ""), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(ask("POST /monitors", "x-api-key: nonsense\r\n"), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(ask("POST /monitors", "x-api-key: vd_live_" + std::string(43, 'a') + "\r\n"),
              StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(ask("POST /monitors", "x-api-key: " + locked.key + "\r\n"),
              StartsWith("HTTP/1.1 403"));
  Sql("update rate_window set requests = 100000");
  const std::string refused = ask("POST /monitors", "x-api-key: " + locked.key + "\r\n");
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 429") || refused.starts_with("HTTP/1.1 403"))
      << refused;
}

TEST_F(ApiHttp, ABodyThatComesAfterItsHeaderIsTakenOnTheSameConnection) {
  const std::string body = base::DumpJson(GoodBody());
  std::string pieces;
  for (int i = 0; i < 2; ++i) {
    pieces += "POST /monitors HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n";
    pieces += "x-api-key: " + acme.key + (i == 1 ? "\r\nConnection: close" : "") + "\r\n\r\n";
    char size[32];
    snprintf(size, sizeof size, "%zx\r\n", body.size());
    pieces += size + body + "\r\n0\r\n\r\n";
  }
  const std::string answers = Raw(pieces);
  EXPECT_THAT(answers, StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(Sql("select count(*) from monitor"), "2");
}

}  // namespace
}  // namespace vedette::test
