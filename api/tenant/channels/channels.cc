#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "api/kit/cursor.h"
#include "api/kit/query_reader.h"
#include "api/tenant/handlers.h"
#include "api/tenant/monitors/monitor_calls.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "config/config.h"
#include "domain/channel/channel.h"
#include "domain/channel/feed.h"
#include "domain/text/limits.h"
#include "store/channels/channels.h"

// The routes of channels, which are the organisation's, whatever the caller's team.
namespace vedette::api {
namespace {

using domain::ChannelKind;
using rest::Presence;

constexpr std::size_t kWordCharsMax = 200;
constexpr std::size_t kUrlReadCharsMax = 65536;  // longer is a 422, up to here a 400
constexpr std::string_view kNoDigest = "none";

rest::CursorOf ChannelsOf(const base::Uuid& org_id) {
  return {'c', org_id};
}

rest::Reply NoChannel() {
  return rest::NotFound("channel");
}

// The channel that the path names, or a 404.
store::Channel FindChannel(Call& call) {
  const auto id = base::Uuid::Parse(call.params.at(0));
  if (!id) throw rest::Refusal(NoChannel());
  auto channel = store::GetChannel(call.session(), call.caller.org_id, *id);
  if (!channel) throw rest::Refusal(NoChannel());
  return std::move(*channel);
}

// A feed has no address; what it shows in its place is where it is read.
base::Json TargetJson(const store::Channel& channel, const config::Config& config) {
  if (channel.kind == ChannelKind::kFeed) {
    return {
        {"url", config.public_url + domain::FeedPath(channel.id, config.security.encryption_key)}};
  }
  base::Json target{{"url", channel.shown_url}};
  if (channel.tag) target["tag"] = *channel.tag;
  return target;
}

base::Json ChannelJson(const store::Channel& channel, const config::Config& config) {
  base::Json events = base::Json::array();
  for (const auto type : channel.events) events.push_back(domain::NotificationTypeName(type));
  base::Json json{{"id", channel.id.ToString()},
                  {"name", channel.name},
                  {"kind", domain::ChannelKindName(channel.kind)},
                  {"target", TargetJson(channel, config)},
                  {"events", std::move(events)},
                  {"digest", channel.digest},
                  {"include_values", channel.include_values},
                  {"status", domain::ChannelStatusName(channel.status)},
                  {"created_at", base::FormatTimestamp(channel.created_at)}};
  if (channel.locale) json["locale"] = *channel.locale;
  if (channel.status_reason) json["status_reason"] = *channel.status_reason;
  return json;
}

// What a request says of the address.
struct Target {
  std::string url;
  std::optional<std::string> tag;
};

// A text member of `target`; nothing, and a problem, where it is none.
std::optional<std::string> TargetText(const base::Json& target, const std::string& name,
                                      std::size_t chars_max, rest::Problems* problems) {
  const base::Json loc = base::Json::array({"body", "target", name});
  if (!target.contains(name)) return std::nullopt;
  const base::Json& value = target.at(name);
  if (!value.is_string()) {
    problems->Add(loc, "string_type", "Input should be a string", value);
    return std::nullopt;
  }
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty() || base::CountCharacters(text) > chars_max) {
    problems->Add(loc, text.empty() ? "string_too_short" : "string_too_long",
                  fmt::format("String should have 1 to {} characters", chars_max), nullptr);
  }
  return text;
}

std::optional<Target> ReadTarget(rest::BodyReader* reader, Presence presence,
                                 const std::optional<ChannelKind>& kind, rest::Problems* problems) {
  const base::Json* value = reader->Member("target", presence);
  if (value == nullptr || !kind) return std::nullopt;
  const base::Json loc = rest::BodyReader::Loc("target");
  if (!value->is_object()) {
    problems->Add(loc, "dict_type", "Input should be an object", nullptr);
    return std::nullopt;
  }
  const bool takes_tag = *kind == ChannelKind::kApprise;
  for (const auto& [name, member] : value->items()) {
    if (name == "url" || (takes_tag && name == "tag")) continue;
    problems->Add(base::Json::array({"body", "target", rest::Shortened(name)}), "extra_forbidden",
                  takes_tag ? "The target of this kind has a url and a tag"
                            : "The target of this kind has a url alone",
                  nullptr);
  }
  auto url = TargetText(*value, "url", kUrlReadCharsMax, problems);
  if (!value->contains("url")) {
    problems->Add(base::Json::array({"body", "target", "url"}), "missing", "Field required");
  }
  auto tag =
      takes_tag ? TargetText(*value, "tag", domain::kChannelTagCharsMax, problems) : std::nullopt;
  if (!url) return std::nullopt;
  return Target{std::move(*url), std::move(tag)};
}

// The types in `events`, each once; at least one.
std::optional<std::vector<domain::NotificationType>> ReadEvents(rest::BodyReader* reader,
                                                                rest::Problems* problems) {
  const auto names = reader->Texts("events", Presence::kOptional);
  if (!names) return std::nullopt;
  std::vector<domain::NotificationType> types;
  for (std::size_t i = 0; i < names->size() && !problems->full(); ++i) {
    const auto type = domain::ParseNotificationType((*names)[i]);
    if (!type) {
      problems->Add(base::Json::array({"body", "events", i}), "enum",
                    "Input should be 'monitor.field.changed', 'monitor.execution.completed' or "
                    "'monitor.execution.failed'",
                    (*names)[i]);
    } else if (std::find(types.begin(), types.end(), *type) == types.end()) {
      types.push_back(*type);
    }
  }
  if (names->empty()) {
    problems->Add(rest::BodyReader::Loc("events"), "too_short", "Name at least one type");
  }
  return types;
}

std::optional<std::string> ReadDigest(rest::BodyReader* reader) {
  auto digest = reader->Text("digest", Presence::kOptional, 0, kWordCharsMax);
  if (digest && *digest != kNoDigest) reader->Refuse("digest", "Input should be 'none'");
  return digest;
}

store::ChannelUrl ToChannelUrl(const Call& call, ChannelKind kind, const Target& target) {
  const net::TenantUrlResult read = net::ParseTenantUrl(target.url, call.parts.policy);
  // Without the address, which may be a secret.
  if (!read.url) throw rest::Refusal(400, "invalid_target", "target.url: " + read.error->message);
  store::ChannelUrl url{ToWebhook(*read.url), std::nullopt, std::nullopt};
  if (!domain::HasSecretUrl(kind)) return url;
  url.sealed = store::Seal(call.parts.config.security, target.url,
                           store::ChannelUrlBinding(call.caller.org_id));
  url.shown = domain::ShownUrl(read.url->scheme, read.url->host, target.url);
  return url;
}

}  // namespace

