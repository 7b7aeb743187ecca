#include "store/queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/text.h"
#include "domain/auth/member_role.h"
#include "domain/auth/principal.h"
#include "domain/channel/channel.h"
#include "domain/channel/mail.h"
#include "domain/job/job.h"
#include "domain/monitor/enums.h"
#include "domain/monitor/timetable.h"
#include "domain/search/documents.h"
#include "domain/text/limits.h"
#include "domain/workflow/run_schedule.h"
#include "store/renders.h"

namespace vedette::store {
namespace {

constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
#include "store_queries.inc"
};

// What the domain says and statements need.
struct Number {
  std::string_view word;
  int value;
  template <typename T>
  constexpr Number(std::string_view of_word, T of_value)
      : word(of_word), value(static_cast<int>(of_value)) {}
};
constexpr Number kNumbers[] = {
    {"status_active", domain::MonitorStatus::kActive},
    {"status_paused", domain::MonitorStatus::kPaused},
    {"status_starting", domain::MonitorStatus::kStarting},
    {"delivery_pending", domain::DeliveryState::kPending},
    {"delivery_dead", domain::DeliveryState::kDead},
    {"delivery_delivered", domain::DeliveryState::kDelivered},
    // Those of channels, which processes that do not know channels pass over.
    {"delivery_pending_of_channel", 3},
    {"delivery_dead_of_channel", 4},
    {"channel_active", domain::ChannelStatus::kActive},
    {"channel_suspended", domain::ChannelStatus::kSuspended},
    {"notice_balance", domain::NoticeKind::kBalance},
    {"notice_spend_limit", domain::NoticeKind::kSpendLimit},
    {"notice_receiver_failing", domain::NoticeKind::kReceiverFailing},
    {"notice_monitor_failing", domain::NoticeKind::kMonitorFailing},
    {"notice_run_completed", domain::NoticeKind::kRunCompleted},
    {"notice_run_failed", domain::NoticeKind::kRunFailed},
    {"notice_run_skipped", domain::NoticeKind::kRunSkipped},
    {"recipient_unconfirmed", domain::MailStatus::kUnconfirmed},
    {"recipient_confirmed", domain::MailStatus::kConfirmed},
    {"recipient_suspended", domain::MailStatus::kSuspended},
    {"recipient_unsubscribed", domain::MailStatus::kUnsubscribed},
    {"event_completion", domain::EventType::kCompletion},
    {"block_rows", domain::kBlockRows},
    {"outcome_none", domain::kNoOutcome},
    {"outcome_changed", domain::Outcome::kChanged},
    {"outcome_unchanged", domain::Outcome::kUnchanged},
    {"outcome_failed", domain::Outcome::kFailed},
    {"event_change", domain::EventType::kChange},
    {"event_error", domain::EventType::kError},
    {"outcome_max", domain::kOutcomeMax},
    {"cut_ahead_ms", domain::kCutAhead.count()},
    {"job_queued", domain::JobStatus::kQueued},
    {"job_running", domain::JobStatus::kRunning},
    {"job_completed", domain::JobStatus::kCompleted},
    {"job_cancelled", domain::JobStatus::kCancelled},
    {"job_terminated", domain::JobStatus::kTerminated},
    {"kind_workflow", domain::JobKind::kWorkflow},
    {"part_rows_max", domain::kPartRowsMax},
    {"slot_started", domain::SlotState::kStarted},
    {"slot_skipped", domain::SlotState::kSkipped},
    {"slot_waiting", domain::SlotState::kWaiting},
    {"wait_mail_budget", domain::JobWait::kMailBudget},
    {"block_pending", domain::BlockStatus::kPending},
    {"block_running", domain::BlockStatus::kRunning},
    {"block_completed", domain::BlockStatus::kCompleted},
    {"block_failed", domain::BlockStatus::kFailed},
    {"principal_api_key", domain::PrincipalKind::kApiKey},
    {"principal_oauth_client", domain::PrincipalKind::kOauthClient},
    {"principal_user", domain::PrincipalKind::kUser},
    {"principal_external", domain::PrincipalKind::kExternal},
    {"role_viewer", domain::MemberRole::kViewer},
    {"role_member", domain::MemberRole::kMember},
    {"role_owner", domain::MemberRole::kOwner},
    {"import_receiving", domain::search::ImportState::kReceiving},
    {"import_counting", domain::search::ImportState::kCounting},
    {"import_current", domain::search::ImportState::kCurrent},
    {"import_former", domain::search::ImportState::kFormer},
    // Those of a move (store/move/org_move.h).
    {"move_old_side", 0},
    {"move_new_side", 1},
    {"move_copying", 0},
    {"move_draining", 1},
    {"render_waiting", RenderState::kWaiting},
    {"render_offered", RenderState::kOffered},
    {"render_taken", RenderState::kTaken},
    {"render_answered", RenderState::kAnswered},
    {"render_held", RenderState::kHeld},
    {"render_pictured", RenderState::kPictured},
    {"render_claims_max", kRenderClaimsMax},
};

constexpr std::string_view kNameMark = "-- name: ";
constexpr std::string_view kFragmentMark = "-- fragment: ";
// How deep fragments may contain each other.
constexpr int kDepthMax = 4;

using Texts = std::map<std::string, std::string, std::less<>>;

std::string* AddText(std::string_view name, Texts* texts) {
  const auto [it, inserted] = texts->try_emplace(std::string(name));
  if (!inserted) {
    throw std::logic_error("two statements or fragments are named " + std::string(name));
  }
  return &it->second;
}

bool IsComment(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  return begin != std::string_view::npos && line.substr(begin).starts_with("--");
}

// A file is a sequence of "-- name: x" and "-- fragment: x" lines, each followed by its text.
void ReadFile(std::string_view text, Texts* statements, Texts* fragments) {
  std::string* current = nullptr;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with(kNameMark)) {
      current = AddText(line.substr(kNameMark.size()), statements);
    } else if (line.starts_with(kFragmentMark)) {
      current = AddText(line.substr(kFragmentMark.size()), fragments);
    } else if (current != nullptr && !IsComment(line)) {
      current->append(line).push_back('\n');
    }
  }
}

bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// The places where the next ":word" begins and ends.
std::pair<std::size_t, std::size_t> FindWord(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find(':', from); at != std::string_view::npos;
       at = text.find(':', at)) {
    if (text.substr(at).starts_with("::")) {
      at += 2;
      continue;
    }
    std::size_t end = at + 1;
    while (end < text.size() && IsWordChar(text[end])) ++end;
    if (end > at + 1) return {at, end};
    ++at;
  }
  return {text.size(), text.size()};
}

std::string Expand(std::string_view text, const Texts& fragments, int depth) {
  if (depth > kDepthMax) throw std::logic_error("fragments of statements contain each other");
  std::string out;
  for (std::size_t from = 0; from < text.size();) {
    const auto [begin, end] = FindWord(text, from);
    out += text.substr(from, begin - from);
    from = end;
    if (begin == end) break;
    const std::string_view word = text.substr(begin + 1, end - begin - 1);
    const auto number = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                     [word](const Number& n) { return n.word == word; });
    if (number != std::end(kNumbers)) {
      out += std::to_string(number->value);
    } else if (const auto fragment = fragments.find(word); fragment != fragments.end()) {
      out += Expand(fragment->second, fragments, depth + 1);
    } else {
      throw std::logic_error("no number or fragment of statements is named " + std::string(word));
    }
  }
  return out;
}

struct Statement {
  std::string text;
  std::vector<std::string> parameters;
  std::vector<std::uint32_t> element_types;  // of each
};

// Types whose arrays are passed in their binary form, by the names that statements give them.
constexpr std::pair<std::string_view, std::uint32_t> kElementTypes[] = {
    {"uuid", 2950},   {"tid", 27},     {"bigint", 20},        {"int", 23},
    {"smallint", 21}, {"boolean", 16}, {"text", 25},          {"json", 114},
    {"jsonb", 3802},  {"bytea", 17},   {"timestamptz", 1184}, {"double precision", 701},
    {"float8", 701},
};

// The type in "::uuid[]", with which `text` begins; 0 where it begins with something else.
std::uint32_t CastToArray(std::string_view text) {
  if (!text.starts_with("::")) return 0;
  for (const auto& [name, type] : kElementTypes) {
    const std::string_view cast = text.substr(2);
    if (cast.starts_with(name) && cast.substr(name.size()).starts_with("[]")) return type;
  }
  return 0;
}

// The places where the next "@name" begins and ends. An operator that has an @ in it is none.
std::pair<std::size_t, std::size_t> FindParameter(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('@', from); at != std::string_view::npos;
       at = text.find('@', at + 1)) {
    std::size_t end = at + 1;
    while (end < text.size() && IsWordChar(text[end])) ++end;
    if (end > at + 1) return {at, end};
  }
  return {text.size(), text.size()};
}

// A name's number is its place among the names, in the order in which they first occur.
// "$1", as a statement has it that is not ours: a regular expression's "$" is followed by no digit.
bool NamesANumber(std::string_view text) {
  for (std::size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    if (at + 1 < text.size() && base::IsAsciiDigit(text[at + 1])) return true;
  }
  return false;
}

Statement Numbered(std::string_view text) {
  if (NamesANumber(text)) {
    throw std::logic_error("a parameter of a statement has a number, and no name");
  }
  Statement statement;
  auto& names = statement.parameters;
  for (std::size_t from = 0; from < text.size();) {
    const auto [begin, end] = FindParameter(text, from);
    statement.text += text.substr(from, begin - from);
    from = end;
    if (begin == end) break;
    const std::string_view name = text.substr(begin + 1, end - begin - 1);
    auto it = std::find(names.begin(), names.end(), name);
    const std::uint32_t element_type = CastToArray(text.substr(end));
    if (it == names.end()) {
      it = names.emplace(names.end(), name);
      statement.element_types.push_back(element_type);
    }
    // A place without the cast, or with another, could be what the database goes by.
    std::uint32_t& known = statement.element_types[static_cast<std::size_t>(it - names.begin())];
    if (known != element_type) known = 0;
    statement.text += fmt::format("${}", it - names.begin() + 1);
  }
  return statement;
}

using Statements = std::map<std::string, Statement, std::less<>>;

const Statements& AllStatements() {
  static const Statements kAll = [] {
    Texts texts;
    Texts fragments;
    for (const auto& [file, text] : kFiles) ReadFile(text, &texts, &fragments);
    Statements statements;
    for (const auto& [name, text] : texts) {
      statements.emplace(name, Numbered(Expand(text, fragments, 0)));
    }
    return statements;
  }();
  return kAll;
}

const Statement& Find(std::string_view name) {
  const auto it = AllStatements().find(name);
  if (it == AllStatements().end()) {
    throw std::logic_error("no statement is named " + std::string(name));
  }
  return it->second;
}

}  // namespace

const std::string& QueryText(std::string_view name) {
  return Find(name).text;
}

const std::vector<std::string>& QueryParameters(std::string_view name) {
  return Find(name).parameters;
}

const std::vector<std::uint32_t>& QueryElementTypes(std::string_view name) {
  return Find(name).element_types;
}

std::vector<std::string_view> QueryNames() {
  std::vector<std::string_view> names;
  for (const auto& [name, statement] : AllStatements()) names.push_back(name);
  return names;
}

}  // namespace vedette::store
