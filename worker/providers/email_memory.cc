#include "worker/providers/email_memory.h"

#include <deque>
#include <utility>
#include <variant>
#include <vector>

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

}  // namespace vedette::worker
