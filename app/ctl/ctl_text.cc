#include "app/ctl/ctl_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/ctl/ctl.h"
#include "app/json_client.h"
#include "base/json.h"
#include "base/text.h"
#include "base/uuid.h"
#include "domain/auth/cell.h"
#include "domain/search/documents.h"

namespace vedette::app {
namespace {

constexpr std::size_t kBatchBytes = std::size_t{4} << 20;
constexpr int kTriesMax = 5;

// Reads a file line by line, and knows where it is.
class LineReader {
 public:
  explicit LineReader(std::istream& file) : file_(file) {}

  std::int64_t at() const { return at_; }                // lines read
  bool has_documents() const { return has_documents_; }  // whether one of them is not blank
  bool AtEnd() {
    const bool is_end = file_.peek() == std::istream::traits_type::eof();
    CheckRead();
    return is_end;
  }

  base::Json ReadBatch() {
    base::Json lines = base::Json::array();
    std::size_t bytes = 0;
    std::string line;
    while (lines.size() < domain::search::kImportBatchLinesMax && bytes < kBatchBytes &&
           std::getline(file_, line)) {
      if (!base::IsValidUtf8(line)) {
        throw RequestFailed(400, fmt::format("line {} of the file is not UTF-8", at_ + 1));
      }
      bytes += line.size();
      has_documents_ = has_documents_ || !base::Trim(line).empty();
      lines.push_back(line);
      ++at_;
    }
    CheckRead();
    return lines;
  }

  void SkipTo(std::int64_t line) {
    std::string skipped;
    while (at_ < line && std::getline(file_, skipped)) ++at_;
    CheckRead();
  }

 private:
  // What cannot be read is not the end.
  void CheckRead() const {
    if (!file_.bad()) return;
    throw RequestFailed(400, fmt::format("the file cannot be read behind line {}", at_));
  }

  std::istream& file_;
  std::int64_t at_ = 0;
  bool has_documents_ = false;
};

JsonClient::Answer CallAgain(const CallWithBody& call, const base::Json& body) {
  for (int tries = 1;; ++tries) {
    try {
      JsonClient::Answer answer = call(body);
      if (answer.status != 503 || tries == kTriesMax) return answer;
    } catch (const RequestFailed& failure) {
      if (failure.status() != 0 || tries == kTriesMax) throw;
    }
  }
}

// Whether an import is "counting", which only a further call changes, or "current" at last.
bool IsIn(std::string_view state, const JsonClient::Answer& answer) {
  return answer.body.value("state", "") == state;
}

}  // namespace

JsonClient::Answer SendLines(const CallWithBody& call, base::Json body, std::istream& file,
                             bool may_be_empty) {
  if (!body.contains("import_id")) {
    body["import_id"] = base::Uuid::V4().ToString();
    fmt::print(stderr, "import {}\n", body["import_id"].get<std::string>());
  }
  LineReader reader(file);
  for (;;) {
    body["first_line"] = reader.at();
    body["lines"] = reader.ReadBatch();
    const bool is_last = reader.AtEnd();
    if (is_last && !reader.has_documents() && !may_be_empty) {
      throw RequestFailed(400, "the file has no documents: with --empty it replaces all by none");
    }
    if (is_last) body["last"] = true;
    JsonClient::Answer answer = CallAgain(call, body);
    if (answer.status != 200 || !answer.body.is_object()) return answer;
    const auto lines = answer.body.value("lines", std::int64_t{0});
    if (lines < reader.at()) {
      throw RequestFailed(answer.status, "the server has fewer lines than were sent");
    }
    if (lines > reader.at()) {
      if (is_last) {
        throw RequestFailed(answer.status, "the file has fewer lines than were received");
      }
      reader.SkipTo(lines);
      continue;
    }
    if (!is_last) continue;
    body["first_line"] = reader.at();
    body["lines"] = base::Json::array();
    while (answer.status == 200 && IsIn("counting", answer)) answer = CallAgain(call, body);
    if (answer.status == 200 && !IsIn("current", answer)) {
      throw RequestFailed(
          answer.status,
          "nobody sees the documents: another import has taken their place, or they "
          "waited too long for their end; send them as a new import");
    }
    return answer;
  }
}

namespace {

enum class Kind { kOrganisation, kMonitor, kTeam };

// The candidates for a name that are asked for; the admin port gives no longer pages.
constexpr int kCandidatesMax = 1000;
// The candidates that a sentence names.
constexpr std::size_t kNamedMax = 5;
constexpr int kNotFound = 404;
constexpr int kConflict = 409;

std::string_view WordOf(Kind kind) {
  switch (kind) {
    case Kind::kOrganisation:
      return "organisation";
    case Kind::kMonitor:
      return "monitor";
    case Kind::kTeam:
      return "team";
  }
  return "thing";
}

// What an option names by its id, where names stand for such ids.
std::optional<Kind> KindOf(const CtlCommand& command, const CtlOption& option) {
  if (option.key == "org_id") return Kind::kOrganisation;
  if (option.key == "monitor_id") return Kind::kMonitor;
  if (option.key == "team_id" || option.key == "team") return Kind::kTeam;
  if (option.place != CtlOption::Place::kPath) return std::nullopt;
  if (option.key == "monitor") return Kind::kMonitor;
  if (option.key != "id") return std::nullopt;
  if (command.path.starts_with("/admin/v1/orgs/")) return Kind::kOrganisation;
  if (command.path.starts_with("/admin/v1/monitors/")) return Kind::kMonitor;
  return std::nullopt;
}

std::string Listed(const std::vector<std::string>& words) {
  const std::size_t count = std::min(words.size(), kNamedMax);
  const std::string first = fmt::format(
      "{}", fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count), ", "));
  return words.size() > count ? fmt::format("{} and {} more", first, words.size() - count) : first;
}

