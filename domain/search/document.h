#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

// The documents that an operator imports: one object of JSON a line. Pure.
namespace vedette::domain::search {

inline constexpr std::size_t kDocumentBytesMax = 64 * 1024;
inline constexpr std::size_t kDocumentIdCharsMax = 200;
inline constexpr std::size_t kImportBatchLinesMax = 1000;  // of one request and one transaction

// What becomes of an import. The numbers are stored: never renumber.
//
//   kReceiving --the last line is there--> kCounting --every field is counted--> kCurrent
//                                                                                  |
//                                             a later import takes its place       v
//   A day after the last change kReceiving, kCounting and kFormer are deleted.  kFormer
enum class ImportState : std::uint8_t { kReceiving = 0, kCounting = 1, kCurrent = 2, kFormer = 3 };
std::string_view ImportStateName(ImportState state);  // "receiving", ...

struct Document {
  std::string id;
  std::string json;  // the whole object; every number in one notation
};

// A line with its document, or a sentence that says what is wrong with it.
std::variant<Document, std::string> ReadDocument(std::string_view line);

}  // namespace vedette::domain::search
