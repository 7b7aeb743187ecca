#include "api/tenant/monitors/monitor_body.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "api/tenant/call.h"
#include "api/tenant/channels/channel_ids.h"
#include "api/tenant/monitors/schedule_body.h"
#include "base/json.h"
#include "base/text.h"
#include "config/limits_config.h"
#include "config/parts.h"
#include "config/probe_config.h"
#include "domain/channel/channel.h"
#include "domain/monitor/change_rules.h"
#include "domain/monitor/field_description.h"
#include "domain/monitor/timetable.h"
#include "domain/text/json_schema.h"
#include "domain/text/limits.h"

namespace vedette::api {
void CheckRules(const base::Json& rules, const base::Json& watched, rest::Problems* problems) {
  problems->Add(domain::ValidateChangeRules(rest::BodyReader::Loc("rules"), rules, watched));
}

std::optional<base::Json> ReadRules(rest::BodyReader* reader, const base::Json& watched,
                                    rest::Problems* problems) {
  const base::Json* rules = reader->Member("rules", rest::Presence::kOptional);
  if (rules == nullptr) return std::nullopt;
  CheckRules(*rules, watched, problems);
  return rules->empty() ? std::nullopt : std::optional(*rules);
}

domain::RequestHeaders ReadHeaders(rest::BodyReader* reader, rest::Problems* problems) {
  const base::Json* headers = reader->Member("request_headers", rest::Presence::kOptional);
  if (headers == nullptr) return {};
  const auto faults =
      domain::ValidateRequestHeaders(rest::BodyReader::Loc("request_headers"), *headers);
  problems->Add(faults);
  return faults.empty() ? domain::ReadRequestHeaders(*headers) : domain::RequestHeaders();
}

std::optional<base::Json> ReadProbe(rest::BodyReader* reader, rest::Problems* problems) {
  const base::Json* probe = reader->Member("probe", rest::Presence::kOptional);
  if (probe == nullptr) return std::nullopt;
  problems->Add(domain::ValidateProbeOptions(rest::BodyReader::Loc("probe"), *probe));
  return probe->empty() ? std::nullopt : std::optional(*probe);
}

void CheckSecretsToKeep(const base::Json& probe, const std::optional<std::string>& stored,
                        rest::Problems* problems) {
  const base::Json before = stored ? base::ParseJsonOrThrow(*stored) : base::Json::object();
  for (const std::string& name : domain::SecretsToKeep(probe)) {
    if (before.contains("secrets") && before["secrets"].contains(name)) continue;
    problems->Add(base::Json::array({"body", "probe", "secrets", name}), "secret_value",
                  "Give its value: there is none that is kept");
  }
}

namespace {

// Steps are made in a browser, which would send request headers to more than the row's own host.
void CheckSteps(const domain::ProbeOptions& options, bool has_headers,
                const net::AddressPolicy& policy) {
  if (options.Acts() && has_headers) {
    throw rest::Refusal(400, "invalid_steps",
                        "probe.steps: pages with request_headers are not rendered; leave one of "
                        "them out: a login of steps needs no Cookie header");
  }
  for (std::size_t i = 0; i < options.steps.size(); ++i) {
    const domain::PageStep& step = options.steps[i];
    const bool is_url = step.kind == domain::PageStep::Kind::kGoto &&
                        step.target != domain::kRowPage && !step.target.starts_with('/');
    if (!is_url) continue;
    const auto checked = net::ParseTenantUrl(step.target, policy);
    if (!checked.error) continue;
    throw rest::Refusal(400, "invalid_steps",
                        fmt::format("probe.steps[{}].goto: {}", i, checked.error->message));
  }
}

}  // namespace

void CheckProbe(const domain::ProbeOptions& options, domain::Tier tier, bool has_headers,
                const net::AddressPolicy& policy, const config::Config& config,
                const SelectorFault& selector_fault) {
  for (const std::string& selector : options.ignore.selectors) {
    const auto fault = selector_fault("probe.ignore", "css:" + selector);
    if (!fault) continue;
    throw rest::Refusal(400, "invalid_ignore",
                        fmt::format("{} It is {}", *fault, rest::Quoted(selector)));
  }
  const std::string name(domain::TierName(tier));
  const auto it = config.probes.find(name);
  const bool reads_pages = it != config.probes.end() && it->second.kind == "web";
  const auto most = (reads_pages ? domain::ParseRender(it->second.render) : std::nullopt)
                        .value_or(domain::Render::kNever);
  if (options.render && *options.render > most) {
    throw rest::Refusal(
        400, "invalid_render",
        fmt::format("probe.render {} is more than the tier {} gives, which is {}; choose another "
                    "tier, or leave probe.render out",
                    rest::Quoted(std::string(domain::RenderName(*options.render))), name,
                    rest::Quoted(std::string(domain::RenderName(most)))));
  }
  CheckSteps(options, has_headers, policy);
  if (!options.wait_for.empty() && domain::RenderIn(most, options) == domain::Render::kNever) {
    throw rest::Refusal(400, "invalid_render",
                        fmt::format("probe.wait_for is for pages that are rendered, and those of "
                                    "this monitor are not: the tier {} gives probe.render {}",
                                    name, rest::Quoted(std::string(domain::RenderName(most)))));
  }
}

namespace {

constexpr std::size_t kKeyColumnsMax = 64;
constexpr std::size_t kResearchPlanCharsMax = 20000;
constexpr int kConfirmationsMax = 100;
constexpr std::size_t kMeantCharsMax = 100;

// One of the rows of a body.
std::optional<base::JsonError> ParseRow(std::string_view text, base::Json* out) {
  return base::ParseJson(text, out, {.values_max = kRowValuesMax, .keep_numbers = true});
}

void ReadKeyColumns(rest::BodyReader* reader, rest::Problems* problems,
                    std::vector<std::string>* out) {
  auto columns = reader->Texts("key_columns", rest::Presence::kRequired);
  if (!columns) return;
  const base::Json loc = rest::BodyReader::Loc("key_columns");
  if (columns->empty()) {
    problems->Add(loc, "too_short", "Array should have at least 1 item", nullptr,
                  {{"min_length", 1}});
  }
  if (columns->size() > kKeyColumnsMax) {
    problems->Add(loc, "too_long",
                  fmt::format("Array should have at most {} items", kKeyColumnsMax), nullptr,
                  {{"max_length", kKeyColumnsMax}});
    return;
  }
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < columns->size(); ++i) {
    const std::string& name = (*columns)[i];
    const base::Json item = base::Json::array({"body", "key_columns", i});
    if (name.empty() || base::CountCharacters(name) > domain::kColumnCharsMax) {
      problems->Add(item, name.empty() ? "string_too_short" : "string_too_long",
                    fmt::format("A column's name has 1 to {} characters", domain::kColumnCharsMax),
                    name);
    } else if (!seen.insert(name).second) {
      problems->Add(item, "duplicate", "The column is named twice", name);
    }
  }
  *out = std::move(*columns);
}

void CheckField(const std::string& name, const base::Json& description, rest::Problems* problems) {
  const base::Json item = base::Json::array({"body", "struct", rest::Shortened(name)});
  if (name.empty() || base::CountCharacters(name) > domain::kColumnCharsMax) {
    problems->Add(item, name.empty() ? "string_too_short" : "string_too_long",
                  fmt::format("A field's name has 1 to {} characters", domain::kColumnCharsMax),
                  name);
  } else if (!description.is_string()) {
    problems->Add(item, "string_type", "Input should be a string: what to find", description);
  } else if (!domain::NormaliseValue(description)) {
    problems->Add(item, "string_too_short", "The description should not be empty", description);
  } else if (base::CountCharacters(description.get_ref<const std::string&>()) >
             domain::kDescriptionCharsMax) {
    problems->Add(item, "string_too_long",
                  fmt::format("The description should have at most {} characters",
                              domain::kDescriptionCharsMax),
                  description);
  }
}

void ReadStruct(rest::BodyReader* reader, rest::Presence presence,
                const config::LimitsConfig& limits, rest::Problems* problems, base::Json* out) {
  const base::Json* value = reader->Member("struct", presence);
  if (value == nullptr) return;
  const base::Json loc = rest::BodyReader::Loc("struct");
  if (!value->is_object()) {
    problems->Add(loc, "dict_type", "Input should be an object", *value);
    return;
  }
  if (value->size() > static_cast<std::size_t>(limits.struct_fields_max)) {
    problems->Add(loc, "too_long",
                  fmt::format("Object should have at most {} fields, has {}",
                              limits.struct_fields_max, value->size()),
                  nullptr, {{"max_length", limits.struct_fields_max}});
    return;
  }
  for (const auto& [name, description] : value->items()) CheckField(name, description, problems);
  if (const std::size_t bytes = base::DumpJson(*value).size(); bytes > limits.struct_bytes_max) {
    problems->Add(loc, "too_long",
                  fmt::format("Object should have at most {} bytes as JSON (struct_bytes_max), has "
                              "{}",
                              limits.struct_bytes_max, bytes),
                  nullptr, {{"max_length", limits.struct_bytes_max}});
    return;
  }
  *out = *value;
}

// The bytes of a scalar's text; numbers that JSON holds count as the longest usual ones.
std::size_t ValueBytes(const base::Json& value) {
  constexpr std::size_t kNumberBytes = 8;
  if (const auto number = base::NumberText(value)) return std::max(number->size(), kNumberBytes);
  return value.is_string() ? value.get_ref<const std::string&>().size() : kNumberBytes;
}

void CheckRowBytes(const base::Json& row, const base::Json& loc, const config::LimitsConfig& limits,
                   rest::Problems* problems) {
  std::size_t bytes = domain::kRowBytes;
  for (const auto& [name, value] : row.items()) {
    bytes += domain::ColumnBytes(name, ValueBytes(value));
  }
  if (bytes <= limits.row_bytes_max) return;
  problems->Add(loc, "too_long",
                fmt::format("The row should have at most {} bytes", limits.row_bytes_max), row,
                {{"max_length", limits.row_bytes_max}});
}

void CheckRow(const base::Json& row, const base::Json& loc, const config::LimitsConfig& limits,
              rest::Problems* problems) {
  if (!row.is_object()) {
    problems->Add(loc, "dict_type", "Input should be an object of columns", row);
    return;
  }
  for (const auto& [name, value] : row.items()) {
    if (value.is_structured()) {
      base::Json item = loc;
      item.push_back(rest::Shortened(name));
      problems->Add(item, "scalar_type", "Input should be a string, a number, true, false or null",
                    value);
    } else if (name.empty() || base::CountCharacters(name) > domain::kColumnCharsMax) {
      base::Json item = loc;
      item.push_back(rest::Shortened(name));
      problems->Add(item, "column_name",
                    fmt::format("A column's name has 1 to {} characters", domain::kColumnCharsMax),
                    name);
    }
  }
  CheckRowBytes(row, loc, limits, problems);
}

void CheckRowCount(std::size_t count, const config::LimitsConfig& limits,
                   rest::Problems* problems) {
  const base::Json loc = rest::BodyReader::Loc("rows");
  if (count == 0) {
    problems->Add(loc, "too_short", "Array should have at least 1 item", nullptr,
                  {{"min_length", 1}});
  }
  if (count > static_cast<std::size_t>(limits.rows_per_request_max)) {
    problems->Add(loc, "too_long",
                  fmt::format("Array should have at most {} items, has {}; upload a file for more",
                              limits.rows_per_request_max, count),
                  nullptr, {{"max_length", limits.rows_per_request_max}});
  }
}

// The rows, parsed one at a time. After a problem the rest is only checked.
std::vector<domain::RowValues> ReadRows(const base::JsonElements& elements,
                                        const domain::ColumnRoles& roles,
                                        const config::LimitsConfig& limits,
                                        rest::Problems* problems) {
  std::vector<domain::RowValues> rows;
  CheckRowCount(elements.count, limits, problems);
  if (elements.count > elements.texts.size()) return rows;
  if (!problems->any()) rows.reserve(elements.count);
  for (std::size_t i = 0; i < elements.texts.size() && !problems->full(); ++i) {
    base::Json row;
    if (const auto error = ParseRow(elements.texts[i], &row)) {
      const bool members = error->kind == base::JsonError::Kind::kTooManyMembers;
      problems->Add(base::Json::array({"body", "rows", i}),
                    members ? "too_many_members" : "too_many_values", error->message);
      continue;
    }
    CheckRow(row, base::Json::array({"body", "rows", i}), limits, problems);
    if (!problems->any()) rows.push_back(domain::SplitRow(row, roles));
  }
  return rows;
}

std::optional<std::vector<domain::NotificationType>> ReadEventTypes(rest::BodyReader* reader,
                                                                    rest::Problems* problems) {
  const auto names = reader->Texts("webhook_event_types", rest::Presence::kOptional);
  if (!names) return std::nullopt;
  std::vector<domain::NotificationType> types;
  for (std::size_t i = 0; i < names->size() && !problems->full(); ++i) {
    const auto type = domain::ParseNotificationType((*names)[i]);
    if (!type) {
      problems->Add(base::Json::array({"body", "webhook_event_types", i}), "enum",
                    "Input should be 'monitor.field.changed', 'monitor.execution.completed' or "
                    "'monitor.execution.failed'",
                    (*names)[i]);
    } else if (std::find(types.begin(), types.end(), *type) == types.end()) {
      types.push_back(*type);
    }
  }
  return types;
}

// A frequency or a schedule, not both.
std::optional<std::string> ReadTimes(rest::BodyReader* reader, rest::Problems* problems,
                                     std::optional<domain::ScheduleOrder>* schedule) {
  auto frequency = reader->Text("frequency", rest::Presence::kOptional, 0, domain::kWordCharsMax);
  *schedule = ReadScheduleMember(reader, problems);
  if (*schedule && reader->Member("frequency", rest::Presence::kOptional) != nullptr) {
    reader->Refuse("schedule", "Give frequency or schedule, not both");
  }
  return frequency;
}

// The words in `tags`, each once; none where it is null or absent.
std::vector<std::string> ReadTags(rest::BodyReader* reader, rest::Problems* problems) {
  constexpr std::size_t kMax = domain::kMonitorTagsMax;
  std::vector<std::string> tags;
  const auto texts = reader->Texts("tags", rest::Presence::kOptional);
  if (!texts) return tags;
  for (std::size_t i = 0; i < texts->size() && !problems->full(); ++i) {
    const std::string& tag = (*texts)[i];
    if (tag.empty() || base::CountCharacters(tag) > domain::kTagCharsMax) {
      problems->Add(base::Json::array({"body", "tags", i}), "value_error",
                    fmt::format("A tag has 1 to {} characters", domain::kTagCharsMax),
                    rest::Shortened(tag));
    } else if (std::find(tags.begin(), tags.end(), tag) == tags.end()) {
      tags.push_back(tag);
    }
  }
  if (texts->size() > kMax) {
    problems->Add(rest::BodyReader::Loc("tags"), "too_long",
                  fmt::format("List should have at most {} items", kMax), nullptr,
                  {{"max_length", kMax}});
  }
  return tags;
}

// Adds the problem of a member `rows` that is no array.
void RefuseRows(const base::Json& value, rest::Problems* problems) {
  problems->Add(rest::BodyReader::Loc("rows"), "list_type", "Input should be an array of objects",
                value);
}

domain::ColumnRoles RolesOf(const CreateBody& body) {
  domain::ColumnRoles roles{.key_columns = body.key_columns};
  for (const auto& [name, description] : body.watched.items()) roles.watched.insert(name);
  return roles;
}

void ReadRowsOrHandle(rest::BodyReader* reader, const rest::JsonBody& body,
                      const config::LimitsConfig& limits, rest::Problems* problems,
                      CreateBody* out) {
  const base::Json* rows = reader->Member("rows", rest::Presence::kOptional);
  out->resource_handle_id =
      reader->Text("resource_handle_id", rest::Presence::kOptional, 0, domain::kWordCharsMax);
  const bool has_handle =
      reader->Member("resource_handle_id", rest::Presence::kOptional) != nullptr;
  if ((rows != nullptr) == has_handle) {
    problems->Add(rest::BodyReader::Loc("rows"), rows == nullptr ? "missing" : "too_many",
                  "Exactly one of rows and resource_handle_id is required");
    return;
  }
  if (rows == nullptr) return;
  if (!body.elements) return RefuseRows(*rows, problems);
  out->rows = ReadRows(*body.elements, RolesOf(*out), limits, problems);
}

std::string DescribeKey(const domain::RowValues& row) {
  std::string text;
  base::Json subject;
  if (ParseRow(row.subject_json, &subject)) return text;
  for (const auto& [name, value] : subject.items()) {
    if (value.is_null()) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} = {}", name, base::DumpJson(rest::Shortened(value)));
  }
  return text;
}

