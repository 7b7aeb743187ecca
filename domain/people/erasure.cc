#include "domain/people/erasure.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/text.h"
#include "domain/email/address.h"
#include "domain/email/candidate.h"
#include "domain/email/find_request.h"
#include "domain/email/lead.h"
#include "domain/email/person_name.h"
#include "domain/investigation/finding.h"

namespace vedette::domain {
namespace {

using base::Json;

// The text as JSON writes it, without quotation marks.
std::string InJson(std::string_view text) {
  const std::string quoted = base::DumpJson(Json(base::AsciiLower(text)));
  return quoted.substr(1, quoted.size() - 2);
}

// What every spelling of a profile holds, as ProfileSuppression compares it: its path.
std::string NeedleOfProfile(std::string_view url) {
  const std::string text = PlainProfile(url);
  return InJson(std::string_view(text).substr(text.find('/')));
}

Json& Member(Json& object, const char* name) {
  const auto it = object.find(name);
  if (it == object.end()) throw std::invalid_argument("a stored job has another form");
  return *it;
}

Json& RowsOf(Json& holder) {
  Json& rows = Member(holder, "rows");
  if (!rows.is_array()) throw std::invalid_argument("a stored job has rows that are no array");
  return rows;
}

// Cells that hold the person become null. Returns how many rows had some.
int EraseCells(const ErasureTarget& target, Json* rows) {
  int touched = 0;
  for (Json& row : *rows) {
    if (!row.is_array()) continue;
    bool is_touched = false;
    for (Json& cell : row) {
      if (!target.IsIn(cell)) continue;
      cell = nullptr;
      is_touched = true;
    }
    touched += is_touched ? 1 : 0;
  }
  return touched;
}

// A worker that has read rows which changed knows them as they were: what it would record goes with
// its lease.
void TakeFromWorkers(StoredJob* job) {
  for (auto& chunk : job->chunks) {
    const auto is_read = [&](const StoredJob::Part& part) {
      return part.changed && chunk.input == part.block && chunk.part == part.part;
    };
    chunk.changed = chunk.changed || std::any_of(job->parts.begin(), job->parts.end(), is_read);
  }
}

// Texts that hold the person become empty: they stay texts, with which a run goes on.
bool EraseTexts(const ErasureTarget& target, Json* value) {
  if (!target.IsIn(*value)) return false;
  if (value->is_string()) {
    *value = "";
    return true;
  }
  bool is_touched = false;
  if (value->is_structured()) {
    for (Json& one : *value) is_touched = EraseTexts(target, &one) || is_touched;
  }
  return is_touched;
}

// The specs of a run are in its definition, and bound in its blocks.
void EraseFromSpecs(const ErasureTarget& target, StoredJob* job) {
  if (const auto definition = job->params.find("definition"); definition != job->params.end()) {
    for (Json& block : Member(*definition, "blocks")) {
      if (EraseTexts(target, &Member(block, "specs"))) job->params_changed = true;
    }
  }
  for (auto& block : job->blocks) {
    block.changed = EraseTexts(target, &Member(block.specs, "specs"));
  }
}

// Erases from a job that is no lookup.
int EraseFromCells(const ErasureTarget& target, StoredJob* job) {
  EraseFromSpecs(target, job);
  int touched = 0;
  for (auto& part : job->parts) {
    const int rows = EraseCells(target, &part.rows);
    part.changed = rows > 0;
    touched += rows;
  }
  for (auto& chunk : job->chunks) {
    if (chunk.done.is_null()) continue;
    int rows = EraseCells(target, &RowsOf(chunk.done));
    for (const auto& [index, later] : Member(chunk.done, "later").items()) {
      // The row begins again, and finds the person on the suppression list.
      if (target.IsIn(later)) rows += static_cast<int>(later.erase("memo"));
    }
    chunk.changed = rows > 0;
    touched += rows;
  }
  TakeFromWorkers(job);
  return touched;
}

using RowSet = std::set<std::size_t>;

std::size_t FirstRow(const StoredJob& job, int part) {
  return static_cast<std::size_t>(part) * static_cast<std::size_t>(job.part_rows);
}

void AddMatches(const ErasureTarget& target, const Json& rows, std::size_t first, RowSet* matched) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (target.IsIn(rows[i])) matched->insert(first + i);
  }
}

