#include "domain/signature.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "base/crypto.h"
#include "base/text.h"

namespace vedette::domain {
namespace {

std::string Mac(std::string_view secret, std::string_view seconds, std::string_view body) {
  std::string text(seconds);
  text.append(".").append(body);
  return base::HexEncode(base::HmacSha256(secret, text));
}

struct Segments {
  std::string_view seconds;  // as written: it is what was signed
  std::int64_t unix_seconds = 0;
  std::vector<std::string> v1;
};

// Empty without exactly one readable t and at least one v1. Other segments are a later scheme's.
std::optional<Segments> ParseHeader(std::string_view header) {
  Segments segments;
  bool has_time = false;
  while (!header.empty()) {
    const std::size_t comma = header.find(',');
    const std::string_view segment = base::Trim(header.substr(0, comma), base::kBlankSpace);
    header = comma == std::string_view::npos ? std::string_view{} : header.substr(comma + 1);
    if (segment.starts_with("v1=")) {
      segments.v1.push_back(base::AsciiLower(segment.substr(3)));
    } else if (segment.starts_with("t=")) {
      const std::string_view text = segment.substr(2);
      const auto [end, error] =
          std::from_chars(text.data(), text.data() + text.size(), segments.unix_seconds);
      if (has_time || error != std::errc() || end != text.data() + text.size() ||
          segments.unix_seconds < 0) {
        return std::nullopt;
      }
      segments.seconds = text;
      has_time = true;
    }
  }
  if (!has_time || segments.v1.empty()) return std::nullopt;
  return segments;
}

}  // namespace

std::string SignatureHeader(const std::vector<std::string>& secrets, std::int64_t unix_seconds,
                            std::string_view body) {
  const std::string seconds = std::to_string(unix_seconds);
  std::string header = "t=" + seconds;
  for (const std::string& secret : secrets) header += ",v1=" + Mac(secret, seconds, body);
  return header;
}

std::string_view SignatureCheckMessage(SignatureCheck check) {
  switch (check) {
    case SignatureCheck::kValid:
      return "The signature is valid.";
    case SignatureCheck::kMalformed:
      return "The header is not of the form t=<unix seconds>,v1=<hex>[,v1=<hex>].";
    case SignatureCheck::kStale:
      return "The timestamp is more than 300 seconds from the clock.";
    case SignatureCheck::kMismatch:
      return "No v1 segment matches the secret and the body.";
  }
  return "";
}

SignatureCheck VerifySignature(std::string_view secret, std::string_view header,
                               std::string_view body, std::int64_t now_unix_seconds) {
  const std::optional<Segments> segments = ParseHeader(header);
  if (!segments) return SignatureCheck::kMalformed;
  const std::string expected = Mac(secret, segments->seconds, body);
  bool matches = false;
  for (const std::string& v1 : segments->v1) {
    if (base::ConstantTimeEqual(v1, expected)) matches = true;
  }
  if (!matches) return SignatureCheck::kMismatch;
  // Neither is negative, so that the difference cannot overflow whatever the header claims.
  const std::int64_t now = std::max<std::int64_t>(now_unix_seconds, 0);
  const std::int64_t apart = std::abs(segments->unix_seconds - now);
  return apart <= kSignatureToleranceSeconds ? SignatureCheck::kValid : SignatureCheck::kStale;
}

}  // namespace vedette::domain
