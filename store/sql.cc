#include "store/sql.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "base/assert.h"
#include "base/crypto.h"
#include "config/database_config.h"
#include "store/queries.h"
#include "store/session_impl.h"

namespace vedette::store {
namespace {

// libpqxx 6 throws deadlocks and serialization failures as a class that is no sql_error.
bool IsContention(const std::exception& e) {
  if (dynamic_cast<const pqxx::transaction_rollback*>(&e) != nullptr) return true;
  const auto* sql = dynamic_cast<const pqxx::sql_error*>(&e);
  return sql != nullptr && sql->sqlstate() == "55P03";
}

// The database cannot do now what it could at another time: no disk, memory or connections left
// (53), trouble of its own system (58), a statement out of time (57014). Whose statement it was is
// not at fault.
bool IsShortage(const pqxx::sql_error& e) {
  const std::string& state = e.sqlstate();
  return state.starts_with("53") || state.starts_with("58") || state == "57014";
}

std::string_view TextOf(const pqxx::field& field) {
  return {field.c_str(), field.size()};
}

std::int64_t ReadDigits(std::string_view text, std::size_t at, std::size_t n) {
  std::int64_t value = 0;
  std::from_chars(text.data() + at, text.data() + at + n, value);
  return value;
}

// Calls f(element) for each of an array literal, unquoted, in order. Only one dimension, no NULLs.
template <typename F>
void ForEachElement(std::string_view text, F&& f) {
  if (text.size() <= 2) return;  // "{}"
  std::string unquoted;
  for (std::size_t at = 1; at < text.size();) {
    if (text[at] != '"') {
      const auto* const end =
          std::find_if(text.begin() + at, text.end(), [](char c) { return c == ',' || c == '}'; });
      const auto size = static_cast<std::size_t>(end - text.begin()) - at;
      f(text.substr(at, size));
      at += size + 1;
      continue;
    }
    unquoted.clear();
    for (++at; text.at(at) != '"'; ++at) {
      if (text[at] == '\\') ++at;
      unquoted += text.at(at);
    }
    f(std::string_view(unquoted));
    at += 2;  // the quote, and what ends the element
  }
}

}  // namespace

void ReadField(const pqxx::field& field, base::Uuid* out) {
  const auto id = base::Uuid::Parse(TextOf(field));
  if (!id) throw std::logic_error("not a uuid");
  *out = *id;
}

// "2026-11-21 09:30:00.123456+00": the session's settings make it so; fewer or no decimals occur.
void ReadField(const pqxx::field& field, base::Timestamp* out) {
  const std::string_view text = TextOf(field);
  if (text == "-infinity") {
    *out = base::Timestamp::min();
    return;
  }
  if (text == "infinity") {
    *out = base::Timestamp::max();
    return;
  }
  if (text.size() < 22 || !text.ends_with("+00")) {
    throw std::logic_error(fmt::format("not a timestamp in the expected form: {}", text));
  }
  const std::chrono::year_month_day day(
      std::chrono::year(static_cast<int>(ReadDigits(text, 0, 4))),
      std::chrono::month(static_cast<unsigned>(ReadDigits(text, 5, 2))),
      std::chrono::day(static_cast<unsigned>(ReadDigits(text, 8, 2))));
  std::int64_t micros = 0;
  if (text[19] == '.') {
    const std::size_t digits = text.size() - 23;
    micros = ReadDigits(text, 20, digits);
    for (std::size_t i = digits; i < 6; ++i) micros *= 10;
  }
  *out = std::chrono::sys_days(day) + std::chrono::hours(ReadDigits(text, 11, 2)) +
         std::chrono::minutes(ReadDigits(text, 14, 2)) +
         std::chrono::seconds(ReadDigits(text, 17, 2)) + std::chrono::microseconds(micros);
}

void ReadField(const pqxx::field& field, std::string* out) {
  if (field.is_null()) throw std::logic_error("a text is null");
  *out = TextOf(field);
}

void ReadField(const pqxx::field& field, double* out) {
  *out = field.as<double>();
}

void ReadField(const pqxx::field& field, bool* out) {
  *out = field.as<bool>();
}

void ReadField(const pqxx::field& field, std::vector<std::string>* out) {
  out->clear();
  ForEachElement(TextOf(field), [out](std::string_view e) { out->emplace_back(e); });
}

void ReadField(const pqxx::field& field, std::vector<std::int64_t>* out) {
  out->clear();
  ForEachElement(TextOf(field),
                 [out](std::string_view e) { out->push_back(ReadDigits(e, 0, e.size())); });
}

void ReadField(const pqxx::field& field, std::vector<base::Uuid>* out) {
  out->clear();
  ForEachElement(TextOf(field), [out](std::string_view e) {
    const auto id = base::Uuid::Parse(e);
    if (!id) throw std::logic_error("not a uuid");
    out->push_back(*id);
  });
}

void ReadField(const pqxx::field& field, BytesInto into) {
  const std::string_view text = TextOf(field);
  auto bytes = text.starts_with("\\x") ? base::HexDecode(text.substr(2)) : std::nullopt;
  if (!bytes) throw std::logic_error("not a bytea in hex form");
  *into.out = std::move(*bytes);
}

void ReadField(const pqxx::field& field, OptionalBytesInto into) {
  if (field.is_null()) {
    into.out->reset();
  } else {
    ReadField(field, BytesInto{&into.out->emplace()});
  }
}

const pqxx::field& Columns::Next() {
  base::Assert(left_ > 0, "a reader does not read more columns than its statement selects");
  --left_;
  if (begun_) ++at_;
  begun_ = true;
  return at_;
}

const pqxx::field& Columns::Next(std::string_view name, ValueType type) {
  const pqxx::field& field = Next();
  if (checks_ && (field.name() != name || !Fits(type, field.type()))) {
    throw std::logic_error(
        fmt::format("the column {} (type {}) is read as {}", field.name(), field.type(), name));
  }
  return field;
}

namespace {

// What comes after the session's BEGIN.
constexpr std::string_view kAsync = "; SET LOCAL synchronous_commit = off";
constexpr std::string_view kByKey =
    "; SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off";

// Parameters of so many bytes are passed as text, so that their statement goes with others.
constexpr std::size_t kTogetherBytesMax = 2048;

// A transaction that is begun with its settings, together with its first statement.
class SetWork final : public pqxx::dbtransaction {
 public:
  SetWork(pqxx::connection_base& connection, std::string begin, std::int64_t* round_trips)
      : namedclass("transaction", "set"),
        dbtransaction(connection),
        ahead_(std::move(begin) + ";"),
        round_trips_(*round_trips) {
    Begin();
  }
  ~SetWork() override { End(); }