std::vector<NamedThing> Candidates(const base::Json& items) {
  std::vector<NamedThing> candidates;
  for (const base::Json& item : items) {
    candidates.push_back({item.at("id").get<std::string>(), item.at("name").get<std::string>()});
  }
  return candidates;
}

std::string IdOf(Kind kind, const std::string& name, const std::string& organisation,
                 const AskAdmin& ask) {
  if (kind == Kind::kTeam) {
    const base::Json org = ask("/admin/v1/orgs/" + base::UrlEncode(organisation));
    return IdOfNamed(WordOf(kind), name, Candidates(org.at("teams")));
  }
  const base::Json found = ask(fmt::format("/admin/v1/{}?q={}&limit={}",
                                           kind == Kind::kOrganisation ? "orgs" : "monitors",
                                           base::UrlEncode(name), kCandidatesMax));
  if (found.contains("next_cursor")) {
    throw RequestFailed(
        kConflict,
        fmt::format("\"{}\" is in the names of too many {}s, give the id", name, WordOf(kind)));
  }
  return IdOfNamed(WordOf(kind), name, Candidates(found.at("items")));
}

}  // namespace

std::string IdOfNamed(std::string_view word, const std::string& name,
                      const std::vector<NamedThing>& candidates) {
  std::vector<std::string> ids;
  std::vector<std::string> others;
  for (const NamedThing& candidate : candidates) {
    if (candidate.name == name) {
      ids.push_back(candidate.id);
    } else {
      others.push_back(fmt::format("\"{}\"", candidate.name));
    }
  }
  if (ids.size() == 1) return ids.front();
  if (!ids.empty()) {
    throw RequestFailed(
        kConflict, fmt::format("several {}s are named \"{}\", give the id of one: {}", word, name,
                               Listed(ids)));
  }
  std::string hint;
  if (!others.empty()) {
    hint = fmt::format("; there {} {}", others.size() == 1 ? "is" : "are", Listed(others));
  }
  throw RequestFailed(kNotFound, fmt::format("no {} is named \"{}\"{}", word, name, hint));
}

