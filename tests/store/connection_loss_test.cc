#include <gtest/gtest.h>

#include <pqxx/except>

#include "store/session_impl.h"

namespace vedette::store {
namespace {

bool IsLoss(const char* sqlstate) {
  return IsConnectionLoss(pqxx::sql_error("refused", "select", sqlstate));
}

// A failover leaves connections to a server that only reads from then on. What it says of a table
// that is not logged (mail_budget) is another error than what it says of a write.
TEST(ConnectionLossTest, G12_AServerThatBecameAStandbyIsLost) {
  EXPECT_TRUE(IsLoss("25006")) << "a write";
  EXPECT_TRUE(IsLoss("0A000")) << "a table that is not logged";
}

TEST(ConnectionLossTest, WhatAStatementIsRefusedForIsNoLoss) {
  EXPECT_FALSE(IsLoss("23505")) << "a key that exists";
  EXPECT_FALSE(IsLoss("42P01")) << "no such table";
  EXPECT_FALSE(IsLoss("53200")) << "a shortage";
}

}  // namespace
}  // namespace vedette::store
