#include "config/setting_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/crypto.h"
#include "base/text.h"
#include "config/config.h"
#include "config/keys.h"
#include "domain/auth/cell.h"
#include "domain/email/address.h"
#include "domain/email/recipe.h"

namespace vedette::config {
namespace {

using base::Json;
using base::JsonPointer;
using domain::Recipe;
using domain::RecipeField;

constexpr std::size_t kFileBytesMax = 64 * 1024;
constexpr std::size_t kKeyBytesMax = 4096;
constexpr std::size_t kAnswerBytesMax = 100 * 1024 * 1024;
// What the client sets itself.
constexpr std::string_view kOwnHeaders[] = {"host", "content-length", "content-type", "connection",
                                            "transfer-encoding"};

// A table of the file, whose keys are taken one after another: what is left at the end is unknown.
class Table {
 public:
  Table(const toml::table& table, std::string name, const std::string& source)
      : table_(table), name_(std::move(name)), source_(source) {}

  [[noreturn]] void Fail(std::string_view key, std::string_view rule) const {
    const toml::node* node = table_.get(key);
    const auto line = (node == nullptr ? table_.source() : node->source()).begin.line;
    throw ConfigError(fmt::format("{}:{}: {}: {}", source_, line, Written(key), rule));
  }

  const toml::node* Take(const std::string& key) {
    taken_.insert(key);
    return table_.get(key);
  }
  std::string Text(const std::string& key, std::string missing = "") {
    const toml::node* node = Take(key);
    if (node == nullptr) return missing;
    if (!node->is_string()) Fail(key, "must be text");
    return node->as_string()->get();
  }
  std::string RequiredText(const std::string& key) {
    std::string text = Text(key);
    if (text.empty()) Fail(key, "is required and must not be empty");
    return text;
  }
  int Int(const std::string& key, int missing, int min, int max) {
    const toml::node* node = Take(key);
    if (node == nullptr) return missing;
    const auto* number = node->as_integer();
    if (number == nullptr || number->get() < min || number->get() > max) {
      Fail(key, fmt::format("must be a whole number from {} to {}", min, max));
    }
    return static_cast<int>(number->get());
  }
  bool Flag(const std::string& key, bool missing) {
    const toml::node* node = Take(key);
    if (node == nullptr) return missing;
    if (!node->is_boolean()) Fail(key, "must be true or false");
    return node->as_boolean()->get();
  }
  // Every element of the list; a key that is not there is an empty list.
  void Each(const std::string& key, const std::function<void(const toml::node&)>& element) {
    const toml::node* node = Take(key);
    if (node == nullptr) return;
    if (!node->is_array()) Fail(key, "must be a list");
    for (const toml::node& one : *node->as_array()) element(one);
  }
  std::optional<Table> Inner(const std::string& key) {
    const toml::node* node = Take(key);
    if (node == nullptr) return std::nullopt;
    if (!node->is_table()) Fail(key, "must be a table");
    return Table(*node->as_table(), Written(key), source_);
  }
  std::optional<JsonPointer> Pointer(const std::string& key) {
    const toml::node* node = Take(key);
    if (node == nullptr) return std::nullopt;
    const auto* text = node->as_string();
    auto pointer = text == nullptr ? std::nullopt : JsonPointer::Parse(text->get());
    if (!pointer) Fail(key, "must be a JSON Pointer, such as /data/email");
    return pointer;
  }
  JsonPointer RequiredPointer(const std::string& key) {
    auto pointer = Pointer(key);
    if (!pointer) Fail(key, "is required");
    return std::move(*pointer);
  }

  void Finish() const {
    for (const auto& [key, node] : table_) {
      if (!taken_.contains(std::string(key.str()))) Fail(key.str(), "is no key of a recipe");
    }
  }

  const toml::table& table() const { return table_; }

 private:
  std::string Written(std::string_view key) const {
    return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
  }

