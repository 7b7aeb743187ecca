// The pages of the dashboard: files that are compiled in.
#include <string>
#include <string_view>
#include <utility>

#include "api/tenant/dashboard/dashboard.h"
#include "api/tenant/handlers.h"

namespace vedette::api {
namespace {

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "api_dashboard.inc"
};

// What is shown comes from pages and people that nobody here wrote: no script but our own files, no
// address but this port, and nobody may frame it.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view ContentType(std::string_view file) {
  if (file.ends_with(".html")) return "text/html; charset=utf-8";
  if (file.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (file.ends_with(".css")) return "text/css; charset=utf-8";
  return "image/svg+xml";
}

rest::Reply Serve(const Call& call, std::string_view file) {
  CheckDashboard(call);
  for (const auto& [name, text] : kFiles) {
    if (name != file) continue;
    return {200,
            std::string(text),
            {{"Content-Type", std::string(ContentType(file))},
             {"Content-Security-Policy", std::string(kPolicy)},
             {"Cross-Origin-Opener-Policy", "same-origin"},
             {"Referrer-Policy", "no-referrer"},
             {"X-Content-Type-Options", "nosniff"},
             {"X-Frame-Options", "DENY"},
             {"Cache-Control", "no-cache"}}};
  }
  return rest::NotFound("file");
}

}  // namespace

rest::Handled ShowDashboard(Call& call) {
  return Serve(call, "index.html");
}

rest::Handled ShowDashboardAsset(Call& call) {
  return Serve(call, call.params.back());
}

}  // namespace vedette::api
