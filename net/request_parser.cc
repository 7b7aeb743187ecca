#include "net/request_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>

#include "base/text.h"

namespace vedette::net {

namespace http = boost::beast::http;

namespace {

// More fields than any client sends; the bytes are bounded by header_bytes_max.
constexpr std::size_t kHeaderFieldsMax = 128;

std::string Lower(boost::beast::string_view text) {
  return base::AsciiLower({text.data(), text.size()});
}

RequestRefusal BadRequest(std::string message) {
  return {400, "bad_request", std::move(message)};
}

// A Host is a name, an address or a bracketed address with an optional port: nothing that would let
// "a.example/x" or "user@b" be read as another authority.
bool IsPlainHost(boost::beast::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    return base::IsAsciiDigit(c) || base::IsAsciiLetter(c) ||
           std::string_view("-._~:[]%!$&'()*+;=").find(c) != std::string_view::npos;
  });
}

bool IsPlainNumber(boost::beast::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), base::IsAsciiDigit);
}

std::string Sentence(const boost::beast::error_code& ec) {
  if (ec == http::error::bad_content_length || ec == http::error::multiple_content_length) {
    return "The request's length is ambiguous.";
  }
  if (ec == http::error::bad_transfer_encoding) {
    return "The request has an ambiguous Transfer-Encoding.";
  }
  if (ec == http::error::bad_version) {
    return "Only HTTP/1.0 and HTTP/1.1 are spoken here.";
  }
  return "The request is not valid HTTP: " + ec.message() + ".";
}

}  // namespace

HeaderScanner::Result HeaderScanner::Bad(const char* problem) {
  problem_ = problem;
  return Result::kBad;
}

HeaderScanner::Result HeaderScanner::Scan(std::string_view buffer) {
  for (; position_ < buffer.size(); ++position_) {
    const char c = buffer[position_];
    if (previous_ == '\r' && c != '\n') {
      return Bad("A line of the header ends in a bare CR.");
    }
    if (c == '\n') {
      if (previous_ != '\r') {
        return Bad("A line of the header ends in a bare LF.");
      }
      if (line_empty_ && position_ == 1) {
        begin_ = 2;
      } else if (line_empty_) {
        ++position_;
        return Result::kEnd;
      }
      line_empty_ = true;
    } else if (c != '\r') {
      if (base::IsAsciiControl(c) && c != '\t') {
        return Bad("The header contains a control character.");
      }
      if (line_empty_ && (c == ' ' || c == '\t')) {
        return Bad("A line of the header is folded or starts with white space.");
      }
      line_empty_ = false;
    }
    previous_ = c;
  }
  return Result::kNeedMore;
}

RequestParser::RequestParser() {
  // Limits are kept by the connection, which knows the answer to give.
  body_limit(boost::none);
  header_limit(UINT32_MAX);
}

std::optional<RequestRefusal> RequestParser::ParseHeader(std::string_view header) {
  error_code ec;
  put(boost::asio::const_buffer(header.data(), header.size()), ec);
  header_parsed_ = true;
  if (excess_ == Excess::kFields) {
    return RequestRefusal{431, "header_too_large", "The request has too many header fields."};
  }
  if (ec) {
    return BadRequest(Sentence(ec));
  }
  if (!is_header_done()) {
    return BadRequest("The request is not valid HTTP.");
  }
  if (!SplitTarget()) {
    return BadRequest("The request's target is not a path.");
  }
  return CheckFields();
}

std::optional<RequestRefusal> RequestParser::CheckFields() const {
  if (hosts_ >= kAmbiguous) {
    return BadRequest("The request has an ambiguous Host.");
  }
  if (hosts_ == 0 && !http_1_0_) {
    return BadRequest("The request has no Host.");
  }
  if (lengths_ >= kAmbiguous || (lengths_ > 0 && encodings_ > 0)) {
    return BadRequest("The request's length is ambiguous.");
  }
  if (encodings_ >= kAmbiguous || (encodings_ > 0 && http_1_0_)) {
    return BadRequest("The only Transfer-Encoding understood is chunked, once, in HTTP/1.1.");
  }
  if (expect_ == Expect::kOther) {
    return RequestRefusal{417, "expectation_failed", "The only Expect understood is 100-continue."};
  }
  return std::nullopt;
}