  const toml::table& table_;
  const std::string name_;
  const std::string& source_;
  std::set<std::string> taken_;
};

// Values as JSON; dates and times have no counterpart there.
std::optional<Json> JsonOf(const toml::node& node) {
  if (const auto* text = node.as_string()) return Json(text->get());
  if (const auto* integer = node.as_integer()) return Json(integer->get());
  if (const auto* real = node.as_floating_point(); real && std::isfinite(real->get())) {
    return Json(real->get());
  }
  if (const auto* flag = node.as_boolean()) return Json(flag->get());
  if (const auto* list = node.as_array()) {
    Json json = Json::array();
    for (const toml::node& one : *list) {
      auto element = JsonOf(one);
      if (!element) return std::nullopt;
      json.push_back(std::move(*element));
    }
    return json;
  }
  if (const auto* table = node.as_table()) {
    Json json = Json::object();
    for (const auto& [key, one] : *table) {
      auto member = JsonOf(one);
      if (!member) return std::nullopt;
      json[std::string(key.str())] = std::move(*member);
    }
    return json;
  }
  return std::nullopt;
}

std::vector<Json> Scalars(Table* table, const std::string& key) {
  std::vector<Json> values;
  table->Each(key, [&](const toml::node& node) {
    auto value = JsonOf(node);
    if (!value || value->is_structured()) {
      table->Fail(key, "must be a list of texts, numbers, true and false");
    }
    values.push_back(std::move(*value));
  });
  return values;
}

std::vector<int> Statuses(Table* table, const std::string& key) {
  std::vector<int> statuses;
  table->Each(key, [&](const toml::node& node) {
    const auto* number = node.as_integer();
    if (number == nullptr || number->get() < 200 || number->get() > 599) {
      table->Fail(key, "must be a list of HTTP statuses from 200 to 599");
    }
    statuses.push_back(static_cast<int>(number->get()));
  });
  return statuses;
}

// The fields of a text, which the recipe will have to have values for.
using Fields = std::vector<RecipeField>;
void AddFields(const Table& table, std::string_view key, std::string_view text, Fields* used) {
  const auto fields = domain::FieldsOf(text);
  if (!fields) {
    table.Fail(key,
               "has a brace that is no field: the fields are {name}, {first_name}, {last_name}, "
               "{company}, {domain}, {linkedin}, {email}, {title}, {location} and {key}");
  }
  used->insert(used->end(), fields->begin(), fields->end());
}

// A field never stands in scheme, host or port, and in the path only as a whole segment.
void ValidateUrl(const Table& request, const std::string& url, Fields* used) {
  AddFields(request, "url", url, used);
  const auto scheme = url.find("://");
  const bool is_http = url.starts_with("http://") || url.starts_with("https://");
  if (!is_http) request.Fail("url", "must be an http or https URL");
  const auto host = scheme + 3;
  const auto path = std::min(url.find('/', host), url.size());
  const std::string_view authority = std::string_view(url).substr(host, path - host);
  if (authority.empty() || authority.find_first_of("{}@") != std::string_view::npos) {
    request.Fail("url", "must have a host without a field, a user or a password");
  }
  if (url.find_first_of("?#") != std::string::npos || !domain::IsHeaderText(url) ||
      url.find(' ') != std::string::npos) {
    request.Fail("url", "must have no query, which stands in `query`, no fragment and no blank");
  }
  std::string_view rest = std::string_view(url).substr(path);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const auto end = std::min(rest.find('/'), rest.size());
    const std::string_view segment = rest.substr(0, end);
    const bool has_field = segment.find('{') != std::string_view::npos;
    if (has_field && (segment.front() != '{' || segment.find('}') != segment.size() - 1)) {
      request.Fail("url", "must have a field only as a whole segment of its path");
    }
    rest.remove_prefix(end);
  }
}

bool IsHeaderName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || c == '-' || c == '_';
  });
}

std::vector<std::pair<std::string, std::string>> Pairs(Table* request, const std::string& key,
                                                       Fields* used) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const auto inner = request->Inner(key);
  if (!inner) return pairs;
  for (const auto& [name, node] : inner->table()) {
    const auto* text = node.as_string();
    if (text == nullptr) inner->Fail(name.str(), "must be text");
    AddFields(*inner, name.str(), text->get(), used);
    pairs.emplace_back(std::string(name.str()), text->get());
  }
  return pairs;
}

