#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/event_loop.h"
#include "config/config_fwd.h"
#include "net/http_client.h"
#include "worker/probes/probe.h"
#include "worker/services/request_room.h"

// The bodies of the research service's protocol (docs/probes.md). Pure.
namespace vedette::worker {

inline constexpr std::size_t kAnswerEvidenceCharactersMax = 4096;
inline constexpr std::size_t kAnswerSourcesMax = 32;
inline constexpr std::size_t kAnswerSourceBytesMax = 2083;

// What all checks of a monitor have in common in what the service is asked: members of an object.
std::string ResearchMonitorMembers(const ProbeSpec& spec);

// The check as the service is asked it, JSON. Subject, context and known are copied into it as they
// are.
std::string ResearchRequestBody(const ProbeRequest& request, std::string_view monitor_members);

// Reads a field's {"value", "evidence"?, "sources"?, "confidence"?}. Evidence and sources over
// their limits are cut. Nothing on success, else what is wrong, as a phrase that names the field.
std::optional<std::string> ReadFieldObservation(const std::string& name, const base::Json& entry,
                                                FieldObservation* out);

// The answer {"values": {field: {"value", "evidence"?, "sources"?, "confidence"?}}} of a 200.
// Fields that are not watched are ignored; a watched one that is left out was not observed.
// Any fault is the failure invalid_answer, naming the field.
ProbeResult ParseResearchAnswer(std::string_view body, const ProbeSpec& spec);

// Your own research service (docs/probes.md): POST of the check, 200 with values, or 202
// with a Location of the same origin, polled until 200 within the timeout. The service's URL is the
// operator's: exempt from G9, never redirected. What is asked and what is answered count in
// `budgets`. Its failures:
//   dns, connect, tls, timeout, http_status, protocol, invalid_answer, body_too_large, overloaded
class HttpProbe final : public Probe {
 public:
  HttpProbe(base::EventLoop& loop, net::HttpClient& client, const ServiceBudgets& budgets,
            const base::Clock& clock, const config::ProbeConfig& config);
  ~HttpProbe() override;  // callbacks of what is under way are dropped
  void Start(ProbeRequest request, std::function<void(ProbeResult)> done) override;
  bool ReadsSubject() const override { return false; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vedette::worker
