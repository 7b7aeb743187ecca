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

inline constexpr std::size_t kUploadBytesMax = std::size_t{2} << 30;
// Uploads under way in one process; each holds up to about 2 MiB.
inline constexpr int kUploadsOpenMax = 32;

}  // namespace vedette::api
