#pragma once

#include <string>
#include <string_view>

#include "base/json_text.h"
#include "domain/search/filter.h"

// Values of fields, between the tree, JSON and what clients see. Pure.
namespace vedette::domain::search {

// The value in JSON; a number without a fraction is an integer.
base::Json JsonOf(const Value& value);

// The value as an answer lists it: the text itself, "42", "0.5", "true".
std::string TextOf(const Value& value);

// The clause {"term": {field: value}}, inside a nested clause where the field is nested, that
// selects exactly the documents with this value; {} where no filter can say it: the text is too
// long, or the number is none that a double holds exactly. `text` is as TextOf has it.
base::Json FilterSnippet(const Field& field, std::string_view text);

}  // namespace vedette::domain::search
