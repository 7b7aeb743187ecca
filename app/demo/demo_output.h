#pragma once

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.h"

// Values of answers as the demo tells them.
namespace vedette::app {

// A value as a person reads it.
inline std::string Text(const base::Json& value) {
  return value.is_string() ? value.get<std::string>() : base::DumpJson(value);
}

// Empty where there is none.
inline std::string TextAt(const base::Json& object, const char* key) {
  return object.contains(key) && !object[key].is_null() ? Text(object[key]) : std::string();
}

// Prints the demo's story to a stream: coloured on a terminal (unless NO_COLOR is set), plain lines
// otherwise. Every line leaves at once. One thread.
class Narrator {
 public:
  Narrator(std::FILE* stream, bool terminal);
  // Standard output, with colour where it is a terminal that has it.
  static Narrator ForStandardOutput();

  void Title(std::string_view text);
  // "3/7 A field changed"
  void Step(int number, int of, std::string_view text);
  // One thing that was observed, with the seconds since the start.
  void Observed(std::string_view text);
  // Something to know, without a claim.
  void Note(std::string_view text);
  // What is being waited for. On a terminal one line, overwritten; in a pipe printed once, and only
  // when the wait is long.
  void Waiting(std::string_view text, std::chrono::seconds so_far);
  void Failed(std::string_view text);
  void Success(std::string_view text);
  void Blank();
  // "API      http://127.0.0.1:8080"
  void Fact(std::string_view label, std::string_view value);

 private:
  void Line(std::string_view text);
  std::string Paint(std::string_view code, std::string_view text) const;

  std::FILE* stream_;
  bool terminal_;
  bool waiting_ = false;  // the cursor is on a line to be overwritten
  std::string waited_;    // in a pipe: the last such text printed
  std::chrono::steady_clock::time_point start_;
};

// What a demo keeps in DIR/state.json (mode 0600) so that the next start continues with its data.
struct DemoState {
  std::string encryption_key;  // 64 hex digits
  std::string admin_token;
  // Empty until set up.
  std::string org_id;
  std::string api_key;
  std::string signing_secret;
  std::string monitor_id;
  int site_port = 0;  // 0: any free one
  int receiver_port = 0;
  int changes = 0;                         // made to the site so far
  base::Json site = base::Json::object();  // its content
};

// Reads it; makes one with fresh secrets where there is none. Throws std::runtime_error with a
// sentence when the file cannot be read.
DemoState LoadDemoState(const std::filesystem::path& dir);

// Throws std::runtime_error with a sentence.
void SaveDemoState(const std::filesystem::path& dir, const DemoState& state);

// Writes a file that only its owner may read, whole or not at all. Throws as SaveDemoState.
void WritePrivateFile(const std::filesystem::path& path, const std::string& text);

}  // namespace vedette::app