void ResolveNames(const CtlCommand& command, const AskAdmin& ask, CtlValues* values) {
  std::string organisation;  // the one that teams are of: it stands before them
  for (const CtlOption& option : command.options) {
    const auto kind = KindOf(command, option);
    const auto given = values->find(option.flag);
    if (!kind || given == values->end() || given->second.empty()) continue;
    std::string& text = given->second.front();
    const bool is_none = option.type == CtlOption::Type::kTextOrNone && text == "none";
    if (!is_none && !text.empty() && !base::Uuid::Parse(text)) {
      text = IdOf(*kind, text, organisation, ask);
    }
    if (*kind == Kind::kOrganisation) organisation = text;
  }
}

namespace {

using base::Json;

// A masked signing secret is whole.
constexpr std::size_t kCellCharsMax = 80;
// The width of a cell in the table of one thing, where an error is read to its end.
constexpr std::size_t kWhole = 4096;
constexpr std::size_t kGapChars = 2;
// What a wide terminal shows in a line.
constexpr std::size_t kLineCharsMax = 240;

// The bytes of the character that `text` begins with, in valid UTF-8.
std::size_t CharBytes(std::string_view text) {
  std::size_t n = 1;
  while (n < text.size() && base::ContinuesCharacter(text[n])) ++n;
  return n;
}

// Control characters (C0, DEL, C1), and those that turn the direction of writing.
bool SteersTerminal(std::string_view c) {
  const auto byte = [&c](std::size_t i) { return static_cast<unsigned char>(c[i]); };
  if (c.size() == 1) return base::IsAsciiControl(c.front());
  if (c.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (c.size() != 3 || byte(0) != 0xE2) return false;
  if (byte(1) == 0x80) return byte(2) >= 0xAA && byte(2) <= 0xAE;  // U+202A to U+202E
  return byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;    // U+2066 to U+2069
}

std::string Cell(const Json& value) {
  if (value.is_null()) return "-";
  return Printable(value.is_string() ? value.get_ref<const std::string&>() : base::DumpJson(value));
}

bool IsObjectList(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& v) { return v.is_object(); });
}

// The plain members as (name, text), the lists of objects as (name, list).
struct Sections {
  std::vector<std::pair<std::string, std::string>> lines;
  std::vector<std::pair<std::string, const Json*>> tables;
};

void Collect(const std::string& prefix, const Json& object, Sections* sections) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix + Printable(key);
    if (IsObjectList(value)) {
      sections->tables.emplace_back(name, &value);
    } else if (value.is_object() && !value.empty()) {
      Collect(name + ".", value, sections);
    } else {
      sections->lines.emplace_back(name, Cell(value));
    }
  }
}

std::string FormatLines(const std::vector<std::pair<std::string, std::string>>& lines) {
  std::size_t width = 0;
  for (const auto& [name, text] : lines) width = std::max(width, base::CountCharacters(name));
  std::string out;
  for (const auto& [name, text] : lines) {
    out += fmt::format("{}{}  {}\n", name, std::string(width - base::CountCharacters(name), ' '),
                       text);
  }
  return out;
}

// How many of each: "changed 1, unchanged 9"; empty for another value.
std::string CountsOf(const Json& value) {
  if (!value.is_object()) return {};
  std::string text;
  for (const auto& [name, count] : value.items()) {
    if (!count.is_number()) return {};
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", Printable(name), count.dump());
  }
  return text;
}

// The member of an object, of its object and so on, that a column shows.
struct Column {
  std::string title;
  std::vector<std::string> path;
};

// "failure.message": the member of an object's object.
Column Named(std::string_view column) {
  Column named{std::string(column), {}};
  for (std::size_t dot = column.find('.'); dot != column.npos; dot = column.find('.')) {
    named.path.emplace_back(column.substr(0, dot));
    column.remove_prefix(dot + 1);
  }
  named.path.emplace_back(column);
  return named;
}

