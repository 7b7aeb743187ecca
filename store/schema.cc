#include "store/schema.h"

namespace vedette::store {
namespace {

constexpr Migration kMigrations[] = {
#include "store_migrations.inc"
};

}  // namespace

std::span<const Migration> Migrations() {
  return kMigrations;
}

}  // namespace vedette::store
