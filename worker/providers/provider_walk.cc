#include "worker/providers/provider_walk.h"

#include <cstddef>
#include <utility>

namespace vedette::worker {
namespace {

// It lives as long as a question of it is under way, but keeps nobody's ProviderOrder alive.
class Scan : public std::enable_shared_from_this<Scan> {
 public:
  Scan(std::weak_ptr<const ProviderOrder> order, ProviderScan scan,
       std::function<void(ExpandAnswer)> done)
      : order_(std::move(order)), scan_(std::move(scan)), done_(std::move(done)) {}

  void Ask(std::size_t provider) {
    const auto order = order_.lock();
    if (order == nullptr) return;
    if (provider == order->ids.size()) return End(std::vector<domain::Finding>());
    if (!scan_.question.MayCall()) return End(BrokenOff(kLookupUnheld));
    order->providers.Ask(order->ids[provider], scan_.question,
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
    scan_.weigh(std::move(asked),
                [self = shared_from_this(), provider](std::optional<ExpandAnswer> answer) {
                  if (self->order_.expired()) return;
                  if (!answer) return self->Ask(provider + 1);
                  self->End(std::move(*answer));
                });
  }

  void End(ExpandAnswer answer) { std::exchange(done_, nullptr)(std::move(answer)); }

  const std::weak_ptr<const ProviderOrder> order_;
  const ProviderScan scan_;
  std::function<void(ExpandAnswer)> done_;
};

}  // namespace

domain::Failure BrokenOff(std::string_view error_class) {
  return {std::string(error_class), "The lookup was broken off.", true, {}};
}

void ScanProviders(const std::shared_ptr<const ProviderOrder>& order, const ExpandRequest& request,
                   ProviderScan scan, std::function<void(ExpandAnswer)> done) {
  scan.question.org_id = request.org_id;
  scan.question.job_id = request.investigation_id;
  scan.question.timeout = request.timeout;
  scan.question.may_call = request.may_call;
  std::make_shared<Scan>(order, std::move(scan), std::move(done))->Ask(0);
}

}  // namespace vedette::worker
