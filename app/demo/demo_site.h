#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "net/http_server.h"

namespace vedette::app {

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
