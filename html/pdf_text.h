#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/monitor/failure.h"

// The text of PDFs, which poppler reads in a process of its own: strangers make what a library in
// C++ is to parse.
namespace vedette::html {

// What the process may take. `wall` is less than a page's reading has; what takes longer had no
// time from the machine.
struct PdfLimits {
  std::size_t text_bytes = 10 << 20;
  std::size_t memory_bytes = 512 << 20;  // its address space
  std::chrono::seconds cpu{4};
  std::chrono::milliseconds wall{25'000};
};

// Debian's poppler-utils, from a file that is its standard input to its standard output.
inline const std::vector<std::string> kPdfReader{"/usr/bin/pdftotext", "-q", "-enc", "UTF-8",
                                                 "-nopgbrk",           "-",  "-"};

// Whether that is the type of a PDF, as a header says it.
bool IsPdf(std::string_view content_type);

// The text in reading order, as valid UTF-8. The process has no network, no other process and no
// file but what is installed under /usr, ends with this call, and where this process is root's it
// is the user nobody's. A failure where it is encrypted, damaged or over a limit, or where there is
// no reader (bad_content); where its text is longer than is read (body_too_large); and where it has
// not ended within `limits.wall` (overloaded). It ends once `stopped` says so, which is asked
// several times a second. For a thread of a pool.
std::variant<std::string, domain::Failure> TextOfPdf(
    std::string_view pdf, const std::function<bool()>& stopped, const PdfLimits& limits = {},
    const std::vector<std::string>& reader = kPdfReader);

}  // namespace vedette::html
