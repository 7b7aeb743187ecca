#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "worker/probes/probe.h"

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

}  // namespace vedette::worker