// The rows of a lookup that hold the person: in their lead, their result or what they know so far;
// and their copies.
RowSet MatchedRows(const ErasureTarget& target, StoredJob* job) {
  RowSet matched;
  const Json& rows = RowsOf(job->params);
  AddMatches(target, rows, 0, &matched);
  for (auto& part : job->parts) {
    AddMatches(target, part.rows, FirstRow(*job, part.part), &matched);
  }
  for (auto& chunk : job->chunks) {
    if (chunk.done.is_null()) continue;
    const std::size_t first = FirstRow(*job, chunk.part);
    AddMatches(target, RowsOf(chunk.done), first, &matched);
    for (const auto& [index, later] : Member(chunk.done, "later").items()) {
      if (target.IsIn(later)) matched.insert(first + std::stoul(index));
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto copy_of = ReadFindRow(rows[i]).copy_of;
    if (copy_of && matched.contains(*copy_of)) matched.insert(i);
  }
  return matched;
}

// A row that is to be done ends without being worked on: its one cell is null.
void EndRow(StoredJob::Chunk* chunk, std::size_t index, std::size_t rows) {
  if (chunk->done.is_null()) {
    chunk->done["rows"] = Json::array();
    chunk->done["later"] = Json::object();
  }
  Json& ends = RowsOf(chunk->done);
  while (ends.size() < rows) ends.push_back(nullptr);
  Json& end = ends[index];
  if (!end.is_array()) ++chunk->ended;
  end = Json::array({nullptr});
  Member(chunk->done, "later").erase(std::to_string(index));
  chunk->changed = true;
}

// Erases from an investigation: the subjects of one list, each in a cell of its own or by itself. A
// subject that is erased is not investigated: its row in the block `block` ends.
int EraseSubjects(const ErasureTarget& target, int block, int part, std::size_t first,
                  std::size_t size, Json* subjects, StoredJob* job) {
  int touched = 0;
  for (std::size_t i = 0; i < size; ++i) {
    Json& row = (*subjects)[first + i];
    if (!target.IsIn(row)) continue;
    EraseSubject(row.is_array() ? &row.at(0) : &row);
    ++touched;
    for (auto& chunk : job->chunks) {
      if (chunk.block == block && chunk.part == part) EndRow(&chunk, i, size);
    }
  }
  return touched;
}

// Takes the findings that hold the person out of rows that were recorded.
int EraseFoundRows(const ErasureTarget& target, Json* rows) {
  int touched = 0;
  for (Json& row : *rows) {
    if (!row.is_array() || row.empty() || !target.IsIn(row)) continue;
    ++touched;
    Json& cell = row.at(0);
    const auto found = cell.is_object() ? cell.find("findings") : cell.end();
    if (!cell.is_object() || found == cell.end() || !found->is_array()) {
      cell = nullptr;
      continue;
    }
    Json kept = Json::array();
    for (Json& finding : *found) {
      if (!target.IsIn(finding)) kept.push_back(std::move(finding));
    }
    *found = std::move(kept);
  }
  return touched;
}

// What is said about the person goes, and of everything else that holds the person the part that
// does.
bool EraseFinding(const ErasureTarget& target, StoredFinding* finding) {
  const bool is_about = target.IsIn(finding->subject);
  const bool is_object = target.IsIn(finding->object);
  const bool is_told = target.IsInText(finding->evidence);
  if (!is_about && !is_object && !is_told && !target.IsIn(finding->sources)) return false;
  if (is_about) EraseSubject(&finding->subject);
  if ((is_about || is_object) && !finding->object.is_null()) EraseSubject(&finding->object);
  if (is_about || is_object || is_told) finding->evidence.clear();
  Json kept = Json::array();
  for (Json& source : finding->sources) {
    if (!is_about && !target.IsIn(source)) kept.push_back(std::move(source));
  }
  finding->sources = std::move(kept);
  finding->changed = true;
  return true;
}

int EraseFromInvestigation(const ErasureTarget& target, StoredJob* job) {
  int touched = 0;
  Json& seeds = RowsOf(job->params);
  const auto part_rows = static_cast<std::size_t>(std::max(1, job->part_rows));
  for (std::size_t first = 0; first < seeds.size(); first += part_rows) {
    touched += EraseSubjects(target, 0, static_cast<int>(first / part_rows), first,
                             std::min(part_rows, seeds.size() - first), &seeds, job);
  }
  job->params_changed = touched > 0;
  for (Json& seed : job->seeds) {
    if (!target.IsIn(seed)) continue;
    EraseSubject(&seed);
    job->seeds_changed = true;
  }
  for (auto& part : job->parts) {
    const int rows =
        EraseSubjects(target, part.block + 1, part.part, 0, part.rows.size(), &part.rows, job);
    part.changed = rows > 0;
    touched += rows;
  }
  for (auto& chunk : job->chunks) {
    if (chunk.done.is_null()) continue;
    const int rows = EraseFoundRows(target, &RowsOf(chunk.done));
    chunk.changed = chunk.changed || rows > 0;
    touched += rows;
  }
  for (StoredFinding& finding : job->findings) {
    if (EraseFinding(target, &finding)) ++touched;
  }
  return touched;
}

// Under what the organisation knows the person of a lead besides the erased address.
void AddKnownAs(const ErasureTarget& target, const Json& lead, StoredJob* job) {
  const auto read = ReadLead(lead);
  const auto* known = std::get_if<Person>(&read);
  if (known == nullptr) return;
  const auto add = [](std::vector<std::string>* list, std::string value) {
    const bool is_there = std::find(list->begin(), list->end(), value) != list->end();
    if (!value.empty() && !is_there) list->push_back(std::move(value));
  };
  for (const std::string& domain : {CompanyDomain(*known), target.domain()}) {
    if (domain.empty()) continue;
    Person person = *known;
    person.domain = domain;
    add(&job->person_keys, PersonKey(person));
    const auto names = RenderName(person, domain);
    const auto* renderings = std::get_if<std::vector<NameRendering>>(&names);
    if (renderings == nullptr || IsFreeMailboxDomain(domain)) continue;
    for (const Guess& guess :
         GuessLocalParts(*renderings, {}, kAddressPatterns * renderings->size())) {
      add(&job->guesses, guess.local + '@' + domain);
    }
  }
}

// Erases from a lookup. A row that was erased before is found no more.
int EraseFromLookup(const ErasureTarget& target, StoredJob* job) {
  const RowSet matched = MatchedRows(target, job);
  Json& rows = RowsOf(job->params);
  for (const std::size_t i : matched) {
    if (i >= rows.size())
      throw std::invalid_argument("a stored lookup has a result without a lead");
    FindRow row = ReadFindRow(rows[i]);
    AddKnownAs(target, row.lead.Value(), job);
    row.lead = ErasedLead();
    rows[i] = FindRowCell(row);
    job->params_changed = true;
  }
  const auto in = [&](int part, std::size_t row) -> std::optional<std::size_t> {
    const std::size_t first = FirstRow(*job, part);
    const std::size_t end = first + static_cast<std::size_t>(job->part_rows);
    if (row < first || row >= end) return std::nullopt;
    return row - first;
  };
  for (const std::size_t row : matched) {
    for (auto& part : job->parts) {
      const auto index = in(part.part, row);
      if (!index || *index >= part.rows.size() || !part.rows[*index].is_array()) continue;
      part.rows[*index] = Json::array({nullptr});
      part.changed = true;
    }
    for (auto& chunk : job->chunks) {
      const std::size_t left = rows.size() - std::min(rows.size(), FirstRow(*job, chunk.part));
      const std::size_t size = std::min(left, static_cast<std::size_t>(job->part_rows));
      if (const auto index = in(chunk.part, row)) EndRow(&chunk, *index, size);
    }
  }
  return static_cast<int>(matched.size());
}

}  // namespace

