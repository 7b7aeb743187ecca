#pragma once

#include <set>
#include <string>
#include <vector>

namespace vedette::app {

// What a process of the fleet does.
enum class Role { kApi, kAdmin, kScheduler, kWorker, kDelivery };

// All five.
std::set<Role> AllRoles();

// "api,worker" -> roles; throws std::invalid_argument naming the unknown role and the known ones.
std::set<Role> ParseRoles(const std::string& list);

// {kApi, kWorker} -> "api", "worker", in the order of the enum.
std::vector<std::string> RoleNames(const std::set<Role>& roles);

}  // namespace vedette::app
