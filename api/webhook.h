#pragma once

#include "net/public_address.h"
#include "store/endpoint.h"

namespace vedette::api {

// The receiver that an address names which was judged.
inline store::Webhook ToWebhook(const net::TenantUrl& url) {
  return {url.text, {url.scheme, url.host, url.port, url.path}};
}

}  // namespace vedette::api
