#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "api/kit/cursor.h"
#include "api/kit/query_reader.h"
#include "api/kit/reply.h"
#include "api/tenant/call.h"
#include "base/recent_map.h"
#include "config/config_fwd.h"
#include "domain/workflow/definition.h"
#include "domain/workflow/run_plan.h"
#include "domain/workflow/template.h"
#include "net/http_server.h"
#include "store/workflows/workflows.h"

namespace vedette::api {

// Stored definitions of workflows, read once while they are run again and again: reading one takes
// longer than all else that a process does to start a small run. They are known by their text, so
// that one that was changed is another one. Any thread.
class KnownDefinitions {
 public:
  static constexpr std::size_t kKnownMax = 256;
  static constexpr std::size_t kTextBytesMax = 16 * 1024;  // a longer one is read each time

  // Reads as domain::ReadStoredDefinition does, which see.
  std::shared_ptr<const domain::Definition> Read(const std::string& json);

 private:
  std::mutex mutex_;
  base::RecentMap<std::string, std::shared_ptr<const domain::Definition>> known_{kKnownMax};
};

// What the configuration says of the blocks of a run.

// What a row of the block costs with these specs, in millicredits.
std::int64_t PriceMcOf(const config::Config& config, const domain::BlockType& type,
                       const base::Json& specs);
// The same whatever the specs; nothing where it depends on them.
std::optional<std::int64_t> ListPriceMc(const config::Config& config,
                                        const domain::BlockType& type);

// What the block is stored with: its specs, and what of the configuration the run keeps.
domain::BoundSpecs WithTerms(const config::Config& config, const domain::PlannedBlock& planned);

// The lane of a block with these specs; one that verifies addresses has VerifyingLane.
domain::Lane LaneOf(const config::Config& config, store::Session& session,
                    const domain::PlannedBlock& planned);

// The lists of workflows and of runs, which are answered as arrays: where a page of one ends stands
// in a header.

inline constexpr std::string_view kNextCursor = "X-Next-Cursor";

// A list's letter stays for good: clients keep cursors.
inline rest::CursorOf WorkflowsOf(const Call& call, const base::Uuid& org_id) {
  return {'g', org_id, CellOf(call)};
}
inline rest::CursorOf RunsOf(const Call& call, const base::Uuid& org_id) {
  return {'u', org_id, CellOf(call)};
}

// Answers with this array, whose bytes are taken from the process's budget.
rest::Handled SendArray(Call& call, std::string text, std::optional<std::string> next_cursor);

// The address at which clients reach this API, without a slash at the end: [api] public_url, or
// else what the request says of it (Host and X-Forwarded-Proto). Empty where that is no host. Pure.
std::string PublicAddress(const config::Config& config, const net::ServerRequest& request);

// What the routes of templates and of workflows have in common.

// The template that the key stands for: a slug or an id of one that ships, the id of one of the
// caller's organisation. Nothing for any other key, and for an internal one.
std::optional<domain::WorkflowTemplate> FindTemplate(const Call& call, const std::string& key);

// What the routes of workflows have in common.

// The workflow that ?workflow_id= names: a 422 without one, a 404 for one that is unknown, foreign,
// deleted or no id.
store::Workflow FindQueriedWorkflow(Call& call);
// The same, for a run: which one is named, and the workflow.
base::Uuid IdOfWorkflowToRun(const Call& call);
store::WorkflowToRun FindWorkflowToRun(Call& call, const base::Uuid& id);

}  // namespace vedette::api
