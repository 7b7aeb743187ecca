#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/event_loop.h"
#include "domain/email/email_fact.h"
#include "store/session.h"

namespace vedette::worker {

// What organisations know of addresses, and the suppression list. Loop thread only.
class EmailMemory {
 public:
  virtual ~EmailMemory() = default;

  // `done` is called once, perhaps from inside Ask; empty where the database cannot be asked now.
  virtual void Ask(domain::EmailQuestion question,
                   std::function<void(std::optional<domain::EmailKnowledge>)> done) = 0;

  // Keeps what a row has learnt. What cannot be written is lost, and asked again some day. `done`
  // is called once, perhaps from inside Learn, when a question would be answered with it. Facts
  // come when their row is recorded, so that nothing is free that was not charged.
  virtual void Learn(domain::EmailLesson lesson, std::function<void()> done) = 0;
};

// Knows nothing and keeps nothing, for a process without a database.
class NoEmailMemory final : public EmailMemory {
 public:
  void Ask(domain::EmailQuestion,
           std::function<void(std::optional<domain::EmailKnowledge>)> done) override {
    done(domain::EmailKnowledge());
  }
  void Learn(domain::EmailLesson, std::function<void()> done) override { done(); }
};

// In the database. One read and one write are under way at a time; questions and lessons that come
// meanwhile go together into the next one, at most kQuestionsMax and kLessonsMax of them: a
// transaction for each row of a batch would cost more than the rest of its work. Everything handed
// in must outlive this object, but answers that come after its end are dropped.
class StoredEmailMemory final : public EmailMemory {
 public:
  static constexpr std::size_t kQuestionsMax = 256;
  static constexpr std::size_t kLessonsMax = 64;  // lost together where a write fails

  StoredEmailMemory(store::Pool& pool, base::EventLoop& loop);
  ~StoredEmailMemory() override;

  void Ask(domain::EmailQuestion question,
           std::function<void(std::optional<domain::EmailKnowledge>)> done) override;
  void Learn(domain::EmailLesson lesson, std::function<void()> done) override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vedette::worker
