#pragma once

#include <cstddef>
#include <string>

#include "base/uuid.h"
#include "config/config_fwd.h"
#include "net/browser/browser.h"

// What two processes tell each other of a page, as they keep it in the database (store/renders.h).
// Each member has one line in render_message.cc, with which it is written and read. Processes of
// other versions pass over what they do not know, and leave as it is what they are not told. Pure;
// any thread.
//
// What may be a secret is not written in clear: steps that type one, and cookies, are sealed
// (store/sealed.h), for the page's organisation alone. Processes of the role browser need the
// encryption key for these; one without it leaves such pages to others. request_headers of monitors
// are not given to browsers.
namespace vedette::worker {

struct RenderSeal {
  const config::SecurityConfig& security;  // must outlive it
  base::Uuid org_id;
};

// Bytes of a message, before it is compressed and afterwards. What a browser gives of a page is
// shorter.
inline constexpr std::size_t kRenderMessageBytesMax = 96 << 20;

// Without its organisation, its wait and what is called.
std::string PackRenderRequest(const net::RenderRequest& request, const RenderSeal& seal);
// Throw std::invalid_argument for what is no such message, or whose secrets cannot be opened.
net::RenderRequest UnpackRenderRequest(const std::string& message, const RenderSeal& seal);

// What is asked of the picture of a page that stays open, and its answer. What is none is empty.
std::string PackPictureRequest(const net::PictureOrder& order);
net::PictureOrder UnpackPictureRequest(const std::string& message);
std::string PackPicture(const net::Picture& picture);
net::Picture UnpackPicture(const std::string& message);

// One that is too long becomes a page that failed as `body_too_large`. A page that is open arrives
// with an OpenPage that has taken nothing; the picture of a page that failed arrives with it.
std::string PackRenderedPage(const net::RenderedPage& page, const RenderSeal& seal);
net::RenderedPage UnpackRenderedPage(const std::string& message, const RenderSeal& seal);

}  // namespace vedette::worker
