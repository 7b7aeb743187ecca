#include "api/tenant/monitors/multipart.h"

#include <algorithm>

#include "base/text.h"

namespace vedette::api {
namespace {

constexpr std::size_t kPartHeaderBytesMax = 16384;
constexpr std::size_t kBoundaryCharsMax = 70;
constexpr std::size_t kFilenameCharsMax = 255;

struct Value {
  std::string text;
  std::size_t size = 0;  // of what it was written as
};

// The value that `text` begins with; of a quoted one \" and \\ are unescaped, and every other
// backslash stays, as in the paths that some clients send. Empty where a quote is left open.
std::optional<Value> ReadValue(std::string_view text) {
  if (!text.starts_with('"')) {
    const auto bare = text.substr(0, text.find_first_of("; \t\r\n"));
    return Value{std::string(bare), bare.size()};
  }
  Value value;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') {
      value.size = at + 1;
      return value;
    }
    const bool escapes =
        text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\');
    if (escapes) ++at;
    value.text += text[at];
  }
  return std::nullopt;
}

// The value of `name=...` or `name="..."` behind a semicolon; empty where it is not there.
std::optional<std::string> Parameter(std::string_view header, std::string_view name) {
  std::size_t at = header.find(';');
  while (at != std::string_view::npos) {
    at = header.find_first_not_of(" \t", at + 1);
    const std::size_t sign = header.find_first_of("=;", at);
    if (at == std::string_view::npos || sign == std::string_view::npos) return std::nullopt;
    if (header[sign] == ';') {
      at = sign;
      continue;
    }
    auto value = ReadValue(header.substr(sign + 1));
    if (!value) return std::nullopt;
    if (base::EqualsIgnoringAsciiCase(header.substr(at, sign - at), name)) return value->text;
    at = header.find(';', sign + 1 + value->size);
  }
  return std::nullopt;
}

// The line of a part's header that says what the part is; empty where there is none.
std::string_view DispositionOf(std::string_view part_header) {
  const std::size_t at = base::AsciiLower(part_header).find("content-disposition:");
  if (at == std::string::npos) return {};
  return part_header.substr(at, part_header.find("\r\n", at) - at);
}

// A form's file has a filename, or is the field named `file`.
bool IsFile(std::string_view disposition) {
  return Parameter(disposition, "filename") || Parameter(disposition, "filename*") ||
         Parameter(disposition, "name") == "file";
}

std::optional<std::string> NameOf(std::string_view disposition) {
  const auto name = Parameter(disposition, "filename");
  if (!name || name->empty()) return std::nullopt;
  return base::CutCharacters(base::RepairUtf8(*name), kFilenameCharsMax);
}

}  // namespace

std::optional<std::string> MultipartReader::Boundary(std::string_view content_type) {
  if (!base::AsciiLower(content_type).starts_with("multipart/form-data")) return std::nullopt;
  auto boundary = Parameter(content_type, "boundary");
  if (!boundary || boundary->empty() || boundary->size() > kBoundaryCharsMax) return std::nullopt;
  return boundary;
}

// The first delimiter may stand at the very start, without a line end before it.
MultipartReader::MultipartReader(std::string_view boundary)
    : delimiter_("\r\n--" + std::string(boundary)), held_("\r\n") {}

std::optional<std::string> MultipartReader::Feed(std::string_view piece, const Sink& sink) {
  held_.append(piece);
  while (!problem_ && Step(sink)) {
  }
  return problem_;
}

std::optional<std::string> MultipartReader::Finish() const {
  if (problem_) return problem_;
  if (state_ != State::kEpilogue) return "the form ends before its closing boundary";
  if (!has_file_) return "the form contains no file";
  return std::nullopt;
}

// Goes on by one state; false when more bytes are needed.
bool MultipartReader::Step(const Sink& sink) {
  switch (state_) {
    case State::kPreamble:
    case State::kContent:
      return SkipOrGive(sink);
    case State::kAfterDelimiter:
      return ReadAfterDelimiter();
    case State::kHeader:
      return ReadHeader();
    case State::kEpilogue:
      held_.clear();
      return false;
  }
  return false;
}

// What stands before the next delimiter; its possible beginning at the end is held.
bool MultipartReader::SkipOrGive(const Sink& sink) {
  const std::size_t at = held_.find(delimiter_);
  const bool found = at != std::string::npos;
  const std::size_t kept = std::min(held_.size(), delimiter_.size() - 1);
  const std::size_t given = found ? at : held_.size() - kept;
  if (in_file_ && given > 0) sink(std::string_view(held_).substr(0, given));
  held_.erase(0, found ? at + delimiter_.size() : given);
  if (found) {
    in_file_ = false;
    state_ = State::kAfterDelimiter;
  }
  return found;
}

bool MultipartReader::ReadAfterDelimiter() {
  const std::size_t at = held_.find_first_not_of(" \t");
  if (at == std::string::npos || held_.size() < at + 2) {
    if (held_.size() > kPartHeaderBytesMax) problem_ = "a boundary of the form is followed by text";
    return false;
  }
  const std::string next = held_.substr(at, 2);
  if (next == "--") {
    state_ = State::kEpilogue;
  } else if (next == "\r\n") {
    // The line end stays: a part without headers goes on with a second one.
    held_.erase(0, at);
    state_ = State::kHeader;
  } else {
    problem_ = "a boundary of the form is followed by text";
  }
  return true;
}

bool MultipartReader::ReadHeader() {
  const std::size_t end = held_.find("\r\n\r\n");
  if (end == std::string::npos || end > kPartHeaderBytesMax) {
    if (held_.size() > kPartHeaderBytesMax) problem_ = "a part's header is too long";
    return false;
  }
  const std::string_view disposition = DispositionOf(std::string_view(held_).substr(0, end + 2));
  in_file_ = IsFile(disposition);
  if (in_file_ && has_file_) problem_ = "the form contains more than one file";
  if (in_file_ && !has_file_) filename_ = NameOf(disposition);
  has_file_ = has_file_ || in_file_;
  held_.erase(0, end + 4);
  state_ = State::kContent;
  return true;
}

}  // namespace vedette::api
