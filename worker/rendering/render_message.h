#pragma once

#include <cstddef>
#include <string>

#include "net/browser/browser.h"

// What two processes tell each other of a page, as they keep it in the database (store/renders.h).
// Each member has one line in render_message.cc, with which it is written and read. Processes of
// other versions pass over what they do not know, and leave as it is what they are not told. Pure;
// any thread.
//
// A member that is a secret (a password that is filled in, a cookie) must not be written in clear:
// its line is to pass store::Seal and store::OpenSealed (store/sealed.h), bound to the page's
// organisation, and processes that cannot open it answer with the class `protocol`. There is none
// yet: request_headers of monitors are not given to browsers.
namespace vedette::worker {

// Bytes of a message, before it is compressed and afterwards. What a browser gives of a page is
// shorter.
inline constexpr std::size_t kRenderMessageBytesMax = 96 << 20;

// Without its organisation, its wait and what is called.
std::string PackRenderRequest(const net::RenderRequest& request);
// Throw std::invalid_argument for what is no such message.
net::RenderRequest UnpackRenderRequest(const std::string& message);

// One that is too long becomes a page that failed as `body_too_large`.
std::string PackRenderedPage(const net::RenderedPage& page);
net::RenderedPage UnpackRenderedPage(const std::string& message);

}  // namespace vedette::worker
