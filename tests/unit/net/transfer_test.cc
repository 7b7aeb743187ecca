#include "net/transfer.h"
#include "config/net_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "tests/unit/net/client_support.h"

// The last two lines of defence of G9, alone: the checks at the socket and at a connection that is
// used again. Through HttpClient they are not reached, because addresses are checked before.
namespace vedette::net {
namespace {

using test::LoopThread;
using test::RawServer;
using test::SaysOkEachTime;

const AddressPolicy kOpen{{"127.0.0.0/8"}};
const AddressPolicy kPublicOnly{{}};

class TransferG9 : public ::testing::Test {
 protected:
  TransferG9() {
    config_.connect_timeout_ms = test::milliseconds(5000);
    thread_.Run([&] {
      loop_ = std::make_unique<CurlLoop>(thread_.loop, 4, [this](CURL* easy, CURLcode result) {
        Transfer& transfer = *Transfer::Of(easy);
        HttpResponse response = transfer.TakeResponse(result);
        loop_->Remove(easy, *transfer.route.handle, transfer.host_key, {});
        done_.set_value(std::move(response));
      });
    });
  }
  ~TransferG9() override {
    thread_.Run([&] { loop_.reset(); });
  }

  HttpResponse Get(int port, const AddressPolicy& policy) {
    Transfer transfer;
    transfer.Attach(std::make_unique<Transfer::Easy>(config_));
    done_ = {};
    auto future = done_.get_future();
    thread_.Run([&] {
      transfer.route.url = *ParseTenantUrl("http://127.0.0.1:" + std::to_string(port), kOpen).url;
      transfer.route.target = "/";
      transfer.route.policy = &policy;
      transfer.route.loop = loop_.get();
      transfer.host_key = "127.0.0.1:" + std::to_string(port);
      transfer.route.handle = &loop_->HandleFor(transfer.host_key);
      EXPECT_EQ(transfer.Prepare({}), "");
      loop_->Add(transfer.easy(), *transfer.route.handle, transfer.host_key);
    });
    HttpResponse response = future.get();
    thread_.Run([] {});  // curl has let go of the handle
    return response;
  }

  config::NetConfig config_{};
  LoopThread thread_;
  std::unique_ptr<CurlLoop> loop_;
  std::promise<HttpResponse> done_;
};

TEST_F(TransferG9, TheSocketIsNotOpenedToAForbiddenAddress) {
  RawServer server(SaysOkEachTime);
  const HttpResponse response = Get(server.port(), kPublicOnly);
  EXPECT_EQ(response.error_class, HttpErrorClass::kRefusedAddress);
  EXPECT_EQ(response.error, "the address 127.0.0.1 of 127.0.0.1 is not public");
  EXPECT_EQ(server.accepted(), 0);
}

TEST_F(TransferG9, AKeptConnectionToAForbiddenAddressIsNotUsed) {
  RawServer server(SaysOkEachTime);
  EXPECT_EQ(Get(server.port(), kOpen).body, "ok");
  EXPECT_EQ(Get(server.port(), kOpen).body, "ok");
  EXPECT_EQ(server.accepted(), 1);  // it is kept and used again
  const HttpResponse response = Get(server.port(), kPublicOnly);
  EXPECT_EQ(response.error_class, HttpErrorClass::kRefusedAddress);
  EXPECT_EQ(response.body, "");
}

}  // namespace
}  // namespace vedette::net
