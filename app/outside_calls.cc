#include "app/outside_calls.h"

#include <cstddef>
#include <utility>

namespace vedette::app {
namespace {

config::NetConfig OwnConnections(config::NetConfig net, int calls_max) {
  net.connections_max = calls_max;
  return net;
}

}  // namespace

OutsideCalls::OutsideCalls(base::EventLoop& loop, config::NetConfig net, int calls_max)
    : loop_(loop),
      client_(loop, OwnConnections(std::move(net), calls_max)),
      under_way_(static_cast<std::size_t>(calls_max), base::kUsualReserve) {}

void OutsideCalls::Begin(const base::Uuid& org_id, std::function<void(Place)> begin) {
  loop_.Post([this, org_id, begin = std::move(begin)] { begin(Take(org_id)); });
}

OutsideCalls::Place OutsideCalls::Take(const base::Uuid& org_id) {
  if (!under_way_.MayTake(org_id)) {
    return under_way_.held_by(org_id) == 0 ? Place::kAllTaken : Place::kOrganisationsTaken;
  }
  under_way_.Take(org_id);
  return Place::kTaken;
}

void OutsideCalls::End(const base::Uuid& org_id) {
  under_way_.GiveBack(org_id);
}

}  // namespace vedette::app
