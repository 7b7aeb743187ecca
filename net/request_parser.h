#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_server.h"

// The parser that makes a ServerRequest of bytes. Internal to the server.
namespace vedette::net {

// A request that no handler sees.
struct RequestRefusal {
  int status;
  std::string code;     // snake_case
  std::string message;  // one sentence
};

// Finds the end of a header in a growing buffer and refuses, before anything is parsed, bytes on
// whose meaning two servers could disagree: bare CR or LF, NUL and other controls, folded lines.
class HeaderScanner {
 public:
  enum class Result { kNeedMore, kEnd, kBad };

  // One empty line before the header is passed over (RFC 9112 2.2).
  // `buffer` starts where it started last time and only grew.
  Result Scan(std::string_view buffer);

  // After kEnd: where the header begins, and where it ends with its empty line.
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return position_; }
  const char* problem() const { return problem_; }

 private:
  Result Bad(const char* problem);

  std::size_t begin_ = 0;  // 2 where an empty line was passed over
  std::size_t position_ = 0;
  char previous_ = '\0';
  bool line_empty_ = true;
  const char* problem_ = "";
};

// One request. Beast's parser checks the syntax (Content-Length with Transfer-Encoding, lengths
// that differ, bad chunks); what it lets pass and a proxy may read otherwise is refused here.
class RequestParser final : private boost::beast::http::basic_parser<true> {
 public:
  RequestParser();

  // `header`: all of it, as HeaderScanner delimits it. Empty when it is accepted.
  std::optional<RequestRefusal> ParseHeader(std::string_view header);

  // After the header. `limit`: more than that many bytes of body are not kept.
  enum class Body { kNeedMore, kDone, kTooLarge, kBad };
  Body FeedBody(std::string_view data, std::size_t limit, std::size_t* consumed);

  // Known before the body is read: its declared length is over the limit.
  bool DeclaredOver(std::size_t limit);

  // Whether the whole body is among the next `bytes` bytes, as its declared length says.
  bool BodyWithin(std::size_t bytes);
  // Its declared length, if there is one.
  std::optional<std::uint64_t> DeclaredBytes();

  bool has_body() const { return !is_done(); }
  bool keep_alive() const { return basic_parser::keep_alive(); }
  bool http_1_0() const { return http_1_0_; }
  bool expects_continue() const { return expect_ == Expect::kContinue; }

  ServerRequest& request() { return request_; }

 private:
  using verb = boost::beast::http::verb;
  using field = boost::beast::http::field;
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;

  void on_request_impl(verb, string_view method, string_view target, int version,
                       error_code& ec) override;
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(field name, string_view name_string, string_view value,
                     error_code& ec) override;
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) override {}
  std::size_t on_body_impl(string_view body, error_code& ec) override;
  void on_chunk_header_impl(std::uint64_t, string_view extensions, error_code& ec) override;
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code& ec) override;
  void on_finish_impl(error_code&) override {}

  std::optional<RequestRefusal> CheckFields() const;
  bool SplitTarget();

  ServerRequest request_;
  std::size_t body_limit_bytes_ = 0;
  // How many there are of a field that may be there once. One that two readers could read two ways
  // counts as kAmbiguous of them.
  static constexpr int kAmbiguous = 2;
  int hosts_ = 0;
  int lengths_ = 0;
  int encodings_ = 0;
  enum class Expect { kNothing, kContinue, kOther };
  Expect expect_ = Expect::kNothing;
  // What there is too much of, for which Beast's parser was stopped.
  enum class Excess { kNone, kFields, kBody };
  Excess excess_ = Excess::kNone;
  bool http_1_0_ = false;
  bool header_parsed_ = false;
};

}  // namespace vedette::net
