#include <memory>
#include <utility>

#include "api/handlers.h"
#include "domain/monitor_json.h"
#include "store/rows.h"

// The detail view shows every row, whatever the size: beyond one page it is streamed, each page
// read by a job of its own once the one before is on its way, so that a slow client holds neither a
// thread nor more than a page of memory.
namespace vedette::api {
namespace {

constexpr int kPageRows = 1000;

class DetailStream : public std::enable_shared_from_this<DetailStream> {
 public:
  DetailStream(const Parts& parts, std::shared_ptr<Answer> answer, domain::Monitor monitor)
      : parts_(parts),
        answer_(std::move(answer)),
        monitor_(std::move(monitor)),
        rows_json_(monitor_, domain::RowJson::View::kDetail) {}

  // Answers with the first page in hand.
  void Start(const std::vector<domain::Row>& rows) {
    std::string text = domain::MonitorDetailHead(monitor_);
    Append(rows, &text);
    if (complete_) {
      answer_->Send({200, std::move(text)});
      return;
    }
    exchange_ = &answer_->Begin();
    Write(std::move(text));
  }

 private:
  void Append(const std::vector<domain::Row>& rows, std::string* text) {
    for (const domain::Row& row : rows) {
      if (row.position > 0) text->push_back(',');
      rows_json_.Append(row, text);
      last_position_ = row.position;
    }
    complete_ = rows.size() < static_cast<std::size_t>(kPageRows);
    if (complete_) text->append(domain::kMonitorDetailTail);
  }

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
      self->Append(store::ListRows(session, self->monitor_.id, self->last_position_, kPageRows),
                   &text);
      self->Write(std::move(text));
    });
    if (!queued) {
      parts_.log.Warn("a detail view was cut off: too many requests wait",
                      {{"request_id", answer_->request_id()}});
    }
  }

  const Parts& parts_;
  std::shared_ptr<Answer> answer_;
  net::Exchange* exchange_ = nullptr;  // answer_'s
  domain::Monitor monitor_;
  domain::RowJson rows_json_;
  int last_position_ = -1;
  bool complete_ = false;
};

}  // namespace

Handled ShowMonitor(Call& call) {
  Judged<domain::Monitor> monitor = FindMonitor(call);
  if (auto* reply = std::get_if<Reply>(&monitor)) return std::move(*reply);
  const base::Uuid id = std::get<domain::Monitor>(monitor).id;
  const auto rows = store::ListRows(call.session, id, -1, kPageRows);
  std::make_shared<DetailStream>(call.parts, call.answer,
                                 std::move(std::get<domain::Monitor>(monitor)))
      ->Start(rows);
  return std::nullopt;
}

}  // namespace vedette::api
