// Documents whose field values are counted, batch by batch.
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "api/operator/handlers.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/search/documents.h"
#include "domain/text/limits.h"
#include "store/search/field_values.h"

namespace vedette::admin {
namespace {

namespace search = domain::search;

// How long one call counts fields before it answers that there are more.
constexpr std::chrono::milliseconds kCountingTime{5000};
constexpr int kFirstLineMax = 1'000'000'000;

struct ImportBody {
  store::ImportTarget target;
  int first_line = 0;
  std::vector<std::string> lines;
  bool is_last = false;
};

ImportBody ReadImportBody(CallBody* body) {
  ImportBody read;
  if (const auto id = body->Id("import_id", rest::Presence::kRequired)) read.target.import_id = *id;
  const auto mode = body->Text("mode", rest::Presence::kRequired, 0, domain::kNameCharsMax);
  const auto known = mode ? search::ParseMode(*mode) : std::nullopt;
  if (known) read.target.mode = *known;
  if (mode && !known) body->Refuse("mode", "Input should be 'people' or 'company'");
  read.target.org_id = body->Id("org_id", rest::Presence::kOptional);
  read.first_line =
      body->Integer("first_line", rest::Presence::kRequired, 0, kFirstLineMax).value_or(0);
  read.lines = body->Texts("lines", rest::Presence::kRequired).value_or(std::vector<std::string>());
  if (read.lines.size() > search::kImportBatchLinesMax) {
    body->Refuse("lines",
                 fmt::format("Input should have at most {} items", search::kImportBatchLinesMax));
  }
  read.is_last = body->Boolean("last", rest::Presence::kOptional).value_or(false);
  return read;
}

rest::Reply ProgressReply(const base::Uuid& import_id, const store::ImportProgress& progress) {
  return rest::JsonReply(
      200, {{"import_id", import_id.ToString()},
            {"state", search::ImportStateName(progress.state)},
            {"lines", progress.lines},
            {"documents", progress.documents ? base::Json(*progress.documents) : nullptr}});
}

store::AuditEntry AuditOfImport(const Call& call, const ImportBody& body) {
  store::AuditEntry audit = AuditOf(call, "search.import", std::nullopt);
  audit.target = body.target.import_id.ToString();
  audit.org_id = body.target.org_id;
  return audit;
}

}  // namespace

rest::Handled PostSearchImport(Call& call) {
  CallBody given(call);
  const ImportBody body = ReadImportBody(&given);
  given.Check();
  std::vector<search::Document> documents;
  for (std::size_t i = 0; i < body.lines.size(); ++i) {
    if (base::Trim(body.lines[i]).empty()) continue;
    auto read = search::ReadDocument(body.lines[i]);
    if (const auto* why = std::get_if<std::string>(&read)) {
      const auto line = static_cast<std::size_t>(body.first_line) + i + 1;
      return rest::ErrorReply(400, "malformed_line", fmt::format("line {}: {}", line, *why));
    }
    documents.push_back(std::move(std::get<search::Document>(read)));
  }
  const auto lines = static_cast<std::int64_t>(body.lines.size());
  const store::ImportOutcome outcome = store::TakeDocuments(
      call.session(), body.target, body.first_line, lines, std::move(documents));
  if (std::holds_alternative<store::ImportOrgNotFound>(outcome)) {
    return rest::NotFound("organisation");
  }
  if (std::holds_alternative<store::ImportOfAnother>(outcome)) {
    return rest::Conflict("this id is that of an import of another mode or organisation");
  }
  auto progress = std::get<store::ImportProgress>(outcome);
  // A batch that was not the next one is not the last one either.
  if (body.is_last && progress.lines == body.first_line + lines) {
    progress = store::FinishImport(call.session(), call.parts.clock, body.target,
                                   call.parts.fields.of(body.target.mode), kCountingTime,
                                   AuditOfImport(call, body));
  }
  return ProgressReply(body.target.import_id, progress);
}

}  // namespace vedette::admin
