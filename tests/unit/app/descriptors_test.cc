#include "app/service.h"
#include "config/database_config.h"
#include "config/delivery_config.h"
#include "config/net_config.h"
#include "config/probe_config.h"
#include "config/role_config.h"
#include "config/server_config.h"

#include <gtest/gtest.h>

namespace vedette::app {
namespace {

config::Config Example() {
  config::Config c{};
  c.api.connections_max = 4000;
  c.admin.connections_max = 200;
  c.net.connections_max = 1000;
  c.net.connections_per_host_max = 256;
  c.worker.per_host_max = 2;
  c.delivery.in_flight_max = 500;
  c.delivery.slow_in_flight_max = 300;
  c.database.api_connections = 10;
  c.database.admin_connections = 20;
  c.database.scheduler_connections = 30;
  c.database.worker_connections = 40;
  c.database.delivery_connections = 50;
  c.database.jobs_connections = 60;
  c.database.search_connections = 70;
  return c;
}

TEST(Descriptors, EachRoleAddsWhatItMayOpen) {
  const config::Config c = Example();
  const DescriptorNeed none = NeedOfDescriptors(c, {});
  EXPECT_EQ(none.servers, 0);
  EXPECT_EQ(none.outgoing, 0);
  EXPECT_EQ(none.total(), none.database + none.rest);
  const DescriptorNeed api = NeedOfDescriptors(c, {Role::kApi});
  EXPECT_EQ(api.servers, 4000);
  EXPECT_EQ(api.outgoing, 1664) << "tests of webhooks: 128 for every 64 at once";
  EXPECT_EQ(api.database, none.database + 80);
  const DescriptorNeed worker = NeedOfDescriptors(c, {Role::kWorker});
  EXPECT_EQ(worker.outgoing, 2 * 2048) << "pages, and services";
  EXPECT_EQ(worker.servers, 0);
  config::Config renders = c;
  renders.browser.pages_max = 4;
  const DescriptorNeed browser = NeedOfDescriptors(renders, {Role::kBrowser});
  EXPECT_EQ(browser.database, none.database + 2);
  EXPECT_EQ(browser.servers, 0);
  EXPECT_GT(browser.outgoing, 4) << "both ends of what its pages open";
  EXPECT_EQ(worker.database, none.database + 100);
  const DescriptorNeed all = NeedOfDescriptors(c, AllRoles());
  EXPECT_EQ(all.servers, 4200);
  EXPECT_EQ(all.outgoing, 2 * 2048 + 1664);
  EXPECT_EQ(all.database, none.database + 280);
  EXPECT_EQ(all.total(), all.servers + all.outgoing + all.database + all.rest);
}

TEST(Descriptors, AHealthPortAddsItsConnections) {
  config::Config c = Example();
  c.health.listen = "127.0.0.1:1";
  EXPECT_EQ(NeedOfDescriptors(c, {Role::kScheduler}).servers, 200);
}

}  // namespace
}  // namespace vedette::app
