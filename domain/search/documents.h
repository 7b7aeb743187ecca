#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/uuid.h"
#include "domain/search/fields.h"
#include "domain/search/filter_reader.h"

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

// Documents that are left out of a count: named in the request, or by saved lists. Pure.

// The field of people by whose values exclude_public_ids leaves documents out.
inline constexpr std::string_view kPublicIdField = "public_id";
// Ids of one request, and of one request that fills a list.
inline constexpr std::size_t kExcludedIdsMax = 1024;
// Saved lists that one request names.
inline constexpr std::size_t kExclusionListsNamedMax = 10;
// Ids of one list, and of all lists that one request names; lists of one organisation.
inline constexpr int kExclusionListIdsMax = 10'000;
inline constexpr int kExclusionListsMax = 100;

// What a saved list is. The numbers are stored: never renumber.
//
//   kFilling --its owner says that it is whole--> kReady
//
// Ids are added to one that is filling; one that is ready stays as it is, and may be named.
enum class ExclusionListState : std::uint8_t { kFilling = 0, kReady = 1 };
std::string_view ExclusionListStateName(ExclusionListState state);  // "filling", "ready"

// What a request leaves out.
struct Exclusions {
  std::vector<std::string> public_ids;
  std::vector<std::string> entity_ids;  // ids of documents
  std::vector<base::Uuid> list_ids;     // of saved lists

  bool any() const { return !public_ids.empty() || !entity_ids.empty() || !list_ids.empty(); }
};

// The first fault of what a request for documents of `mode` leaves out so; nothing where all is
// well. Lists are checked by their ids alone: whether they may be named is known to the code that
// reads them.
std::optional<FilterError> ValidateExclusions(const Exclusions& exclusions, Mode mode);

// Why a list of documents of `list_mode` may not be named in a request for those of `mode`.
std::optional<FilterError> ValidateExclusionList(std::string_view list_id, Mode list_mode,
                                                 ExclusionListState state, Mode mode);

// The limit of all ids in the lists that a request names.
std::optional<FilterError> ValidateExcludedSum(int ids);

// The code of every such refusal.
inline constexpr std::string_view kInvalidExclusions = "invalid_exclusions";

}  // namespace vedette::domain::search
