#pragma once

#include <string>

namespace CLI {
class App;
}

namespace vedette::app {

// The sentence about the first word of a command line that names no command or option of `app`,
// with the one that was probably meant; empty where every word is known, so that the parser's own
// sentence says what is wrong. `argv` as main has it. Values of options are passed over.
std::string UnknownWord(const CLI::App& app, int argc, const char* const* argv);

}  // namespace vedette::app
