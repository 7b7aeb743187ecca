// Saved lists of documents that counts leave out.
#include "store/search/exclusion_lists.h"

#include <utility>

#include "api/handlers.h"
#include "api/search/excluded_ids.h"
#include "rest/body_reader.h"

namespace vedette::api {
namespace {

namespace search = domain::search;
using rest::Presence;

constexpr std::size_t kNameCharsMax = 200;

rest::Reply NoList() {
  return rest::NotFound("exclusion list");
}

// The list that the path names, or a 404.
rest::Judged<store::ExclusionList> FindList(Call& call) {
  const auto id = base::Uuid::Parse(call.path_params.at(0));
  if (!id) return NoList();
  auto list = store::GetExclusionList(call.session, call.caller.org_id, *id);
  if (!list) return NoList();
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
  const auto name = body.FilledText("name", Presence::kRequired, kNameCharsMax);
  const auto type = body.Text("entity_type", Presence::kRequired, 0, kNameCharsMax);
  const auto mode = type ? search::ParseMode(*type) : std::nullopt;
  if (type && !mode) body.Refuse("entity_type", "Input should be 'people' or 'company'");
  if (auto refusal = body.Refusal()) return std::move(*refusal);
  const auto made =
      store::CreateExclusionList(call.session, call.parts.clock, call.caller.org_id, *name, *mode,
                                 AuditOf(call, "search_exclusion.create"));
  if (made) return rest::JsonReply(200, ListJson(*made));
  return rest::ErrorReply(409, "too_many_exclusion_lists",
                          "an organisation has at most " +
                              std::to_string(search::kExclusionListsMax) +
                              " exclusion lists: delete one");
}

rest::Handled ListExclusionLists(Call& call) {
  base::Json lists = base::Json::array();
  for (const auto& list : store::ListExclusionLists(call.session, call.caller.org_id)) {
    lists.push_back(ListJson(list));
  }
  return rest::JsonReply(200, {{"exclusion_lists", std::move(lists)}});
}

rest::Handled ShowExclusionList(Call& call) {
  auto found = FindList(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  return rest::JsonReply(200, ListJson(std::get<store::ExclusionList>(found)));
}

rest::Handled FillExclusionList(Call& call) {
  auto found = FindList(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  rest::Judged<rest::JsonBody> json = ReadJsonObject(call, BodyRulesOf(call));
  if (auto* reply = std::get_if<rest::Reply>(&json)) return std::move(*reply);
  rest::Problems problems;
  rest::BodyReader reader(std::get<rest::JsonBody>(json).members, &problems);
  const auto ids = ReadExcludedIds(&reader, "entity_ids", Presence::kRequired, &problems);
  reader.Finish();
  if (auto refusal = problems.Refusal()) return std::move(*refusal);
  const auto added = store::AddExclusions(call.session, call.parts.clock, call.caller.org_id,
                                          std::get<store::ExclusionList>(found).id, ids,
                                          AuditOf(call, "search_exclusion.fill"));
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
  auto found = FindList(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  if (auto reply = CheckEmptyBody(call)) return std::move(*reply);
  return ShownOrGone(store::FinishExclusionList(call.session, call.parts.clock, call.caller.org_id,
                                                std::get<store::ExclusionList>(found).id,
                                                AuditOf(call, "search_exclusion.ready")));
}

rest::Handled DeleteExclusionList(Call& call) {
  auto found = FindList(call);
  if (auto* reply = std::get_if<rest::Reply>(&found)) return std::move(*reply);
  const base::Uuid id = std::get<store::ExclusionList>(found).id;
  if (!store::DeleteExclusionList(call.session, call.parts.clock, call.caller.org_id, id,
                                  AuditOf(call, "search_exclusion.delete"))) {
    return NoList();
  }
  return rest::JsonReply(200, {{"id", id.ToString()}, {"deleted", true}});
}

}  // namespace vedette::api
