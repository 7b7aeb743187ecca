#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/uuid.h"
#include "domain/email/suppression.h"
#include "domain/people/address_mention.h"

// The erasure of one person's data from what is stored. Pure.
//
// A lookup loses the whole row: its lead becomes {"erased": true}, and its cell null. In an
// investigation the values of subjects and findings become null, and evidence empty. In any other
// job each cell that holds the person becomes null, and each text of its blocks' specs empty. Rows
// and findings stay where they are.
namespace vedette::domain {

// A person, by an address, the URL of a profile, or both.
class ErasureTarget {
 public:
  // Empty where neither is given, or one that is given is none.
  static std::optional<ErasureTarget> Of(std::string_view email, std::string_view profile);

  // The keys by which the suppression list knows the person from now on.
  const std::vector<SuppressionKey>& keys() const { return keys_; }
  // Texts in lower case: JSON that holds the person holds one of them, its A to Z in lower case.
  const std::vector<std::string>& needles() const { return needles_; }
  // The domain of the address, in A-labels; empty where there is no address.
  const std::string& domain() const { return domain_; }

  // Whether the text, or a text anywhere in the value, names the person: an address in any spelling
  // that is the same mailbox, also inside a sentence or an URL, or the profile. A text that is JSON
  // is looked through as its value.
  bool IsInText(std::string_view text) const;
  bool IsIn(const base::Json& value) const;

 private:
  bool IsKey(const std::optional<SuppressionKey>& key) const;

  std::vector<SuppressionKey> keys_;
  std::vector<std::string> needles_;
  std::string domain_;
  std::optional<AddressMention> mention_;
};

// What an investigation has found, as it is stored.
struct StoredFinding {
  std::int64_t seq = 0;
  base::Json subject;
  base::Json object;  // null: none
  std::string evidence;
  base::Json sources;
  bool changed = false;
};

// A job as it is stored, to be erased from. Block 0 of a lookup or an investigation has no input:
// its rows are those of `params`. Parts of a lookup have one cell a row. Parts of an investigation
// have the subjects that the next block looks at in the part of the same number; rows of its chunks
// have the findings of one subject.
struct StoredJob {
  enum class Form : std::uint8_t { kLookup, kInvestigation, kOther };
  struct Part {
    int block = 0;
    int part = 0;
    base::Json rows;  // array of arrays of cells, null in place of a row that was not recorded
    bool changed = false;
  };
  // A part that is not finished.
  struct Chunk {
    base::Uuid id;
    int block = 0;
    int part = 0;
    base::Json done;  // {"rows": [..], "later": {..}}, or null
    bool changed = false;
    int ended = 0;             // rows that were still to be done, and are not any more
    std::optional<int> input;  // the block whose part of the same number it works on
  };
  // The specs of a run's block, as the block runs with them.
  struct Block {
    int block = 0;
    base::Json specs;
    bool changed = false;
  };
  Form form = Form::kOther;
  int part_rows = 1;
  base::Json params;
  bool params_changed = false;
  std::vector<Part> parts;
  std::vector<Chunk> chunks;
  std::vector<Block> blocks;

  // An investigation's findings that may hold the person, and its seeds.
  std::vector<StoredFinding> findings;
  base::Json seeds;
  bool seeds_changed = false;

  // Filled in by EraseFrom for a lookup: the keys under which the organisation keeps facts about
  // the person (PersonKey), and the addresses that may have been guessed from the name. A guess
  // that was refused is kept without the person for whom it was made.
  std::vector<std::string> person_keys;
  std::vector<std::string> guesses;
};

// Takes the person out of the job. Returns how many rows and findings were touched. Throws
// std::invalid_argument where what is stored has another form.
int EraseFrom(const ErasureTarget& target, StoredJob* job);

}  // namespace vedette::domain
