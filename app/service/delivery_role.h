#pragma once

#include <memory>

#include "app/service/core.h"
#include "delivery/deliverer.h"
#include "net/http_client.h"
#include "store/session.h"
#include "worker/checks/notification_sink.h"

namespace vedette::app {

// The role that sends notifications. Built and destroyed while the loop does not run; everything
// handed in must outlive it.
class DeliveryRole {
 public:
  DeliveryRole(const Core& core, store::Pool& pool);

  void Start();  // loop thread
  void Drain();  // blocks; not on the loop thread

  // The way of the checks of the same process to the deliverer.
  worker::NotificationSink& sink() { return *sink_; }

 private:
  base::EventLoop& loop_;
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<delivery::Deliverer> deliverer_;
  std::unique_ptr<worker::NotificationSink> sink_;
};

}  // namespace vedette::app
