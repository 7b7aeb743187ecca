#include "api/kit/list_stream.h"

namespace vedette::rest {
namespace {

// Answers up to this size are not taken from the process's budget of bytes: the number of
// connections bounds them.
constexpr std::size_t kUncountedBytes = std::size_t{16} << 10;

class AnswerStream : public std::enable_shared_from_this<AnswerStream> {
 public:
  AnswerStream(store::Pool& pool, const base::Uuid& turn, std::shared_ptr<Answer> answer,
               PieceSource source, std::vector<Header> headers)
      : pool_(pool),
        turn_(turn),
        answer_(std::move(answer)),
        source_(std::move(source)),
        headers_(std::move(headers)) {}

  Handled Start(store::Session& session) {
    std::string text;
    complete_ = source_(session, &text);
    const std::size_t bytes = complete_ ? text.size() : kStreamBytes;
    base::ByteBudget::Holding& held = answer_->exchange().held();
    if (bytes > kUncountedBytes && held && !held.TryTake(bytes)) {
      return Unavailable("too many long answers are being read at once");
    }
    if (complete_) return Reply{200, std::move(text), std::move(headers_)};
    exchange_ = &answer_->Begin(std::move(headers_));
    Write(std::move(text));
    return Parked{};
  }

 private:
  void Write(std::string text) {
    exchange_->Write(std::move(text), [self = shared_from_this()](bool on_its_way) {
      if (on_its_way) self->Continue();
    });
  }

  // On the server's thread. Giving up means letting go of the exchange: the connection ends without
  // the last chunk, by which the client sees that the answer is not whole.
  void Continue() {
    if (complete_) {
      exchange_->End();
      return;
    }
    const bool queued = pool_.Post(turn_, [self = shared_from_this()](store::Session& session) {
      std::string text;
      self->complete_ = self->source_(session, &text);
      self->Write(std::move(text));
    });
    if (!queued) {
      answer_->port().log.Warn("an answer was cut off: too many requests wait",
                               {{"request_id", answer_->request_id()}});
    }
  }

  store::Pool& pool_;
  const base::Uuid turn_;
  std::shared_ptr<Answer> answer_;
  net::Exchange* exchange_ = nullptr;  // answer_'s
  PieceSource source_;
  std::vector<Header> headers_;
  bool complete_ = false;
};

}  // namespace

Handled SendPieces(store::Pool& pool, const base::Uuid& turn, const std::shared_ptr<Answer>& answer,
                   store::Session& session, PieceSource source, std::vector<Header> headers) {
  return std::make_shared<AnswerStream>(pool, turn, answer, std::move(source), std::move(headers))
      ->Start(session);
}

}  // namespace vedette::rest
