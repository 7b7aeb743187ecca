#include "api/kit/router.h"

#include <fmt/format.h>

#include <stdexcept>

#include "net/http_server.h"

namespace vedette::rest {
namespace {

// The first segment of a path that starts with '/', which is taken off.
std::string_view TakeSegment(std::string_view* path) {
  path->remove_prefix(1);
  const std::string_view segment = path->substr(0, path->find('/'));
  path->remove_prefix(segment.size());
  return segment;
}

}  // namespace

std::optional<std::vector<std::string>> MatchPattern(std::string_view pattern,
                                                     std::string_view path) {
  std::vector<std::string> params;
  while (!pattern.empty() && path.starts_with('/')) {
    const std::string_view expected = TakeSegment(&pattern);
    const std::string_view given = TakeSegment(&path);
    if (!expected.starts_with('{')) {
      if (expected != given) return std::nullopt;
      continue;
    }
    if (given.empty()) return std::nullopt;
    try {
      params.push_back(net::PercentDecode(given, false));
    } catch (const std::invalid_argument&) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return params;
}

base::Uuid IdOrRefuse(const std::string& text, std::string_view what) {
  const auto id = base::Uuid::Parse(text);
  if (!id) throw Refusal(NotFound(what));
  return *id;
}

Reply NoSuchPath(std::string_view path, std::string_view hint) {
  return ErrorReply(
      404, "not_found",
      fmt::format("there is nothing at {}{}{}", Quoted(path), hint.empty() ? "" : "; ", hint));
}

Reply WrongMethod(std::string_view method, std::string_view allowed) {
  Reply reply =
      ErrorReply(405, "method_not_allowed",
                 fmt::format("this path does not take {}, but {}", Quoted(method), allowed));
  reply.headers.emplace_back("Allow", allowed);
  return reply;
}

}  // namespace vedette::rest
