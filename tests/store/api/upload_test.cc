// Uploading a CSV file and making a monitor from it.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "config/limits_config.h"
#include "store/fleet/maintenance.h"
#include "store/monitors/uploads.h"
#include "store/place.h"
#include "tests/store/support/tenant_support.h"

namespace vedette::test {
namespace {

using base::Json;
using store::ImportStep;
using testing::HasSubstr;

class ApiUpload : public ApiTest {
 public:
  explicit ApiUpload(const config::Environment& environment = {}, const Adjust& adjust = nullptr)
      : ApiTest(environment, adjust),
        session(config.database, {.name = "test"}, clock, metrics, log) {}

  Reply Upload(const std::string& csv, const std::string& type = "text/csv") {
    net::ServerRequest request = Request("POST", "/storage/csv/upload", {{"content-type", type}});
    request.body = csv;
    return AskRaw(std::move(request));
  }

  Json FromFile(const std::string& handle) {
    Json body = GoodBody();
    body.erase("rows");
    body["resource_handle_id"] = handle;
    return body;
  }

  // A starting monitor of the file.
  std::string Starting(const std::string& csv) {
    const Reply uploaded = Upload(csv);
    if (uploaded.status != 200) throw std::runtime_error(uploaded.raw.body);
    const Reply created = Ask("POST", "/monitors", FromFile(uploaded.body["handle_id"]));
    if (created.status != 200) throw std::runtime_error(created.raw.body);
    EXPECT_EQ(created.body["status"], "starting");
    EXPECT_EQ(created.body["rows"].size(), 0U);
    return created.body["id"];
  }

  ImportStep ImportAll() {
    ImportStep step = ImportStep::kAdded;
    while (step == ImportStep::kAdded) step = store::ImportBatch(session, clock);
    return step;
  }

