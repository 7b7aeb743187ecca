#include "tests/store/support/neighbour.h"

#include <atomic>
#include <chrono>
#include <pqxx/pqxx>
#include <thread>

namespace vedette::test {

struct Neighbour::Impl {
  pqxx::connection connection;
  pqxx::connection looking;
  pqxx::work transaction;
  std::atomic<bool> over{false};
  std::thread thread{};

  explicit Impl(const std::string& url) : connection(url), looking(url), transaction(connection) {}

  bool IsAwaited() {
    pqxx::nontransaction look(looking);
    return !look.exec(
                    "select from pg_stat_activity where datname = current_database() "
                    "and wait_event_type = 'Lock'")
                .empty();
  }
};

Neighbour::Neighbour(const std::string& url, const std::string& statement) : impl_(new Impl(url)) {
  impl_->transaction.exec(statement);
  impl_->thread = std::thread([this] {
    while (!impl_->over && !impl_->IsAwaited()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    impl_->transaction.commit();
  });
}

Neighbour::~Neighbour() {
  impl_->over = true;
  impl_->thread.join();
}

}  // namespace vedette::test
