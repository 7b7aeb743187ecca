#include "api/kit/answer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "base/json.h"
#include "tests/support/ids.h"
#include "tests/unit/api/kit/no_database.h"

namespace vedette::rest {
namespace {

using namespace std::chrono_literals;
using vedette::test::Id;

// A request whose body is gathered when the test says so.
class PendingExchange final : public net::Exchange {
 public:
  const net::ServerRequest& request() const override { return request_; }
  void Gather(std::chrono::milliseconds wait_max,
              std::function<void(net::Gathered)> then) override {
    waits = wait_max;
    gathered = std::move(then);
  }
  void Send(net::ServerResponse response) override { answer = std::move(response); }
  void Begin(int, std::vector<std::pair<std::string, std::string>>) override {}
  void Write(std::string, std::function<void(bool)>) override {}
  void End() override {}

  std::optional<std::chrono::milliseconds> waits;
  std::function<void(net::Gathered)> gathered;
  std::optional<net::ServerResponse> answer;

 private:
  net::ServerRequest request_;
};

class GatherBodyTest : public test::NoDatabaseTest {
 protected:
  // What is answered where the body comes to that end; 0: nothing is.
  int StatusAfter(net::Gathered how) {
    const auto exchange = std::make_shared<PendingExchange>();
    GatherBody(AnswerTo(exchange), 250ms, [this] { ++handled; });
    EXPECT_EQ(exchange->waits, 250ms);
    EXPECT_EQ(handled, 0) << "it is still to come";
    // It holds the answer, which holds the exchange.
    std::exchange(exchange->gathered, nullptr)(how);
    return exchange->answer ? exchange->answer->status : 0;
  }

  int handled = 0;
};

TEST_F(GatherBodyTest, TheHandlerRunsOnceTheBodyIsWhole) {
  EXPECT_EQ(StatusAfter(net::Gathered::kWhole), 0);
  EXPECT_EQ(handled, 1);
}

TEST_F(GatherBodyTest, WhereNothingIsPendingItRunsAtOnce) {
  GatherBody(AnswerTo(Asked()), 250ms, [this] { ++handled; });
  EXPECT_EQ(handled, 1);
}

TEST_F(GatherBodyTest, ABodyThatFindsNoRoomIsAnsweredInItsPlace) {
  EXPECT_EQ(StatusAfter(net::Gathered::kNoRoom), 503);
  EXPECT_EQ(handled, 0);
}

TEST_F(GatherBodyTest, ABodyThatBrokeOffReachesNoHandler) {
  EXPECT_EQ(StatusAfter(net::Gathered::kBroken), 408);
  EXPECT_EQ(handled, 0);
}

class ServeTest : public test::NoDatabaseTest {
 protected:
  // What is answered where the handler is this one.
  void Answered(PoolHandler handler, FailureHandler failed = {}) {
    testing::internal::CaptureStderr();
    Serve(pool, Id(1), AnswerTo(exchange), std::move(handler), std::move(failed));
    FinishJobs();
    said = testing::internal::GetCapturedStderr();
  }
  std::string Error() const {
    return base::ParseJsonOrThrow(exchange->answer->body)["error"].get<std::string>();
  }

