#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config_fwd.h"
#include "metrics/metrics.h"

namespace vedette::store {

// The one place that knows libpqxx. Outside store/, a Session is handed to functions such as
// store::CreateMonitor(session, ...) and nothing else is done with it.

// The database cannot be reached, the connection broke before COMMIT was sent, or it is out of
// disk, memory or time: nothing happened.
class Unavailable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The connection broke while COMMIT was under way: the transaction happened or it did not. The
// caller repeats what is safe to repeat (G1), or says that it does not know.
class CommitUnknown : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A deadlock, serialization failure or lock timeout, after the retries of InTransaction: nothing
// happened; trying again later may help.
class Contention : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct SessionOptions {
  std::string name;  // of the pool: the application_name is "vedette <name>"
  // Every statement finds its rows by key, perhaps by arrays of many keys. Such statements want one
  // plan, by the indexes, whatever the tables' statistics say: custom plans chose sequential scans,
  // and for key ranges generic ones did, too (25 ms instead of 0.3 for 256 rows).
  bool keyed_plans = false;
  // Faults by intention; null, as everywhere but in tests, = none.
  const config::TestingConfig* testing = nullptr;
  // Keys of the pool take turns by the time of their jobs, which differs a lot, and not by their
  // number.
  bool turns_by_time = false;
};

// One connection, made on first use and remade after it broke, with the session's timeouts set and
// statements prepared on first use. After a failed attempt to connect, further ones fail at once
// for a while (backoff, [database] reconnect_first_ms doubling to reconnect_max_ms). One thread at
// a time.
class Session {
 public:
  Session(const config::DatabaseConfig& config, SessionOptions options, const base::Clock& clock,
          metrics::Metrics& metrics, base::Logger log);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // For store/ alone.
  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// Threads with a Session each, for one role. Jobs are plain blocking code.
//
// Jobs may be of a key: an organisation. Keys take turns; while there are several threads, one key
// leaves one of them free for the next one, and it leaves a part of the queue free. So a
// neighbour's backlog costs no more than the end of a job under way (G10). Jobs without a key take
// their turn as one more, without these bounds.
//
// A job is given to a thread with a connection as long as the pool has any. Only when no thread has
// one, and it is too early to try again, do jobs run without, so that their first use of the
// session throws Unavailable at once.
class Pool {
 public:
  using Job = std::function<void(Session&)>;

  Pool(const config::DatabaseConfig& config, SessionOptions options, int connections,
       const base::Clock& clock, metrics::Metrics& metrics, base::Logger log);
  // Stop(), if that did not happen.
  ~Pool();

  // Queues a job. False when [database] queue_max jobs wait already, when those of the key alone
  // are too many of them, or after Stop: then the job is dropped unrun. What a job throws is
  // logged. Any thread.
  [[nodiscard]] bool Post(const base::Uuid& key, Job job);
  [[nodiscard]] bool Post(Job job);  // of no key

  // Runs what is queued, then ends the threads. Blocks.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A transaction pooler gives each transaction any session of the server's: what a session is set
// to, the statements that it has prepared, its locks and what it listens to are another's at the
// next transaction. A pool whose configuration says is_pooled brings its settings along with each
// transaction and prepares nothing; [database] url may not lead to one, and vedette says so at its
// start. A pooler that keeps a session for as long as a connection lasts is as good as none.

// Whether the database is reached through a transaction pooler: a sentence that says what to do, or
// nothing. Blocks for one round trip where there is no pooler, for a few and a second connection
// where there is one. Throws Unavailable.
std::string TransactionPoolerFound(Session& session);

// Whether `pooled`, a configuration with is_pooled, leads to another database than the session: a
// sentence that says what to do, or nothing. Blocks while it connects. Throws Unavailable.
std::string PooledElsewhere(Session& session, const config::DatabaseConfig& pooled);

}  // namespace vedette::store
