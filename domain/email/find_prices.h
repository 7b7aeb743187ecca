#pragma once

#include <cstdint>

// What a lead costs whose address is looked for.
namespace vedette::domain {

// Which results are charged (docs/lookups.md):
//   kAlways   every lead that was worked on to its end
//   kFound    an address that is OK, or one that somebody stated and that nobody could verify
//   kOk       an address that is OK
enum class ChargeRule : std::uint8_t { kAlways, kFound, kOk };

struct FindEmailPrices {
  std::int64_t professional_mc;
  std::int64_t personal_mc;
  std::int64_t verify_mc;  // of a lead's own address
  ChargeRule charge;

  bool operator==(const FindEmailPrices&) const = default;
};

// What a row of a lookup of people costs: who is behind an address, how old a person is.
struct PeoplePrice {
  std::int64_t row_mc;
  ChargeRule charge;
  bool operator==(const PeoplePrice&) const = default;
};

}  // namespace vedette::domain