std::string ProseWarning(const std::string& field, const std::string& description,
                         domain::Tier tier) {
  const auto meant = domain::MeantSelector(description);
  return fmt::format(
      "struct.{}: the web probe of tier {} cannot serve a description in prose, so this field will "
      "never be observed; write css:, xpath:, json:, jsonld:, regex:, meta: or text, or configure "
      "a model for the probe{}",
      field, domain::TierName(tier),
      meant ? fmt::format("; did you mean {}?", base::CutCharacters(*meant, kMeantCharsMax)) : "");
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

rest::BodyRules RowsBodyRules(std::size_t bytes_max, int rows_max) {
  return {.bytes_max = bytes_max,
          .advice = "; upload a file for many rows",
          .large_member = "rows",
          .elements_max = static_cast<std::size_t>(rows_max),
          .json = {.values_max = kBodyValuesMax, .keep_numbers = true}};
}

CreateBody ReadCreateBody(rest::JsonBody body, const config::LimitsConfig& limits,
                          rest::Problems* problems) {
  CreateBody out;
  rest::BodyReader reader(body.members, problems);
  const auto chars_max = static_cast<std::size_t>(limits.name_chars_max);
  out.name = reader.Text("name", rest::Presence::kRequired, 1, chars_max).value_or("");
  ReadKeyColumns(&reader, problems, &out.key_columns);
  ReadStruct(&reader, rest::Presence::kRequired, limits, problems, &out.watched);
  const auto frequency = ReadTimes(&reader, problems, &out.schedule);
  out.frequency = frequency.value_or(out.frequency);
  out.anchor_at = reader.Time("anchor_at", rest::Presence::kOptional);
  if (out.anchor_at && out.schedule) {
    reader.Refuse("anchor_at", "A schedule by the clock has no anchor");
  }
  out.tier =
      reader.Text("tier", rest::Presence::kOptional, 0, domain::kWordCharsMax).value_or(out.tier);
  out.subject_type =
      reader.Text("subject_type", rest::Presence::kOptional, 0, domain::kWordCharsMax)
          .value_or(out.subject_type);
  out.research_plan =
      reader.Text("research_plan", rest::Presence::kOptional, 0, kResearchPlanCharsMax);
  out.metadata_json =
      reader.Object("metadata", rest::Presence::kOptional, limits.metadata_bytes_max);
  out.webhook_url =
      reader.Text("webhook_url", rest::Presence::kOptional, 0, domain::kUrlReadCharsMax);
  auto types = ReadEventTypes(&reader, problems);
  if (types) out.webhook_event_types = std::move(*types);
  out.team_id = reader.Text("team_id", rest::Presence::kOptional, 0, domain::kWordCharsMax);
  out.run_id = reader.Text("run_id", rest::Presence::kOptional, 1, domain::kRunIdCharsMax);
  out.confirm_after =
      reader.Integer("confirm_after", rest::Presence::kOptional, 1, kConfirmationsMax).value_or(1);
  out.missing_confirmations =
      reader.Integer("missing_confirmations", rest::Presence::kOptional, 1, kConfirmationsMax)
          .value_or(2);
  out.rules = ReadRules(&reader, out.watched, problems);
  out.request_headers = ReadHeaders(&reader, problems);
  out.probe = ReadProbe(&reader, problems);
  if (out.probe && !problems->any()) CheckSecretsToKeep(*out.probe, std::nullopt, problems);
  out.channel_ids = ReadChannelIds(&reader, problems);
  out.tags = ReadTags(&reader, problems);
  ReadRowsOrHandle(&reader, body, limits, problems, &out);
  reader.Finish();
  return out;
}

Frequency ReadFrequency(const std::string& text, const config::LimitsConfig& limits) {
  const auto period = domain::ParseDuration(text, limits.frequency_min.has_value());
  const std::string given = rest::Quoted(text);
  const std::string shortest =
      limits.frequency_min ? fmt::format("{}s", limits.frequency_min->count()) : "1h";
  const auto refusal = [](std::string sentence) {
    return rest::Refusal(400, "invalid_frequency", std::move(sentence));
  };
  if (!period) {
    throw refusal(
        fmt::format("frequency {} is not a number above 0 and a unit, which is m, h, d or w, from "
                    "{} to 30d",
                    given, shortest));
  }
  if (*period > domain::kFrequencyMax) {
    throw refusal(fmt::format("frequency {} is longer than the longest one, 30d", given));
  }
  if (limits.frequency_min && *period >= *limits.frequency_min) return Frequency{*period, {}};
  if (*period == domain::kFrequencyTesting) return Frequency{*period, "the frequency 5m"};
  if (limits.frequency_min || *period < domain::kFrequencyMin) {
    throw refusal(
        fmt::format("frequency {} is shorter than the shortest one, {}", given, shortest));
  }
  return Frequency{*period, {}};
}

net::TenantUrl ReadWebhookUrl(const std::string& url, const net::AddressPolicy& policy) {
  net::TenantUrlResult parsed = net::ParseTenantUrl(url, policy);
  if (parsed.url) return std::move(*parsed.url);
  throw rest::Refusal(400, "invalid_webhook_url",
                      fmt::format("webhook_url {}: {}", rest::Quoted(url), parsed.error->message));
}

void CheckRows(const std::vector<domain::RowValues>& values,
               const std::vector<std::string>& key_columns) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].has_key) continue;
    throw rest::Refusal(
        400, "missing_key_value",
        fmt::format("rows[{}] has no value in any key column ({})", i, Joined(key_columns)));
  }
  std::vector<std::size_t> by_key(values.size());
  for (std::size_t i = 0; i < by_key.size(); ++i) by_key[i] = i;
  std::stable_sort(by_key.begin(), by_key.end(), [&](std::size_t a, std::size_t b) {
    return values[a].key_hash < values[b].key_hash;
  });
  // The pair whose second row comes first.
  std::optional<std::pair<std::size_t, std::size_t>> pair;
  for (std::size_t i = 1; i < by_key.size(); ++i) {
    if (values[by_key[i - 1]].key_hash != values[by_key[i]].key_hash) continue;
    if (!pair || by_key[i] < pair->second) pair = {by_key[i - 1], by_key[i]};
  }
  if (!pair) return;
  throw rest::Refusal(400, "duplicate_key",
                      fmt::format("rows[{}] has the same key values as rows[{}] ({})", pair->second,
                                  pair->first, DescribeKey(values[pair->second])));
}

