#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "domain/monitor/failure.h"

namespace vedette::html {

// The document that a browser has after its scripts have run, written as HTML in UTF-8. `snapshot`
// is the browser's answer to DOMSnapshot.captureSnapshot. Shadow roots stand in their hosts, before
// what else these have, and documents of frames of the same origin behind their frames; what the
// browser itself shows inside controls, comments, templates and noscript are left out. A failure
// where it is no snapshot, or is more than `bytes_max` (body_too_large). Takes as long as parsing
// does: for a thread of a pool. Pure.
std::variant<std::string, domain::Failure> RenderedDocument(std::string_view snapshot,
                                                            std::size_t bytes_max);

}  // namespace vedette::html