  store::Session session;
};

std::string Numbered(int rows) {
  std::string csv = "domain,price,note\n";
  for (int i = 0; i < rows; ++i) csv += std::to_string(i) + ".example," + std::to_string(i) + ",\n";
  return csv;
}

TEST_F(ApiUpload, AFileThatEndsDuringOrAfterAMoveIsNotTaken) {
  const auto id = store::BeginUpload(session, clock, *base::Uuid::Parse(acme.org_id),
                                     {std::chrono::hours(1), 100, std::int64_t{1} << 30});
  store::AddUploadPart(session, *id, {0, 1, 1, "a.example\n"});
  const auto finish = [&] {
    return store::FinishUpload(session, *id, {"domain"}, 1, 1, clock, store::AuditEntry{});
  };
  for (const char* away : {"moving_until = now() + interval '1 minute'", "lives_at = 'c3'"}) {
    Sql(std::string("update organisation set locked = true, ") + away);
    EXPECT_THROW(finish(), store::OrganisationAway) << away;
    Sql("update organisation set locked = false, moving_until = null, lives_at = null");
  }
  EXPECT_TRUE(finish().has_value());
}

TEST_F(ApiUpload, FileBecomesAMonitorThatStartsThenIsActive) {
  const std::string id = Starting(
      "\xef\xbb\xbf"
      "domain,price,note\r\n"
      "a.example,1,\"x\r\ny\"\r\nb.example,,\r\n");
  Reply detail = Ask("GET", "/monitors/" + id);
  EXPECT_EQ(detail.body["is_active"], false);
  EXPECT_EQ(detail.body["row_count"], 0);
  EXPECT_EQ(detail.body["next_run_times"].size(), 0U);
  EXPECT_EQ(Sql("select live from monitor_sched"), "f");
  EXPECT_EQ(Ask("POST", "/monitors/" + id + "/trigger").status, 409);
  EXPECT_EQ(ImportAll(), ImportStep::kActivated);
  EXPECT_EQ(store::ImportBatch(session, clock), ImportStep::kNothing);
  detail = Ask("GET", "/monitors/" + id);
  EXPECT_EQ(detail.body["status"], "active");
  EXPECT_EQ(detail.body["row_count"], 2);
  EXPECT_EQ(detail.body["active_row_count"], 2);
  const Json& rows = detail.body["rows"];
  EXPECT_EQ(rows[0]["subject"].dump(), R"({"domain":"a.example"})");
  EXPECT_EQ(rows[0]["baseline"].dump(), R"({"price":"1"})");
  EXPECT_EQ(rows[0]["context"].dump(), R"({"note":"x\r\ny"})");
  EXPECT_EQ(rows[1]["baseline"].dump(), "{}");
  EXPECT_TRUE(rows[1]["context"].is_null());
  // The first tick is due at activation.
  EXPECT_EQ(Sql("select live and next_run_at = anchor_at and next_run_at <= now() "
                "from monitor_sched"),
            "t");
}

TEST_F(ApiUpload, ManyPartsAreAddedOnceEachAndInOrder) {
  const std::string id = Starting(Numbered(25000));
  EXPECT_EQ(Sql("select part_count > 2 and row_count = 25000 from upload"), "t");
  EXPECT_EQ(store::ImportBatch(session, clock), ImportStep::kAdded);
  // Progress can be read meanwhile.
  const std::int64_t so_far = Ask("GET", "/monitors/" + id + "/rows?limit=1").status == 200
                                  ? std::stoll(Sql("select row_count from monitor_sched"))
                                  : 0;
  EXPECT_GT(so_far, 0);
  EXPECT_LT(so_far, 25000);
  // Two that work at it at once, as two processes would.
  store::Session other(config.database, {.name = "test"}, clock, metrics, log);
  std::thread second([&] {
    while (store::ImportBatch(other, clock) == ImportStep::kAdded) {
    }
  });
  ImportAll();
  second.join();
  EXPECT_EQ(Sql("select row_count = 25000 and active_row_count = 25000 and live "
                "from monitor_sched"),
            "t");
  EXPECT_EQ(Sql("select count(*) from monitor_row r where subject ->> 'domain' = "
                "position || '.example'"),
            "25000");
  EXPECT_EQ(Sql("select count(*) from row_state"), "25000");
}

TEST_F(ApiUpload, BrokenRulesFailTheMonitorAndNameTheLine) {
  const std::pair<std::string, std::string> cases[] = {
      {"domain,price\na,1\n,2\n", "line 3: the row has no value in any key column"},
      {"domain,price\na,1\nb,1\n\n a ,3\n", "line 5: the row has the same key values as line 2"},
  };
  for (const auto& [csv, reason] : cases) {
    const std::string id = Starting(csv);
    EXPECT_EQ(ImportAll(), ImportStep::kFailed);
    const Reply detail = Ask("GET", "/monitors/" + id);
    EXPECT_EQ(detail.body["status"], "failed");
    EXPECT_THAT(detail.body["disabled_reason"].get<std::string>(), HasSubstr(reason));
    EXPECT_EQ(Ask("POST", "/monitors/" + id + "/cancel").status, 409);
    EXPECT_EQ(store::ImportBatch(session, clock), ImportStep::kNothing);
  }
}

TEST_F(ApiUpload, KeyOfAnEarlierPartFails) {
  const std::string id = Starting(Numbered(12000) + "5.example,1,\n");
  EXPECT_EQ(ImportAll(), ImportStep::kFailed);
  EXPECT_THAT(Ask("GET", "/monitors/" + id + "/ticks").raw.body, HasSubstr("[]"));
  EXPECT_EQ(Sql("select disabled_reason from monitor"),
            R"(line 12002: the row has the same key values as row 6: {"domain":"5.example"})");
}

TEST_F(ApiUpload, MissingExpiredForeignAndUnfinishedHandlesAre400) {
  const std::string handle = Upload(Numbered(2)).body["handle_id"];
  for (const std::string& bad : {std::string("x"), base::Uuid::V4().ToString()}) {
    EXPECT_EQ(Ask("POST", "/monitors", FromFile(bad)).error(), "invalid_resource_handle");
  }
  const Tenant other = NewTenant("other");
  EXPECT_EQ(Ask("POST", "/monitors", FromFile(handle), {{"x-api-key", other.key}}).status, 400);
  const auto unfinished = store::BeginUpload(session, clock, *base::Uuid::Parse(acme.org_id),
                                             {std::chrono::hours(1), 100, std::int64_t{1} << 30});
  EXPECT_EQ(Ask("POST", "/monitors", FromFile(unfinished->ToString())).status, 400);
  const Headers key{{"idempotency-key", "k"}};
  const Reply first = Ask("POST", "/monitors", FromFile(handle), key);
  EXPECT_EQ(first.status, 200) << first.raw.body;
  Sql("update upload set expires_at = now()");
  EXPECT_EQ(Ask("POST", "/monitors", FromFile(handle)).status, 400);
  EXPECT_EQ(Ask("POST", "/monitors", FromFile(handle), {{"idempotency-key", "k2"}}).status, 400);
  EXPECT_EQ(Ask("POST", "/monitors", FromFile(handle), key).raw.body, first.raw.body);
}

TEST_F(ApiUpload, KeyColumnsMustBeInTheFile) {
  Json body = FromFile(Upload("name,price\na,1\n").body["handle_id"]);
  const Reply reply = Ask("POST", "/monitors", body);
  EXPECT_EQ(reply.error(), "missing_key_value");
  EXPECT_THAT(reply.message(), HasSubstr(R"(which has "name", "price")"));
}

TEST_F(ApiUpload, MalformedFilesAre400AndLeaveNothing) {
  for (const auto& [csv, says] : {std::pair<std::string, std::string>{"", "empty"},
                                  {"a,b\n", "no rows"},
                                  {"a,b\r1,2\r", "lines should end with LF or CRLF"},
                                  {std::string("a\0,\0", 4), "save the file as UTF-8"},
                                  {"a,b\n1\n", "line 2: 1 fields where the header has 2"},
                                  {"a,a\n1,2\n", "twice"},
                                  {"a,\n1,2\n", "column 2 has no name"},
                                  {"a;b\n1;2\n", "separated by commas"},
                                  {"a\tb\n1\t2\n", "separated by commas"},
                                  {"a\n\"x\n", "left open"},
                                  {"a\nx\xff\n", "UTF-8"}}) {
    const Reply reply = Upload(csv);
    EXPECT_EQ(reply.status, 400) << csv;
    EXPECT_EQ(reply.error(), "malformed_csv");
    EXPECT_THAT(reply.message(), HasSubstr(says)) << csv;
  }
  EXPECT_EQ(Upload("a\n" + std::string(70000, 'x') + "\n").status, 422);
  EXPECT_EQ(Sql("select count(*) from upload"), "0");
  EXPECT_EQ(Upload("a\n1\n", "application/json").status, 415);
  EXPECT_EQ(Upload("a\n1\n", "multipart/form-data").status, 415);
  net::ServerRequest coded = Request("POST", "/storage/csv/upload",
                                     {{"content-type", "text/csv"}, {"content-encoding", "gzip"}});
  coded.body = "\x1f\x8b";
  const Reply reply = AskRaw(std::move(coded));
  EXPECT_EQ(reply.status, 415);
  EXPECT_THAT(reply.message(), HasSubstr("send the body uncompressed"));
  EXPECT_EQ(Upload("a\n1\n", "TEXT/CSV; charset=utf-8").status, 200) << "types have no case";
}

TEST_F(ApiUpload, FormsAreTakenToo) {
  const std::string form =
      "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n"
      "Content-Type: text/csv\r\n\r\ndomain\na.example\n\r\n--B--\r\n";
  const Reply reply = Upload(form, "multipart/form-data; boundary=B");
  ASSERT_EQ(reply.status, 200) << reply.raw.body;
  EXPECT_EQ(reply.body["row_count"], 1);
  EXPECT_EQ(reply.body["filename"], "a.csv");
  const Reply plain = Upload("a\n1\n", "text/csv");
  EXPECT_TRUE(plain.body.contains("filename") && plain.body["filename"].is_null());
  EXPECT_EQ(plain.body["size_bytes"], 4);
  EXPECT_EQ(Upload(form, "multipart/form-data; boundary=C").error(), "malformed_form");
}

TEST_F(ApiUpload, HandlesExpireAfterADayAndAreKeptWhileNeeded) {
  const std::string id = Starting(Numbered(3));
  EXPECT_EQ(Sql("select expires_at - created_at = interval '24 hours' from upload"), "t");
  Sql("update upload set expires_at = now() - interval '1 second'");
  EXPECT_EQ(store::DeleteExpiredUploads(session, 10), 0);
  EXPECT_EQ(ImportAll(), ImportStep::kActivated);
  EXPECT_EQ(store::DeleteExpiredUploads(session, 10), 1);
  EXPECT_EQ(Sql("select count(*) from upload_part"), "0");
}

TEST_F(ApiUpload, APartThatCanNeverBeAddedFailsTheMonitor) {
  const std::string id = Starting(Numbered(10001));
  EXPECT_EQ(store::ImportBatch(session, clock), ImportStep::kAdded);
  Sql("create function refuse() returns trigger language plpgsql as $$ begin "
      "raise exception 'no'; end $$; "
      "create trigger refuse before insert on monitor_row execute function refuse()");
  for (int failures = 1; failures < 10; ++failures) {
    EXPECT_ANY_THROW(store::ImportBatch(session, clock));
    EXPECT_EQ(Sql("select failures from monitor_import"), std::to_string(failures));
    // It waits for its next try, and stands before nobody else meanwhile.
    EXPECT_EQ(store::ImportBatch(session, clock), ImportStep::kNothing);
    Sql("update monitor_import set not_before = now()");
  }
  EXPECT_EQ(store::ImportBatch(session, clock), ImportStep::kFailed);
  const Reply detail = Ask("GET", "/monitors/" + id);
  EXPECT_EQ(detail.body["status"], "failed");
  EXPECT_THAT(detail.body["disabled_reason"].get<std::string>(),
              HasSubstr("the rows from line 10002 on could not be added, in 10 tries"));
  EXPECT_EQ(Sql("select count(*) from monitor_import"), "0");
}

TEST_F(ApiUpload, APartThatIsAddedAtLastForgetsItsFailures) {
  Starting(Numbered(12000));
  Sql("update monitor_import set failures = 9");
  EXPECT_EQ(store::ImportBatch(session, clock), ImportStep::kAdded);
  EXPECT_EQ(Sql("select failures from monitor_import"), "0");
}

TEST_F(ApiUpload, RowBytesCountTheNamesOfColumnsAsInABody) {
  // 330 columns with names of 194 bytes: a row of one letter a cell has 330 x 201 bytes.
  std::string names = "domain";
  std::string cells = "a.example";
  base::Json row{{"domain", "a.example"}};
  for (int i = 0; i < 330; ++i) {
    const std::string name = std::to_string(1000 + i) + std::string(190, 'n');
    names += "," + name;
    cells += ",x";
    row[name] = "x";
  }
  const Reply file = Upload(names + "\n" + cells + "\n");
  EXPECT_EQ(file.status, 422) << file.raw.body;
  EXPECT_EQ(file.loc(), R"(["body","line",2])");
  Json body = GoodBody();
  body["rows"] = Json::array({row});
  EXPECT_EQ(Ask("POST", "/monitors", body).status, 422);
  // Blank cells are no values.
  EXPECT_EQ(Upload(names + "\nb.example" + std::string(330, ',') + "\n").status, 200);
}

class ApiUploadUnused : public ApiUpload {
 public:
  ApiUploadUnused()
      : ApiUpload({{"VEDETTE_LIMITS_UPLOADS_UNUSED_BYTES_MAX", "1200000"}},
                  [](config::Config& c) { c.limits.uploads_unused_max = 3; }) {}
};

TEST_F(ApiUploadUnused, G11_UnusedFilesOfAnOrganisationAreBoundedInNumber) {
  std::string handle;
  for (int i = 0; i < 3; ++i) handle = Upload(Numbered(2)).body["handle_id"];
  const Reply fourth = Upload(Numbered(2));
  EXPECT_EQ(fourth.status, 409);
  EXPECT_EQ(fourth.error(), "too_many_unused_uploads");
  EXPECT_THAT(fourth.message(), HasSubstr("3 files"));
  // Another organisation has room, and so has this one once a file is used or has expired.
  const Tenant other = NewTenant("other");
  net::ServerRequest request = Request("POST", "/storage/csv/upload",
                                       {{"content-type", "text/csv"}, {"x-api-key", other.key}});
  request.body = Numbered(2);
  EXPECT_EQ(AskRaw(std::move(request)).status, 200);
  EXPECT_EQ(Ask("POST", "/monitors", FromFile(handle)).status, 200);
  EXPECT_EQ(Upload(Numbered(2)).status, 200);
  EXPECT_EQ(Upload(Numbered(2)).status, 409);
  Sql("update upload set expires_at = now() where used_at is null");
  EXPECT_EQ(Upload(Numbered(2)).status, 200);
}

TEST_F(ApiUploadUnused, G11_UnusedFilesOfAnOrganisationAreBoundedInBytes) {
  const std::string csv = "domain,note\n" + [] {
    std::string rows;
    for (int i = 0; i < 700; ++i) rows += std::to_string(i) + "," + std::string(1000, 'x') + "\n";
    return rows;
  }();
  EXPECT_EQ(Upload(csv).status, 200);
  EXPECT_EQ(Sql("select bytes > 700000 and bytes < 710000 from upload"), "t");
  const Reply second = Upload(csv);
  EXPECT_EQ(second.status, 409);
  EXPECT_EQ(second.error(), "too_many_unused_uploads");
  EXPECT_EQ(Sql("select count(*) from upload"), "1") << "what is refused leaves nothing";
}

TEST_F(ApiUpload, G10_OneOrganisationsOpenUploadsLeaveRoomForOthers) {
  // Their bodies never end.
  class Dripping final : public net::Exchange {
   public:
    explicit Dripping(net::ServerRequest request) : request_(std::move(request)) {}
    const net::ServerRequest& request() const override { return request_; }
    void Read(std::function<void(net::BodyPiece)> then) override {
      const std::lock_guard lock(mutex_);
      then_ = std::move(then);
    }
    void Send(net::ServerResponse response) override { status_ = response.status; }
    void Begin(int, std::vector<std::pair<std::string, std::string>>) override {}
    void Write(std::string, std::function<void(bool)>) override {}
    void End() override {}
    int status() const { return status_; }
    bool reads() const {
      const std::lock_guard lock(mutex_);
      return then_ != nullptr;
    }
    void Break() {
      std::function<void(net::BodyPiece)> then;
      {
        const std::lock_guard lock(mutex_);
        then.swap(then_);
      }
      if (then) then({net::BodyPiece::Kind::kBroken});
    }

   private:
    net::ServerRequest request_;
    mutable std::mutex mutex_;
    std::function<void(net::BodyPiece)> then_;  // guarded by mutex_
    std::atomic<int> status_{0};
  };
  const auto wait_until = [](const std::function<bool()>& reached) {
    for (int i = 0; i < 6000 && !reached(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return reached();
  };
  std::vector<std::shared_ptr<Dripping>> open;
  for (int i = 0; i < 32; ++i) {
    open.push_back(std::make_shared<Dripping>(
        Request("POST", "/storage/csv/upload", {{"content-type", "text/csv"}})));
    api.Handle(open.back());
  }
  // Half of the 32 are taken, the rest is refused at once.
  const auto refused = [&] {
    return std::count_if(open.begin(), open.end(), [](auto& e) { return e->status() == 429; });
  };
  EXPECT_TRUE(wait_until([&] { return refused() == 16; })) << refused();
  const auto reading = [&] {
    return std::count_if(open.begin(), open.end(), [](auto& e) { return e->reads(); });
  };
  EXPECT_TRUE(wait_until([&] { return reading() == 16; })) << reading();
  const Tenant other = NewTenant("other");
  net::ServerRequest request = Request("POST", "/storage/csv/upload",
                                       {{"content-type", "text/csv"}, {"x-api-key", other.key}});
  request.body = Numbered(2);
  EXPECT_EQ(AskRaw(std::move(request)).status, 200);
  // Ended ones give their place back.
  for (const auto& exchange : open) exchange->Break();
  open.clear();
  EXPECT_TRUE(wait_until([&] { return Sql("select count(*) from upload") == "1"; }));
  EXPECT_EQ(Upload(Numbered(2)).status, 200);
}

class ApiUploadSmall : public ApiUpload {
 public:
  ApiUploadSmall() : ApiUpload({}, [](config::Config& c) { c.limits.rows_per_monitor_max = 5; }) {}
};

TEST_F(ApiUploadSmall, TooManyRowsAre413) {
  EXPECT_EQ(Upload(Numbered(5)).status, 200);
  EXPECT_EQ(Upload(Numbered(6)).status, 413);
  EXPECT_EQ(Sql("select count(*) from upload"), "1");
}

TEST_F(ApiUploadSmall, AddingRowsOverTheLimitIs422) {
  const std::string id = NewMonitor();
  Json rows = Json::array();
  for (int i = 0; i < 4; ++i) rows.push_back({{"domain", i}});
  EXPECT_EQ(Ask("POST", "/monitors/" + id + "/rows", Json{{"rows", rows}}).status, 422);
}

}  // namespace
}  // namespace vedette::test
