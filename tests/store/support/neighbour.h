#pragma once

#include <memory>
#include <string>

namespace vedette::test {

// Somebody who has done `statement` at the database and commits once another waits for it; at the
// latest when the object goes.
class Neighbour {
 public:
  Neighbour(const std::string& url, const std::string& statement);
  ~Neighbour();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Calls while a neighbour has done `statement` and not yet committed.
template <typename Call>
auto CallBeside(const std::string& url, const std::string& statement, const Call& call) {
  const Neighbour neighbour(url, statement);
  return call();
}

}  // namespace vedette::test