namespace {

// Rules 2 to 5.
domain::Tier ReadTier(const std::string& name) {
  if (const auto tier = domain::ParseMonitorTier(name)) return *tier;
  throw rest::Refusal(400, "invalid_tier",
                      fmt::format("tier {} is not one of low, medium, high", rest::Quoted(name)));
}
domain::SubjectType ReadSubjectType(const std::string& name) {
  if (const auto type = domain::ParseSubjectType(name)) return *type;
  throw rest::Refusal(
      400, "invalid_subject_type",
      fmt::format("subject_type {} is not one of company, lead", rest::Quoted(name)));
}
void CheckWatched(const base::Json& watched, const std::vector<std::string>& key_columns) {
  if (watched.empty()) throw rest::Refusal(400, "empty_struct", "struct names no field to watch");
  for (const std::string& column : key_columns) {
    if (watched.contains(column)) {
      throw rest::Refusal(
          400, "column_conflict",
          fmt::format("column {} is both a key column and a watched field", rest::Quoted(column)));
    }
  }
}

// Rule 1.
Frequency ReadTimesRule(CreateBody* body, const config::LimitsConfig& limits, base::Timestamp now) {
  if (body->anchor_at && *body->anchor_at > now + domain::kFrequencyMax) {
    throw rest::Refusal(400, "invalid_frequency", "anchor_at is more than 30 days ahead");
  }
  if (!body->schedule) return ReadFrequency(body->frequency, limits);
  NeedsTesting needs_testing = CheckDistances(limits, now, &*body->schedule);
  const std::chrono::seconds shortest = body->schedule->distances.shortest;
  body->frequency = domain::DurationText(shortest);
  return {shortest, std::move(needs_testing)};
}

// Rules 1 to 5.
CreateOrder BeginOrder(CreateBody* body, const config::LimitsConfig& limits, base::Timestamp now) {
  CreateOrder order;
  order.frequency = ReadTimesRule(body, limits, now);
  order.tier = ReadTier(body->tier);
  order.subject_type = ReadSubjectType(body->subject_type);
  CheckWatched(body->watched, body->key_columns);
  return order;
}

}  // namespace

