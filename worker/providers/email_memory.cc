#include "worker/providers/email_memory.h"

#include <deque>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "base/assert.h"
#include "store/async.h"
#include "store/email/email_memory.h"

namespace vedette::worker {

using domain::EmailKnowledge;
using domain::EmailQuestion;

struct StoredEmailMemory::Impl : std::enable_shared_from_this<Impl> {
  using Done = std::function<void(std::optional<EmailKnowledge>)>;
  using Answers = std::vector<EmailKnowledge>;

  Impl(store::Pool& p, base::EventLoop& l) : pool(p), loop(l) {}

  void AskNext() {
    if (is_asking || questions.empty()) return;
    is_asking = true;
    auto [asked, dones] = TakeFirst(&questions, kQuestionsMax);
    store::RunAsync<Answers>(
        pool, loop,
        [asked = std::move(asked)](store::Session& session) {
          return store::AskEmailMemory(session, asked);
        },
        [weak = weak_from_this(), dones = std::move(dones)](auto result) {
          if (const auto self = weak.lock()) self->OnAnswers(dones, std::move(result));
        });
  }

  void OnAnswers(const std::vector<Done>& dones, std::variant<Answers, store::Failure> result) {
    is_asking = false;
    auto* answers = std::get_if<Answers>(&result);
    for (std::size_t i = 0; i < dones.size(); ++i) {
      dones[i](answers == nullptr ? std::nullopt
                                  : std::optional<EmailKnowledge>(std::move((*answers)[i])));
    }
    AskNext();
  }

  void LearnNext() {
    if (is_learning || lessons.empty()) return;
    is_learning = true;
    auto [learnt, dones] = TakeFirst(&lessons, kLessonsMax);
    store::RunAsync<bool>(
        pool, loop,
        [learnt = std::move(learnt)](store::Session& session) {
          store::LearnEmail(session, learnt);
          return true;
        },
        [weak = weak_from_this(), dones = std::move(dones)](const auto&) {
          const auto self = weak.lock();
          if (!self) return;
          self->is_learning = false;
          for (const auto& done : dones) done();
          self->LearnNext();
        });
  }

  // What waits and who is told, apart, for one transaction.
  template <typename What, typename Who>
  static std::pair<std::vector<What>, std::vector<Who>> TakeFirst(
      std::deque<std::pair<What, Who>>* waiting, std::size_t count_max) {
    std::pair<std::vector<What>, std::vector<Who>> taken;
    while (!waiting->empty() && taken.first.size() < count_max) {
      taken.first.push_back(std::move(waiting->front().first));
      taken.second.push_back(std::move(waiting->front().second));
      waiting->pop_front();
    }
    return taken;
  }

  store::Pool& pool;
  base::EventLoop& loop;
  std::deque<std::pair<EmailQuestion, Done>> questions;
  std::deque<std::pair<domain::EmailLesson, std::function<void()>>> lessons;
  bool is_asking = false;
  bool is_learning = false;
};

StoredEmailMemory::StoredEmailMemory(store::Pool& pool, base::EventLoop& loop)
    : impl_(std::make_shared<Impl>(pool, loop)) {}

StoredEmailMemory::~StoredEmailMemory() = default;

void StoredEmailMemory::Ask(EmailQuestion question,
                            std::function<void(std::optional<EmailKnowledge>)> done) {
  impl_->questions.emplace_back(std::move(question), std::move(done));
  impl_->AskNext();
}

void StoredEmailMemory::Learn(domain::EmailLesson lesson, std::function<void()> done) {
  if (lesson.empty()) return done();
  impl_->lessons.emplace_back(std::move(lesson), std::move(done));
  impl_->LearnNext();
}

namespace {

using Key = std::pair<base::Uuid, std::string>;

}  // namespace

struct DomainTurns::State : std::enable_shared_from_this<State> {
  struct Waiting {
    std::function<void(std::shared_ptr<Turn>)> go;
    std::unique_ptr<base::Timer> timer;
  };

  explicit State(base::EventLoop& l) : loop(l) {}
  std::shared_ptr<Turn> NewTurn(const Key& key);
  void End(const Key& key);

