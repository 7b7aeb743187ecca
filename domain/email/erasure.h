#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/uuid.h"
#include "domain/email/suppression.h"

// Whose data is taken out of what is stored, and how. Pure.
//
// Of a lookup the whole row goes: its lead becomes {"erased": true}, and its cell null. Of any
// other job each cell that holds the person becomes null. Rows stay where they are.
namespace vedette::domain {

// A person, by an address, the URL of a profile, or both.
class ErasureTarget {
 public:
  // Empty where neither is given, or one that is given is none.
  static std::optional<ErasureTarget> Of(std::string_view email, std::string_view profile);

  // Under which nobody looks the person up any more.
  const std::vector<SuppressionKey>& keys() const { return keys_; }
  // Texts in lower case: JSON that holds the person holds one of them, its A to Z in lower case.
  const std::vector<std::string>& needles() const { return needles_; }

  // Whether the text, or a text anywhere in the value, names the person: an address in any spelling
  // that is the same mailbox, also inside a sentence, or the profile.
  bool IsInText(std::string_view text) const;
  bool IsIn(const base::Json& value) const;

 private:
  bool IsKey(const std::optional<SuppressionKey>& key) const;

  std::vector<SuppressionKey> keys_;
  std::vector<std::string> needles_;
};

base::Json ErasedLead();
bool IsErasedLead(const base::Json& lead);

// A job as it is stored, to be erased from. Of a lookup block 0 has no input: its rows are those of
// `params`, and its parts have one cell a row.
struct StoredJob {
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
    int ended = 0;  // rows that were still to be done, and are not any more
  };
  bool is_lookup = false;
  int part_rows = 1;
  base::Json params;
  bool params_changed = false;
  std::vector<Part> parts;
  std::vector<Chunk> chunks;
};

// Takes the person out of the job. Returns how many rows were touched. Throws std::invalid_argument
// where what is stored has another form.
int EraseFrom(const ErasureTarget& target, StoredJob* job);

}  // namespace vedette::domain
