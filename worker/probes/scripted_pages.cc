#include "worker/probes/scripted_pages.h"

#include <algorithm>

namespace vedette::worker {
namespace {

// A page may be sent whole one day: it is fetched first once more.
constexpr std::chrono::hours kScriptedFor{24};

}  // namespace

bool ShowsMore(const ShownFields& rendered, const ShownFields& sent) {
  return std::any_of(rendered.begin(), rendered.end(), [&](const auto& field) {
    const auto before = sent.find(field.first);
    if (before == sent.end()) return true;
    return !field.second.empty() && field.second != before->second;
  });
}

void ScriptedPages::Insert(const std::string& key) {
  since_.Insert(key, clock_.SinceBoot());
}

bool ScriptedPages::Has(const std::string& key) {
  const auto since = since_.Find(key);
  return since && clock_.SinceBoot() - *since < kScriptedFor;
}

}  // namespace vedette::worker
