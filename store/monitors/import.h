#pragma once

#include "base/clock.h"
#include "store/session.h"

namespace vedette::store {

enum class ImportStep {
  kNothing,    // no monitor is starting
  kAdded,      // a part's rows were added; more follow
  kActivated,  // the last ones were: the monitor's first tick is due, raise Signal::kDue
  kFailed,  // a row broke a rule, or its part could not be added, in ten tries with growing waits
            // between them: the monitor is `failed`, its disabled_reason names the line
};

// Adds the rows of one part of an uploaded file to the starting monitor whose turn it is: one
// transaction, so that a crash neither loses nor repeats rows. Any number of processes may call it
// at once. Call again at once unless it gave kNothing.
// Throws where adding a part failed and will be tried again.
ImportStep ImportBatch(Session& session, const base::Clock& clock);

}  // namespace vedette::store
