#include "api/kit/list_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "tests/support/ids.h"
#include "tests/unit/api/kit/no_database.h"

namespace vedette::rest {
namespace {

using vedette::test::Id;

// Lists of texts.
class ListSourceTest : public test::NoDatabaseTest {
 protected:
  using Pages = std::vector<store::Page<std::string>>;

  static std::vector<std::string> Numbers(int n) {
    std::vector<std::string> items;
    for (int i = 1; i <= n; ++i) items.push_back(std::to_string(i));
    return items;
  }

  // The list of a store that has these items and cuts a page at `page_max` of them.
  ListSource<std::string> Source(std::vector<std::string> items, std::int64_t limit,
                                 std::size_t page_max = 1'000'000) {
    ListPieces<std::string> parts;
    parts.head = "[";
    parts.limit = limit;
    parts.read = [this, items = std::move(items), page_max](
                     store::Session& with, const std::string* after, int items_max) {
      EXPECT_EQ(&with, &session);
      reads.push_back((after == nullptr ? "start" : *after) + ":" + std::to_string(items_max));
      const auto place =
          after == nullptr ? items.begin() : std::find(items.begin(), items.end(), *after) + 1;
      const auto left = static_cast<std::size_t>(items.end() - place);
      const std::size_t n = std::min({left, page_max, static_cast<std::size_t>(items_max)});
      return store::Page<std::string>{{place, place + static_cast<std::ptrdiff_t>(n)}, n < left};
    };
    parts.write = [](const std::string& item, std::string* text) { text->append(item); };
    parts.tail = [](const std::string* next_after) {
      return next_after == nullptr ? "]" : "] after " + *next_after;
    };
    return ListSource<std::string>(std::move(parts));
  }

  // All of a list, and how many pieces it came in.
  std::string Whole(ListSource<std::string> source) {
    std::string whole;
    for (bool last = false; !last; ++pieces) {
      std::string piece;
      last = source(session, &piece);
      EXPECT_TRUE(last || piece.size() >= kPieceBytes) << "a piece in between is a full one";
      EXPECT_LT(piece.size(), kPieceBytes + kPageBytes) << "about kPieceBytes";
      whole += piece;
    }
    return whole;
  }

