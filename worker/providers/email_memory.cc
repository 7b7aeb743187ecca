#include "worker/providers/email_memory.h"

#include <algorithm>
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
    if (is_asking || waiting.empty()) return;
    is_asking = true;
    std::vector<EmailQuestion> questions;
    std::vector<Done> dones;
    while (!waiting.empty() && questions.size() < kQuestionsMax) {
      questions.push_back(std::move(waiting.front().first));
      dones.push_back(std::move(waiting.front().second));
      waiting.pop_front();
    }
    store::RunAsync<Answers>(
        pool, loop,
        [questions = std::move(questions)](store::Session& session) {
          return store::AskEmailMemory(session, questions);
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

  store::Pool& pool;
  base::EventLoop& loop;
  std::deque<std::pair<EmailQuestion, Done>> waiting;
  bool is_asking = false;
};

StoredEmailMemory::StoredEmailMemory(store::Pool& pool, base::EventLoop& loop)
    : impl_(std::make_shared<Impl>(pool, loop)) {}

StoredEmailMemory::~StoredEmailMemory() = default;

void StoredEmailMemory::Ask(EmailQuestion question,
                            std::function<void(std::optional<EmailKnowledge>)> done) {
  impl_->waiting.emplace_back(std::move(question), std::move(done));
  impl_->AskNext();
}

void StoredEmailMemory::Learn(domain::EmailLesson lesson, std::function<void()> done) {
  store::RunAsync<bool>(
      impl_->pool, impl_->loop,
      [lesson = std::move(lesson)](store::Session& session) {
        store::LearnEmail(session, lesson);
        return true;
      },
      [weak = std::weak_ptr<Impl>(impl_), done = std::move(done)](const auto&) {
        if (weak.lock()) done();
      });
}

}  // namespace vedette::worker
