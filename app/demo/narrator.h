#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

namespace vedette::app {

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

}  // namespace vedette::app