  std::vector<std::string> reads;  // "<after>:<items_max>"
  int pieces = 0;
};

using Texts = std::vector<std::string>;

TEST_F(ListSourceTest, AListIsWrittenBetweenItsHeadAndItsTail) {
  EXPECT_EQ(Whole(Source(Numbers(3), 10)), "[1,2,3]");
  EXPECT_EQ(reads, Texts{"start:11"}) << "one more than the limit, and once";
  EXPECT_EQ(pieces, 1);
}

TEST_F(ListSourceTest, AnEmptyListHasBothToo) {
  EXPECT_EQ(Whole(Source({}, 10)), "[]");
  EXPECT_EQ(pieces, 1);
}

TEST_F(ListSourceTest, TheTailIsToldTheLastItemWhereTheLimitLeftSome) {
  EXPECT_EQ(Whole(Source(Numbers(4), 3)), "[1,2,3] after 3");
  EXPECT_EQ(Whole(Source(Numbers(3), 3)), "[1,2,3]") << "exactly the limit leaves none";
}

TEST_F(ListSourceTest, APageHasAtMostKPageItemsMax) {
  const auto items = Numbers(2500);
  std::string all;
  for (const auto& item : items) all += (all.empty() ? "[" : ",") + item;
  EXPECT_EQ(Whole(Source(items, 1'000'000)), all + "]");
  EXPECT_EQ(reads, (Texts{"start:1000", "1000:1000", "2000:1000"}));
  reads.clear();
  Whole(Source(items, 1500));
  EXPECT_EQ(reads, (Texts{"start:1000", "1000:501"})) << "no more than are left, and one";
}

TEST_F(ListSourceTest, WherePagesAreCutForTheirBytesNoMoreAreAskedForThanFit) {
  EXPECT_EQ(Whole(Source(Numbers(25), 100, 10)),
            "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]");
  EXPECT_EQ(reads, (Texts{"start:101", "10:23", "20:23"})) << "half as many again, and eight";
}

TEST_F(ListSourceTest, APageThatPromisedMoreThanThereWasEndsTheList) {
  ListPieces<std::string> parts;
  parts.head = "[";
  parts.limit = 10;
  parts.read = [](store::Session&, const std::string* after, int) {
    if (after != nullptr) return store::Page<std::string>{};
    return store::Page<std::string>{{"a"}, true};
  };
  parts.write = [](const std::string& item, std::string* text) { text->append(item); };
  parts.tail = [](const std::string* next_after) { return next_after == nullptr ? "]" : "more"; };
  EXPECT_EQ(Whole(ListSource<std::string>(std::move(parts))), "[a]");
}

TEST_F(ListSourceTest, G11ALongListComesInPiecesThatTogetherAreTheWhole) {
  std::vector<std::string> items;
  std::string all;
  for (int i = 0; i < 100; ++i) {
    items.push_back(std::to_string(i) + std::string(10'000, 'x'));
    all += (all.empty() ? "[" : ",") + items.back();
  }
  EXPECT_EQ(Whole(Source(items, 1000, 7)), all + "]");
  EXPECT_EQ(pieces, 4) << "1 MB in pieces of 256 KiB";
}

TEST_F(ListSourceTest, CopiesOfASourceGoOnWhereAnotherStopped) {
  const std::string half(kPieceBytes, 'x');
  ListSource<std::string> first = Source({"1" + half, "2" + half}, 10);
  ListSource<std::string> second = first;
  std::string text;
  EXPECT_FALSE(first(session, &text));
  EXPECT_EQ(text, "[1" + half);
  text.clear();
  EXPECT_FALSE(second(session, &text));
  EXPECT_EQ(text, ",2" + half);
  text.clear();
  EXPECT_TRUE(first(session, &text));
  EXPECT_EQ(text, "]");
}

// Plays a client that reads a piece when the test says so.
class StreamExchange final : public net::Exchange {
 public:
  const net::ServerRequest& request() const override { return request_; }
  void Send(net::ServerResponse) override { ADD_FAILURE() << "it is streamed"; }
  void Begin(int status, std::vector<std::pair<std::string, std::string>> headers) override {
    begun = net::ServerResponse{status, std::move(headers), {}};
  }
  void Write(std::string piece, std::function<void(bool)> then) override {
    const std::lock_guard lock(mutex_);
    pieces_.push_back(std::move(piece));
    then_ = std::move(then);
    written_.notify_all();
  }
  void End() override { ended = true; }

  // The `n`th piece, once it was written; it is not yet on its way.
  std::string Piece(std::size_t n) {
    std::unique_lock lock(mutex_);
    if (!written_.wait_for(lock, std::chrono::seconds(120), [&] { return pieces_.size() >= n; })) {
      return "nothing in time";
    }
    return pieces_[n - 1];
  }
  // Tells the writer what became of the last piece.
  void Tell(bool on_its_way) {
    std::unique_lock lock(mutex_);
    const auto then = std::exchange(then_, nullptr);
    lock.unlock();
    then(on_its_way);
  }

  std::optional<net::ServerResponse> begun;
  std::atomic<bool> ended = false;

 private:
  net::ServerRequest request_;
  std::mutex mutex_;
  std::condition_variable written_;
  std::vector<std::string> pieces_;  // guarded by mutex_, as is then_
  std::function<void(bool)> then_;
};

class SendPiecesTest : public test::NoDatabaseTest {
 protected:
  // "1", "2" and so on, up to the `last`th piece.
  PieceSource Counting(int last) {
    return [this, last](store::Session&, std::string* text) {
      text->append(std::to_string(++made));
      return made == last;
    };
  }
  Handled SendFrom(PieceSource source, std::vector<Header> headers = {}) {
    return SendPieces(pool, Id(1), AnswerTo(exchange), session, std::move(source),
                      std::move(headers));
  }

  base::ByteBudget budget{2 * kStreamBytes, 0.1};
  std::shared_ptr<StreamExchange> exchange = std::make_shared<StreamExchange>();
  std::atomic<int> made = 0;
};

TEST_F(SendPiecesTest, AnAnswerOfOnePieceIsSentWhole) {
  const Handled handled = SendFrom(Counting(1), {{"Content-Type", "text/csv"}});
  const auto* reply = std::get_if<Reply>(&handled);
  ASSERT_NE(reply, nullptr);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "1");
  EXPECT_EQ(reply->headers, (std::vector<Header>{{"Content-Type", "text/csv"}}));
  EXPECT_FALSE(exchange->begun);
}

TEST_F(SendPiecesTest, G11APieceIsMadeOnceTheLastIsOnItsWay) {
  const Handled handled = SendFrom(Counting(3), {{"Content-Type", "text/csv"}});
  EXPECT_TRUE(std::holds_alternative<Parked>(handled));
  ASSERT_TRUE(exchange->begun);
  EXPECT_EQ(exchange->begun->status, 200);
  EXPECT_NE(std::find(exchange->begun->headers.begin(), exchange->begun->headers.end(),
                      Header("Content-Type", "text/csv")),
            exchange->begun->headers.end());
  EXPECT_EQ(exchange->Piece(1), "1");
  EXPECT_EQ(made, 1) << "a client that does not read holds one piece";
  exchange->Tell(true);
  EXPECT_EQ(exchange->Piece(2), "2");
  EXPECT_EQ(made, 2);
  exchange->Tell(true);
  EXPECT_EQ(exchange->Piece(3), "3");
  EXPECT_FALSE(exchange->ended);
  exchange->Tell(true);
  EXPECT_TRUE(exchange->ended);
  EXPECT_EQ(made, 3);
}

TEST_F(SendPiecesTest, AClientThatIsGoneGetsNoFurtherPieceAndNoEnd) {
  SendFrom(Counting(3));
  ASSERT_EQ(exchange->Piece(1), "1");
  exchange->Tell(false);
  FinishJobs();
  EXPECT_EQ(made, 1);
  EXPECT_FALSE(exchange->ended);
  EXPECT_EQ(exchange.use_count(), 1) << "nobody else keeps it";
}

TEST_F(SendPiecesTest, WhatTheSourceThrowsFirstIsTheHandlersToAnswer) {
  EXPECT_THROW(SendFrom([](store::Session&, std::string*) -> bool {
                 throw store::Contention("somebody else");
               }),
               store::Contention);
  EXPECT_FALSE(exchange->begun);
}

TEST_F(SendPiecesTest, WhatItThrowsLaterCutsTheAnswerOff) {
  SendFrom([this](store::Session&, std::string* text) {
    if (++made == 2) throw std::runtime_error("too late to say so");
    text->append("1");
    return false;
  });
  ASSERT_EQ(exchange->Piece(1), "1");
  exchange->Tell(true);
  FinishJobs();
  EXPECT_EQ(made, 2);
  EXPECT_FALSE(exchange->ended) << "without an end the client knows that it is not whole";
  EXPECT_EQ(exchange.use_count(), 1);
}

TEST_F(SendPiecesTest, WhereTooManyWaitTheAnswerIsCutOff) {
  SendFrom(Counting(3));
  ASSERT_EQ(exchange->Piece(1), "1");
  FinishJobs();
  testing::internal::CaptureStderr();
  exchange->Tell(true);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("an answer was cut off"), std::string::npos) << said;
  EXPECT_EQ(made, 1);
  EXPECT_FALSE(exchange->ended);
  EXPECT_EQ(exchange.use_count(), 1);
}

TEST_F(SendPiecesTest, G11AnAnswerInPiecesCountsInTheBudget) {
  exchange->held() = budget.Open(Id(1));
  SendFrom(Counting(2));
  EXPECT_EQ(exchange->held().bytes(), kStreamBytes);
  auto full = budget.Open(Id(2));
  ASSERT_TRUE(full.TryTake(budget.total() - kStreamBytes));
  const auto other = std::make_shared<StreamExchange>();
  other->held() = budget.Open(Id(3));
  made = 0;
  const Handled handled = SendPieces(pool, Id(3), AnswerTo(other), session, Counting(2));
  const auto* reply = std::get_if<Reply>(&handled);
  ASSERT_NE(reply, nullptr);
  EXPECT_EQ(reply->status, 503);
  EXPECT_NE(reply->body.find("too many long answers"), std::string::npos);
  EXPECT_FALSE(other->begun);
  exchange->Tell(false);
}

TEST_F(SendPiecesTest, ShortAnswersDoNotCountInTheBudget) {
  auto full = budget.Open(Id(2));
  ASSERT_TRUE(full.TryTake(budget.total()));
  exchange->held() = budget.Open(Id(1));
  const auto status = [this](std::size_t bytes) {
    const Handled handled = SendFrom([bytes](store::Session&, std::string* text) {
      text->append(bytes, 'x');
      return true;
    });
    return std::get<Reply>(handled).status;
  };
  EXPECT_EQ(status(16'384), 200);
  EXPECT_EQ(status(16'385), 503);
}

}  // namespace
}  // namespace vedette::rest
