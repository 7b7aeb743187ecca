#pragma once

#include <iterator>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/uuid.h"

namespace vedette::lease {

// Whose check starts next. Organisations take turns; inside one its flows (the chunks of one large
// monitor, or one chunk of small ticks) take turns, and inside a flow its chunks: one check each
// time. A flow that has nothing under way is pushed as a newcomer, and is one until its first
// start. Newcomers and the others go alternately, so that neither waits for the other's crowd.
//
// A plain container: no clock, no limit, no lock. Each call costs O(1); Next passes over
// organisations that may not go.
template <typename Item>
class StartTurns {
 private:
  struct Flow {
    base::Uuid id;
    std::list<Item> items;
  };
  struct Org {
    base::Uuid id;
    std::list<Flow> newcomers;
    std::list<Flow> others;
    std::unordered_map<base::Uuid, typename std::list<Flow>::iterator> flows;
    bool others_next = false;
  };

 public:
  // The place of an item; valid until its Drop.
  class Turn {
   public:
    const Item& item() const { return *item_; }

   private:
    friend class StartTurns;
    typename std::list<Org>::iterator org_;
    typename std::list<Flow>::iterator flow_;
    typename std::list<Item>::iterator item_;
    bool newcomer_ = false;
  };

  // `newcomer` counts where the flow is not there yet.
  void Push(const base::Uuid& org_id, const base::Uuid& flow_id, bool newcomer, Item item) {
    auto found = orgs_.find(org_id);
    if (found == orgs_.end()) {
      turns_.emplace_back().id = org_id;
      found = orgs_.emplace(org_id, std::prev(turns_.end())).first;
    }
    Org& org = *found->second;
    auto flow = org.flows.find(flow_id);
    if (flow == org.flows.end()) {
      std::list<Flow>& flows = newcomer ? org.newcomers : org.others;
      flows.emplace_back().id = flow_id;
      flow = org.flows.emplace(flow_id, std::prev(flows.end())).first;
    }
    flow->second->items.push_back(std::move(item));
  }

  // The first in turn that `may(item, newcomer)`: it is asked once of an organisation for any of
  // its flows (newcomer = false), and where that is refused, for its newcomers. The item keeps its
  // place until Took or Drop.
  template <typename May>
  std::optional<Turn> Next(May may) {
    for (auto org = turns_.begin(); org != turns_.end(); ++org) {
      const bool others = !org->others.empty() && (org->others_next || org->newcomers.empty());
      std::list<Flow>& first = others ? org->others : org->newcomers;
      Turn turn;
      turn.org_ = org;
      turn.flow_ = first.begin();
      turn.newcomer_ = !others;
      if (!may(std::as_const(turn.flow_->items.front()), false)) {
        if (org->newcomers.empty()) continue;
        turn.flow_ = org->newcomers.begin();
        turn.newcomer_ = true;
        if (!may(std::as_const(turn.flow_->items.front()), true)) continue;
      }
      turn.item_ = turn.flow_->items.begin();
      return turn;
    }
    return std::nullopt;
  }

  // A check of it was started: item, flow and organisation go to the end of their turns.
  void Took(Turn& turn) {
    Org& org = *turn.org_;
    turn.flow_->items.splice(turn.flow_->items.end(), turn.flow_->items, turn.item_);
    org.others.splice(org.others.end(), turn.newcomer_ ? org.newcomers : org.others, turn.flow_);
    org.others_next = turn.newcomer_;
    turn.newcomer_ = false;
    turns_.splice(turns_.end(), turns_, turn.org_);
  }

  // It has nothing more to start. May follow Took.
  void Drop(const Turn& turn) {
    turn.flow_->items.erase(turn.item_);
    if (!turn.flow_->items.empty()) return;
    Org& org = *turn.org_;
    org.flows.erase(turn.flow_->id);
    (turn.newcomer_ ? org.newcomers : org.others).erase(turn.flow_);
    if (!org.flows.empty()) return;
    orgs_.erase(org.id);
    turns_.erase(turn.org_);
  }

  void Clear() {
    orgs_.clear();
    turns_.clear();
  }

  bool empty() const { return turns_.empty(); }

  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Org& org : turns_) {
      for (const auto* flows : {&org.newcomers, &org.others}) {
        for (const Flow& flow : *flows) {
          for (const Item& item : flow.items) visit(item);
        }
      }
    }
  }

 private:
  std::list<Org> turns_;  // the next one first; none of them, nor of their flows, is empty
  std::unordered_map<base::Uuid, typename std::list<Org>::iterator> orgs_;
};

}  // namespace vedette::lease