bool RequestParser::SplitTarget() {
  std::string_view rest = request_.target;
  if (rest.empty()) {
    return false;
  }
  if (rest.front() != '/') {
    const std::string lower = Lower(request_.target.substr(0, 8));
    const std::size_t scheme =
        lower.starts_with("http://") ? 7 : (lower.starts_with("https://") ? 8 : 0);
    if (scheme != 0) {  // absolute form, as sent to proxies
      const std::size_t slash = rest.find_first_of("/?", scheme);
      rest = slash == std::string_view::npos ? std::string_view("/") : rest.substr(slash);
    } else if (rest != "*") {
      return false;
    }
  }
  const std::size_t mark = rest.find('?');
  request_.path = rest.substr(0, mark);
  if (request_.path.empty()) {
    request_.path = "/";
  }
  if (mark != std::string_view::npos) {
    request_.query = rest.substr(mark + 1);
  }
  return true;
}

std::optional<std::uint64_t> RequestParser::DeclaredBytes() {
  const auto length = content_length();
  if (!length) {
    return std::nullopt;
  }
  return *length;
}

bool RequestParser::BodyWithin(std::size_t bytes) {
  return content_length() && *content_length() <= bytes;
}

bool RequestParser::DeclaredOver(std::size_t limit) {
  return content_length() && *content_length() > limit;
}

RequestParser::Body RequestParser::FeedBody(std::string_view data, std::size_t limit,
                                            std::size_t* consumed) {
  body_limit_bytes_ = limit;
  *consumed = 0;
  while (!is_done()) {
    error_code ec;
    const std::string_view rest = data.substr(*consumed);
    if (rest.empty()) {
      return Body::kNeedMore;
    }
    *consumed += put(boost::asio::const_buffer(rest.data(), rest.size()), ec);
    if (excess_ == Excess::kBody) {
      return Body::kTooLarge;
    }
    if (ec == http::error::need_more) {
      return Body::kNeedMore;
    }
    if (ec) {
      return Body::kBad;
    }
  }
  return Body::kDone;
}

void RequestParser::on_request_impl(verb, string_view method, string_view target, int version,
                                    error_code&) {
  request_.method.assign(method.data(), method.size());
  request_.target.assign(target.data(), target.size());
  http_1_0_ = version == 10;
}

void RequestParser::on_field_impl(field name, string_view name_string, string_view value,
                                  error_code& ec) {
  if (header_parsed_) {
    return;  // trailers say nothing to us
  }
  if (request_.headers.size() >= kHeaderFieldsMax) {
    excess_ = Excess::kFields;
    ec = http::error::header_limit;
    return;
  }
  switch (name) {
    case field::host:
      hosts_ += IsPlainHost(value) ? 1 : kAmbiguous;
      break;
    case field::content_length:
      lengths_ += IsPlainNumber(value) ? 1 : kAmbiguous;
      break;
    case field::transfer_encoding:
      encodings_ += Lower(value) == "chunked" ? 1 : kAmbiguous;
      break;
    case field::expect:
      if (Lower(value) != "100-continue") {
        expect_ = Expect::kOther;
      } else if (expect_ == Expect::kNothing) {
        expect_ = Expect::kContinue;
      }
      break;
    default:
      break;
  }
  request_.headers.emplace_back(Lower(name_string), std::string(value.data(), value.size()));
}

std::size_t RequestParser::on_body_impl(string_view body, error_code& ec) {
  if (body.size() > body_limit_bytes_ - request_.body.size()) {
    excess_ = Excess::kBody;
    ec = http::error::body_limit;
    return 0;
  }
  request_.body.append(body.data(), body.size());
  return body.size();
}

// Beast takes any byte inside quotes, a bare LF too, at which others end the line.
void RequestParser::on_chunk_header_impl(std::uint64_t, string_view extensions, error_code& ec) {
  const bool plain = std::none_of(extensions.begin(), extensions.end(),
                                  [](char c) { return base::IsAsciiControl(c) && c != '\t'; });
  if (!plain) ec = http::error::bad_chunk_extension;
}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t, string_view body, error_code& ec) {
  return on_body_impl(body, ec);
}

}  // namespace vedette::net