  std::shared_ptr<vedette::test::FakeExchange> exchange = Asked();
  std::string said;  // on standard error
};

TEST_F(ServeTest, TheHandlersReplyIsSentFromAThreadOfThePool) {
  const auto caller = std::this_thread::get_id();
  Answered([&](store::Session&) -> Handled {
    EXPECT_NE(std::this_thread::get_id(), caller);
    return Reply{201, R"({"made":true})"};
  });
  ASSERT_TRUE(exchange->answer);
  EXPECT_EQ(exchange->answer->status, 201);
  EXPECT_EQ(exchange->answer->body, R"({"made":true})");
  EXPECT_EQ(exchange->Header("X-Request-Id"), "r-1");
  EXPECT_EQ(said, "");
}

TEST_F(ServeTest, ARefusalThatIsThrownIsSentAndIsNoFault) {
  Answered([](store::Session&) -> Handled { throw Refusal(409, "taken", "m"); });
  ASSERT_TRUE(exchange->answer);
  EXPECT_EQ(exchange->answer->status, 409);
  EXPECT_EQ(Error(), "taken");
  EXPECT_EQ(said, "");
}

TEST_F(ServeTest, WithoutATurnItIsServedToo) {
  Serve(pool, std::nullopt, AnswerTo(exchange), [](store::Session&) -> Handled {
    return Reply{200, "{}"};
  });
  FinishJobs();
  ASSERT_TRUE(exchange->answer);
  EXPECT_EQ(exchange->answer->status, 200);
}

TEST_F(ServeTest, AnAnswerThatIsParkedIsLeftToWhomItWasHandedTo) {
  std::shared_ptr<Answer> kept = AnswerTo(exchange);
  Serve(pool, Id(1), kept, [&](store::Session&) -> Handled { return kept->Park([] {}); });
  FinishJobs();
  EXPECT_FALSE(exchange->answer);
  kept->Send({200, "{}"});
  EXPECT_EQ(exchange->answer->status, 200);
}

TEST_F(ServeTest, TheExceptionThatIsBeingHandledIsAnsweredAndLoggedAsAWarning) {
  const std::pair<PoolHandler, const char*> cases[] = {
      {[](store::Session&) -> Handled { throw store::Unavailable("no connection"); },
       "the database is unavailable"},
      {[](store::Session&) -> Handled { throw store::CommitUnknown("cut"); },
       "a commit's outcome is unknown"},
      {[](store::Session&) -> Handled { throw store::Contention("deadlock"); },
       "a request gave way to others"},
  };
  for (const auto& [handler, line] : cases) {
    testing::internal::CaptureStderr();
    const auto asked = Asked();
    try {
      handler(session);
    } catch (...) {
      const Reply reply = CurrentFailureReply(*AnswerTo(asked));
      EXPECT_EQ(reply.status, 503) << line;
    }
    const std::string lines = testing::internal::GetCapturedStderr();
    EXPECT_NE(lines.find(std::string(" warn  ") + line), std::string::npos) << lines;
    EXPECT_NE(lines.find("request_id=r-1 method=GET route=/things error="), std::string::npos)
        << lines;
  }
}

TEST_F(ServeTest, AFaultIsAnErrorWhoseTextOnlyTheLogHas) {
  Answered([](store::Session&) -> Handled { throw std::runtime_error("the statement's secret"); });
  ASSERT_TRUE(exchange->answer);
  EXPECT_EQ(exchange->answer->status, 500);
  EXPECT_EQ(Error(), "internal_error");
  EXPECT_EQ(exchange->answer->body.find("secret"), std::string::npos);
  EXPECT_NE(said.find(" error a request failed request_id=r-1"), std::string::npos) << said;
  EXPECT_NE(said.find("error=\"the statement's secret\""), std::string::npos) << said;
}

TEST_F(ServeTest, WithoutADatabaseTheAnswerIsA503ThatAsksToComeAgain) {
  Answered([](store::Session&) -> Handled { throw store::Unavailable("no connection"); });
  ASSERT_TRUE(exchange->answer);
  EXPECT_EQ(exchange->answer->status, 503);
  EXPECT_EQ(exchange->Header("Retry-After"), "5");
  EXPECT_NE(said.find("error=\"no connection\""), std::string::npos) << said;
}

TEST_F(ServeTest, AFailureIsAnsweredAsItsHandlerSaysAndStillLogged) {
  Answered([](store::Session&) -> Handled { throw store::Contention("deadlock"); },
           [](const store::Failure& failure) {
             EXPECT_EQ(failure.kind, store::Failure::Kind::kContention);
             return Reply{409, failure.message};
           });
  ASSERT_TRUE(exchange->answer);
  EXPECT_EQ(exchange->answer->status, 409);
  EXPECT_EQ(exchange->answer->body, "deadlock");
  EXPECT_NE(said.find("a request gave way to others"), std::string::npos) << said;
}

// Holds the pool's one thread until it goes.
class HeldPool {
 public:
  explicit HeldPool(store::Pool* pool) {
    std::promise<void> running;
    EXPECT_TRUE(pool->Post([&running, goes_on = go_on_.get_future().share()](store::Session&) {
      running.set_value();
      goes_on.wait();
    }));
    running.get_future().wait();
  }
  ~HeldPool() { go_on_.set_value(); }

 private:
  std::promise<void> go_on_;
};

TEST_F(ServeTest, AFullQueueIsAnsweredAtOnceAndNotLogged) {
  std::vector<std::shared_ptr<vedette::test::FakeExchange>> waiting;
  int handled = 0;
  const auto handler = [&](store::Session&) -> Handled {
    ++handled;
    return Reply{200, "{}"};
  };
  testing::internal::CaptureStderr();
  {
    const HeldPool held(&pool);
    for (int i = 0; i < kQueueMax; ++i) {
      waiting.push_back(Asked());
      Serve(pool, std::nullopt, AnswerTo(waiting.back()), handler);
      EXPECT_FALSE(waiting.back()->answer);
    }
    Serve(pool, std::nullopt, AnswerTo(exchange), handler);
    ASSERT_TRUE(exchange->answer) << "before any thread is free";
    EXPECT_EQ(exchange->answer->status, 503);
    const auto call = Asked();
    Serve(pool, std::nullopt, AnswerTo(call), handler, [](const store::Failure& failure) {
      EXPECT_EQ(failure.kind, store::Failure::Kind::kOverloaded);
      return Reply{429, "{}"};
    });
    ASSERT_TRUE(call->answer);
    EXPECT_EQ(call->answer->status, 429);
  }
  FinishJobs();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  for (const auto& one : waiting) {
    ASSERT_TRUE(one->answer);
    EXPECT_EQ(one->answer->status, 200);
  }
  EXPECT_EQ(handled, kQueueMax);
}

TEST_F(ServeTest, EachKindOfFailureHasItsLine) {
  using Kind = store::Failure::Kind;
  const std::pair<Kind, const char*> cases[] = {
      {Kind::kUnavailable,
       " warn  the database is unavailable request_id=r-1 method=GET route=/things"},
      {Kind::kCommitUnknown, " warn  a commit's outcome is unknown request_id=r-1"},
      {Kind::kContention, " warn  a request gave way to others request_id=r-1"},
      {Kind::kOverloaded, " warn  a request gave way to others request_id=r-1"},
      {Kind::kFault, " error a request failed request_id=r-1 method=GET route=/things error=why"},
  };
  for (const auto& [kind, line] : cases) {
    testing::internal::CaptureStderr();
    LogFailure(*AnswerTo(exchange), {kind, "why"});
    const std::string lines = testing::internal::GetCapturedStderr();
    EXPECT_NE(lines.find(line), std::string::npos) << lines;
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1);
  }
}

}  // namespace
}  // namespace vedette::rest
