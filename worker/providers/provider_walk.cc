#include "worker/providers/provider_walk.h"

#include <cstddef>
#include <utility>

namespace vedette::worker {
namespace {

// It lives as long as a question of it is under way, but keeps nobody's ProviderOrder alive.
class Walk : public std::enable_shared_from_this<Walk> {
 public:
  Walk(std::weak_ptr<const ProviderOrder> order, ProviderWalk walk,
       std::function<void(ExpandAnswer)> done)
      : order_(std::move(order)), walk_(std::move(walk)), done_(std::move(done)) {}

  void Ask(std::size_t provider) {
    const auto order = order_.lock();
    if (order == nullptr) return;
    if (provider == order->ids.size()) return End(std::vector<domain::Finding>());
    if (!walk_.question.MayCall()) return End(BrokenOff(kLookupUnheld));
    order->providers.Ask(order->ids[provider], walk_.question,
                         [self = shared_from_this(), provider](Asked answer) {
                           self->OnAsked(provider, std::move(answer));
                         });
  }

 private:
  void OnAsked(std::size_t provider, Asked asked) {
    if (order_.expired()) return;
    const std::string& error_class = asked.shown.error_class;
    if (error_class == "shutdown" || error_class == kLookupUnheld) {
      return End(BrokenOff(error_class));
    }
    walk_.weigh(std::move(asked),
                [self = shared_from_this(), provider](std::optional<ExpandAnswer> answer) {
                  if (self->order_.expired()) return;
                  if (!answer) return self->Ask(provider + 1);
                  self->End(std::move(*answer));
                });
  }

  void End(ExpandAnswer answer) { std::exchange(done_, nullptr)(std::move(answer)); }

  const std::weak_ptr<const ProviderOrder> order_;
  const ProviderWalk walk_;
  std::function<void(ExpandAnswer)> done_;
};

}  // namespace

domain::Failure BrokenOff(std::string_view error_class) {
  return {std::string(error_class), "The lookup was broken off.", true, {}};
}

void WalkProviders(const std::shared_ptr<const ProviderOrder>& order, const ExpandRequest& request,
                   ProviderWalk walk, std::function<void(ExpandAnswer)> done) {
  walk.question.org_id = request.org_id;
  walk.question.job_id = request.investigation_id;
  walk.question.timeout = request.timeout;
  walk.question.may_call = request.may_call;
  std::make_shared<Walk>(order, std::move(walk), std::move(done))->Ask(0);
}

}  // namespace vedette::worker
