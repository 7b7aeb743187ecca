#pragma once

#include <libxml/xpath.h>
#include <cstddef>
#include <optional>
#include <string_view>

// What libxml2 lacks to evaluate anybody's expression on anybody's page: it counts steps and can be
// stopped between them, but some single steps cost the square of the page, in time or in memory.
namespace vedette::html {

// What an expression may make libxml2 do, checked by its tokens; never less than it does. Pure.
struct XPathCost {
  bool merges = false;       // node-sets that may hold most of the page, each into the other
  bool names_alone = false;  // a path such as //div//a: elements only, found in one walk, in order
  std::size_t strings = 1;   // that may be held at once, each as long as the page's text
  // The character, from 1, at which it compares two node-sets, each node with each.
  std::optional<std::size_t> compares_sets;
  // The character, from 1, at which it asks for namespace nodes. libxml2 makes them for one result,
  // with which they are freed, and gives them no place in the document's order.
  std::optional<std::size_t> namespace_axis;
};
XPathCost CostOf(std::string_view expression);

// Replaces the string functions that search by trying every place, or append by walking over what
// there is (concat, contains, substring-before, substring-after, translate), by linear ones, and
// takes id() away, which cannot be made linear.
void RegisterLinearFunctions(xmlXPathContextPtr context);

}  // namespace vedette::html
