#include "store/workflows/templates.h"
#include "base/json.h"

#include <algorithm>
#include <utility>

#include "api/kit/cursor.h"
#include "api/kit/query_reader.h"
#include "api/tenant/handlers.h"
#include "api/tenant/workflows/workflow_calls.h"
#include "base/text.h"

// Templates of workflows: those that ship, then the organisation's own.
namespace vedette::api {
namespace {

using base::Json;
using domain::WorkflowTemplate;

constexpr int kTemplatesDefault = 50;
constexpr int kTemplatesMax = 100;

// A template, and whose it is.
struct Shown {
  WorkflowTemplate of;
  std::optional<base::Uuid> org_id;  // empty: everybody's
};

rest::CursorOf TemplatesOf(const Call& call, const base::Uuid& org_id) {
  return {'w', org_id, CellOf(call)};
}

// The blocks' names in the order of their numbers.
Json PreviewOf(const Json& definition) {
  std::vector<std::pair<int, std::string>> blocks;
  for (const Json& block : definition.at("blocks")) {
    blocks.emplace_back(block.at("sequence_number").get<int>(),
                        block.at("block_name").get<std::string>());
  }
  std::sort(blocks.begin(), blocks.end());
  Json names = Json::array();
  for (const auto& [number, name] : blocks) names.push_back(name);
  return names;
}

enum class Graph { kShown, kLeftOut };

Json TemplateJson(const Shown& shown, Graph graph) {
  const WorkflowTemplate& t = shown.of;
  Json json{{"key", shown.org_id ? shown.org_id->ToString() + ":" + t.slug : t.slug},
            {"scope", shown.org_id ? "org" : "global"},
            {"id", t.id.ToString()},
            {"slug", t.slug},
            {"name", t.name},
            {"description", t.description},
            {"category", t.category},
            {"difficulty", t.difficulty},
            {"estimated_time", t.estimated_time},
            {"use_case", t.use_case}};
  if (graph == Graph::kShown) {
    json["blocks"] = t.definition.at("blocks");
    json["edges"] = t.definition.at("edges");
  }
  json["internal"] = t.internal;
  json["author_name"] = t.author_name;
  json["tags"] = t.tags;
  json["featured"] = t.featured;
  json["preview_blocks"] = PreviewOf(t.definition);
  json["created_at"] = base::FormatTimestamp(t.created_at);
  json["updated_at"] = base::FormatTimestamp(t.updated_at);
  return json;
}

std::optional<Shown> Find(const Call& call, const std::string& key) {
  if (base::CountCharacters(key) > domain::kTemplateKeyCharsMax) return std::nullopt;
  const auto id = base::Uuid::Parse(key);
  for (const WorkflowTemplate& shipped : domain::ShippedTemplates()) {
    const bool named = id ? shipped.id == *id : shipped.slug == key;
    if (named && !shipped.internal) return Shown{shipped, std::nullopt};
  }
  if (!id) return std::nullopt;
  auto own = store::GetTemplate(call.session(), call.caller.org_id, *id);
  if (!own || own->internal) return std::nullopt;
  return Shown{std::move(*own), call.caller.org_id};
}

bool Fits(const WorkflowTemplate& shown, const store::TemplateFilter& filter) {
  return !shown.internal && (!filter.category || shown.category == *filter.category) &&
         (!filter.tag ||
          std::find(shown.tags.begin(), shown.tags.end(), *filter.tag) != shown.tags.end());
}

// At most `filter.limit` behind filter.after_id, those that ship first.
std::vector<Shown> ReadTemplates(const Call& call, store::TemplateFilter filter) {
  const std::vector<WorkflowTemplate>& shipped = domain::ShippedTemplates();
  auto next = shipped.begin();
  if (filter.after_id) {
    const auto last = std::find_if(shipped.begin(), shipped.end(),
                                   [&](const auto& one) { return one.id == *filter.after_id; });
    next = last == shipped.end() ? last : std::next(last);
    if (last != shipped.end()) filter.after_id.reset();  // the organisation's own are all to come
  }
  std::vector<Shown> read;
  for (; next != shipped.end() && static_cast<int>(read.size()) < filter.limit; ++next) {
    if (Fits(*next, filter)) read.push_back({*next, std::nullopt});
  }
  filter.limit -= static_cast<int>(read.size());
  if (filter.limit == 0) return read;
  for (WorkflowTemplate& own : store::ListTemplates(call.session(), filter)) {
    read.push_back({std::move(own), call.caller.org_id});
  }
  return read;
}

}  // namespace

std::optional<WorkflowTemplate> FindTemplate(const Call& call, const std::string& key) {
  auto found = Find(call, key);
  if (!found) return std::nullopt;
  return std::move(found->of);
}

rest::Handled ListTemplates(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  store::TemplateFilter filter{
      .org_id = call.caller.org_id, .category = query.Text("category"), .tag = query.Text("tag")};
  const int limit = query.Integer("limit", kTemplatesDefault, 1, kTemplatesMax);
  const auto cursor = query.Text("cursor");
  query.Finish();
  problems.Check();
  if (cursor) {
    filter.after_id = rest::DecodeIdCursor(TemplatesOf(call, call.caller.org_id), *cursor);
    if (!filter.after_id) return rest::InvalidCursor();
  }
  filter.limit = limit + 1;
  std::vector<Shown> read = ReadTemplates(call, std::move(filter));
  Json list{{"templates", Json::array()}};
  if (static_cast<int>(read.size()) > limit) {
    read.resize(static_cast<std::size_t>(limit));
    list["next_cursor"] =
        rest::EncodeCursor(TemplatesOf(call, call.caller.org_id), read.back().of.id);
  }
  for (const Shown& shown : read) {
    list["templates"].push_back(TemplateJson(shown, Graph::kLeftOut));
  }
  return rest::JsonReply(200, list);
}

rest::Handled ShowTemplate(Call& call) {
  const auto found = Find(call, call.params.at(0));
  if (!found) return rest::NotFound("template");
  return rest::JsonReply(200, TemplateJson(*found, Graph::kShown));
}

}  // namespace vedette::api
