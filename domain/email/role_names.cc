#include "domain/email/role_names.h"

#include <string>

#include "base/text.h"
#include "domain/text/word_lists.h"

namespace vedette::domain {
namespace {

const WordSet& RoleNames() {
  static const WordSet listed = ListedWords("role_names");
  return listed;
}

}  // namespace

bool IsRoleName(std::string_view local) {
  std::string name = base::AsciiLower(local.substr(0, local.find('+')));
  std::erase_if(name, [](char c) { return c == '-' || c == '_' || c == '.'; });
  while (!name.empty() && base::IsAsciiDigit(name.back())) name.pop_back();
  return RoleNames().contains(name);
}

}  // namespace vedette::domain