CreateOrder TakeOrder(CreateBody* body, const config::LimitsConfig& limits,
                      const net::AddressPolicy& policy, base::Timestamp now) {
  CreateOrder order = BeginOrder(body, limits, now);
  order.rows = std::move(body->rows);
  CheckRows(order.rows, body->key_columns);
  if (body->webhook_url) order.webhook = ReadWebhookUrl(*body->webhook_url, policy);
  return order;
}

std::vector<domain::RowValues> ReadRowsBody(const rest::JsonBody& body,
                                            const domain::ColumnRoles& roles,
                                            const config::LimitsConfig& limits,
                                            rest::Problems* problems) {
  rest::BodyReader reader(body.members, problems);
  const base::Json* rows = reader.Member("rows", rest::Presence::kRequired);
  reader.Finish();
  if (rows == nullptr) return {};
  if (body.elements) return ReadRows(*body.elements, roles, limits, problems);
  RefuseRows(*rows, problems);
  return {};
}

UpdateBody ReadUpdateBody(const base::Json& body, const config::LimitsConfig& limits,
                          rest::Problems* problems) {
  UpdateBody out;
  rest::BodyReader reader(body, problems);
  if (body.empty()) {
    problems->Add(base::Json::array({"body"}), "too_short", "Name at least one field to change");
  }
  const auto chars_max = static_cast<std::size_t>(limits.name_chars_max);
  out.name = reader.Text("name", rest::Presence::kOptional, 1, chars_max);
  if (reader.Has("webhook_url")) {
    out.webhook_url.emplace(
        reader.Text("webhook_url", rest::Presence::kOptional, 0, domain::kUrlReadCharsMax));
  }
  out.is_active = reader.Boolean("is_active", rest::Presence::kOptional);
  if (reader.Has("metadata")) {
    out.metadata_json.emplace(
        reader.Object("metadata", rest::Presence::kOptional, limits.metadata_bytes_max));
  }
  if (reader.Has("research_plan")) {
    out.research_plan.emplace(
        reader.Text("research_plan", rest::Presence::kOptional, 0, kResearchPlanCharsMax));
  }
  out.frequency = ReadTimes(&reader, problems, &out.schedule);
  out.confirm_after =
      reader.Integer("confirm_after", rest::Presence::kOptional, 1, kConfirmationsMax);
  out.missing_confirmations =
      reader.Integer("missing_confirmations", rest::Presence::kOptional, 1, kConfirmationsMax);
  if (reader.Has("struct") && !reader.IsNull("struct")) {
    ReadStruct(&reader, rest::Presence::kOptional, limits, problems, &out.watched.emplace());
  }
  out.tier = reader.Text("tier", rest::Presence::kOptional, 0, domain::kWordCharsMax);
  out.subject_type =
      reader.Text("subject_type", rest::Presence::kOptional, 0, domain::kWordCharsMax);
  if (reader.Has("rules")) out.rules.emplace(ReadRules(&reader, nullptr, problems));
  if (reader.Has("request_headers")) {
    auto headers = ReadHeaders(&reader, problems);
    out.request_headers.emplace();
    if (!headers.empty()) *out.request_headers = std::move(headers);
  }
  if (reader.Has("probe")) out.probe.emplace(ReadProbe(&reader, problems));
  if (reader.Has("channel_ids")) out.channel_ids = ReadChannelIds(&reader, problems);
  if (reader.Has("tags")) out.tags = ReadTags(&reader, problems);
  reader.RefuseNull("struct", "dict");
  reader.RefuseNull("tier", "string");
  reader.RefuseNull("subject_type", "string");
  reader.RefuseNull("name", "string");
  reader.RefuseNull("is_active", "bool");
  reader.RefuseNull("frequency", "string");
  reader.RefuseNull("schedule", "dict");
  reader.RefuseNull("confirm_after", "int");
  reader.RefuseNull("missing_confirmations", "int");
  if (reader.Has("webhook_event_types")) {
    problems->Add(rest::BodyReader::Loc("webhook_event_types"), "extra_forbidden",
                  "Event types are fixed at creation", body["webhook_event_types"]);
  }
  reader.Finish();
  return out;
}

