#pragma once

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace vedette::base {

enum class LogLevel { kTrace, kDebug, kInfo, kWarn, kError, kOff };
enum class LogFormat { kText, kJson };

// One key and its value, printed after the message (text) or as a member (JSON).
struct LogField {
  std::string_view key;
  std::string value;
  bool is_bare = false;  // `value` is a number, true or false as JSON writes them
  LogField(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  template <typename T>
  requires(std::is_arithmetic_v<T>) LogField(std::string_view k, T v)
      : key(k), value(fmt::format("{}", v)), is_bare(IsJsonNumber(v)) {}

 private:
  // A character is written as itself, and JSON has no infinity.
  template <typename T>
  static bool IsJsonNumber([[maybe_unused]] T v) {
    if constexpr (std::is_floating_point_v<T>) return std::isfinite(v);
    return !std::is_same_v<T, char>;
  }
};

// Writes lines to standard error, through spdlog. Handed down by reference; any thread.
//   text:  2026-11-21T09:30:00.000Z info  scheduler: ticks cut ticks=3 chunks=7
//   JSON:  {"time":"...","level":"info","component":"scheduler","message":"ticks cut","ticks":3}
// Values are escaped in both, so that hostile text cannot forge a line.
class Logger {
 public:
  Logger(LogLevel level, LogFormat format);
  ~Logger();

  // The same sink under another component's name ("scheduler", "api").
  Logger For(std::string_view component) const;

  // Whether a line of the level is written, for fields that cost something to make.
  bool Writes(LogLevel level) const;

  using Fields = std::initializer_list<LogField>;
  void Debug(std::string_view message, Fields fields = {}) const;
  void Info(std::string_view message, Fields fields = {}) const;
  void Warn(std::string_view message, Fields fields = {}) const;
  void Error(std::string_view message, Fields fields = {}) const;

  // Logs a trouble of the whole process that many of its parts meet, such as a database that is
  // away: the first to meet it writes the line as a warning, the others at debug; once somebody's
  // line says that it is over (info; nothing where there was none), the next one is a warning
  // again. `trouble` is a constant.
  void Trouble(std::string_view trouble, std::string_view message, Fields fields = {}) const;
  void TroubleOver(std::string_view trouble, std::string_view message, Fields fields = {}) const;

 private:
  struct Sink;
  Logger(std::shared_ptr<Sink> sink, std::string component);
  void Write(LogLevel level, std::string_view message, Fields fields) const;
  std::shared_ptr<Sink> sink_;
  std::string component_;
};

}  // namespace vedette::base
