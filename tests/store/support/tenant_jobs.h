#pragma once

#include <map>
#include <memory>
#include <string>

#include "store/session.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {

// The routes of lookups and jobs, with a worker that the test plays itself: it claims and records
// through the store. acme has 1,000 credits.
class ApiJobs : public ApiTest {
 public:
  explicit ApiJobs(config::Environment environment = {}, const Adjust& adjust = nullptr);
  ~ApiJobs() override;

  // A body of one lead, with changes.
  static base::Json One(const base::Json& changes = base::Json::object());
  static base::Json Many(int leads);
  // What a worker records for a lead whose address it found, or that failed with `error`.
  static base::Json Cell(const std::string& address, const std::string& error = "");

  // A live member that serves these lanes, in place of every other.
  void ServeLanes(const std::string& lanes);
  void GiveCredits(const std::string& org_id, std::int64_t mc);

  // The same as Ask with a body, but does not wait.
  std::shared_ptr<ApiExchange> Send(const std::string& target, const base::Json& body,
                                    const Headers& headers = {});
  Reply Take(const std::shared_ptr<ApiExchange>& exchange);

  // The newest job's id, once there are so many.
  std::string JobOf(int jobs = 1);
  // Waits until the statement's first value is this.
  void Until(const std::string& statement, const std::string& value);
  // Waits until so many requests are parked.
  void UntilParked(int n);

  // Claims every job chunk that is due and records its rows, as `address` or `error`, each charged
  // at `charge_mc`. A single whose row failed fails.
  void Work(const std::string& address, const std::string& error = "", std::int64_t charge_mc = 0);

  store::Session session;
};

}  // namespace vedette::test
