#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/config_fwd.h"
#include "domain/age/identity.h"
#include "domain/failure.h"
#include "pages/page_reading.h"

// What a model is asked about a person's age, or about who is behind an address, and what is taken
// from its answer: pointers to quotes on pages, and nothing else. Pure.
namespace vedette::worker {

inline constexpr std::size_t kPointersMax = 16;     // of an answer
inline constexpr std::size_t kPointedPagesMax = 8;  // of an answer, that are read

struct Pointer {
  std::string url;    // a web address
  std::string quote;  // what is said to stand there, word for word
};

// To what it is to point.
enum class PointTo : std::uint8_t {
  kAddress,  // an address of the person's
  kAge,      // statements about the subject's birth, age or death
  kPerson,   // the name of who is behind the subject's address
};

// The body of POST /chat/completions. The pages and the person stand in it as JSON strings, which
// their text cannot end. A model that has a search of its own may point to other pages.
std::string PointersRequestBody(const config::LlmProviderConfig& config, PointTo what,
                                const domain::AgeSubject& subject,
                                const std::vector<pages::PageText>& pages);

// The pointers of an answer, each once: {"items": [{"url", "quote"}]}. What is none of that form is
// left out; an answer that is no such object is the failure invalid_answer, a refusal `refusal`.
std::variant<std::vector<Pointer>, domain::Failure> ReadPointers(std::string_view body);

}  // namespace vedette::worker
