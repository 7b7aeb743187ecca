#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json_text.h"
#include "store/async.h"

namespace vedette::domain {
struct ValidationFault;  // domain/text/json_schema.h
}
namespace vedette::store {
enum class SnapshotPart;  // store/monitors/rows.h
}

namespace vedette::rest {

// The answers of a JSON API as values. Pure.

using Header = std::pair<std::string, std::string>;

// One whole answer. The headers that a port gives with every answer are added by Answer, unless the
// reply has its own header of that name; so a reply without a Content-Type is JSON.
struct Reply {
  int status = 200;
  std::string body;
  std::vector<Header> headers{};
};

// Thrown by the code that finds that a request cannot be served. The port sends the reply, once a
// request (Serve). It is no std::exception, so that nothing takes it for a fault, and is not thrown
// inside a transaction: the store says by its outcome what it has done, and the handler refuses
// after that.
class Refusal {
 public:
  explicit Refusal(Reply reply) : reply_(std::move(reply)) {}
  // The reply is that of ErrorReply.
  Refusal(int status, std::string_view code, std::string_view message);

  const Reply& reply() const { return reply_; }

 private:
  Reply reply_;
};

Reply JsonReply(int status, const base::Json& body);

// {"error": code, "message": message}. Codes are stable; messages are for people.
Reply ErrorReply(int status, std::string_view code, std::string_view message);

Reply NotFound(std::string_view what);  // "there is no such <what>"
Reply Conflict(std::string_view message);
Reply InvalidCursor();  // 400

// 421: what the request shows was given out by another cell, or its organisation lives there
// (domain/auth/cell.h). Its id stands in the body, empty for the first one, and its word in the
// header kCellHeader.
inline constexpr std::string_view kCellHeader = "X-Cell";
Reply WrongCell(std::string_view cell);
// When the move of an organisation should end, as words that go on a sentence: none once that is
// past, as of a move that has died.
std::string EndOfMove(base::Timestamp until, base::Timestamp now);

// The seconds of every Retry-After that stands for "soon".
inline constexpr std::string_view kRetryAfterSeconds = "5";
// 503 with Retry-After. The code is "unavailable" unless it is named.
Reply Unavailable(std::string_view message);
Reply Unavailable(std::string_view code, std::string_view message);

// A 422 of one item, as Problems makes it of several.
Reply ValidationReply(const base::Json& loc, std::string_view type, std::string_view msg);

// A value as it is quoted in messages and items: long text is cut between two characters, an object
// or an array is named by its kind.
base::Json Shortened(const base::Json& value);
std::string Quoted(std::string_view text);

// What is wrong with one request, gathered while it is read, so that a 422 names everything at
// once. At most kItemsMax items are kept: a body of 100,000 bad rows is not answered by as many.
// One thread.
class Problems {
 public:
  static constexpr std::size_t kItemsMax = 100;

  // `loc` is an array: ["body", "rows", 3, "domain"]. `input` is what was given; it is shortened
  // here. `ctx` is an object or null.
  void Add(const base::Json& loc, std::string_view type, std::string_view msg);
  void Add(const base::Json& loc, std::string_view type, std::string_view msg,
           const base::Json& input);
  void Add(const base::Json& loc, std::string_view type, std::string_view msg,
           const base::Json& input, const base::Json& ctx);
  void Add(const std::vector<domain::ValidationFault>& faults);

  bool any() const { return !items_.empty(); }
  bool full() const { return items_.size() >= kItemsMax; }
  // What was added, as the 422's `detail` shows it: an array of {loc, msg, type, input, ctx}.
  base::Json Items() const;

  // Throws the Refusal, a 422, if anything is wrong.
  void Check() const;

 private:
  std::string Detail() const;

  std::vector<std::string> items_;  // JSON
};

// The one mapping from failures of the store to answers, on every port:
//
//   kUnavailable, kContention, kOverloaded   503, Retry-After: nothing was changed or charged
//   kCommitUnknown                           503, Retry-After: the change was made or not
//   kFault                                   500; `request_id` is what the client may quote
//
// Pure.
Reply FailureReply(const store::Failure& failure, const std::string& request_id);

// What a snapshot says, or its picture, as it is stored; a refusal (404) where there is none. It is
// a stranger's, and no browser may take it for anything else. Pure.
Reply SnapshotReply(std::optional<std::string> content, store::SnapshotPart part);

}  // namespace vedette::rest
