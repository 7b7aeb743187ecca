#include "app/demo/narrator.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace vedette::app {
namespace {

constexpr std::chrono::seconds kLongWait{5};
constexpr std::string_view kBold = "1";
constexpr std::string_view kDim = "2";
constexpr std::string_view kRed = "1;31";
constexpr std::string_view kGreen = "32";
constexpr std::string_view kCyan = "1;36";

}  // namespace

Narrator::Narrator(std::FILE* stream, bool terminal)
    : stream_(stream), terminal_(terminal), start_(std::chrono::steady_clock::now()) {}

Narrator Narrator::ForStandardOutput() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  const bool plain = dumb || (no_color != nullptr && *no_color != '\0');
  return Narrator(stdout, isatty(STDOUT_FILENO) == 1 && !plain);
}

void Narrator::Line(std::string_view text) {
  const std::string line = fmt::format("{}{}\n", waiting_ ? "\r\x1b[K" : "", text);
  waiting_ = false;
  waited_.clear();
  std::fwrite(line.data(), 1, line.size(), stream_);
  std::fflush(stream_);
}

std::string Narrator::Paint(std::string_view code, std::string_view text) const {
  return terminal_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

void Narrator::Title(std::string_view text) {
  Line(Paint(kBold, text));
}

void Narrator::Step(int number, int of, std::string_view text) {
  Line("");
  Line(Paint(kCyan, fmt::format("{}/{} {}", number, of, text)));
}

void Narrator::Observed(std::string_view text) {
  const auto elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_);
  Line(fmt::format("  {} {}  {}", Paint(kDim, fmt::format("{:5.1f} s", elapsed.count())),
                   Paint(kGreen, terminal_ ? "✓" : "ok"), text));
}

void Narrator::Note(std::string_view text) {
  Line(fmt::format("  {:>7} {}  {}", "", terminal_ ? " " : "  ", Paint(kDim, text)));
}

void Narrator::Waiting(std::string_view text, std::chrono::seconds so_far) {
  if (terminal_) {
    const std::string line = fmt::format(
        "\r\x1b[K  {}", Paint(kDim, fmt::format("{:>5} s …  {}", so_far.count(), text)));
    std::fwrite(line.data(), 1, line.size(), stream_);
    std::fflush(stream_);
    waiting_ = true;
  } else if (so_far >= kLongWait && waited_ != text) {
    Note(fmt::format("waiting for {}", text));
    waited_ = text;
  }
}

void Narrator::Failed(std::string_view text) {
  Line(Paint(kRed, text));
}

void Narrator::Success(std::string_view text) {
  Line(Paint(kGreen, text));
}

void Narrator::Blank() {
  Line("");
}

void Narrator::Fact(std::string_view label, std::string_view value) {
  Line(fmt::format("  {}  {}", Paint(kDim, fmt::format("{:<9}", label)), value));
}

}  // namespace vedette::app
