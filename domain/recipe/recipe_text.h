#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vedette::domain {

// The fields of recipes' texts: plain text in which {name} stands for what is known of a person.
// Pure.
enum class RecipeField : std::uint8_t {
  kName,       // "{name}"
  kFirstName,  // "{first_name}"
  kLastName,
  kCompany,
  kDomain,
  kLinkedin,
  kEmail,
  kTitle,
  kLocation,
  kKey,  // "{key}": the operator's key at the service
};
inline constexpr std::size_t kRecipeFields = 10;
std::string_view RecipeFieldName(RecipeField field);  // "first_name"
std::optional<RecipeField> ParseRecipeField(std::string_view name);

// What the fields stand for; an empty text is not known.
class RecipeValues {
 public:
  std::string& operator[](RecipeField field) { return texts_[static_cast<std::size_t>(field)]; }
  const std::string& operator[](RecipeField field) const {
    return texts_[static_cast<std::size_t>(field)];
  }

 private:
  std::array<std::string, kRecipeFields> texts_;
};

// The fields that the text names, in their order. Empty where a brace stands in it that belongs to
// no field.
std::optional<std::vector<RecipeField>> FieldsOf(std::string_view text);

// The text with the values in place of its fields, each as `encode` gives it. Empty where the value
// of one of them is not known. `text` is one that FieldsOf reads.
std::optional<std::string> FillIn(std::string_view text, const RecipeValues& values,
                                  const std::function<std::string(std::string_view)>& encode);

// Percent-encoded but for the letters, digits and signs that no URL gives a meaning.
std::string EncodeForUrl(std::string_view text);

// Whether the text may stand in a request's header: it has no control character.
bool IsHeaderText(std::string_view text);

}  // namespace vedette::domain
