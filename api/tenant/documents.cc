#include "api/tenant/documents.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "api/tenant/handlers.h"
#include "base/text.h"

namespace vedette::api {
namespace {

// The rendered page is longer than the literal that every compiler has to take; those in use take
// it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "api_documents.inc"
};
#pragma GCC diagnostic pop

std::string_view File(std::string_view name) {
  for (const auto& [file, text] : kFiles) {
    if (file == name) return text;
  }
  throw std::logic_error("no document is named " + std::string(name));
}

// What stands before `delimiter`, without blanks around it; `text` goes on behind it.
std::string_view TakeItem(std::string_view* text, char delimiter) {
  const std::string_view item = text->substr(0, text->find(delimiter));
  text->remove_prefix(std::min(item.size() + 1, text->size()));
  return base::Trim(item, base::kBlankSpace);
}

// Whether parameters such as "q=0.5" are without a weight of 0, 0.0 and the like.
bool HasWeight(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view one = TakeItem(&parameters, ';');
    const bool is_weight = one.starts_with("q=") || one.starts_with("Q=");
    if (is_weight && one.find_first_not_of("0. \t", 2) == std::string_view::npos) return false;
  }
  return true;
}

rest::Reply DocumentReply(Coding coding) {
  rest::Reply reply{200, {}, {{"Vary", "Accept-Encoding"}}};
  if (coding == Coding::kGzip) reply.headers.emplace_back("Content-Encoding", "gzip");
  return reply;
}

}  // namespace

std::optional<bool> Accepts(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    std::string_view item = TakeItem(&header, ',');
    if (base::EqualsIgnoringAsciiCase(TakeItem(&item, ';'), name)) return HasWeight(item);
  }
  return std::nullopt;
}

Coding CodingFor(std::string_view accept_encoding) {
  const bool any = Accepts(accept_encoding, "*").value_or(false);
  return Accepts(accept_encoding, "gzip").value_or(any) ? Coding::kGzip : Coding::kIdentity;
}

std::string_view OpenApiJson(Coding coding) {
  return File(coding == Coding::kGzip ? "openapi.json.gz" : "openapi.json");
}

std::string_view DocsHtml(Coding coding) {
  return File(coding == Coding::kGzip ? "docs.html.gz" : "docs.html");
}

std::string_view DocsPolicy() {
  return File("docs.policy");
}

rest::Handled ServeOpenApi(Call& call) {
  const Coding coding = CodingFor(call.request().Header("accept-encoding"));
  rest::Reply reply = DocumentReply(coding);
  reply.body = OpenApiJson(coding);
  return reply;
}

rest::Handled ServeDocs(Call& call) {
  const Coding coding = CodingFor(call.request().Header("accept-encoding"));
  rest::Reply reply = DocumentReply(coding);
  reply.body = DocsHtml(coding);
  reply.headers.emplace_back("Content-Type", "text/html; charset=utf-8");
  reply.headers.emplace_back("Content-Security-Policy", DocsPolicy());
  return reply;
}

}  // namespace vedette::api
