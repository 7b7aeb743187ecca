#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/kit/answer.h"
#include "base/log.h"
#include "store/session.h"

namespace vedette::admin {

// Answers that follow the audit: NDJSON, one sealed entry a line, and an empty line where there was
// nothing to tell for kQuietTicks. `seq` of an entry is the cursor behind which another answer goes
// on; as places are given to what is committed (store/audit_chain.h), nothing is left out.
//
// One thread asks the pool for one job at a time, which serves every follower that has taken its
// last piece: at most kFollowersMax of them, with a page each. All methods are safe on any thread.
//
//   kIdle ---- something to tell ----> kWriting ---- it is on its way ----> kIdle
//   kIdle ---- End ----> kGone         kWriting ---- the client is gone, or End ----> kGone
class AuditStream {
 public:
  static constexpr std::size_t kFollowersMax = 16;

  // `pool` must outlive this object, and this object the pool's last job and the server.
  AuditStream(store::Pool& pool, base::Logger log);
  ~AuditStream();  // End()

  // Begins the answer, with what comes behind the place `after`. False, and nothing is begun, where
  // kFollowersMax follow already or this has ended.
  bool Follow(std::shared_ptr<rest::Answer> answer, std::int64_t after);

  // Ends every answer in good order; a follower goes on at another process. Repeating it changes
  // nothing.
  void End();

 private:
  enum class State { kIdle, kWriting, kGone };
  struct Follower {
    std::shared_ptr<rest::Answer> answer;
    net::Exchange* exchange = nullptr;  // answer's
    std::int64_t after = 0;             // of the job that serves; else nobody's
    int quiet = 0;                      // likewise: jobs in a row without anything to tell
    State state = State::kIdle;
  };
  using FollowerPtr = std::shared_ptr<Follower>;

  void Run();
  void Serve(store::Session& session);
  void Tell(const FollowerPtr& follower, std::string text);
  void OnWritten(const FollowerPtr& follower, bool on_its_way);

  store::Pool& pool_;
  const base::Logger log_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<FollowerPtr> followers_;  // by mutex_, as are their states
  bool serving_ = false;                // by mutex_: a job is queued or runs
  bool ended_ = false;                  // by mutex_
  std::thread thread_;                  // from the first follower on
};

}  // namespace vedette::admin
