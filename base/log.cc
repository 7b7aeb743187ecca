#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>

#include "base/clock.h"
#include "base/text.h"

namespace vedette::base {
namespace {

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return "trace";
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarn:
      return "warn";
    case LogLevel::kError:
      return "error";
    case LogLevel::kOff:
      return "off";
  }
  return "off";
}

// Control characters, line separators, and what reorders or hides text on a terminal.
bool IsUnsafe(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x061C || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

// Appends `text` so that it stays in its line and in its quotes; valid inside a JSON string.
// `quoted`: quotation marks and backslashes are escaped too.
void AppendEscaped(std::string* out, std::string_view text, bool quoted) {
  while (!text.empty()) {
    std::uint32_t code = 0;
    const std::size_t length = DecodeUtf8(text, &code);
    if (length == 0) {
      out->append(kReplacementCharacter);
      text.remove_prefix(1);
      continue;
    }
    if (code == '\n') {
      out->append("\\n");
    } else if (code == '\t') {
      out->append("\\t");
    } else if (code == '\r') {
      out->append("\\r");
    } else if (IsUnsafe(code)) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", code);
    } else {
      if (quoted && (code == '"' || code == '\\')) out->push_back('\\');
      out->append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
}

void AppendQuoted(std::string* out, std::string_view text) {
  out->push_back('"');
  AppendEscaped(out, text, true);
  out->push_back('"');
}

// A text value is left bare where it can be told from what stands around it.
bool IsBare(std::string_view value) {
  if (value.empty()) return false;
  for (const char c : value) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\\') return false;
  }
  return true;
}

std::string TextLine(std::string_view time, LogLevel level, std::string_view component,
                     std::string_view message, std::initializer_list<LogField> fields) {
  std::string line = fmt::format("{} {:<5} ", time, LevelName(level));
  if (!component.empty()) {
    line.append(component).append(": ");
  }
  AppendEscaped(&line, message, false);
  for (const LogField& field : fields) {
    line.push_back(' ');
    AppendEscaped(&line, field.key, false);
    line.push_back('=');
    if (IsBare(field.value)) {
      AppendEscaped(&line, field.value, true);
    } else {
      AppendQuoted(&line, field.value);
    }
  }
  return line;
}

std::string JsonLine(std::string_view time, LogLevel level, std::string_view component,
                     std::string_view message, std::initializer_list<LogField> fields) {
  std::string line = "{";
  const auto member = [&line](std::string_view key, std::string_view value) {
    if (line.size() > 1) line.push_back(',');
    AppendQuoted(&line, key);
    line.push_back(':');
    AppendQuoted(&line, value);
  };
  member("time", time);
  member("level", LevelName(level));
  if (!component.empty()) member("component", component);
  member("message", message);
  for (const LogField& field : fields) {
    if (!field.is_bare) {
      member(field.key, field.value);
      continue;
    }
    line.push_back(',');
    AppendQuoted(&line, field.key);
    line.append(":").append(field.value);
  }
  line.push_back('}');
  return line;
}

// RFC 3339 to the millisecond: what a reader of lines wants, sorted by the collector.
std::string NowText() {
  std::string text = FormatTimestamp(SystemClock().Now());
  text.replace(23, 4, "Z");
  return text;
}

}  // namespace

struct Logger::Sink {
  Sink(LogLevel threshold, LogFormat line_format)
      : level(threshold),
        format(line_format),
        out("vedette", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    out.set_pattern("%v");
    out.set_level(spdlog::level::trace);  // the threshold is ours, checked before a line is built
  }
  const LogLevel level;
  const LogFormat format;
  spdlog::logger out;

  std::mutex mutex;
  std::set<std::string, std::less<>> troubles;  // under way; guarded by mutex
};

Logger::Logger(LogLevel level, LogFormat format) : sink_(std::make_shared<Sink>(level, format)) {}

Logger::Logger(std::shared_ptr<Sink> sink, std::string component)
    : sink_(std::move(sink)), component_(std::move(component)) {}

Logger::~Logger() = default;

Logger Logger::For(std::string_view component) const {
  return Logger(sink_, std::string(component));
}

bool Logger::Writes(LogLevel level) const {
  return level >= sink_->level;
}

void Logger::Write(LogLevel level, std::string_view message, Fields fields) const {
  if (!Writes(level)) return;
  const std::string time = NowText();
  const std::string line = sink_->format == LogFormat::kJson
                               ? JsonLine(time, level, component_, message, fields)
                               : TextLine(time, level, component_, message, fields);
  sink_->out.log(spdlog::level::info, spdlog::string_view_t(line));
}

void Logger::Debug(std::string_view message, Fields fields) const {
  Write(LogLevel::kDebug, message, fields);
}
void Logger::Info(std::string_view message, Fields fields) const {
  Write(LogLevel::kInfo, message, fields);
}
void Logger::Warn(std::string_view message, Fields fields) const {
  Write(LogLevel::kWarn, message, fields);
}
void Logger::Error(std::string_view message, Fields fields) const {
  Write(LogLevel::kError, message, fields);
}

void Logger::Trouble(std::string_view trouble, std::string_view message, Fields fields) const {
  const bool is_new = [&] {
    const std::lock_guard lock(sink_->mutex);
    return sink_->troubles.emplace(trouble).second;
  }();
  Write(is_new ? LogLevel::kWarn : LogLevel::kDebug, message, fields);
}

void Logger::TroubleOver(std::string_view trouble, std::string_view message, Fields fields) const {
  {
    const std::lock_guard lock(sink_->mutex);
    const auto it = sink_->troubles.find(trouble);
    if (it == sink_->troubles.end()) return;
    sink_->troubles.erase(it);
  }
  Write(LogLevel::kInfo, message, fields);
}

}  // namespace vedette::base
