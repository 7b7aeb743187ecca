#include "api/list_stream.h"

namespace vedette::api {
namespace {

class AnswerStream : public std::enable_shared_from_this<AnswerStream> {
 public:
  AnswerStream(const Parts& parts, std::shared_ptr<Answer> answer, PieceSource source)
      : parts_(parts), answer_(std::move(answer)), source_(std::move(source)) {}

  Handled Start(store::Session& session) {
    std::string text;
    complete_ = source_(session, &text);
    if (complete_) return Reply{200, std::move(text)};
    exchange_ = &answer_->Begin();
    Write(std::move(text));
    return std::nullopt;
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
    const bool queued = parts_.pool.Post([self = shared_from_this()](store::Session& session) {
      std::string text;
      self->complete_ = self->source_(session, &text);
      self->Write(std::move(text));
    });
    if (!queued) {
      parts_.log.Warn("an answer was cut off: too many requests wait",
                      {{"request_id", answer_->request_id()}});
    }
  }

  const Parts& parts_;
  std::shared_ptr<Answer> answer_;
  net::Exchange* exchange_ = nullptr;  // answer_'s
  PieceSource source_;
  bool complete_ = false;
};

}  // namespace

Handled SendPieces(Call& call, PieceSource source) {
  return std::make_shared<AnswerStream>(call.parts, call.answer, std::move(source))
      ->Start(call.session);
}

}  // namespace vedette::api
