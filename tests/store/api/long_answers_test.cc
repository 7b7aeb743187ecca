// Long answers go out in pieces of bounded size, whatever tenants have stored (G11), and numbers
// and keys come back as they were given.
#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>

#include "domain/job/job.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using testing::HasSubstr;

// A piece ends behind the item that brings it to 256 KiB; an item here has at most about that.
constexpr std::size_t kPieceBytesMax = 768 * 1024;

class ApiLists : public ApiTest {
 public:
  // About `kib` KiB, of descriptions.
  static Json LargeStruct(int kib) {
    Json watched = Json::object();
    for (int i = 0; i < kib / 8; ++i) {
      watched["f" + std::to_string(i)] = "css:." + std::string(8000, 'x');
    }
    return watched;
  }

  static Json Rows(int n, std::size_t note_bytes) {
    Json rows = Json::array();
    for (int i = 0; i < n; ++i) {
      Json row{{"domain", std::to_string(i) + ".example"}};
      if (note_bytes > 0) row["note"] = std::string(note_bytes, 'n');
      rows.push_back(std::move(row));
    }
    return rows;
  }

  static std::vector<std::string> Domains(const Json& rows) {
    std::vector<std::string> domains;
    for (const Json& row : rows) domains.push_back(row["subject"]["domain"]);
    return domains;
  }

  static void ExpectRowsInOrder(const Json& rows, int first, int count) {
    const auto domains = Domains(rows);
    ASSERT_EQ(domains.size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(domains[static_cast<std::size_t>(i)], std::to_string(first + i) + ".example");
    }
  }

  static void ExpectPieces(const Reply& reply, int at_least) {
    EXPECT_EQ(reply.status, 200);
    EXPECT_GE(reply.raw.pieces, at_least);
    EXPECT_LE(reply.raw.piece_bytes_max, kPieceBytesMax);
  }

  Reply CreateRaw(const std::string& body, const Headers& headers = {}) {
    net::ServerRequest request = Request("POST", "/monitors", headers);
    request.body = body;
    return AskRaw(std::move(request));
  }
};

TEST_F(ApiLists, G11_APageOfRowsIsSentInPiecesWhateverTheStructOfItsMonitor) {
  const std::string id = NewMonitor({{"struct", LargeStruct(200)}, {"rows", Rows(60, 0)}});
  const Reply page = Ask("GET", "/monitors/" + id + "/rows?limit=50");
  ExpectPieces(page, 20);
  ExpectRowsInOrder(page.body["rows"], 0, 50);
  const Reply rest = Ask("GET", "/monitors/" + id + "/rows?limit=50&cursor=" +
                                    page.body["next_cursor"].get<std::string>());
  ExpectPieces(rest, 4);
  ExpectRowsInOrder(rest.body["rows"], 50, 10);
  EXPECT_FALSE(rest.body.contains("next_cursor"));
  const Reply detail = Ask("GET", "/monitors/" + id);
  ExpectPieces(detail, 20);
  ExpectRowsInOrder(detail.body["rows"], 0, 60);
}

TEST_F(ApiLists, G11_LargeRowsAreReadInPagesOfBoundedBytes) {
  const std::string id = NewMonitor({{"rows", Rows(120, 50000)}});
  const Reply page = Ask("GET", "/monitors/" + id + "/rows?limit=100");
  ExpectPieces(page, 15);
  ExpectRowsInOrder(page.body["rows"], 0, 100);
  const Reply rest = Ask("GET", "/monitors/" + id + "/rows?limit=20&cursor=" +
                                    page.body["next_cursor"].get<std::string>());
  ExpectRowsInOrder(rest.body["rows"], 100, 20);
  EXPECT_FALSE(rest.body.contains("next_cursor"));
  ExpectRowsInOrder(Ask("GET", "/monitors/" + id).body["rows"], 0, 120);
  // Stale rows, too, each once.
  Sql("update monitor_row set created_at = now() - interval '9 days'");
  std::string target = "/monitors/" + id + "/rows?stale=true&limit=70";
  const Reply stale = Ask("GET", target);
  ExpectPieces(stale, 10);
  ExpectRowsInOrder(stale.body["rows"], 0, 70);
  const Reply stale_rest =
      Ask("GET", target + "&cursor=" + stale.body["next_cursor"].get<std::string>());
  ExpectRowsInOrder(stale_rest.body["rows"], 70, 50);
  EXPECT_FALSE(stale_rest.body.contains("next_cursor"));
}