void ValidateHeaders(const Table& request, const domain::RecipeRequest& read) {
  for (const auto& [name, text] : read.headers) {
    const std::string lower = base::AsciiLower(name);
    const bool is_own =
        std::find(std::begin(kOwnHeaders), std::end(kOwnHeaders), lower) != std::end(kOwnHeaders);
    if (!IsHeaderName(name) || is_own || !domain::IsHeaderText(text)) {
      request.Fail("headers", fmt::format("{} cannot be set", name));
    }
  }
}

void AddBodyFields(const Table& request, const Json& body, Fields* used) {
  if (body.is_string()) AddFields(request, "body", body.get_ref<const std::string&>(), used);
  if (!body.is_structured()) return;
  for (const Json& one : body) AddBodyFields(request, one, used);
}

std::string ReadKey(const Table& request, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string key(kKeyBytesMax + 1, '\0');
  file.read(key.data(), static_cast<std::streamsize>(key.size()));
  if (!file.eof() || file.bad()) {
    request.Fail("key_file", "cannot be read, or is longer than 4096 bytes");
  }
  key.resize(static_cast<std::size_t>(file.gcount()));
  while (key.ends_with('\n') || key.ends_with('\r')) key.pop_back();
  if (key.empty() || !domain::IsHeaderText(key)) {
    request.Fail("key_file", "must hold one line of text");
  }
  return key;
}

