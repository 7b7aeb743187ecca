#pragma once

#include <functional>

#include "domain/search/engine_answer.h"
#include "store/search/field_values.h"

namespace vedette::api {

// Counts the values of a field in documents that are not in the database. Built by app.
class SearchEngine {
 public:
  struct Outcome {
    enum class Kind {
      kCounted,
      kTimedOut,
      kFailed,    // it cannot be reached, or does not answer as it should
      kBusy,      // not begun: too many counts are under way, of this organisation or of all
      kTooLarge,  // not begun: the filter, written for the engine, is over a limit
    };
    Kind kind = Kind::kFailed;
    domain::search::EngineCount count{};  // where it is kCounted
  };

  virtual ~SearchEngine() = default;

  // `done` runs exactly once, on any thread, perhaps from inside, within [search] timeout_ms and a
  // little. The question's organisation sees the documents of nobody and its own (G8).
  virtual void Count(const store::ValuesQuestion& question, std::function<void(Outcome)> done) = 0;
};

}  // namespace vedette::api
