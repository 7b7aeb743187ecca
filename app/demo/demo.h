#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/demo/demo_servers.h"
#include "app/process.h"
#include "config/parts.h"

namespace vedette::app {

struct DemoOptions {
  bool once = false;
  std::filesystem::path dir = "var";
  std::optional<int> api_port;
  std::optional<int> admin_port;
  ReceiverMode receiver = ReceiverMode::kHonest;
  std::string only;  // a chapter's name; empty: the whole story
};

// The names of the story's chapters, in its order.
std::vector<std::string> DemoChapters();

// `vedette demo`: a private PostgreSQL under DIR, every role in this process, a site to watch and a
// receiver, and the story. A step that fails is told with what to do; the service stays up then,
// too (without `once`). Prints to standard output. Returns the exit status: 0 when every step was
// observed (and, without `once`, after a stop was asked for), 1 otherwise. Throws
// config::ConfigError. Main thread, after StopSignals was made.
int RunDemo(const DemoOptions& options, const config::Environment& environment,
            const StopSignals& signals);

}  // namespace vedette::app
