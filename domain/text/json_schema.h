#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

// The part of JSON Schema (draft 2020-12) in which blocks of workflows say what they are
// configured with. Pure.
//
// Keywords: type, required, additionalProperties (false or a schema), properties, items, enum,
// const, minimum, maximum, minLength, maxLength (in characters), minItems, maxItems, uniqueItems,
// minProperties, maxProperties. title, description, default and examples annotate; `default` is
// also filled in where a member is absent. Nothing else is known: UnknownKeywords finds it.
namespace vedette::domain {

// A fault of a value, as one item of a 422 says it.
struct ValidationFault {
  base::Json loc;  // array: from where the caller began
  std::string type;
  std::string msg;
  base::Json input = nullptr;
  base::Json ctx = nullptr;  // object or null: the limit that is broken
};
using ValidationFaults = std::vector<ValidationFault>;

// Validates `value`, which stands at `loc`, adds what is wrong, and fills in the defaults of absent
// members, also of those inside; an integer whose text keep_numbers has kept becomes a number.
// `schema` is one of ours.
void ApplySchema(const base::Json& schema, const base::Json& loc, base::Json* value,
                 ValidationFaults* faults);

// The integer that a number is, whatever its notation: 1.0 and 1e2 are integers here, too. Of one
// beyond 64 bits the range's end; none of a number with a fraction, or of another value.
std::optional<std::int64_t> IntegerOf(const base::Json& value);

// `loc` and one step more: a member's name or an element's index.
base::Json LocOf(const base::Json& loc, const base::Json& step);

// The keywords of a schema, and of those inside it, that ApplySchema passes over.
std::vector<std::string> UnknownKeywords(const base::Json& schema);

}  // namespace vedette::domain
