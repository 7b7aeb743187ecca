// What strangers send as a form to the routes of OAuth's protocol.
#include <cstdlib>
#include <string>

#include "api/tenant/oauth/form.h"
#include "tests/fuzz/target.h"

namespace vedette {

FUZZ_TARGET(form, bytes) {
  net::ServerRequest request;
  request.headers = {{"content-type", "application/x-www-form-urlencoded; charset=utf-8"}};
  request.body.assign(bytes);
  try {
    for (const auto& [name, value] : api::ReadForm(request, 65536)) {
      if (value.size() > api::kFormValueBytesMax) std::abort();
      if (value.find('\0') != std::string::npos) std::abort();
    }
  } catch (const rest::Refusal& refusal) {
    if (refusal.reply().status != 400) std::abort();
  }
}

}  // namespace vedette
