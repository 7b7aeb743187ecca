// What strangers send as a form to the routes of OAuth's protocol.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "api/tenant/oauth/form.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vedette;
  net::ServerRequest request;
  request.headers = {{"content-type", "application/x-www-form-urlencoded; charset=utf-8"}};
  request.body.assign(reinterpret_cast<const char*>(data), size);
  try {
    for (const auto& [name, value] : api::ReadForm(request, 65536)) {
      if (value.size() > api::kFormValueBytesMax) std::abort();
      if (value.find('\0') != std::string::npos) std::abort();
    }
  } catch (const rest::Refusal& refusal) {
    if (refusal.reply().status != 400) std::abort();
  }
  return 0;
}