TEST_F(ApiLists, G11_ListsOfMonitorsAreSentInPiecesWhateverTheirStructs) {
  std::vector<std::string> ids;
  for (int i = 0; i < 12; ++i) {
    ids.insert(ids.begin(), NewMonitor({{"struct", LargeStruct(200)}, {"run_id", "r"}}));
  }
  const Reply page = Ask("GET", "/monitors?limit=8");
  ExpectPieces(page, 4);
  ASSERT_EQ(page.body["monitors"].size(), 8U);
  const Reply rest =
      Ask("GET", "/monitors?limit=8&cursor=" + page.body["next_cursor"].get<std::string>());
  ASSERT_EQ(rest.body["monitors"].size(), 4U);
  EXPECT_FALSE(rest.body.contains("next_cursor"));
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ((i < 8 ? page.body["monitors"][i] : rest.body["monitors"][i - 8])["id"], ids[i]);
  }
  const Reply run = Ask("GET", "/monitors/for-run/r");
  ExpectPieces(run, 6);
  ASSERT_EQ(run.body.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(run.body[i]["id"], ids[i]);
}

TEST_F(ApiLists, G11_EventsAreSentInPiecesWhateverTheirValues) {
  const std::string id = NewMonitor();
  const auto row = *base::Uuid::Parse(Sql("select id from monitor_row where position = 0"));
  // Six checks of nine changes, each with 60 KB of value; completions between them.
  for (int tick = 1; tick <= 6; ++tick) {
    const std::string tick_id = std::to_string(1795253400000000 + tick);
    const auto group = domain::EventGroupId(row, 1795253400000000 + tick);
    Sql("insert into tick (monitor_id, tick_id, org_id, trigger, due_at, started_at, finished_at, "
        "slots, row_count, outcomes) values ('" +
        id + "', " + tick_id + ", '" + acme.org_id + "', 0, now(), now(), now(), 1, 2, '\\x0102')");
    Sql("insert into event (id, org_id, monitor_id, row_id, tick_id, event_group_id, event_type, "
        "field, previous_value, current_value) select gen_random_uuid(), '" +
        acme.org_id + "', '" + id + "', '" + row.ToString() + "', " + tick_id + ", '" +
        group.ToString() +
        "', 0, 'f' || n, '1', to_json(repeat('v', 60000)) "
        "from generate_series(1, 9) n");
  }
  const std::string path = "/monitors/" + id + "/rows/" + row.ToString() + "/events";
  const Reply all = Ask("GET", path + "?limit=500&include_completions=true");
  ExpectPieces(all, 8);
  ASSERT_EQ(all.body.size(), 60U);
  for (std::size_t i = 0; i < 60; ++i) {
    const Json& event = all.body[i];
    EXPECT_EQ(event["event_type"], i % 10 == 0 ? "completion" : "change") << i;
    if (i % 10 > 0) {
      EXPECT_EQ(event["field"], "f" + std::to_string(i % 10));
    }
  }
  EXPECT_EQ(Ask("GET", path + "?limit=25&include_completions=true").body.size(), 25U);
  EXPECT_EQ(Ask("GET", path + "?limit=500").body.size(), 54U);
}

// Takes one piece and never asks for the next.
class IdleReader final : public net::Exchange {
 public:
  explicit IdleReader(net::ServerRequest request) : request_(std::move(request)) {}
  const net::ServerRequest& request() const override { return request_; }
  void Send(net::ServerResponse) override { Add(1); }
  void Begin(int, std::vector<std::pair<std::string, std::string>>) override {}
  void Write(std::string piece, std::function<void(bool)> then) override {
    const std::lock_guard lock(mutex_);
    held_ += piece.size();
    then_ = std::move(then);
    ++pieces_;
    changed_.notify_all();
  }
  void End() override { Add(1); }

  // Its answer's pieces so far; waits for the first.
  int Pieces() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return pieces_ > 0; });
    return pieces_;
  }
  std::size_t held() const { return held_; }
  void LetGo() {
    std::function<void(bool)> then;
    {
      const std::lock_guard lock(mutex_);
      then.swap(then_);
    }
    if (then) then(false);
  }

 private:
  void Add(int pieces) {
    const std::lock_guard lock(mutex_);
    pieces_ += pieces;
    changed_.notify_all();
  }

  net::ServerRequest request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void(bool)> then_;
  int pieces_ = 0;
  std::size_t held_ = 0;
};

TEST_F(ApiLists, G11_ClientsThatDoNotReadHoldOnePieceEachAndNoThread) {
  const std::string id = NewMonitor({{"struct", LargeStruct(200)}, {"rows", Rows(100, 0)}});
  std::vector<std::shared_ptr<IdleReader>> readers;
  for (int i = 0; i < 8; ++i) {  // more than the pool has threads
    readers.push_back(
        std::make_shared<IdleReader>(Request("GET", "/monitors/" + id + "/rows?limit=100", {})));
    api.Handle(readers.back());
  }
  for (const auto& reader : readers) EXPECT_EQ(reader->Pieces(), 1);
  // Others are served, and nothing more has been made for those that do not read.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Ask("GET", "/monitors?limit=1").status, 200);
  for (const auto& reader : readers) {
    EXPECT_EQ(reader->Pieces(), 1);
    EXPECT_LE(reader->held(), kPieceBytesMax);
    reader->LetGo();
  }
}

