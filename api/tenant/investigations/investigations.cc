#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "api/kit/body.h"
#include "api/kit/cursor.h"
#include "api/kit/query_reader.h"
#include "api/kit/reply.h"
#include "api/tenant/call.h"
#include "api/tenant/handlers.h"
#include "api/tenant/jobs/lookups.h"
#include "base/json.h"
#include "base/text.h"
#include "config/lookup_config.h"
#include "config/parts.h"
#include "domain/investigation/finding.h"
#include "domain/money/money.h"
#include "domain/text/limits.h"
#include "domain/workflow/lookup_result.h"
#include "store/jobs/read.h"

namespace vedette::api {
namespace {

// The body of POST /v1/atlas/investigations. Pure.

constexpr std::size_t kSeedsMax = 10;
constexpr int kInvestigationDepthMax = 3;
constexpr int kFindingsDefault = 1000;
constexpr int kFindingsMax = 10'000;

struct InvestigationBody {
  std::optional<std::string> name;
  std::vector<domain::Subject> seeds;
  int depth = 1;
  int findings_max = kFindingsDefault;
  std::optional<std::int64_t> credits_mc_max;
};

using rest::Presence;

base::Json SeedLoc(std::size_t i, const char* key) {
  base::Json loc = base::Json::array({"body", "seeds", i});
  if (key != nullptr) loc.push_back(key);
  return loc;
}

// A member of a seed, which is a string; nothing after a problem.
std::optional<std::string> SeedText(const base::Json& seed, std::size_t i, const char* key,
                                    rest::Problems* problems) {
  const auto it = seed.find(key);
  if (it == seed.end()) {
    problems->Add(SeedLoc(i, key), "missing", "Field required");
    return std::nullopt;
  }
  if (!it->is_string()) {
    problems->Add(SeedLoc(i, key), "string_type", "Input should be a string", *it);
    return std::nullopt;
  }
  return it->get<std::string>();
}

void ReadSeed(const base::Json& seed, std::size_t i, std::vector<domain::Subject>* seeds,
              rest::Problems* problems) {
  if (!seed.is_object()) {
    return problems->Add(SeedLoc(i, nullptr), "dict_type", "Input should be an object", seed);
  }
  for (const auto& [key, value] : seed.items()) {
    if (key == "type" || key == "value") continue;
    problems->Add(SeedLoc(i, key.c_str()), "extra_forbidden", "Extra inputs are not permitted",
                  value);
  }
  const auto type_name = SeedText(seed, i, "type", problems);
  const auto value = SeedText(seed, i, "value", problems);
  const auto type = domain::ParseSubjectKind(type_name.value_or(std::string()));
  if (type_name && !type) {
    problems->Add(SeedLoc(i, "type"), "enum",
                  "Input should be email, domain, person, company, url, phone or ip", *type_name);
  }
  if (!type || !value) return;
  auto read = domain::ReadSubject(*type, *value);
  if (const auto* why = std::get_if<std::string>(&read)) {
    return problems->Add(SeedLoc(i, "value"), "value_error", "Input " + *why, *value);
  }
  auto& subject = std::get<domain::Subject>(read);
  if (std::find(seeds->begin(), seeds->end(), subject) != seeds->end()) {
    return problems->Add(SeedLoc(i, nullptr), "duplicate", "Input is there already", *value);
  }
  seeds->push_back(std::move(subject));
}

void ReadSeeds(rest::BodyReader* reader, InvestigationBody* body, rest::Problems* problems) {
  const base::Json* given = reader->Member("seeds", Presence::kRequired);
  if (given == nullptr) return;
  if (!given->is_array()) {
    return problems->Add(rest::BodyReader::Loc("seeds"), "list_type", "Input should be an array",
                         *given);
  }
  if (given->empty() || given->size() > kSeedsMax) {
    return problems->Add(rest::BodyReader::Loc("seeds"), given->empty() ? "too_short" : "too_long",
                         fmt::format("Input should have 1 to {} items", kSeedsMax), *given);
  }
  for (std::size_t i = 0; i < given->size(); ++i) ReadSeed((*given)[i], i, &body->seeds, problems);
}

// The seeds that cost something: those that somebody may look at.
std::int64_t SeedsLookedAt(const InvestigationBody& body) {
  return std::count_if(body.seeds.begin(), body.seeds.end(),
                       [](const auto& seed) { return domain::MayBeLookedAt(seed.type); });
}

// What is wrong becomes a problem; `price_mc`: of each seed that is looked at, which credits_max
// has to cover.
InvestigationBody ReadInvestigationBody(const base::Json& members, std::int64_t price_mc,
                                        rest::Problems* problems) {
  rest::BodyReader reader(members, problems);
  InvestigationBody body;
  body.name = reader.Text("name", Presence::kOptional, 1, domain::kNameCharsMax);
  ReadSeeds(&reader, &body, problems);
  body.depth = reader.Integer("depth", Presence::kOptional, 1, kInvestigationDepthMax).value_or(1);
  body.findings_max = reader.Integer("findings_max", Presence::kOptional, 1, kFindingsMax)
                          .value_or(kFindingsDefault);
  body.credits_mc_max = reader.Credits("credits_max", Presence::kOptional);
  const std::int64_t seeds_mc = price_mc * SeedsLookedAt(body);
  if (body.credits_mc_max && *body.credits_mc_max <= 0) {
    reader.Refuse("credits_max", "Input should be greater than 0");
  } else if (body.credits_mc_max && *body.credits_mc_max < seeds_mc) {
    reader.Refuse("credits_max", fmt::format("Input should cover at least the seeds, which cost {}",
                                             domain::FormatCredits(seeds_mc)));
  }
  reader.Finish();
  return body;
}

// Investigations and their findings.

constexpr std::string_view kRoute = "/v1/atlas/investigations";
constexpr int kSeedsOfPart = 4;
constexpr int kFindingsPageMax = 50;

base::Json SeedsJson(const std::vector<domain::Subject>& seeds) {
  base::Json json = base::Json::array();
  for (const domain::Subject& seed : seeds) json.push_back(domain::SubjectJson(seed));
  return json;
}

// `depth` equal blocks, of which each looks at what the one before has found.
std::vector<store::NewJobBlock> Blocks(const InvestigationBody& body, std::int64_t price_mc) {
  const int seeds = static_cast<int>(body.seeds.size());
  std::vector<store::NewJobBlock> blocks;
  for (int depth = 0; depth < body.depth; ++depth) {
    store::NewJobBlock& block = blocks.emplace_back();
    block.type = "investigate";
    block.lane = domain::Lane::kResearch;
    block.price_mc = price_mc;
    block.columns = std::vector<std::string>{"subject"};
    block.parts_total = (seeds + kSeedsOfPart - 1) / kSeedsOfPart;
    block.part_window = block.parts_total;
    if (depth == 0) {
      block.rows_total = seeds;
    } else {
      block.input = depth - 1;
      block.after_drop = true;
    }
  }
  return blocks;
}

store::NewJob Compose(const Call& call, const InvestigationBody& body) {
  const std::int64_t price_mc = call.parts.config.investigations.expansion_mc;
  const std::int64_t paid = SeedsLookedAt(body);
  store::NewJob job;
  job.kind = domain::JobKind::kInvestigation;
  job.name = body.name;
  job.part_rows = kSeedsOfPart;
  const base::Json rows = SeedsJson(body.seeds);
  job.params_json = base::DumpJson(base::Json{{"rows", rows}});
  job.estimate_mc = paid * price_mc;
  job.blocks = Blocks(body, price_mc);
  store::NewInvestigation& about = job.investigation.emplace();
  about.seeds_json = base::DumpJson(rows);
  // At least one is stored: where nobody looks at a seed nothing is found that could be.
  about.seeds = static_cast<int>(std::max<std::int64_t>(paid, 1));
  about.depth = body.depth;
  about.findings_max = body.findings_max;
  about.credits_mc_max = body.credits_mc_max;
  if (body.credits_mc_max && price_mc > 0) {
    about.subjects_max = static_cast<int>(
        std::clamp<std::int64_t>(*body.credits_mc_max / price_mc, about.seeds, kFindingsMax));
  }
  return job;
}

struct Found {
  store::JobView job;
  store::InvestigationView investigation;
};

// The investigation that the path's first parameter names, or a 404.
Found FindInvestigation(Call& call) {
  const base::Uuid id = call.Id(0, "investigation");
  // The job first: of one that has ended, everything that is found is there to be read.
  auto job = store::GetJob(call.session(), call.caller.scope(), id);
  if (!job) throw rest::Refusal(rest::NotFound("investigation"));
  auto investigation = store::GetInvestigation(call.session(), call.caller.scope(), id);
  if (!investigation) throw rest::Refusal(rest::NotFound("investigation"));
  return Found{std::move(*job), std::move(*investigation)};
}

base::Json FindingJson(const store::FindingView& finding) {
  base::Json derived = base::Json::array();
  for (const base::Uuid& id : finding.derived_from) derived.push_back(id.ToString());
  return {{"id", finding.id.ToString()},
          {"kind", domain::FindingKindName(finding.kind)},
          {"subject", base::ParseJsonOrThrow(finding.subject_json)},
          {"predicate", finding.predicate},
          {"object", finding.object_json ? base::ParseJsonOrThrow(*finding.object_json) : nullptr},
          {"confidence", base::OrNull(finding.confidence)},
          {"evidence", finding.evidence.empty() ? base::Json() : base::Json(finding.evidence)},
          {"sources", base::ParseJsonOrThrow(finding.sources_json)},
          {"provider", finding.provider},
          {"derived_from", std::move(derived)},
          {"created_at", base::FormatTimestamp(finding.created_at)}};
}

}  // namespace

rest::Handled StartInvestigation(Call& call) {
  const auto json = ReadJsonObject(call, BodyRulesOf(call));
  rest::Problems problems;
  const InvestigationBody body =
      ReadInvestigationBody(json.members, call.parts.config.investigations.expansion_mc, &problems);
  problems.Check();
  const auto key = ReadIdempotency(call, kRoute);
  call.answer->DropBody();
  if (auto repeated = RepeatLookup(call, Answering::kInvestigation, key)) {
    return std::move(*repeated);
  }
  store::NewJob job = Compose(call, body);
  job.idempotency = key;
  return StartLookup(call, Answering::kInvestigation, call.parts.config.investigations.deadline_ms,
                     std::move(job));
}

rest::Handled ShowInvestigation(Call& call) {
  const auto found = FindInvestigation(call);
  const auto& [job, about] = found;
  const double cents = call.parts.config.cents_per_credit;
  return rest::JsonReply(
      200, {{"investigation_id", job.id.ToString()},
            {"task_id", job.id.ToString()},
            {"name", base::OrNull(about.name)},
            {"seeds", base::ParseJsonOrThrow(about.seeds_json)},
            {"depth", about.depth},
            {"findings_max", about.findings_max},
            {"credits_max", about.credits_mc_max ? domain::CreditsToJson(*about.credits_mc_max)
                                                 : base::Json(nullptr)},
            {"status", domain::ShownJobStatus(job.status)},
            {"status_reason", base::OrNull(job.status_reason)},
            {"error", domain::JobErrorOf(job.status, job.status_reason, job.error)},
            {"findings_count", about.findings},
            {"subjects_examined", about.subjects_examined},
            {"subjects_failed", about.subjects_failed},
            {"budget_reached", about.budget_reached},
            {"charge_amount",
             job.finished_at ? domain::CentsOf(job.charged_mc, cents) : base::Json(nullptr)},
            {"created_at", base::FormatTimestamp(job.created_at)},
            {"started_at", base::OrNull(job.started_at)},
            {"completed_at", base::OrNull(job.finished_at)}});
}

rest::Handled ListInvestigationFindings(Call& call) {
  const auto found = FindInvestigation(call);
  const store::JobView& job = found.job;
  rest::Problems problems;
  rest::QueryReader query(call.request().query, &problems);
  const int limit = query.Integer("limit", kFindingsPageMax, 1, kFindingsPageMax);
  const auto cursor = query.Text("cursor");
  if (cursor && base::CountCharacters(*cursor) > rest::kCursorCharsMax) {
    query.Refuse("cursor", "string_too_long", "String should have at most 2048 characters");
  }
  query.Finish();
  problems.Check();
  const rest::CursorOf list{'f', job.id, CellOf(call)};
  std::int64_t after = 0;
  if (cursor) {
    const auto place = rest::DecodeCursor(list, *cursor);
    if (!place) return rest::InvalidCursor();
    after = *place;
  }
  auto findings = store::ListFindings(call.session(), job.id, after, limit + 1);
  const bool more = findings.size() > static_cast<std::size_t>(limit);
  if (more) findings.pop_back();
  base::Json items = base::Json::array();
  for (const store::FindingView& finding : findings) items.push_back(FindingJson(finding));
  const std::string resume =
      rest::EncodeCursor(list, findings.empty() ? after : findings.back().seq);
  return rest::JsonReply(200, {{"items", std::move(items)},
                               {"next_cursor", more ? base::Json(resume) : base::Json(nullptr)},
                               {"resume_cursor", resume},
                               {"complete", !more && job.finished_at.has_value()}});
}

}  // namespace vedette::api
