#include "worker/blocks/row_runner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kDelayMsMax = 60'000;

}  // namespace

class NullBlock::Runner final : public RowRunner {
 public:
  Runner(NullBlock& block, milliseconds delay, std::optional<std::int64_t> charge_mc)
      : block_(block), delay_(delay), charge_mc_(charge_mc) {}

  void Start(RowRequest request, std::function<void(RowResult)> done) override {
    RowDone result{std::move(request.cells), charge_mc_, std::nullopt};
    if (delay_.count() == 0) {
      done(std::move(result));
    } else {
      block_.EndLater(delay_, {std::move(result), std::move(done)});
    }
  }

  RowDone EndWith(const Cells& cells, RowError error) const override {
    return {cells, std::nullopt, std::move(error)};
  }

 private:
  NullBlock& block_;
  const milliseconds delay_;
  const std::optional<std::int64_t> charge_mc_;
};

std::variant<std::shared_ptr<RowRunner>, std::string> NullBlock::Bind(const std::string& specs_json,
                                                                      std::int64_t price_mc) {
  base::Json specs;
  if (const auto error = base::ParseJson(specs_json, &specs)) return error->message;
  if (!specs.is_object()) return "the specs of a null block are an object";
  const base::Json delay = specs.value("delay_ms", base::Json(0));
  if (!delay.is_number_integer() || delay.get<std::int64_t>() < 0 ||
      delay.get<std::int64_t>() > kDelayMsMax) {
    return "delay_ms of a null block is an integer from 0 to 60000";
  }
  const base::Json charge = specs.value("charge", base::Json(false));
  if (!charge.is_boolean()) return "charge of a null block is true or false";
  return std::make_shared<Runner>(*this, milliseconds(delay.get<std::int64_t>()),
                                  charge.get<bool>() ? std::optional(price_mc) : std::nullopt);
}

void NullBlock::EndLater(milliseconds delay, Waiting waiting) {
  waiting_.emplace(clock_.SinceBoot() + delay, std::move(waiting));
  EndDue();
}

void NullBlock::EndDue() {
  const auto now = clock_.SinceBoot();
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    Waiting due = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    due.done(std::move(due.result));
  }
  if (waiting_.empty()) return;
  const auto wait = std::chrono::ceil<milliseconds>(waiting_.begin()->first - now);
  timer_.Start(std::max(wait, milliseconds(0)));
}

}  // namespace vedette::worker