std::optional<ErasureTarget> ErasureTarget::Of(std::string_view email, std::string_view profile) {
  ErasureTarget target;
  if (!email.empty()) {
    const auto address = ParseAddress(base::Trim(email));
    auto key = AddressSuppression(email);
    if (!address || !key) return std::nullopt;
    target.keys_.push_back(std::move(*key));
    target.needles_ = MentionNeedles(*address);
    target.mention_.emplace(*address);
    target.domain_ = AsciiDomain(address->domain).value_or("");
  }
  if (!profile.empty()) {
    auto key = ProfileSuppression(profile);
    if (!key) return std::nullopt;
    target.keys_.push_back(std::move(*key));
    target.needles_.push_back(NeedleOfProfile(profile));
  }
  if (target.keys_.empty()) return std::nullopt;
  return target;
}

bool ErasureTarget::IsKey(const std::optional<SuppressionKey>& key) const {
  return key && std::find(keys_.begin(), keys_.end(), *key) != keys_.end();
}

bool ErasureTarget::IsInText(std::string_view text) const {
  // The digests are made only of what can be meant.
  const std::string lower = base::AsciiLower(text);
  const bool may_be = std::any_of(needles_.begin(), needles_.end(), [&](const auto& needle) {
    return InJson(lower).find(needle) != std::string::npos;
  });
  if (!may_be) return false;
  if (IsKey(AddressSuppression(text)) || IsKey(ProfileSuppression(text))) return true;
  if (mention_ && mention_->IsIn(text)) return true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n<>\"'(),;", begin), text.size());
    if (end > begin && IsKey(ProfileSuppression(text.substr(begin, end - begin)))) return true;
    begin = end + 1;
  }
  // What is JSON has escapes.
  Json inner;
  const std::string_view trimmed = base::Trim(text);
  const bool may_be_json = trimmed.starts_with('{') || trimmed.starts_with('[');
  return may_be_json && !base::ParseJson(trimmed, &inner) && IsIn(inner);
}

bool ErasureTarget::IsIn(const Json& value) const {
  if (value.is_string()) return IsInText(value.get_ref<const std::string&>());
  if (value.is_array()) {
    return std::any_of(value.begin(), value.end(), [&](const Json& one) { return IsIn(one); });
  }
  if (!value.is_object()) return false;
  for (const auto& [name, member] : value.items()) {
    if (IsInText(name) || IsIn(member)) return true;
  }
  return false;
}

int EraseFrom(const ErasureTarget& target, StoredJob* job) {
  try {
    switch (job->form) {
      case StoredJob::Form::kLookup:
        return EraseFromLookup(target, job);
      case StoredJob::Form::kInvestigation:
        return EraseFromInvestigation(target, job);
      case StoredJob::Form::kOther:
        break;
    }
    return EraseFromCells(target, job);
  } catch (const Json::exception&) {
    throw std::invalid_argument("a stored job has another form");
  } catch (const std::logic_error&) {
    throw std::invalid_argument("a stored job has another form");
  }
}

}  // namespace vedette::domain
