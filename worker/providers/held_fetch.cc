#include "worker/providers/held_fetch.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "pages/http_failure.h"
#include "worker/providers/provider.h"

namespace vedette::worker {

void FetchHeld(pages::Fetcher& fetcher, pages::FetchRequest request,
               const std::function<bool()>& may_call, pages::ReadPage read,
               std::function<void(pages::Fetched)> done) {
  if (!may_call) return fetcher.Fetch(std::move(request), std::move(read), std::move(done));
  // The fetcher calls a turn that was not taken `overloaded`.
  auto refused = std::make_shared<bool>(false);
  request.on_turn = [may_call, refused](std::chrono::milliseconds) {
    *refused = !may_call();
    return !*refused;
  };
  fetcher.Fetch(
      std::move(request), std::move(read),
      [refused, done = std::move(done)](pages::Fetched fetched) {
        if (*refused && std::holds_alternative<domain::Failure>(fetched)) {
          fetched = domain::Failure{
              std::string(kLookupUnheld), "Nobody waits for the lookup any more.", true, {}};
        }
        done(std::move(fetched));
      });
}

bool SaysNothing(const domain::Failure& failure) {
  return pages::IsOfProcess(failure) || failure.error_class == kLookupUnheld;
}

}  // namespace vedette::worker
