#pragma once

#include <string>

namespace vedette::store {

// Why a connection string or URI leads to no database, as the end of a sentence "must be ...".
// Empty: libpq takes it. Nothing of the text is repeated, since a misplaced character makes a part
// of the password a host or a port.
std::string DatabaseUrlFault(const std::string& url);

// What was said of a connection by this string or URI, without its password.
std::string WithoutPassword(const std::string& url, std::string text);

}  // namespace vedette::store