  // Whether something waits for the next message.
  bool waits() const { return !ahead_.empty(); }
  // The statement goes with the next message.
  void Add(const std::string& statement) {
    ahead_ += statement + ";";
    if (state_ == State::kEmpty) state_ = State::kAsked;
  }
  // The answer to `statement`, which goes behind what waits. An empty one: what waits is sent.
  pqxx::result Send(const std::string& statement) {
    state_ = State::kBegun;
    ++round_trips_;
    return direct_exec((std::exchange(ahead_, {}) + statement).c_str());
  }

 private:
  //   kEmpty -- Add --> kAsked -- Send --> kBegun;  kEmpty -- Send --> kBegun
  enum class State { kEmpty, kAsked, kBegun };

  void do_begin() override {}
  // A connection that is lost here fails the statement: RunInTransaction knows that it committed.
  void do_commit() override {
    if (state_ == State::kEmpty) return;
    try {
      Send("COMMIT");
    } catch (const pqxx::broken_connection&) {
      throw;
    } catch (const std::exception&) {
      RollBack();
      throw;
    }
  }
  void do_abort() override {
    if (state_ == State::kBegun) dbtransaction::do_abort();
  }
  // A statement before COMMIT was refused, so that this did not run; libpqxx takes the transaction
  // for ended.
  void RollBack() {
    try {
      dbtransaction::do_abort();
    } catch (const std::exception&) {
      return;  // the connection is lost, and the transaction with it
    }
  }