// Whether the member has members that are columns: an object is no cell, unless it counts
// something.
bool Unfolds(const std::string& key, const Json& value) {
  return value.is_object() && !value.empty() && key != "outcomes" && CountsOf(value).empty();
}

// Adds a column for each member, and each of its objects, that is none yet.
void AddColumns(const Json& object, const Column& of, std::vector<Column>* columns) {
  for (const auto& [key, value] : object.items()) {
    Column column = of;
    column.title += (of.title.empty() ? "" : ".") + Printable(key);
    column.path.push_back(key);
    const auto is_it = [&](const Column& one) { return one.path == column.path; };
    if (Unfolds(key, value)) {
      AddColumns(value, column, columns);
    } else if (std::none_of(columns->begin(), columns->end(), is_it)) {
      columns->push_back(std::move(column));
    }
  }
}

// Null for none.
const Json* MemberAt(const Json& item, const std::vector<std::string>& path) {
  const Json* at = &item;
  for (const std::string& key : path) {
    const auto it = at->find(key);
    if (it == at->end()) return nullptr;
    at = &*it;
  }
  return at;
}

std::string CellOf(const Json& value) {
  const std::string counts = CountsOf(value);
  if (!counts.empty()) return counts;
  return value.is_object() && value.empty() ? "-" : Cell(value);
}

// The head, and a line each item.
using Cells = std::vector<std::vector<std::string>>;

Cells CellsOf(const Json& items, const std::vector<std::string_view>& named,
              std::size_t cell_chars_max) {
  std::vector<Column> columns;
  std::transform(named.begin(), named.end(), std::back_inserter(columns), Named);
  for (const Json& item : items) {
    if (named.empty() && item.is_object()) AddColumns(item, {}, &columns);
  }
  Cells lines(1);
  for (const Column& column : columns) lines[0].push_back(column.title);
  for (const Json& item : items) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const Column& column : columns) {
      const Json* value = MemberAt(item, column.path);
      // Other columns show what unfolds in this item, and not in another one.
      const bool is_shown =
          value != nullptr && !(named.empty() && Unfolds(column.path.back(), *value));
      // Why something did not answer is read to its end.
      const std::size_t chars_max = column.title == "error" ? kWhole : cell_chars_max;
      line.push_back(is_shown ? base::CutCharacters(CellOf(*value), chars_max) : "");
    }
  }
  return lines;
}

using Columns = std::vector<std::size_t>;

// The columns in groups of as many as fit into a line; each begins with the first of all, which
// says of what the line is.
std::vector<Columns> Folded(const std::vector<std::size_t>& widths, std::size_t line_chars_max) {
  std::vector<Columns> groups(1);
  std::size_t chars = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (groups.back().size() > 1 && chars + widths[i] > line_chars_max) {
      groups.push_back({0});
      chars = widths[0] + kGapChars;
    }
    groups.back().push_back(i);
    chars += widths[i] + kGapChars;
  }
  return groups;
}

std::string TableOf(const Json& items, const std::vector<std::string_view>& columns,
                    std::size_t cell_chars_max, std::size_t line_chars_max) {
  if (items.empty()) return "none\n";
  const Cells lines = CellsOf(items, columns, cell_chars_max);
  std::vector<std::size_t> widths(lines[0].size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], base::CountCharacters(line[i]));
  }
  std::string text;
  for (const Columns& group : Folded(widths, line_chars_max)) {
    if (!text.empty()) text += "\n";
    for (const auto& line : lines) {
      std::string row;
      for (const std::size_t i : group) {
        row += line[i] + std::string(widths[i] - base::CountCharacters(line[i]) + kGapChars, ' ');
      }
      row.erase(row.find_last_not_of(' ') + 1);
      text += row + "\n";
    }
  }
  return text;
}

std::string FormatObject(const Json& object) {
  Sections sections;
  Collect("", object, &sections);
  std::string out = FormatLines(sections.lines);
  for (const auto& [name, list] : sections.tables) {
    out += fmt::format("{}{}:\n{}", out.empty() ? "" : "\n", name,
                       TableOf(*list, {}, kWhole, kLineCharsMax));
  }
  return out.empty() ? "done\n" : out;
}

