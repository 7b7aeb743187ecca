#pragma once

#include <chrono>
#include <pqxx/pqxx>
#include <string>
#include <thread>

namespace vedette::test {

// Calls while a neighbour has done `statement` at the database and not yet committed, which it does
// after 200 ms.
template <typename Call>
auto CallBeside(const std::string& url, const std::string& statement, const Call& call) {
  pqxx::connection neighbour(url);
  pqxx::work first(neighbour);
  first.exec(statement);
  std::thread ends([&first] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    first.commit();
  });
  auto result = call();
  ends.join();
  return result;
}

}  // namespace vedette::test