DefinitionChange ReadDefinitionChange(const UpdateBody& body,
                                      const std::vector<std::string>& key_columns) {
  DefinitionChange change;
  if (body.tier) change.tier = ReadTier(*body.tier);
  if (body.subject_type) change.subject_type = ReadSubjectType(*body.subject_type);
  if (body.watched) CheckWatched(*body.watched, key_columns);
  return change;
}

RowChangeBody ReadRowChangeBody(const base::Json& body, const domain::ColumnRoles& roles,
                                const config::LimitsConfig& limits, rest::Problems* problems) {
  RowChangeBody out;
  rest::BodyReader reader(body, problems);
  out.is_active = reader.Boolean("is_active", rest::Presence::kOptional);
  out.disabled_reason =
      reader.Text("disabled_reason", rest::Presence::kOptional, 1, domain::kReasonCharsMax);
  if (out.disabled_reason && out.is_active.value_or(true)) {
    reader.Refuse("disabled_reason", "Only what is_active false switches off has a reason");
  }
  const base::Json* columns = reader.Member("columns", rest::Presence::kOptional);
  reader.RefuseNull("is_active", "bool");
  reader.Finish();
  if (columns == nullptr) {
    if (!out.is_active && !problems->any()) {
      problems->Add(rest::BodyReader::Loc("is_active"), "missing", "Give is_active or columns");
    }
    return out;
  }
  const base::Json loc = rest::BodyReader::Loc("columns");
  CheckRow(*columns, loc, limits, problems);
  if (!columns->is_object()) return out;
  for (const auto& [name, value] : columns->items()) {
    const bool is_key = std::find(roles.key_columns.begin(), roles.key_columns.end(), name) !=
                        roles.key_columns.end();
    if (!is_key && !roles.watched.contains(name)) continue;
    base::Json item = loc;
    item.push_back(rest::Shortened(name));
    problems->Add(item, "fixed_column",
                  is_key ? "A key column names the subject: remove the row and add another one"
                         : "A watched field's values come from checks",
                  value);
  }
  out.columns = *columns;
  return out;
}