  base::EventLoop& loop;
  // A key is here while a lead has its turn.
  std::map<Key, std::deque<std::shared_ptr<Waiting>>> waiting;
};

class DomainTurns::Turn {
 public:
  Turn(std::weak_ptr<State> state, Key key) : state_(std::move(state)), key_(std::move(key)) {}
  ~Turn() {
    if (const auto state = state_.lock()) state->End(key_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  const std::weak_ptr<State> state_;
  const Key key_;
};

std::shared_ptr<DomainTurns::Turn> DomainTurns::State::NewTurn(const Key& key) {
  return std::make_shared<Turn>(weak_from_this(), key);
}

void DomainTurns::State::End(const Key& key) {
  const auto it = waiting.find(key);
  base::Assert(it != waiting.end(), "a turn that ends was taken");
  while (!it->second.empty()) {
    const auto next = std::move(it->second.front());
    it->second.pop_front();
    // One whose wait is over has gone already.
    if (const auto go = std::exchange(next->go, nullptr)) {
      next->timer->Stop();
      return go(NewTurn(key));
    }
  }
  waiting.erase(it);
}

DomainTurns::DomainTurns(base::EventLoop& loop) : state_(std::make_shared<State>(loop)) {}

void DomainTurns::Take(const base::Uuid& org_id, const std::string& domain,
                       std::chrono::milliseconds wait_max,
                       std::function<void(std::shared_ptr<Turn>)> go) {
  const Key key{org_id, domain};
  const auto [it, is_free] = state_->waiting.try_emplace(key);
  if (is_free) return go(state_->NewTurn(key));
  auto waiting = std::make_shared<State::Waiting>();
  waiting->go = std::move(go);
  waiting->timer = std::make_unique<base::Timer>(state_->loop, [weak = std::weak_ptr(waiting)] {
    const auto self = weak.lock();
    const auto now = self == nullptr ? nullptr : std::exchange(self->go, nullptr);
    if (now) now(nullptr);
  });
  waiting->timer->Start(wait_max);
  it->second.push_back(std::move(waiting));
}

using domain::MailDomainFacts;

void StoredMailServerMemory::Write(std::function<void(store::Session&)> write) {
  store::RunAsync<bool>(
      pool_, loop_,
      [write = std::move(write)](store::Session& session) {
        write(session);
        return true;
      },
      [](const std::variant<bool, store::Failure>&) {});
}

void StoredMailServerMemory::ReadDomain(const std::string& domain,
                                        std::function<void(std::optional<MailDomainFacts>)> done) {
  using Read = std::optional<MailDomainFacts>;
  store::RunAsync<Read>(
      pool_, loop_,
      [domain](store::Session& session) { return store::ReadMailDomain(session, domain); },
      [done = std::move(done)](std::variant<Read, store::Failure> result) {
        auto* read = std::get_if<Read>(&result);
        done(read == nullptr ? std::nullopt : std::move(*read));
      });
}

void StoredMailServerMemory::SaveDomain(const MailDomainFacts& facts) {
  Write([facts](store::Session& session) { store::SaveMailDomain(session, facts); });
}

void StoredMailServerMemory::Admit(const std::string& host_key,
                                   const std::vector<store::MailPermit>& permits, int recipients,
                                   std::function<void(store::MailAdmission)> done) {
  store::RunAsync<store::MailAdmission>(
      pool_, loop_,
      [host_key, permits, recipients](store::Session& session) {
        return store::AdmitRecipients(session, host_key, permits, recipients);
      },
      [done = std::move(done)](std::variant<store::MailAdmission, store::Failure> result) {
        auto* admission = std::get_if<store::MailAdmission>(&result);
        done(admission == nullptr ? store::MailAdmission{} : *admission);
      });
}

void StoredMailServerMemory::NoteTrouble(const std::string& host_key,
                                         const store::MailTrouble& trouble,
                                         const domain::MailBlockTimes& times) {
  Write(
      [=](store::Session& session) { store::NoteMailTrouble(session, host_key, trouble, times); });
}

void StoredMailServerMemory::NoteServed(const std::string& host_key) {
  Write([host_key](store::Session& session) { store::NoteMailServed(session, host_key); });
}

}  // namespace vedette::worker
