#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vedette::store {

// The statement that store/queries/*.sql names `name` ("-- name: claim_chunks"). Throws
// std::logic_error for an unknown name.
//
// A statement may contain `:word`, which stands for the number of an enum or a limit of the domain
// (`:status_active`; the list is in queries.cc), or for a text that several statements share: what
// follows "-- fragment: word" in any of the files, which may itself contain such words. So each of
// them is written once. A cast (`::uuid`) is none. Throws std::logic_error for an unknown word.
//
// `@org_id` is a parameter. The text has numbers instead, in which the names first occur.
const std::string& QueryText(std::string_view name);

// The names of its parameters, in the order of their numbers.
const std::vector<std::string>& QueryParameters(std::string_view name);

// For each of its parameters the type of an array's elements (an OID of pg_type), as the casts of
// the statement say it ("@ids::uuid[]"); 0 where it is no array, or its casts do not say.
const std::vector<std::uint32_t>& QueryElementTypes(std::string_view name);

// The names of all statements, in alphabetical order.
std::vector<std::string_view> QueryNames();

}  // namespace vedette::store