domain::RecipeRequest ReadRequest(Table request) {
  domain::RecipeRequest read;
  Fields used;
  const std::string method = request.RequiredText("method");
  if (method != "GET" && method != "POST") request.Fail("method", "must be GET or POST");
  if (method == "POST") read.method = domain::RecipeMethod::kPost;
  read.url = request.RequiredText("url");
  ValidateUrl(request, read.url, &used);
  read.query = Pairs(&request, "query", &used);
  read.headers = Pairs(&request, "headers", &used);
  ValidateHeaders(request, read);
  if (const toml::node* body = request.Take("body")) {
    read.body = JsonOf(*body);
    if (method == "GET") request.Fail("body", "stands only with method = \"POST\"");
    if (!read.body || !read.body->is_object()) {
      request.Fail("body", "must be a table of texts, numbers, true, false, lists and tables");
    }
    AddBodyFields(request, *read.body, &used);
  }
  const std::string key_file = request.Text("key_file");
  const bool uses_key = std::find(used.begin(), used.end(), RecipeField::kKey) != used.end();
  if (uses_key == key_file.empty()) {
    request.Fail("key_file", "is the file of {key}: it is there if {key} is used, and only then");
  }
  if (uses_key) read.key = ReadKey(request, key_file);
  read.timeout = std::chrono::milliseconds(request.Int("timeout_ms", 20'000, 1, 600'000));
  read.body_bytes_max = static_cast<std::size_t>(
      request.Int("body_bytes_max", 1024 * 1024, 1024, static_cast<int>(kAnswerBytesMax)));
  read.in_flight_max = request.Int("in_flight_max", 8, 1, 1'000'000);
  read.per_minute = request.Int("per_minute", 0, 0, 60'000);
  request.Finish();
  return read;
}

std::optional<domain::RecipeTest> ReadTest(Table* answer, const std::string& key) {
  auto table = answer->Inner(key);
  if (!table) return std::nullopt;
  domain::RecipeTest test{table->RequiredPointer("at"), Scalars(&*table, "is")};
  if (test.is.empty()) table->Fail("is", "must name at least one value");
  table->Finish();
  return test;
}

std::optional<domain::RecipeStatus> ReadStatus(Table* answer) {
  constexpr std::array kStatuses{std::pair{"OK", domain::AddressStatus::kOk},
                                 std::pair{"NOT_FOUND", domain::AddressStatus::kNotFound},
                                 std::pair{"UNKNOWN", domain::AddressStatus::kUnknown}};
  auto table = answer->Inner("status");
  if (!table) return std::nullopt;
  domain::RecipeStatus status{table->RequiredPointer("at"), {}};
  for (const auto& [name, value] : kStatuses) {
    domain::RecipeStatus::Rule rule{value, Scalars(&*table, name), {}};
    const std::string only_if = std::string(name) + "_only_if";
    if (const auto conditions = table->Inner(only_if)) {
      for (const auto& [at, node] : conditions->table()) {
        auto pointer = JsonPointer::Parse(at.str());
        auto wanted = JsonOf(node);
        if (!pointer || !wanted || wanted->is_structured()) {
          conditions->Fail(at.str(), "must be a JSON Pointer and the value that stands there");
        }
        rule.only_if.emplace_back(std::move(*pointer), std::move(*wanted));
      }
    }
    if (!rule.only_if.empty() && rule.values.empty()) {
      table->Fail(only_if, fmt::format("stands only beside {}", name));
    }
    if (!rule.values.empty()) status.rules.push_back(std::move(rule));
  }
  table->Finish();
  return status;
}

std::optional<domain::RecipeMembers> ReadMembers(Table* answer, const std::string& key,
                                                 std::span<const std::string_view> names) {
  auto table = answer->Inner(key);
  if (!table) return std::nullopt;
  domain::RecipeMembers members;
  for (const std::string_view name : names) {
    auto pointer = table->Pointer(std::string(name));
    if (pointer) members.emplace_back(name, std::move(*pointer));
  }
  table->Finish();
  return members;
}

domain::RecipeAnswer ReadAnswer(Table answer) {
  domain::RecipeAnswer read;
  read.read_statuses = Statuses(&answer, "read_statuses");
  read.pending_statuses = Statuses(&answer, "pending_statuses");
  read.nothing_statuses = Statuses(&answer, "nothing_statuses");
  read.busy_statuses = Statuses(&answer, "busy_statuses");
  read.nothing_when = ReadTest(&answer, "nothing_when");
  read.fail_when = ReadTest(&answer, "fail_when");
  read.email = answer.Pointer("email");
  read.domain = answer.Pointer("domain");
  read.person = ReadMembers(&answer, "person", domain::kRecipePersonMembers);
  read.claim = ReadMembers(&answer, "claim", domain::kRecipeClaimMembers);
  read.status = ReadStatus(&answer);
  if (auto confidence = answer.Inner("confidence")) {
    read.confidence =
        domain::RecipeConfidence{confidence->RequiredPointer("at"),
                                 static_cast<double>(confidence->Int("of", 10, 1, 1'000'000))};
    confidence->Finish();
  }
  if (auto sources = answer.Inner("sources")) {
    read.sources = domain::RecipeSources{sources->RequiredPointer("list"),
                                         sources->Pointer("each").value_or(JsonPointer())};
    sources->Finish();
  }
  answer.Finish();
  return read;
}

std::vector<Fields> ReadNeeds(Table* top) {
  std::vector<Fields> needs;
  top->Each("needs", [&](const toml::node& node) {
    Fields& set = needs.emplace_back();
    const auto* list = node.as_array();
    if (list == nullptr || list->empty()) top->Fail("needs", "must be a list of lists of fields");
    for (const toml::node& one : *list) {
      const auto* name = one.as_string();
      const auto field = name == nullptr ? std::nullopt : domain::ParseRecipeField(name->get());
      if (!field || *field == RecipeField::kKey) {
        top->Fail("needs", "must name fields of a lead, such as first_name");
      }
      set.push_back(*field);
    }
  });
  if (needs.empty()) top->Fail("needs", "is required: what has to be known of a lead");
  return needs;
}

std::vector<domain::FindMode> ReadModes(Table* top, domain::RecipeLookup lookup) {
  std::vector<domain::FindMode> modes;
  top->Each("modes", [&](const toml::node& node) {
    const auto* name = node.as_string();
    const auto mode = name == nullptr ? std::nullopt : domain::ParseFindMode(name->get());
    if (!mode) top->Fail("modes", "must be a list of PROFESSIONAL and PERSONAL");
    modes.push_back(*mode);
  });
  const bool finds = lookup == domain::RecipeLookup::kFindEmail;
  if (finds == modes.empty()) {
    top->Fail("modes", "says which addresses are found: it belongs to lookup = \"find_email\"");
  }
  return modes;
}

bool Has(const std::optional<domain::RecipeMembers>& members, std::string_view name) {
  return members && std::any_of(members->begin(), members->end(),
                                [&](const auto& one) { return one.first == name; });
}

// Validates the answer of a recipe that looks up people.
void ValidatePeopleAnswer(const Table& top, const Recipe& recipe) {
  const auto& person = recipe.answer.person;
  const auto& claim = recipe.answer.claim;
  using domain::RecipeLookup;
  if ((recipe.lookup == RecipeLookup::kReverseEmail) != person.has_value()) {
    top.Fail("answer", "person says where its name stands: it belongs to reverse_email");
  }
  if (person && !Has(person, "name") && !(Has(person, "first_name") && Has(person, "last_name"))) {
    top.Fail("answer", "person needs name, or first_name and last_name");
  }
  if ((recipe.lookup == RecipeLookup::kVerifyAge) != claim.has_value()) {
    top.Fail("answer", "claim says where the date of birth stands: it belongs to verify_age");
  }
  const bool has_age = Has(claim, "age") && Has(claim, "as_of");
  if (claim && !Has(claim, "birth") && !Has(claim, "year") && !has_age) {
    top.Fail("answer", "claim needs birth, or year, or age and as_of");
  }
}

// What an answer of this lookup has to say.
void ValidateAnswer(const Table& top, const Recipe& recipe) {
  const auto& answer = recipe.answer;
  using domain::RecipeLookup;
  if ((recipe.lookup == RecipeLookup::kFindEmail) != answer.email.has_value()) {
    top.Fail("answer", "email is where the address stands: it belongs to find_email");
  }
  if ((recipe.lookup == RecipeLookup::kCompanyDomain) != answer.domain.has_value()) {
    top.Fail("answer", "domain is where the domain stands: it belongs to company_domain");
  }
  if (recipe.lookup == RecipeLookup::kVerifyEmail && !answer.status) {
    top.Fail("answer", "status is required: verify_email answers nothing else");
  }
  ValidatePeopleAnswer(top, recipe);
}

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.eof() || file.bad()) {
    throw ConfigError(fmt::format("{}: cannot be read, or is longer than {} bytes", path.string(),
                                  kFileBytesMax));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// The file that `setting` names.
std::string ReadNamed(const std::string& path, std::string_view setting, std::size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  std::string text(bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.eof() || file.bad()) {
    throw ConfigError(
        fmt::format("{}: {} cannot be read, or is longer than {} bytes", setting, path, bytes_max));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

Recipe ReadRecipe(std::string_view text, const std::string& source) {
  toml::table table;
  try {
    table = toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    throw ConfigError(
        fmt::format("{}:{}: {}", source, error.source().begin.line, error.description()));
  }
  Table top(table, "", source);
  Recipe recipe;
  recipe.id = top.RequiredText("id");
  if (!IsProviderId(recipe.id)) {
    top.Fail("id", "must be 2 to 32 of a-z, 0-9 and _, and begin with a letter");
  }
  const auto lookup = domain::ParseRecipeLookup(top.RequiredText("lookup"));
  if (!lookup)
    top.Fail("lookup",
             "must be find_email, verify_email, company_domain, reverse_email or "
             "verify_age");
  recipe.lookup = *lookup;
  recipe.modes = ReadModes(&top, recipe.lookup);
  recipe.needs = ReadNeeds(&top);
  recipe.trust = top.Flag("trust", true);
  auto request = top.Inner("request");
  if (!request) top.Fail("request", "is required");
  recipe.request = ReadRequest(std::move(*request));
  auto answer = top.Inner("answer");
  if (!answer) top.Fail("answer", "is required");
  recipe.answer = ReadAnswer(std::move(*answer));
  ValidateAnswer(top, recipe);
  top.Finish();
  return recipe;
}

std::vector<Recipe> ReadRecipes(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path());
  }
  if (error) {
    throw ConfigError(fmt::format("[providers] recipes_dir = \"{}\": {}", folder, error.message()));
  }
  if (paths.size() > kRecipesMax) {
    throw ConfigError(fmt::format("[providers] recipes_dir = \"{}\": has more than {} recipes",
                                  folder, kRecipesMax));
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Recipe> recipes;
  for (const auto& path : paths) {
    Recipe recipe = ReadRecipe(ReadText(path), path.string());
    for (const Recipe& other : recipes) {
      if (other.id != recipe.id) continue;
      throw ConfigError(fmt::format("{}: the id \"{}\" is used by another recipe of the folder",
                                    path.string(), recipe.id));
    }
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

std::vector<std::string> ReadDomainList(const std::string& path, std::string_view setting) {
  std::vector<std::string> domains;
  if (path.empty()) return domains;
  const std::string text = ReadNamed(path, setting, kDomainListBytesMax);
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = base::Trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty() || line.front() == '#') continue;
    auto parsed = domain::AsciiDomain(line);
    if (!parsed) throw ConfigError(fmt::format("{}:{}: \"{}\" is no domain", path, number, line));
    domains.push_back(std::move(*parsed));
  }
  std::sort(domains.begin(), domains.end());
  domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  return domains;
}

void CheckCaFile(const std::string& path) {
  if (path.empty()) return;
  const auto count = base::CountCertificates(ReadNamed(path, "[net] ca_file", kCaFileBytesMax));
  if (count.value_or(0) > 0) return;
  throw ConfigError(
      fmt::format("[net] ca_file: {} {}", path,
                  count ? "has no certificate in PEM" : "has a block of PEM that cannot be read"));
}

namespace {

constexpr std::string_view kFirstCell = "\"\"";  // how the file writes the first one's id

CellPort ReadCell(std::istringstream words, const std::string& where) {
  const auto fail = [&](const std::string& rule) { return ConfigError(where + ": " + rule); };
  CellPort cell;
  std::string token_file;
  words >> cell.id >> cell.url >> token_file;
  if (cell.id == kFirstCell) cell.id.clear();
  if (!cell.id.empty() && !domain::IsCellId(cell.id)) {
    throw fail(fmt::format("\"{}\" must be 1 to {} lower-case letters and digits, or {}", cell.id,
                           domain::kCellCharsMax, kFirstCell));
  }
  if (!cell.url.starts_with("http://") && !cell.url.starts_with("https://")) {
    throw fail("behind the id stands the URL of the cell's admin port");
  }
  while (cell.url.ends_with('/')) cell.url.pop_back();
  if (token_file.empty()) return cell;
  std::ifstream file(token_file);
  std::getline(file, cell.token);
  cell.token = base::Trim(cell.token);
  if (cell.token.empty()) throw fail("cannot read a token from " + token_file);
  return cell;
}

}  // namespace

std::vector<CellPort> ReadCells(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw ConfigError(path + ": the list of cells cannot be read");
  std::vector<CellPort> cells;
  std::set<std::string> ids;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string_view text = base::Trim(line);
    if (text.empty() || text.front() == '#') continue;
    const std::string where = fmt::format("{}:{}", path, number);
    cells.push_back(ReadCell(std::istringstream(line), where));
    if (!ids.insert(cells.back().id).second) {
      throw ConfigError(fmt::format("{}: the cell \"{}\" is there twice", where, cells.back().id));
    }
    if (cells.size() > kCellsMax) {
      throw ConfigError(fmt::format("{}: there are more than {} cells", where, kCellsMax));
    }
  }
  if (cells.empty()) throw ConfigError(path + ": it names no cell");
  return cells;
}

}  // namespace vedette::config
