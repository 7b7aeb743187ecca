#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kit/answer.h"
#include "base/uuid.h"
#include "store/page.h"
#include "store/session.h"

// Long answers in bounded memory (G11): a list is read from the database in pages that are bounded
// by count and by bytes, and goes out in pieces, the next one made once the last is on its way. A
// client that reads slowly, or not at all, holds a piece and a page, and no thread.
namespace vedette::rest {

// A piece is sent once it has this many bytes. An answer that is shorter is sent whole, with its
// Content-Length.
inline constexpr std::size_t kPieceBytes = 256 * 1024;
// A page is cut after the item with which it has this many bytes, or at this many items.
inline constexpr std::size_t kPageBytes = 256 * 1024;
inline constexpr int kPageItemsMax = 1000;
// What an answer in pieces counts for in the process's budget of bytes: a page, a piece, and what
// every item repeats. One with the largest items that there can be takes a few times as much.
inline constexpr std::size_t kStreamBytes = 1024 * 1024;

// Appends the next part of the answer's text, about kPieceBytes; true when it was the last one. On
// a pool's thread, one at a time.
using PieceSource = std::function<bool(store::Session& session, std::string* text)>;

// Answers 200 with what `source` writes: with its first piece now, on this pool's thread with its
// `session`, and with the others in jobs of their own, in the turn of `turn`. What it throws before
// the first piece is the handler's to answer; later the answer is cut off, which the client sees,
// as its last chunk is missing. `pool` must outlive the request.
// `headers` as Answer::Begin has them.
Handled SendPieces(store::Pool& pool, const base::Uuid& turn, const std::shared_ptr<Answer>& answer,
                   store::Session& session, PieceSource source, std::vector<Header> headers = {});

// How a list is read and written.
template <typename Item>
struct ListPieces {
  std::string head;        // up to and including the list's '['
  std::int64_t limit = 0;  // items in all
  // At most `items_max` items after `after`, or from the start of the list.
  std::function<store::Page<Item>(store::Session&, const Item* after, int items_max)> read;
  std::function<void(const Item&, std::string*)> write;
  // The text from the list's ']' on; `next_after` is the last item where there are more after it.
  std::function<std::string(const Item* next_after)> tail;
};

// The text of one list, piece by piece. A PieceSource, shared by its copies.
template <typename Item>
class ListSource {
 public:
  explicit ListSource(ListPieces<Item> parts) : state_(std::make_shared<State>()) {
    state_->parts = std::move(parts);
  }

  bool operator()(store::Session& session, std::string* text) {
    State& s = *state_;
    text->append(std::exchange(s.parts.head, {}));  // the first piece has it
    while (text->size() < kPieceBytes) {
      if (s.at == s.page.items.size() && !ReadPage(session)) {
        text->append(s.parts.tail(nullptr));
        return true;
      }
      if (s.given == s.parts.limit) {  // one more than asked for was there
        text->append(s.parts.tail(&*s.last));
        return true;
      }
      if (s.given > 0) text->push_back(',');
      s.parts.write(s.page.items[s.at], text);
      s.last = std::move(s.page.items[s.at]);
      ++s.at;
      ++s.given;
    }
    return false;
  }

 private:
  struct State {
    ListPieces<Item> parts;
    std::int64_t given = 0;
    std::optional<Item> last;  // of those given
    store::Page<Item> page;
    std::size_t at = 0;  // of the page's next item
    int items_max = kPageItemsMax;
  };

  // False at the end of the list.
  bool ReadPage(store::Session& session) {
    State& s = *state_;
    if (s.given > 0 && !s.page.more) return false;
    const std::int64_t wanted = s.parts.limit - s.given + 1;
    const int asked = static_cast<int>(std::min<std::int64_t>(wanted, s.items_max));
    s.page = s.parts.read(session, s.last ? &*s.last : nullptr, asked);
    s.at = 0;
    // Large items: the database looks at no more of them than a page may hold.
    const auto got = static_cast<int>(s.page.items.size());
    if (got < asked) s.items_max = std::min(kPageItemsMax, got + got / 2 + 8);
    return got > 0;
  }

  std::shared_ptr<State> state_;
};

}  // namespace vedette::rest