// nlohmann's own dump() knows no number that is kept as its text.
void AppendIndented(const Json& value, std::size_t depth, std::string* out) {
  const auto ascii = [](const Json& plain) {
    return plain.dump(-1, ' ', true, Json::error_handler_t::replace);
  };
  if (const auto number = base::NumberText(value)) {
    out->append(*number);
  } else if (!value.is_structured() || value.empty()) {
    out->append(ascii(value));
  } else {
    constexpr std::size_t kIndentChars = 2;
    out->push_back(value.is_object() ? '{' : '[');
    bool first = true;
    for (const auto& [key, member] : value.items()) {
      out->append(std::exchange(first, false) ? "\n" : ",\n");
      out->append((depth + 1) * kIndentChars, ' ');
      if (value.is_object()) out->append(ascii(Json(key)) + ": ");
      AppendIndented(member, depth + 1, out);
    }
    out->append("\n").append(depth * kIndentChars, ' ');
    out->push_back(value.is_object() ? '}' : ']');
  }
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t n = CharBytes(text);
    const std::string_view c = text.substr(0, n);
    if (c == "\n" || c == "\t" || c == "\r") {
      out += ' ';
    } else {
      out += SteersTerminal(c) ? base::kReplacementCharacter : c;
    }
    text.remove_prefix(n);
  }
  return out;
}

std::string FormatTable(const Json& items, const std::vector<std::string_view>& columns) {
  return TableOf(items, columns, kCellCharsMax, std::string::npos);
}

std::string IndentedJson(const Json& answer) {
  std::string text;
  AppendIndented(answer, 0, &text);
  return text;
}

std::string FormatForPeople(const Json& answer, const std::vector<std::string_view>& columns) {
  if (answer.is_null()) return "done\n";
  if (answer.is_array()) return FormatTable(answer, columns);
  if (!answer.is_object()) return Cell(answer) + "\n";
  if (answer.contains("id")) return FormatObject(answer);  // one thing, which may have rows
  for (const char* list : {"items", "rows", "channels", "deliveries"}) {
    const auto it = answer.find(list);
    if (it == answer.end() || !it->is_array()) continue;
    std::string text = FormatTable(*it, columns);
    if (const auto next = answer.find("next_cursor"); next != answer.end() && !next->is_null()) {
      text += fmt::format("more: --cursor {}\n", Cell(*next));
    }
    if (const auto cell = answer.find("lives_at"); cell != answer.end() && cell->is_string()) {
      text += fmt::format("by the directory it lives at {}\n",
                          Printable(domain::CellName(cell->get<std::string>())));
    }
    return text;
  }
  return FormatObject(answer);
}

std::string RefusalText(int status, const Json& body) {
  const auto text = [](const Json& object, const char* key) {
    const auto it = object.find(key);
    return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  std::string sentence;
  if (body.is_object()) {
    sentence = text(body, "message");
    if (sentence.empty()) sentence = text(body, "detail");
    if (const auto detail = body.find("detail"); detail != body.end() && IsObjectList(*detail)) {
      for (const Json& item : *detail) {
        const auto loc = item.find("loc");
        const bool named = loc != item.end() && loc->is_array() && !loc->empty();
        sentence += fmt::format("{}{}: {}", sentence.empty() ? "" : "; ",
                                named ? Cell(loc->back()) : "input", text(item, "msg"));
      }
    }
  }
  if (sentence.empty()) sentence = "the server gave no reason";
  return fmt::format("{} (status {})", Printable(sentence), status);
}

std::string FormatAnswer(const Json& answer) {
  if (!answer.is_object() || answer.contains("items")) return FormatForPeople(answer, {});
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& [key, value] : answer.items()) lines.emplace_back(Printable(key), Cell(value));
  return FormatLines(lines);
}

}  // namespace vedette::app