TEST_F(ApiLists, ShortAnswersAreSentWhole) {
  const std::string id = NewMonitor();
  for (const std::string& path : {"/monitors/" + id, "/monitors/" + id + "/rows",
                                  std::string("/monitors"), std::string("/monitors/for-run/x")}) {
    const Reply reply = Ask("GET", path);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.raw.pieces, 0) << path;
  }
}

TEST_F(ApiLists, NumbersOfMetadataAndKeysComeBackAsTheyWereGiven) {
  const Reply created = CreateRaw(
      R"({"name":"n","key_columns":["id"],"struct":{"price":"css:.p"},)"
      R"("metadata":{"big":12345678901234567890123,"exp":1E2,"list":[0.10,-0]},)"
      R"("rows":[{"id":100000000000000000001,"price":1E2},{"id":100000000000000000002}]})");
  ASSERT_EQ(created.status, 200) << created.raw.body;
  const std::string id = created.body["id"];
  const std::string detail = Ask("GET", "/monitors/" + id).raw.body;
  EXPECT_THAT(detail, HasSubstr(R"({"big":12345678901234567890123,"exp":1E2,"list":[0.10,-0]})"));
  EXPECT_THAT(detail, HasSubstr(R"("subject":{"id":100000000000000000001})"));
  EXPECT_THAT(detail, HasSubstr(R"("baseline":{"price":1E2})"));
  net::ServerRequest add = Request("POST", "/monitors/" + id + "/rows", {});
  add.body = R"({"rows":[{"id":"100000000000000000002"}]})";
  const Reply duplicate = AskRaw(std::move(add));
  EXPECT_EQ(duplicate.status, 400);
  EXPECT_EQ(duplicate.error(), "duplicate_key");
}

TEST_F(ApiLists, IdempotencyKeysAreTextOfAnyLanguageCountedInCharacters) {
  const std::string body = base::DumpJson(GoodBody());
  const auto keyed = [&](const std::string& key) {
    return CreateRaw(body, {{"idempotency-key", key}});
  };
  std::string accents;
  for (int i = 0; i < 200; ++i) accents += "\xc3\xa9";
  const Reply first = keyed(accents);
  ASSERT_EQ(first.status, 200) << first.raw.body;
  EXPECT_EQ(keyed(accents).raw.body, first.raw.body);
  EXPECT_EQ(keyed(accents + accents).status, 422);
  // Bytes that are no text are no key, and never the same as a text.
  EXPECT_EQ(keyed("fffe").status, 200);
  const Reply bytes = keyed("\xff\xfe");
  EXPECT_EQ(bytes.status, 422);
  EXPECT_EQ(bytes.loc(), R"(["header","Idempotency-Key"])");
  EXPECT_EQ(bytes.type(), "string_unicode");
  EXPECT_EQ(keyed("a\tb").status, 422);
  EXPECT_EQ(Sql("select count(*) from monitor"), "2");
}

TEST_F(ApiLists, G11_ABodyOfBracketsIsA422ThatNamesTheLimit) {
  std::string brackets = "[[]";
  for (int i = 0; i < 500'000; ++i) brackets += ",[]";
  brackets += "]";
  const Reply reply = CreateRaw(R"({"metadata":{"a":)" + brackets + "}}");
  EXPECT_EQ(reply.status, 422);
  EXPECT_EQ(reply.type(), "too_many_values");
  const Reply rows = CreateRaw(R"({"name":"n","key_columns":["a"],"struct":{"b":"text"},"rows":)" +
                               brackets + "}");
  EXPECT_EQ(rows.status, 422);
  EXPECT_THAT(rows.raw.body, HasSubstr("has 500001"));
}

TEST_F(ApiLists, G11_StructBytesAreBounded) {
  Json body = GoodBody();
  body["struct"] = LargeStruct(250);
  EXPECT_EQ(Ask("POST", "/monitors", body).status, 200);
  body["struct"] = LargeStruct(300);
  const Reply reply = Ask("POST", "/monitors", body);
  EXPECT_EQ(reply.status, 422);
  EXPECT_EQ(reply.loc(), R"(["body","struct"])");
  EXPECT_THAT(reply.raw.body, HasSubstr("struct_bytes_max"));
}

}  // namespace
}  // namespace vedette::test