  std::string ahead_;
  std::int64_t& round_trips_;
  State state_ = State::kEmpty;
};

}  // namespace

struct Transaction::Impl {
  Durability durability;
  std::unique_ptr<pqxx::transaction_base> work;
  SetWork* set = nullptr;  // `work`, where it is one
  // How many statements may still run, where they are counted.
  std::optional<int> statements_left;
};

Transaction::Transaction(Session& session, Durability durability, Plans plans)
    : session_(session.impl()), impl_(new Impl{durability, nullptr, nullptr, std::nullopt}) {
  const auto begin_with = [this](std::string_view settings) {
    auto work = std::make_unique<SetWork>(
        session_.Connect(), session_.begin + std::string(settings), &session_.round_trips);
    impl_->set = work.get();
    impl_->work = std::move(work);
  };
  switch (durability) {
    case Durability::kOneStatement:
      impl_->statements_left = 1;
      if (session_.config.is_pooled) {
        begin_with("");
      } else {
        impl_->work = std::make_unique<pqxx::nontransaction>(session_.Connect());
      }
      break;
    case Durability::kAsync:
      begin_with(kAsync);
      break;
    case Durability::kSync:
      if (plans == Plans::kByKey || session_.config.is_pooled) {
        begin_with(plans == Plans::kByKey ? kByKey : "");
      } else {
        impl_->work = std::make_unique<pqxx::work>(session_.Connect());
        ++session_.round_trips;
      }
      break;
  }
  base::Assert(plans == Plans::kOfSession || durability == Durability::kSync,
               "plans by key are for transactions that write");
  if (session_.testing) session_.testing->Begin();
}

Transaction::~Transaction() = default;

namespace {

// Adds a parameter to those of a call. libpqxx 6 has no way to pass some as text and others in
// binary form, whose number is known only when the program runs, but to fill its own lists.
void AddValue(const Param& param, std::uint32_t element_type, pqxx::internal::params* values) {
  std::optional<std::string> binary;
  if (param.array() && element_type != 0) binary = param.array()->Binary(element_type);
  std::optional<std::string> text;
  if (!binary) text = param.text();
  values->nonnulls.push_back(binary || text ? 1 : 0);
  values->binaries.push_back(binary ? 1 : 0);
  values->lengths.push_back(static_cast<int>(binary ? binary->size() : text ? text->size() : 0));
  if (binary) {
    values->bin_strings.emplace_back(binary->data(), binary->size());
  } else if (text) {
    values->strings.push_back(std::move(*text));
  }
}

// The statement with its parameters as text, where they are few.
std::optional<std::string> Execution(pqxx::connection_base& connection,
                                     const Session::Impl::Prepared& prepared,
                                     const std::vector<Param>& params) {
  std::size_t bytes = 0;
  for (const Param& param : params) bytes += param.size();
  if (bytes > kTogetherBytesMax) return std::nullopt;
  std::string text = "EXECUTE " + connection.quote_name(prepared.statement);
  for (std::size_t i = 0; i < prepared.order.size(); ++i) {
    const auto value = params[prepared.order[i]].text();
    text += i == 0 ? "(" : ",";
    text += value ? connection.quote(*value) : "NULL";
  }
  if (!prepared.order.empty()) text += ")";
  return text;
}

}  // namespace

pqxx::result Transaction::ExecCall(const Call& call, std::vector<Param> params, Send send) {
  const auto& asked = call.statement();
  if (impl_->statements_left && (*impl_->statements_left)-- == 0) {
    throw std::logic_error(fmt::format("{} is not the only statement of its transaction", asked));
  }
  const auto statement = session_.testing ? session_.testing->BeforeStatement(asked) : asked;
  const Session::Impl::Prepared& prepared = session_.Prepare(call, statement);
  SetWork* set = impl_->set;
  if (set != nullptr && !session_.config.is_pooled && (set->waits() || send == Send::kLater)) {
    if (const auto text = Execution(*session_.connection, prepared, params)) {
      session_.connection->prepare_now(prepared.statement);
      if (send == Send::kNow) return Run(prepared.statement, [&] { return set->Send(*text); });
      // The time of the message is another statement's.
      session_.metrics.ObserveQuery(prepared.statement, std::chrono::microseconds(0), true);
      set->Add(*text);
      if (session_.testing) session_.testing->AfterStatement(prepared.statement);
      return {};
    }
  }
  if (set != nullptr && set->waits()) set->Send({});
  pqxx::internal::params values;
  for (std::size_t i = 0; i < prepared.order.size(); ++i) {
    AddValue(params[prepared.order[i]], prepared.element_types[i], &values);
  }
  return Run(prepared.statement, [&] {
    ++session_.round_trips;
    // A statement without a name is prepared for this execution alone: every pooler can do that.
    return session_.config.is_pooled
               ? impl_->work->exec_params(QueryText(prepared.statement), std::move(values))
               : impl_->work->exec_prepared(prepared.statement, std::move(values));
  });
}

pqxx::result Transaction::Run(const std::string& name, const std::function<pqxx::result()>& send) {
  const auto start = session_.clock.SinceBoot();
  bool ok = false;
  const auto observe = [&] {
    session_.metrics.ObserveQuery(
        name,
        std::chrono::duration_cast<std::chrono::microseconds>(session_.clock.SinceBoot() - start),
        ok);
  };
  try {
    pqxx::result result = send();
    ok = true;
    session_.answered = true;
    observe();
    if (session_.testing) session_.testing->AfterStatement(name);
    return result;
  } catch (...) {
    observe();
    throw;
  }
}

void Transaction::WaitForDisk() {
  if (impl_->durability != Durability::kAsync) return;
  impl_->set->Add("SET LOCAL synchronous_commit TO DEFAULT");
}

void Transaction::DropTable(const std::string& table) {
  if (impl_->set != nullptr && impl_->set->waits()) impl_->set->Send({});
  impl_->work->exec(fmt::format("set local lock_timeout = {}; drop table if exists {}",
                                kDropWait.count(), impl_->work->quote_name(table)));
}

void Transaction::Commit() {
  if (session_.testing) session_.testing->BeforeCommit();
  impl_->work->commit();
  if (impl_->durability == Durability::kSync && impl_->set == nullptr) ++session_.round_trips;
  if (session_.testing) session_.testing->AfterCommit();
}

void WaitForCommits(Session& session) {
  Session::Impl& impl = session.impl();
  if (!impl.connection) throw CommitUnknown("the connection to the database broke");
  // Never on a fresh connection, as RunInTransaction would.
  try {
    Transaction tx(session, Durability::kOneStatement);
    tx.Exec<"commits_on_disk">();
    tx.Commit();
  } catch (const std::exception& e) {
    if (IsConnectionLoss(e)) impl.Drop();
    throw CommitUnknown(LossText(e));
  }
}

void RunInTransaction(Session& session, Durability durability,
                      const std::function<void(Transaction&)>& body, Plans plans,
                      int attempts_max) {
  Session::Impl& impl = session.impl();
  bool renewed = false;
  for (int attempt = 1;; ++attempt) {
    bool committing = false;
    const bool kept = impl.connection != nullptr;  // from an earlier transaction
    impl.answered = false;
    try {
      Transaction tx(session, durability, plans);
      body(tx);
      committing = true;
      tx.Commit();
      return;
    } catch (const Unavailable&) {
      throw;
    } catch (const std::exception& e) {
      if (IsConnectionLoss(e)) {
        impl.Drop();
        if (committing) throw CommitUnknown(LossText(e));
        // The connection had died while nobody used it, as all do when the database restarts, and
        // nothing has happened: the caller need not know.
        if (kept && !impl.answered && !std::exchange(renewed, true)) {
          --attempt;
          continue;
        }
        throw Unavailable(LossText(e));
      }
      const auto* sql = dynamic_cast<const pqxx::sql_error*>(&e);
      if (sql != nullptr && IsShortage(*sql)) {
        throw Unavailable(std::string("the database is short of something: ") + e.what());
      }
      if (!IsContention(e)) throw;
      if (attempt == attempts_max) throw Contention(e.what());
    }
  }
}

bool DropPartition(Session& session, const std::string& table, const std::string& partition,
                   TablesInUse* in_use, const std::function<void(Transaction&)>& before) {
  bool dropped = false;
  const auto drop = [&](Transaction& tx) {
    if (!ReadOne<bool>(tx.Exec<"maintenance_lock">())) return;
    if (before) before(tx);
    tx.DropTable(partition);
    dropped = true;
  };
  try {
    RunInTransaction(session, Durability::kSync, drop, Plans::kOfSession, 1);
  } catch (const Contention&) {
    if (in_use->insert(table).second) {
      session.impl().log.Info("an old partition is in use: it is dropped later",
                              {{"partition", partition}});
    }
    return false;
  }
  if (dropped) in_use->erase(table);
  return dropped;
}

}  // namespace vedette::store
