#include "net/http_exchange.h"

#include "net/http_connection.h"

namespace vedette::net {

void WholeBodyService::Handle(std::shared_ptr<Exchange> exchange) {
  Exchange& from = *exchange;
  from.Gather({}, [this, exchange = std::move(exchange)](Gathered how) mutable {
    if (how == Gathered::kWhole) {
      HandleWhole(std::move(exchange));
    }
  });
}

HttpExchange::HttpExchange(std::shared_ptr<Mailbox> mailbox,
                           std::weak_ptr<HttpConnection> connection, std::uint64_t sequence,
                           ServerRequest request)
    : mailbox_(std::move(mailbox)),
      connection_(std::move(connection)),
      sequence_(sequence),
      request_(std::move(request)) {}

HttpExchange::~HttpExchange() {
  if (state_ == State::kAnswered) {
    return;
  }
  mailbox_->Post([connection = connection_, sequence = sequence_, id = RequestIdOf(request_)] {
    if (const auto c = connection.lock()) {
      c->Abandon(sequence, id);
    }
  });
}

bool HttpExchange::Move(State from, State to) {
  return state_.compare_exchange_strong(from, to);
}

void HttpExchange::Read(std::function<void(BodyPiece)> then) {
  // Shared, because a mailbox that is closed drops the function with what it captured.
  const auto call = std::make_shared<std::function<void(BodyPiece)>>(std::move(then));
  const bool posted = state_ == State::kOpen &&
                      mailbox_->Post([connection = connection_, sequence = sequence_, call] {
                        if (const auto c = connection.lock()) {
                          c->ReadBody(sequence, std::move(*call));
                        } else {
                          (*call)({BodyPiece::Kind::kBroken});
                        }
                      });
  if (!posted) {
    (*call)({BodyPiece::Kind::kBroken});
  }
}

void HttpExchange::Gather(std::chrono::milliseconds wait_max, std::function<void(Gathered)> then) {
  if (!request_.body_pending) {
    then(Gathered::kWhole);
    return;
  }
  // Shared, because a mailbox that is closed drops the function with what it captured. It keeps
  // this exchange alive.
  const auto call = std::make_shared<std::function<void(Gathered)>>(std::move(then));
  const bool posted = state_ == State::kOpen && mailbox_->Post([this, wait_max, call] {
    if (const auto c = connection_.lock()) {
      c->GatherBody(sequence_, &request_, &held(), wait_max, std::move(*call));
    } else {
      (*call)(Gathered::kBroken);
    }
  });
  if (!posted) {
    (*call)(Gathered::kBroken);
  }
}

void HttpExchange::WhenGone(std::function<void()> then) {
  if (state_ != State::kOpen) {
    return;
  }
  mailbox_->Post([mailbox = mailbox_, connection = connection_, sequence = sequence_,
                  call = std::move(then)]() mutable {
    if (const auto c = connection.lock()) {
      c->Watch(sequence, std::move(call));
    } else if (!mailbox->closed()) {  // else it was the server that closed the connection
      call();
    }
  });
}

void HttpExchange::Send(ServerResponse response) {
  if (!Move(State::kOpen, State::kAnswered)) {
    return;
  }
  base::ByteBudget::Holding answers = std::move(held());
  if (answers && answers.bytes() > response.body.size()) {
    answers.GiveBack(answers.bytes() - response.body.size());
  }
  mailbox_->Post([connection = connection_, sequence = sequence_, answer = std::move(response),
                  holding = std::move(answers)]() mutable {
    if (const auto c = connection.lock()) {
      c->Answer(sequence, std::move(answer), std::move(holding));
    }
  });
}

void HttpExchange::Begin(int status, std::vector<std::pair<std::string, std::string>> headers) {
  if (!Move(State::kOpen, State::kStreaming)) {
    return;
  }
  mailbox_->Post([connection = connection_, sequence = sequence_, status,
                  fields = std::move(headers)]() mutable {
    if (const auto c = connection.lock()) {
      c->BeginStream(sequence, status, fields);
    }
  });
}

void HttpExchange::Write(std::string piece, std::function<void(bool)> then) {
  // Shared, because a mailbox that is closed drops the function with what it captured.
  const auto call = std::make_shared<std::function<void(bool)>>(std::move(then));
  const bool posted =
      state_ == State::kStreaming && mailbox_->Post([connection = connection_, sequence = sequence_,
                                                     text = std::move(piece), call]() mutable {
        if (const auto c = connection.lock()) {
          c->WritePiece(sequence, std::move(text), std::move(*call));
        } else {
          (*call)(false);
        }
      });
  if (!posted) {
    (*call)(false);
  }
}

void HttpExchange::End() {
  if (!Move(State::kStreaming, State::kAnswered)) {
    return;
  }
  mailbox_->Post([connection = connection_, sequence = sequence_] {
    if (const auto c = connection.lock()) {
      c->EndStream(sequence);
    }
  });
}

}  // namespace vedette::net
