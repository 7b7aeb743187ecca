#pragma once

#include <cstddef>

// Limits of the public API that the interface fixes and an operator does not choose.
namespace vedette::api {

// The interface lists the monitors of a run without pages; each takes about 1 KiB.
inline constexpr int kRunMonitorsMax = 10'000;

// Values in one body, the elements of `rows` aside; the fields of a monitor need a few thousand. A
// value takes up to about 100 bytes of memory, however short its text is.
inline constexpr std::size_t kBodyValuesMax = 65'536;
// Values in one row of a body: one for each column, of which there may be as many as members.
inline constexpr std::size_t kRowValuesMax = 2'048;

// The body of a route that takes leads, of which there are at most kLeadsMax.
inline constexpr std::size_t kLeadsBodyBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kLeadsMax = 100;
inline constexpr std::size_t kProvidersMax = 16;  // that a request names
inline constexpr int kStatusWaitSecondsMax = 60;  // wait_s of GET /job-status

// The body of a count of a field's values: two filters, of which the largest have a few 100 KiB.
inline constexpr std::size_t kFilterBodyBytesMax = std::size_t{1} << 20;

inline constexpr std::size_t kUploadBytesMax = std::size_t{2} << 30;
// Uploads under way in one process, and what each of them holds of its memory, about.
inline constexpr std::size_t kUploadsOpenMax = 32;
inline constexpr std::size_t kUploadHeldBytes = std::size_t{2} << 20;

// Files of runs that are being read in one process. Each holds about a megabyte of its memory.
inline constexpr std::size_t kDownloadsOpenMax = 64;

}  // namespace vedette::api
