#include <string_view>
#include <utility>

#include "admin/handlers.h"

namespace vedette::admin {
namespace {

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "admin_console.inc"
};

constexpr std::string_view kIndex = "index.html";

// What is shown comes from pages and receivers that nobody here wrote: no script but our own files,
// no address but this port, and nobody may frame it.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view ContentType(std::string_view file) {
  if (file.ends_with(".html")) return "text/html; charset=utf-8";
  if (file.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (file.ends_with(".css")) return "text/css; charset=utf-8";
  if (file.ends_with(".svg")) return "image/svg+xml";
  return "text/plain; charset=utf-8";
}

rest::Reply Serve(std::string_view file) {
  for (const auto& [name, text] : kFiles) {
    if (name != file) continue;
    return {200,
            std::string(text),
            {{"Content-Type", std::string(ContentType(file))},
             {"Content-Security-Policy", std::string(kPolicy)},
             {"Referrer-Policy", "no-referrer"},
             {"X-Frame-Options", "DENY"},
             {"Cache-Control", "no-cache"}}};
  }
  return rest::NotFound("file");
}

}  // namespace

rest::Reply GetConsole(const Parts&, const Call&) {
  return Serve(kIndex);
}

rest::Reply GetConsoleAsset(const Parts&, const Call& call) {
  return Serve(call.name);
}

}  // namespace vedette::admin
