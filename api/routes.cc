#include "api/routes.h"

#include <array>
#include <stdexcept>

#include "api/handlers.h"

namespace vedette::api {
namespace {

// Literal segments before parameters: the first match counts.
constexpr std::array kRoutes{
    Route{"GET", "/openapi.json"},
    Route{"GET", "/docs"},
    Route{"POST", "/storage/csv/upload", Body::kUpload, UploadCsv},
    Route{"POST", "/monitors", Body::kJson, CreateMonitor},
    Route{"GET", "/monitors", Body::kNone, ListMonitors},
    Route{"GET", "/monitors/for-run/{run_id}", Body::kNone, ListMonitorsForRun},
    Route{"GET", "/monitors/{monitor_id}", Body::kNone, ShowMonitor},
    Route{"POST", "/monitors/{monitor_id}/update", Body::kJson, UpdateMonitor},
    Route{"POST", "/monitors/{monitor_id}/cancel", Body::kJson, CancelMonitor},
    Route{"POST", "/monitors/{monitor_id}/trigger", Body::kJson, TriggerMonitor},
    Route{"GET", "/monitors/{monitor_id}/rows", Body::kNone, ListRows},
    Route{"POST", "/monitors/{monitor_id}/rows", Body::kJson, AddRows},
    Route{"POST", "/monitors/{monitor_id}/rows/{row_id}/update", Body::kJson, SwitchRow},
    Route{"GET", "/monitors/{monitor_id}/rows/{row_id}/events", Body::kNone, ListEvents},
    Route{"GET", "/monitors/{monitor_id}/ticks", Body::kNone, ListTicks},
    Route{"POST", "/monitors/{monitor_id}/webhook/test", Body::kJson, TestWebhook},
};

std::vector<std::string_view> Segments(std::string_view path) {
  std::vector<std::string_view> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  for (;;) {
    const std::size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

std::optional<std::vector<std::string>> MatchPattern(
    std::string_view pattern, const std::vector<std::string_view>& segments) {
  const std::vector<std::string_view> wanted = Segments(pattern);
  if (wanted.size() != segments.size()) return std::nullopt;
  std::vector<std::string> params;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].starts_with('{')) {
      if (wanted[i] != segments[i]) return std::nullopt;
      continue;
    }
    if (segments[i].empty()) return std::nullopt;
    try {
      params.push_back(net::PercentDecode(segments[i], false));
    } catch (const std::invalid_argument&) {
      return std::nullopt;
    }
  }
  return params;
}

}  // namespace

std::span<const Route> Routes() {
  return kRoutes;
}

std::optional<Match> FindRoute(std::string_view method, std::string_view path) {
  const std::vector<std::string_view> segments = Segments(path);
  for (const Route& route : kRoutes) {
    if (route.method != method) continue;
    if (auto params = MatchPattern(route.pattern, segments)) {
      return Match{&route, std::move(*params)};
    }
  }
  return std::nullopt;
}

std::string AllowedMethods(std::string_view path) {
  const std::vector<std::string_view> segments = Segments(path);
  std::string methods;
  for (const Route& route : kRoutes) {
    if (!MatchPattern(route.pattern, segments)) continue;
    if (!methods.empty()) methods += ", ";
    methods += route.method;
  }
  return methods;
}

}  // namespace vedette::api
