#pragma once

#include <cstddef>

// Limits of the public API that the interface fixes and an operator does not choose.
namespace vedette::api {

// The interface lists the monitors of a run without pages; each takes about 1 KiB.
inline constexpr int kRunMonitorsMax = 10'000;

inline constexpr std::size_t kUploadBytesMax = std::size_t{2} << 30;
// Uploads under way in one process; each holds up to about 2 MiB.
inline constexpr int kUploadsOpenMax = 32;

}  // namespace vedette::api