rest::Handled CreateChannel(Call& call) {
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  rest::BodyReader reader(json.members, &problems);
  store::NewChannel channel;
  channel.name =
      reader.FilledText("name", Presence::kRequired, domain::kChannelNameCharsMax).value_or("");
  const auto kind_name = reader.Text("kind", Presence::kRequired, 0, kWordCharsMax);
  const auto kind = kind_name ? domain::ParseChannelKind(*kind_name) : std::nullopt;
  if (kind_name && !kind) {
    reader.Refuse("kind", "Input should be " + domain::ChannelKindNames());
  }
  const bool has_target = kind && *kind != ChannelKind::kFeed;
  const auto target = has_target ? ReadTarget(&reader, Presence::kRequired, kind, &problems)
                                 : std::optional<Target>();
  if (!has_target && kind && reader.Has("target")) reader.Refuse("target", "A feed has no target");
  if (!kind) reader.Has("target");
  channel.events = ReadEvents(&reader, &problems)
                       .value_or(std::vector{domain::NotificationType::kChanged,
                                             domain::NotificationType::kFailed});
  channel.digest = ReadDigest(&reader).value_or(std::string(kNoDigest));
  channel.include_values = reader.Boolean("include_values", Presence::kOptional).value_or(true);
  channel.locale = reader.Text("locale", Presence::kOptional, 1, kWordCharsMax);
  reader.Finish();
  problems.Check();
  channel.kind = *kind;
  if (target) {
    channel.url = ToChannelUrl(call, *kind, *target);
    channel.tag = target->tag;
  }
  const auto made = store::CreateChannel(call.session(), call.parts.clock, call.caller.org_id,
                                         channel, AuditOf(call, "channel.create"));
  if (made) return rest::JsonReply(200, ChannelJson(*made, call.parts.config));
  return rest::ErrorReply(
      409, "too_many_channels",
      fmt::format("an organisation has at most {} channels: delete one", domain::kChannelsMax));
}

