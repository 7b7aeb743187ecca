#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/uuid.h"
#include "domain/email/email_fact.h"
#include "store/session.h"
#include "worker/providers/mail/mail_server_memory.h"

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

// Lets the leads of one organisation and one domain guess one after another, so that the second one
// knows what the first has learnt of the domain's pattern. Loop thread only; `loop` must outlive
// this object. Leads that wait when it ends are dropped; turns may end after it.
//
//   Take --nobody has it--> go --> turn ends --> the next one goes
//     |                      ^
//     +-- waits -------------+  also where its wait is over
class DomainTurns {
 public:
  explicit DomainTurns(base::EventLoop& loop);

  // Held while a lead guesses. Its end lets the next one go.
  class Turn;

  // `go` is called once, perhaps from inside Take, with the turn, or with null where `wait_max` is
  // over: it goes without one then.
  void Take(const base::Uuid& org_id, const std::string& domain, std::chrono::milliseconds wait_max,
            std::function<void(std::shared_ptr<Turn>)> go);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

// The memory in the database. Everything handed in must outlive this object.
class StoredMailServerMemory final : public MailServerMemory {
 public:
  StoredMailServerMemory(base::EventLoop& loop, store::Pool& pool) : loop_(loop), pool_(pool) {}

  void ReadDomain(const std::string& domain,
                  std::function<void(std::optional<domain::MailDomainFacts>)> done) override;
  void SaveDomain(const domain::MailDomainFacts& facts) override;
  void Admit(const std::string& host_key, const std::vector<store::MailPermit>& permits,
             int recipients, std::function<void(store::MailAdmission)> done) override;
  void NoteTrouble(const std::string& host_key, const store::MailTrouble& trouble,
                   const domain::MailBlockTimes& times) override;
  void NoteServed(const std::string& host_key) override;

 private:
  // For what may as well be lost.
  void Write(std::function<void(store::Session&)> write);

  base::EventLoop& loop_;
  store::Pool& pool_;
};

}  // namespace vedette::worker
