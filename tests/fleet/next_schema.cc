// The migrations of the release after this one, as far as a test can make it up: one more.
#include "store/schema.h"

namespace vedette::store {
namespace {

constexpr Migration kMigrations[] = {
#include "next_migrations.inc"
};

}  // namespace

std::span<const Migration> Migrations() {
  return kMigrations;
}

}  // namespace vedette::store