void CheckChangedRow(const base::Json& row, const config::LimitsConfig& limits) {
  rest::Problems problems;
  const base::Json loc = rest::BodyReader::Loc("columns");
  // The parser's own limit and sentence, as for a row that is given whole.
  constexpr auto kMembersMax = static_cast<std::size_t>(base::JsonLimits{}.members_max);
  if (row.size() > kMembersMax) {
    problems.Add(loc, "too_many_members",
                 fmt::format("an object has more than {} members", kMembersMax));
  }
  CheckRowBytes(row, loc, limits, &problems);
  problems.Check();
}

std::optional<std::string> DescriptionWarnings(const base::Json& watched, domain::Tier tier,
                                               const config::Config& config,
                                               const SelectorFault& selector_fault,
                                               const base::Clock& clock) {
  const auto it = config.probes.find(std::string(domain::TierName(tier)));
  if (it == config.probes.end()) return std::nullopt;
  const config::ProbeConfig& probe = it->second;
  if (probe.kind != "web") return std::nullopt;
  const bool takes_prose = !probe.url.empty() && !probe.model.empty();
  const auto check_until = clock.SinceBoot() + kSelectorCheckMax;
  base::Json warnings = base::Json::array();
  std::vector<std::string> unchecked;
  for (const auto& [name, description] : watched.items()) {
    const auto& text = description.get_ref<const std::string&>();
    const std::string field = base::DumpJson(rest::Shortened(name));
    if (domain::ParseFieldDescription(text).kind == domain::FieldDescription::Kind::kProse) {
      if (!takes_prose) warnings.push_back(ProseWarning(field, text, tier));
    } else if (clock.SinceBoot() >= check_until) {
      unchecked.push_back(field);
    } else if (const auto fault = selector_fault(name, text)) {
      warnings.push_back(
          fmt::format("struct.{}: {} This field will never be observed.", field, *fault));
    }
  }
  if (!unchecked.empty()) {
    warnings.push_back(fmt::format("struct: checking the selectors takes too long; not checked: {}",
                                   Joined(unchecked)));
  }
  if (warnings.empty()) return std::nullopt;
  return base::DumpJson(warnings);
}

}  // namespace vedette::api
