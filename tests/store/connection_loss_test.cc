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

// What a failover shows on /readyz and in logs: libpqxx's words would only frighten.
TEST(ConnectionLossTest, ALossIsToldInPlainWords) {
  EXPECT_EQ(LossText(pqxx::in_doubt_error("Connection lost while committing. There is no way to "
                                          "tell whether the transaction succeeded")),
            "the connection to the database broke during a COMMIT");
  EXPECT_EQ(LossText(pqxx::sql_error("ERROR:  cannot execute UPDATE", "update", "25006")),
            "the database takes no changes (a standby, or read-only)");
  EXPECT_EQ(LossText(pqxx::broken_connection("server closed the connection unexpectedly\n"
                                             "\tThis probably means the server terminated")),
            "the connection to the database broke: server closed the connection unexpectedly");
  EXPECT_EQ(LossText(pqxx::failure("Failed to set client encoding")),
            "the connection to the database broke");
}

}  // namespace
}  // namespace vedette::store
