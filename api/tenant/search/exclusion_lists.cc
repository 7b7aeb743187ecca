#include "api/tenant/search/exclusion_lists.h"

#include <utility>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "api/tenant/handlers.h"
#include "base/json.h"
#include "base/text.h"
#include "domain/search/documents.h"
#include "domain/text/limits.h"
#include "store/search/exclusion_lists.h"

namespace vedette::api {

std::vector<std::string> ReadExcludedIds(rest::BodyReader* reader, std::string_view name,
                                         rest::Presence presence, rest::Problems* problems) {
  constexpr std::size_t kMax = domain::search::kExcludedIdsMax;
  constexpr std::size_t kCharsMax = domain::search::kDocumentIdCharsMax;
  auto ids = reader->Texts(name, presence);
  if (!ids) return {};
  const base::Json loc = rest::BodyReader::Loc(name);
  if (ids->empty() && presence == rest::Presence::kRequired) {
    problems->Add(loc, "too_short", "List should have at least 1 item", base::Json::array());
  }
  if (ids->size() > kMax) {
    problems->Add(loc, "too_long", fmt::format("List should have at most {} items", kMax), nullptr);
    return {};
  }
  for (std::size_t i = 0; i < ids->size(); ++i) {
    const std::size_t chars = base::CountCharacters((*ids)[i]);
    if (chars >= 1 && chars <= kCharsMax) continue;
    problems->Add(base::Json::array({"body", name, i}),
                  chars == 0 ? "string_too_short" : "string_too_long",
                  fmt::format("String should have 1 to {} characters", kCharsMax), nullptr);
  }
  return std::move(*ids);
}

// Saved lists of documents that counts leave out.

namespace {

namespace search = domain::search;
using rest::Presence;

rest::Reply NoList() {
  return rest::NotFound("exclusion list");
}

// The list that the path names, or a 404.
store::ExclusionList FindList(Call& call) {
  const auto id = base::Uuid::Parse(call.params.at(0));
  if (!id) throw rest::Refusal(NoList());
  auto list = store::GetExclusionList(call.session(), call.caller.org_id, *id);
  if (!list) throw rest::Refusal(NoList());
  return std::move(*list);
}

base::Json ListJson(const store::ExclusionList& list) {
  return {{"id", list.id.ToString()},
          {"name", list.name},
          {"entity_type", search::ModeName(list.mode)},
          {"state", search::ExclusionListStateName(list.state)},
          {"entity_count", list.entities},
          {"created_at", base::FormatTimestamp(list.created_at)},
          {"updated_at", base::FormatTimestamp(list.updated_at)}};
}

rest::Reply ShownOrGone(const std::optional<store::ExclusionList>& list) {
  return list ? rest::JsonReply(200, ListJson(*list)) : NoList();
}

}  // namespace

rest::Handled CreateExclusionList(Call& call) {
  rest::BodyReader body(call.request(), BodyRulesOf(call), rest::Nulls::kAbsent);
  const auto name = body.FilledText("name", Presence::kRequired, domain::kNameCharsMax);
  const auto type = body.Text("entity_type", Presence::kRequired, 0, domain::kNameCharsMax);
  const auto mode = type ? search::ParseMode(*type) : std::nullopt;
  if (type && !mode) body.Refuse("entity_type", "Input should be 'people' or 'company'");
  body.Check();
  const auto made =
      store::CreateExclusionList(call.session(), call.parts.clock, call.caller.org_id, *name, *mode,
                                 AuditOf(call, "search_exclusion.create"));
  if (made) return rest::JsonReply(200, ListJson(*made));
  return rest::ErrorReply(409, "too_many_exclusion_lists",
                          "an organisation has at most " +
                              std::to_string(search::kExclusionListsMax) +
                              " exclusion lists: delete one");
}

rest::Handled ListExclusionLists(Call& call) {
  base::Json lists = base::Json::array();
  for (const auto& list : store::ListExclusionLists(call.session(), call.caller.org_id)) {
    lists.push_back(ListJson(list));
  }
  return rest::JsonReply(200, {{"exclusion_lists", std::move(lists)}});
}

rest::Handled ShowExclusionList(Call& call) {
  const auto found = FindList(call);
  return rest::JsonReply(200, ListJson(found));
}

rest::Handled FillExclusionList(Call& call) {
  const auto found = FindList(call);
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  rest::BodyReader reader(json.members, &problems);
  const auto ids = ReadExcludedIds(&reader, "entity_ids", Presence::kRequired, &problems);
  reader.Finish();
  problems.Check();
  const auto added = store::AddExclusions(call.session(), call.parts.clock, call.caller.org_id,
                                          found.id, ids, AuditOf(call, "search_exclusion.fill"));
  switch (added.kind) {
    case store::ExclusionsAdded::Kind::kAdded:
      return rest::JsonReply(200, ListJson(added.list));
    case store::ExclusionsAdded::Kind::kReady:
      return rest::ErrorReply(409, "exclusion_list_ready",
                              "the exclusion list is ready and takes no more");
    case store::ExclusionsAdded::Kind::kFull:
      return rest::ErrorReply(409, "exclusion_list_full",
                              "an exclusion list has at most " +
                                  std::to_string(search::kExclusionListIdsMax) +
                                  " ids; nothing was added");
    case store::ExclusionsAdded::Kind::kNoList:
      break;
  }
  return NoList();
}

rest::Handled FinishExclusionList(Call& call) {
  const auto found = FindList(call);
  CheckEmptyBody(call);
  return ShownOrGone(store::FinishExclusionList(call.session(), call.parts.clock,
                                                call.caller.org_id, found.id,
                                                AuditOf(call, "search_exclusion.ready")));
}

rest::Handled DeleteExclusionList(Call& call) {
  const auto found = FindList(call);
  const base::Uuid id = found.id;
  if (!store::DeleteExclusionList(call.session(), call.parts.clock, call.caller.org_id, id,
                                  AuditOf(call, "search_exclusion.delete"))) {
    return NoList();
  }
  return rest::JsonReply(200, {{"id", id.ToString()}, {"deleted", true}});
}

}  // namespace vedette::api