rest::Handled ListChannels(Call& call) {
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  query.Finish({"cursor"});
  problems.Check();
  const rest::CursorOf list = ChannelsOf(call.caller.org_id);
  std::optional<base::Uuid> before;
  if (const auto cursor = query.Text("cursor")) {
    before = rest::DecodeIdCursor(list, *cursor);
    if (!before) return rest::InvalidCursor();
  }
  const auto page = rest::CutPage(
      store::ListChannels(call.session(), call.caller.org_id, before, limit + 1), limit,
      [&](const store::Channel& channel) { return rest::EncodeCursor(list, channel.id); });
  return rest::Reply{
      200, rest::PageText("channels", page, [&](const store::Channel& channel, std::string* text) {
        text->append(base::DumpJson(ChannelJson(channel, call.parts.config)));
      })};
}

rest::Handled ShowChannel(Call& call) {
  const auto found = FindChannel(call);
  return rest::JsonReply(200, ChannelJson(found, call.parts.config));
}

rest::Handled UpdateChannel(Call& call) {
  const auto found = FindChannel(call);
  const base::Uuid id = found.id;
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  if (json.members.empty()) {
    problems.Add(base::Json::array({"body"}), "too_short", "Name at least one field to change");
  }
  rest::BodyReader reader(json.members, &problems);
  store::ChannelChange change;
  change.name = reader.FilledText("name", Presence::kOptional, domain::kChannelNameCharsMax);
  const bool has_target = found.kind != ChannelKind::kFeed;
  const auto target = has_target ? ReadTarget(&reader, Presence::kOptional, found.kind, &problems)
                                 : std::optional<Target>();
  change.events = ReadEvents(&reader, &problems);
  change.digest = ReadDigest(&reader);
  change.include_values = reader.Boolean("include_values", Presence::kOptional);
  if (reader.Has("kind")) reader.Refuse("kind", "The kind is fixed: make another channel");
  reader.Finish();
  problems.Check();
  if (target) {
    change.url = ToChannelUrl(call, found.kind, *target);
    change.tag = target->tag;
  }
  const auto changed = store::UpdateChannel(call.session(), call.parts.clock, call.caller.org_id,
                                            id, change, AuditOf(call, "channel.update"));
  return changed ? rest::JsonReply(200, ChannelJson(*changed, call.parts.config)) : NoChannel();
}

rest::Handled DeleteChannel(Call& call) {
  const auto found = FindChannel(call);
  const base::Uuid id = found.id;
  if (!store::DeleteChannel(call.session(), call.parts.clock, call.caller.org_id, id,
                            AuditOf(call, "channel.delete"))) {
    return NoChannel();
  }
  return rest::JsonReply(200, {{"id", id.ToString()}, {"deleted", true}});
}

rest::Handled TestChannel(Call& call) {
  const auto found = FindChannel(call);
  CheckEmptyBody(call);
  if (found.kind == ChannelKind::kFeed) return rest::Conflict("a feed is read, and told nothing");
  call.parts.webhook_tester.Test(
      {call.caller.org_id, base::Uuid(), found.shown_url, std::nullopt, found.id},
      [answer = call.answer](const WebhookTestOutcome& outcome) {
        answer->Send(TestReply(outcome));
      });
  return rest::Parked{};
}

// What the token does not open is not there.
rest::Handled ShowFeed(Call& call) {
  const config::Config& config = call.parts.config;
  std::vector<std::string> keys = config.security.encryption_keys_old;
  keys.insert(keys.begin(), config.security.encryption_key);
  rest::Problems problems;
  const rest::QueryReader query(call.request().query, &problems);
  const auto id = base::Uuid::Parse(call.params.at(0));
  if (!id || !domain::IsFeedToken(*id, query.Text("token").value_or(""), keys)) return NoChannel();
  const auto feed = store::ReadFeed(call.session(), *id);
  if (!feed) return NoChannel();
  std::string text =
      domain::FeedDocument(*feed, config.public_url, domain::FeedPath(*id, keys.front()));
  constexpr std::size_t kTagChars = 32;
  const std::string tag = '"' + base::HexEncode(base::Sha256(text)).substr(0, kTagChars) + '"';
  for (const auto& [name, value] : call.request().headers) {
    if (name == "if-none-match" && value.find(tag) != std::string::npos) {
      return rest::Reply{304, "", {{"ETag", tag}}};
    }
  }
  return rest::Reply{200,
                     std::move(text),
                     {{"Content-Type", "application/atom+xml; charset=utf-8"}, {"ETag", tag}}};
}

}  // namespace vedette::api
