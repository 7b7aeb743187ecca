#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "domain/job/webhook.h"
#include "net/http_server.h"

namespace vedette::app {

// How the demo's receiver behaves; anything but kHonest makes the story fail, on purpose.
enum class ReceiverMode { kHonest, kRefuse, kWrongKey };

// The demo's webhook receiver, as a customer would write it: verifies the signature over the raw
// body, answers 200, or 401 to a signature that does not match. Any thread.
class DemoReceiver final : public net::WholeBodyService {
 public:
  struct Received {
    std::uint64_t number = 0;    // 1, 2, 3, ... in the order of arrival
    std::string type;            // Service-Event-Type
    std::string event_group_id;  // Service-Event-Id
    std::string attempt;         // Service-Delivery-Attempt
    base::Json body;             // null where it is no JSON
    domain::SignatureCheck check = domain::SignatureCheck::kMalformed;
    bool refused = false;  // answered with an error whatever the signature
  };

  DemoReceiver(ReceiverMode mode, const base::Clock& clock);

  // The secret to verify with. Until it is set every signature is wrong.
  void SetSecret(std::string secret);

  // The last one that arrived for the pair.
  std::optional<Received> Find(std::string_view type, std::string_view event_group_id) const;
  // Those with a number above `after`, oldest first.
  std::vector<Received> Since(std::uint64_t after) const;
  std::uint64_t received_total() const;

  void HandleWhole(std::shared_ptr<net::Exchange> exchange) override;
  std::size_t BodyBytesMax(std::string_view method, std::string_view path) const override;

  static constexpr const char* kPath = "/webhooks";

 private:
  const ReceiverMode mode_;
  const base::Clock& clock_;
  mutable std::mutex mutex_;
  std::string secret_;
  std::uint64_t total_ = 0;
  std::deque<Received> received_;  // the last kKept
};

// What the demo watches: a small web site of company pages whose content changes. Any thread.
class DemoSite final : public net::WholeBodyService {
 public:
  struct Company {
    std::string slug;
    std::string name;
    int employees;
    std::string chief;
    int price;  // of the starter plan, in euros a month
  };

  DemoSite();

  // The pages' content as JSON, to be kept from run to run. Load passes over companies it does not
  // know.
  base::Json Save() const;
  void Load(const base::Json& saved);

  std::vector<Company> companies() const;
  std::string PathOf(const Company& company) const { return "/companies/" + company.slug; }

  // The watched fields of every page: name to description, in the interface's `struct` form.
  static base::Json WatchedFields();
  // A page that shows nothing until its script has run; then "#seats" says how many are left.
  static constexpr const char* kScriptedPath = "/workshop";
  static constexpr const char* kSeats = "12";

  struct Change {
    std::string company;  // its name
    std::string field;
    std::string from;
    std::string to;  // differs from all that the field was since the process began
  };
  // Changes one field of one page; the `number`-th change of a demo, in a fixed order.
  Change MakeChange(int number);

  void HandleWhole(std::shared_ptr<net::Exchange> exchange) override;
  std::size_t BodyBytesMax(std::string_view method, std::string_view path) const override;

 private:
  std::string Page(const Company& company) const;
  std::string Index() const;

  mutable std::mutex mutex_;
  std::vector<Company> companies_;
};

}  // namespace vedette::app
