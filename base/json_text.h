#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

// JSON for those who only pass it on. What reads or builds values includes base/json.h, whose
// library costs a compiler more than all else that a source includes.
namespace vedette::base {

// Keeps the order of members, so that what a client sent comes back as it was sent.
using Json = nlohmann::ordered_json;

// A document as text, as a value, or both: made from one, it becomes the other at the first look.
// Most of what a row holds is passed through without being read. Copies share what they found: one
// thread at a time.
class JsonText {
 public:
  JsonText() = default;    // {}
  static JsonText Null();  // null, as a value
  // What the database or we ourselves wrote.
  explicit JsonText(std::string text);
  JsonText(Json value);  // NOLINT(google-explicit-constructor): a value is one

  // Throws std::invalid_argument as ParseJsonOrThrow.
  const Json& Value() const;
  const std::string& Text() const;

 private:
  struct Forms;
  std::shared_ptr<Forms> forms_;  // null = {}
};

}  // namespace vedette::base
