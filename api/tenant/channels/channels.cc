#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "api/kit/cursor.h"
#include "api/kit/query_reader.h"
#include "api/tenant/api.h"
#include "api/tenant/channels/channel_ids.h"
#include "api/tenant/handlers.h"
#include "api/tenant/monitors/monitor_calls.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "config/auth_config.h"
#include "config/delivery_config.h"
#include "config/parts.h"
#include "config/security_config.h"
#include "domain/auth/cell.h"
#include "domain/channel/channel.h"
#include "domain/channel/digest.h"
#include "domain/channel/feed.h"
#include "domain/channel/mail.h"
#include "domain/job/webhook.h"
#include "domain/text/limits.h"
#include "store/channels/channels.h"
#include "store/channels/digests.h"
#include "store/deliveries/delivery_views.h"

// The routes of channels. A caller with a team sees and changes those of the team alone: a channel
// shows, and leads elsewhere, what monitors that name it see.
namespace vedette::api {
namespace {

using domain::ChannelKind;
using rest::Presence;

rest::CursorOf ChannelsOf(const Call& call, const base::Uuid& org_id) {
  return {'c', org_id, CellOf(call)};
}

rest::Reply NoChannel() {
  return rest::NotFound("channel");
}

// The channel that the path names, or a 404.
store::Channel FindChannel(Call& call) {
  const auto id = base::Uuid::Parse(call.params.at(0));
  if (!id) throw rest::Refusal(NoChannel());
  auto channel = store::GetChannel(call.session(), call.caller.scope(), *id);
  if (!channel) throw rest::Refusal(NoChannel());
  return std::move(*channel);
}

// A feed has no address; what it shows in its place is where it is read. Its token opens it for
// everybody, and is the organisation's alone to see.
base::Json TargetJson(const store::Channel& channel, const Call& call) {
  if (channel.kind == ChannelKind::kFeed) {
    const config::Config& config = call.parts.config;
    std::string path = domain::FeedPath(channel.id, config.security.encryption_key) +
                       domain::CellQuery(config.cell.id);
    if (IsOperator(call.caller.principal.label, call.caller.principal.id)) {
      path.resize(path.find('?'));
    }
    return {{"url", config.public_url + path}};
  }
  if (channel.kind == ChannelKind::kEmail) {
    base::Json addresses = base::Json::array();
    for (const auto& recipient : channel.recipients) {
      if (!recipient.address.empty()) addresses.push_back(recipient.address);
    }
    return {{"addresses", std::move(addresses)}};
  }
  base::Json target{{"url", channel.shown_url}};
  if (channel.tag) target["tag"] = *channel.tag;
  return target;
}

// Each address with what became of it.
base::Json RecipientsJson(const store::Channel& channel) {
  base::Json recipients = base::Json::array();
  for (const auto& recipient : channel.recipients) {
    if (recipient.address.empty()) continue;
    base::Json& json = recipients.emplace_back(base::Json{
        {"address", recipient.address}, {"status", domain::MailStatusName(recipient.status)}});
    if (recipient.reason) json["status_reason"] = *recipient.reason;
  }
  return recipients;
}

base::Json ChannelJson(const store::Channel& channel, const Call& call) {
  base::Json events = base::Json::array();
  for (const auto type : channel.events) events.push_back(domain::NotificationTypeName(type));
  base::Json json{{"id", channel.id.ToString()},
                  {"team_id", base::OrNull(channel.team_id)},
                  {"name", channel.name},
                  {"kind", domain::ChannelKindName(channel.kind)},
                  {"target", TargetJson(channel, call)},
                  {"events", std::move(events)},
                  {"digest", channel.digest},
                  {"include_values", channel.include_values},
                  {"status", domain::ChannelStatusName(channel.status)},
                  {"created_at", base::FormatTimestamp(channel.created_at)}};
  if (channel.locale) json["locale"] = *channel.locale;
  if (channel.status_reason) json["status_reason"] = *channel.status_reason;
  if (channel.kind == ChannelKind::kEmail) json["recipients"] = RecipientsJson(channel);
  return json;
}

// What a request says of the address.
struct Target {
  std::string url{};
  std::optional<std::string> tag{};
  std::optional<std::vector<std::string>> addresses{};  // of kind email, which has no url
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

// The addresses of a target, each mailbox once.
std::optional<Target> ReadAddresses(const base::Json& target, rest::Problems* problems) {
  const base::Json loc = base::Json::array({"body", "target", "addresses"});
  for (const auto& [name, member] : target.items()) {
    if (name == "addresses") continue;
    problems->Add(base::Json::array({"body", "target", rest::Shortened(name)}), "extra_forbidden",
                  "The target of this kind has addresses alone", nullptr);
  }
  const auto given = target.find("addresses");
  if (given == target.end()) {
    problems->Add(loc, "missing", "Field required");
    return std::nullopt;
  }
  if (!given->is_array() || given->empty() || given->size() > domain::kMailAddressesMax) {
    problems->Add(
        loc, "list_type",
        fmt::format("Input should be an array of 1 to {} addresses", domain::kMailAddressesMax),
        nullptr);
    return std::nullopt;
  }
  std::vector<std::string> addresses;
  std::vector<std::string> digests;
  for (std::size_t i = 0; i < given->size(); ++i) {
    const base::Json& value = given->at(i);
    std::string digest =
        value.is_string() ? domain::MailDigest(value.get_ref<const std::string&>()) : "";
    if (digest.empty()) {
      problems->Add(base::Json::array({"body", "target", "addresses", i}), "value_error",
                    "Input should be an address in ASCII, whose local part needs no quotes",
                    nullptr);
    } else if (std::find(digests.begin(), digests.end(), digest) == digests.end()) {
      digests.push_back(std::move(digest));
      addresses.push_back(value.get<std::string>());
    }
  }
  return Target{.addresses = std::move(addresses)};
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
  if (*kind == ChannelKind::kEmail) return ReadAddresses(*value, problems);
  const bool takes_tag = *kind == ChannelKind::kApprise;
  for (const auto& [name, member] : value->items()) {
    if (name == "url" || (takes_tag && name == "tag")) continue;
    problems->Add(base::Json::array({"body", "target", rest::Shortened(name)}), "extra_forbidden",
                  takes_tag ? "The target of this kind has a url and a tag"
                            : "The target of this kind has a url alone",
                  nullptr);
  }
  auto url = TargetText(*value, "url", domain::kUrlReadCharsMax, problems);
  if (!value->contains("url")) {
    problems->Add(base::Json::array({"body", "target", "url"}), "missing", "Field required");
  }
  auto tag =
      takes_tag ? TargetText(*value, "tag", domain::kChannelTagCharsMax, problems) : std::nullopt;
  if (!url) return std::nullopt;
  return Target{std::move(*url), std::move(tag), std::nullopt};
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

std::optional<std::string> ReadDigest(rest::BodyReader* reader,
                                      const std::optional<ChannelKind>& kind) {
  auto digest = reader->Text("digest", Presence::kOptional, 0, domain::kWordCharsMax);
  if (!digest || *digest == domain::kNoDigest) return digest;
  const auto read = domain::Digest::Read(*digest);
  if (const auto* fault = std::get_if<std::string>(&read)) {
    reader->Refuse("digest", *fault);
  } else if (kind == ChannelKind::kFeed) {
    reader->Refuse("digest", "A feed is read, and has no digest");
  }
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

std::vector<base::Uuid> ReadChannelIds(rest::BodyReader* reader, rest::Problems* problems) {
  constexpr std::size_t kMax = domain::kMonitorChannelsMax;
  std::vector<base::Uuid> ids;
  const auto texts = reader->Texts("channel_ids", rest::Presence::kOptional);
  if (!texts) return ids;
  if (texts->size() > kMax) {
    problems->Add(rest::BodyReader::Loc("channel_ids"), "too_long",
                  fmt::format("List should have at most {} items", kMax), nullptr,
                  {{"max_length", kMax}});
    return ids;
  }
  for (std::size_t i = 0; i < texts->size(); ++i) {
    const auto id = base::Uuid::Parse((*texts)[i]);
    if (!id) {
      problems->Add(base::Json::array({"body", "channel_ids", i}), "uuid_parsing",
                    "Input should be the id of a channel", rest::Shortened((*texts)[i]));
    } else if (std::find(ids.begin(), ids.end(), *id) == ids.end()) {
      ids.push_back(*id);
    }
  }
  return ids;
}

void CheckChannels(const Call& call, const std::vector<base::Uuid>& ids) {
  if (ids.empty() || store::MayName(call.session(), call.caller.scope(), ids)) return;
  throw rest::Refusal(rest::NotFound("channel"));
}

rest::Handled CreateChannel(Call& call) {
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  rest::BodyReader reader(json.members, &problems);
  store::NewChannel channel;
  channel.name =
      reader.FilledText("name", Presence::kRequired, domain::kChannelNameCharsMax).value_or("");
  const auto kind_name = reader.Text("kind", Presence::kRequired, 0, domain::kWordCharsMax);
  const auto kind = kind_name ? domain::ParseChannelKind(*kind_name) : std::nullopt;
  if (kind_name && !kind) {
    reader.Refuse("kind", "Input should be " + domain::ChannelKindNames());
  } else if (kind == ChannelKind::kEmail && call.parts.config.mail.relay.empty()) {
    reader.Refuse("kind", "E-mail needs a relay, and the operator has none: [mail] relay");
  }
  const bool has_target = kind && *kind != ChannelKind::kFeed;
  const auto target = has_target ? ReadTarget(&reader, Presence::kRequired, kind, &problems)
                                 : std::optional<Target>();
  if (!has_target && kind && reader.Has("target")) reader.Refuse("target", "A feed has no target");
  if (!kind) reader.Has("target");
  channel.events = ReadEvents(&reader, &problems)
                       .value_or(std::vector{domain::NotificationType::kChanged,
                                             domain::NotificationType::kFailed});
  channel.digest = ReadDigest(&reader, kind).value_or(std::string(domain::kNoDigest));
  channel.include_values = reader.Boolean("include_values", Presence::kOptional).value_or(true);
  channel.locale = reader.Text("locale", Presence::kOptional, 1, domain::kWordCharsMax);
  reader.Finish();
  problems.Check();
  channel.team_id = call.caller.team_id;
  channel.kind = *kind;
  if (target) {
    if (!target->addresses) channel.url = ToChannelUrl(call, *kind, *target);
    channel.tag = target->tag;
    channel.addresses = target->addresses;
  }
  const auto made = store::CreateChannel(call.session(), call.parts.clock, call.caller.org_id,
                                         channel, AuditOf(call, "channel.create"));
  if (made) return rest::JsonReply(200, ChannelJson(*made, call));
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
  const rest::CursorOf list = ChannelsOf(call, call.caller.org_id);
  std::optional<base::Uuid> before;
  if (const auto cursor = query.Text("cursor")) {
    before = rest::DecodeIdCursor(list, *cursor);
    if (!before) return rest::InvalidCursor();
  }
  const auto page = rest::CutPage(
      store::ListChannels(call.session(), call.caller.scope(), before, limit + 1), limit,
      [&](const store::Channel& channel) { return rest::EncodeCursor(list, channel.id); });
  return rest::Reply{
      200, rest::PageText("channels", page, [&](const store::Channel& channel, std::string* text) {
        text->append(base::DumpJson(ChannelJson(channel, call)));
      })};
}

rest::Handled ShowChannel(Call& call) {
  const auto found = FindChannel(call);
  return rest::JsonReply(200, ChannelJson(found, call));
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
  change.digest = ReadDigest(&reader, found.kind);
  change.include_values = reader.Boolean("include_values", Presence::kOptional);
  change.locale = reader.Text("locale", Presence::kOptional, 1, domain::kWordCharsMax);
  change.is_active = reader.Boolean("is_active", Presence::kOptional);
  if (change.is_active && !has_target) reader.Refuse("is_active", "A feed is read, and not paused");
  if (reader.Has("kind")) reader.Refuse("kind", "The kind is fixed: make another channel");
  reader.Finish();
  problems.Check();
  if (target) {
    if (!target->addresses) change.url = ToChannelUrl(call, found.kind, *target);
    change.tag = target->tag;
    change.addresses = target->addresses;
  }
  const auto changed = store::UpdateChannel(call.session(), call.parts.clock, call.caller.org_id,
                                            id, change, AuditOf(call, "channel.update"));
  return changed ? rest::JsonReply(200, ChannelJson(*changed, call)) : NoChannel();
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
  if (found.kind == ChannelKind::kEmail && found.status != domain::ChannelStatus::kActive) {
    return rest::Conflict("no address may be told: " + found.status_reason.value_or(""));
  }
  if (found.status == domain::ChannelStatus::kSuspended) {
    return rest::Conflict("the channel is paused: set is_active to true");
  }
  call.parts.webhook_tester.Test(
      {call.caller.org_id, base::Uuid(), found.shown_url, std::nullopt, found.id},
      [answer = call.answer](const WebhookTestOutcome& outcome) {
        answer->Send(TestReply(outcome));
      });
  return rest::Parked{};
}

namespace {

// What a receiver answered is the operator's to read.
std::string DeliveryText(const store::MonitorDelivery& delivery) {
  base::Json json{{"id", delivery.id.ToString()},
                  {"state", domain::DeliveryStateName(delivery.state)},
                  {"event_type", domain::DeliveredTypeName(delivery.type, delivery.names_channel)},
                  {"event_group_id", delivery.event_group_id.ToString()},
                  {"recipient", base::OrNull(delivery.recipient)},
                  {"attempts", delivery.attempts},
                  {"next_attempt_at", base::OrNull(delivery.next_attempt_at)},
                  {"waiting_for", nullptr},
                  {"last_error", base::OrNull(delivery.last_error)},
                  {"created_at", base::FormatTimestamp(delivery.created_at)}};
  if (delivery.waits_for) json["waiting_for"] = domain::DeliveryWaitName(*delivery.waits_for);
  return base::DumpJson(json);
}

}  // namespace

rest::Handled ListChannelDeliveries(Call& call) {
  const base::Uuid id = FindChannel(call).id;
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const int limit = query.Integer("limit", domain::kRowPageDefault, 1, domain::kRowPageMax);
  query.Finish({"cursor"});
  problems.Check();
  std::optional<base::Uuid> before;
  if (const auto cursor = query.Text("cursor")) {
    before = rest::DecodeIdCursor(DeliveriesOf(call, id), *cursor);
    if (!before) return rest::InvalidCursor();
  }
  const auto page =
      rest::CutPage(store::ListChannelDeliveries(call.session(), id, before, limit + 1), limit,
                    [&](const store::MonitorDelivery& delivery) {
                      return rest::EncodeCursor(DeliveriesOf(call, id), delivery.id);
                    });
  return rest::Reply{
      200, rest::PageText("deliveries", page, [](const auto& delivery, std::string* text) {
        text->append(DeliveryText(delivery));
      })};
}

namespace {

rest::Reply NoticeChannels(Call& call) {
  base::Json ids = base::Json::array();
  for (const base::Uuid& id : store::ReadNoticeChannels(call.session(), call.caller.org_id)) {
    ids.push_back(id.ToString());
  }
  return rest::JsonReply(200, {{"channel_ids", std::move(ids)}});
}

}  // namespace

rest::Handled ShowNoticeChannels(Call& call) {
  return NoticeChannels(call);
}

rest::Handled SetNoticeChannels(Call& call) {
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  rest::BodyReader reader(json.members, &problems);
  // Null is none here, too: it may not end all notices by mistake.
  reader.Member("channel_ids", Presence::kRequired);
  const auto ids = ReadChannelIds(&reader, &problems);
  reader.Finish();
  problems.Check();
  CheckChannels(call, ids);
  store::SetNoticeChannels(call.session(), call.parts.clock, call.caller.org_id, ids,
                           AuditOf(call, "account.channels"));
  return NoticeChannels(call);
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
  std::string text = domain::FeedDocument(
      *feed, domain::MonitorsUrl(config.public_url, config.dashboard.enabled, config.cell.id),
      config.public_url + domain::FeedPath(*id, keys.front()) + domain::CellQuery(config.cell.id));
  constexpr std::size_t kTagChars = 32;
  const std::string tag = '"' + base::HexEncode(base::Sha256(text)).substr(0, kTagChars) + '"';
  for (const auto& [name, value] : call.request().headers) {
    if (name == "if-none-match" && value.find(tag) != std::string::npos) {
      return rest::Reply{304, "", {{"Cache-Control", "no-cache"}, {"ETag", tag}}};
    }
  }
  return rest::Reply{200,
                     std::move(text),
                     {{"Content-Type", "application/atom+xml; charset=utf-8"},
                      {"Cache-Control", "no-cache"},
                      {"ETag", tag}}};
}

}  // namespace vedette::api
