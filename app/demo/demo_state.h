#pragma once

#include <filesystem>
#include <string>

#include "base/json.h"

namespace vedette::app {

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
