#pragma once

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "base/json.h"
#include "domain/search/filter.h"
#include "domain/search/filter_reader.h"
#include "tests/support/search_cases.h"

namespace vedette::test {

enum class Grammar { kDsl, kSimple };

// Filters over SmallCatalogue.
class FilterTest : public testing::Test {
 public:
  domain::search::FilterRead Read(Grammar grammar, const std::string& text) const {
    const base::Json json = base::ParseJsonOrThrow(text);
    return grammar == Grammar::kDsl ? domain::search::ReadDslFilter(json, fields())
                                    : domain::search::ReadSimpleFilter(json, fields());
  }
  // Whether the filter is true of the document.
  bool Holds(Grammar grammar, const std::string& filter, const std::string& document) const {
    const auto read = Read(grammar, filter);
    if (const auto* error = std::get_if<domain::search::FilterError>(&read)) {
      ADD_FAILURE() << filter << ": " << error->code << ": " << error->message;
      return false;
    }
    return domain::search::Evaluate(std::get<domain::search::Filter>(read),
                                    base::ParseJsonOrThrow(document));
  }
  // "code: message", or empty where the filter is taken.
  std::string Refusal(Grammar grammar, const std::string& filter) const {
    const auto read = Read(grammar, filter);
    const auto* error = std::get_if<domain::search::FilterError>(&read);
    return error == nullptr ? "" : error->code + ": " + error->message;
  }

  const domain::search::Fields& fields() const {
    return catalogue.of(domain::search::Mode::kCompany);
  }
  const domain::search::Catalogue catalogue = SmallCatalogue();
};

}  // namespace vedette::test
