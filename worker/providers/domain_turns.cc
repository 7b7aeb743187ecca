#include "worker/providers/domain_turns.h"

#include <deque>
#include <map>
#include <utility>

#include "base/assert.h"

namespace vedette::worker {
namespace {

using Key = std::pair<base::Uuid, std::string>;

}  // namespace

struct DomainTurns::State : std::enable_shared_from_this<State> {
  struct Waiting {
    std::function<void(std::shared_ptr<Turn>)> go;
    std::unique_ptr<base::Timer> timer;
  };

  explicit State(base::EventLoop& l) : loop(l) {}
  std::shared_ptr<Turn> NewTurn(const Key& key);
  void End(const Key& key);

  base::EventLoop& loop;
  // A key is here while a lead has its turn.
  std::map<Key, std::deque<std::shared_ptr<Waiting>>> waiting;
};

class DomainTurns::Turn {
 public:
  Turn(std::weak_ptr<State> state, Key key) : state_(std::move(state)), key_(std::move(key)) {}
  ~Turn() {
    if (const auto state = state_.lock()) state->End(key_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  const std::weak_ptr<State> state_;
  const Key key_;
};

std::shared_ptr<DomainTurns::Turn> DomainTurns::State::NewTurn(const Key& key) {
  return std::make_shared<Turn>(weak_from_this(), key);
}

void DomainTurns::State::End(const Key& key) {
  const auto it = waiting.find(key);
  base::Assert(it != waiting.end(), "a turn that ends was taken");
  while (!it->second.empty()) {
    const auto next = std::move(it->second.front());
    it->second.pop_front();
    // One whose wait is over has gone already.
    if (const auto go = std::exchange(next->go, nullptr)) {
      next->timer->Stop();
      return go(NewTurn(key));
    }
  }
  waiting.erase(it);
}

DomainTurns::DomainTurns(base::EventLoop& loop) : state_(std::make_shared<State>(loop)) {}

void DomainTurns::Take(const base::Uuid& org_id, const std::string& domain,
                       std::chrono::milliseconds wait_max,
                       std::function<void(std::shared_ptr<Turn>)> go) {
  const Key key{org_id, domain};
  const auto [it, is_free] = state_->waiting.try_emplace(key);
  if (is_free) return go(state_->NewTurn(key));
  auto waiting = std::make_shared<State::Waiting>();
  waiting->go = std::move(go);
  waiting->timer = std::make_unique<base::Timer>(state_->loop, [weak = std::weak_ptr(waiting)] {
    const auto self = weak.lock();
    const auto now = self == nullptr ? nullptr : std::exchange(self->go, nullptr);
    if (now) now(nullptr);
  });
  waiting->timer->Start(wait_max);
  it->second.push_back(std::move(waiting));
}

}  // namespace vedette::worker
