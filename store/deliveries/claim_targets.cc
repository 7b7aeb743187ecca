#include "store/deliveries/claim_targets.h"

#include <string>
#include <variant>

#include "store/endpoint_sql.h"

namespace vedette::store {
namespace {

std::vector<base::Uuid> Listed(const std::set<base::Uuid>& ids) {
  return {ids.begin(), ids.end()};
}

template <typename Targets, typename Key>
const DeliveryTarget* Find(const Targets& targets, const Key& key) {
  const auto found = targets.find(key);
  return found == targets.end() ? nullptr : &found->second;
}

}  // namespace

ClaimTargets::ClaimTargets(Transaction& tx, const std::vector<LeasedDelivery>& claimed) {
  std::set<base::Uuid> monitors, channels;
  std::set<Block> blocks;
  for (const LeasedDelivery& d : claimed) {
    if (const auto* job = std::get_if<domain::JobNotice>(&d.notification.about)) {
      blocks.emplace(job->job_id, job->block);
      continue;
    }
    const auto& check = std::get<domain::CheckNotice>(d.notification.about);
    monitors.insert(check.monitor_id);
    if (check.channel_id) channels.insert(*check.channel_id);
  }
  if (!monitors.empty()) {
    ReadTargets(tx.Exec<"delivery_targets">("monitor_ids"_a = Listed(monitors)), &monitors_);
  }
  if (!channels.empty()) ReadChannels(tx, channels);
  if (!blocks.empty()) ReadJobs(tx, blocks);
}

const DeliveryTarget* ClaimTargets::Of(const domain::Notification& notification) const {
  if (const auto* job = std::get_if<domain::JobNotice>(&notification.about)) {
    return Find(jobs_, Block(job->job_id, job->block));
  }
  if (const auto channel_id = domain::ChannelOf(notification)) return Find(channels_, *channel_id);
  return Find(monitors_, std::get<domain::CheckNotice>(notification.about).monitor_id);
}

std::optional<std::string> ClaimTargets::Metadata(const base::Uuid& monitor_id) const {
  const DeliveryTarget* target = Find(monitors_, monitor_id);
  return target == nullptr ? std::nullopt : target->metadata;
}

void ClaimTargets::ReadChannels(Transaction& tx, const std::set<base::Uuid>& ids) {
  for (const auto& row : tx.Exec<"delivery_targets_of_channels">("channel_ids"_a = Listed(ids))) {
    base::Uuid id;
    DeliveryTarget target;
    Columns(row).Into("id"_a = &id, "webhook_url"_a = &target.url,
                      "endpoint_id"_a = &target.endpoint_id);
    channels_.emplace(id, std::move(target));
  }
}

void ClaimTargets::ReadJobs(Transaction& tx, const std::set<Block>& blocks) {
  Rows<Column<"job_id", base::Uuid>, Column<"block", std::optional<int>>> asked;
  for (const auto& [job_id, block] : blocks) asked.Add(job_id, block);
  for (const auto& row : tx.Exec<"delivery_targets_of_jobs">(asked)) {
    Block block;
    DeliveryTarget target;
    Columns(row).Into("job_id"_a = &block.first, "block"_a = &block.second,
                      "webhook_url"_a = &target.url, "endpoint_id"_a = &target.endpoint_id);
    jobs_.emplace(block, std::move(target));
  }
}

}  // namespace vedette::store
