#include "html/page_memory.h"

#include <fmt/format.h>

#include <chrono>
#include <string_view>

#include "base/assert.h"
#include "base/crypto.h"
#include "base/text.h"
#include "net/retry_after.h"

namespace vedette::html {
namespace {

// A longer header is not repeated.
constexpr std::size_t kValidatorBytesMax = 512;
// The memory of the containers, about, beside what they hold.
constexpr std::size_t kItemOverheadBytes = 512;

std::string HeaderOrEmpty(const net::HttpResponse& response, std::string_view name) {
  const auto value = response.Header(name);
  return value && value->size() <= kValidatorBytesMax ? std::string(*value) : std::string();
}

// nginx makes ETags of the second of the last change and the length, as hexadecimal numbers: two
// pages of the same length that are written within one second share theirs.
bool MadeOfSeconds(std::string_view etag, const std::string& last_modified) {
  const auto modified = net::ParseHttpDate(last_modified);
  if (!modified) return false;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(modified->time_since_epoch());
  return etag.find(fmt::format("\"{:x}-", seconds.count())) != std::string_view::npos;
}

bool ModifiedLongAgo(const std::string& last_modified, const std::string& date) {
  const auto modified = net::ParseHttpDate(last_modified);
  const auto sent = net::ParseHttpDate(date);
  return modified && sent && *sent - *modified >= std::chrono::seconds(1);
}

std::size_t BytesOf(const std::string& key, const PageMemory::Entry& entry) {
  return kItemOverheadBytes + 2 * key.size() + entry.version.etag.size() +
         entry.version.last_modified.size() + entry.body_hash.size() + entry.reading->bytes();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> PageVersion::ConditionalHeaders() const {
  std::vector<std::pair<std::string, std::string>> headers;
  if (!etag.empty()) headers.emplace_back("If-None-Match", etag);
  if (!last_modified.empty()) headers.emplace_back("If-Modified-Since", last_modified);
  return headers;
}

std::optional<PageVersion> VersionOf(const net::HttpResponse& response) {
  const std::string control = base::AsciiLower(response.Header("cache-control").value_or(""));
  if (control.find("no-store") != std::string::npos) return std::nullopt;
  PageVersion version{HeaderOrEmpty(response, "etag"), HeaderOrEmpty(response, "last-modified")};
  if (!ModifiedLongAgo(version.last_modified, HeaderOrEmpty(response, "date"))) {
    if (MadeOfSeconds(version.etag, version.last_modified)) version.etag.clear();
    version.last_modified.clear();
  }
  if (version.etag.empty() && version.last_modified.empty()) return std::nullopt;
  return version;
}

std::string HashOfBody(std::string_view content_type, std::string_view body) {
  const std::string type = base::Sha256(content_type);
  return type + base::Sha256(body);
}

std::shared_ptr<const PageMemory::Entry> PageMemory::Find(const std::string& key) {
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return nullptr;
  items_.splice(items_.begin(), items_, it->second);
  return it->second->entry;
}

void PageMemory::Keep(const std::string& key, std::shared_ptr<const Entry> entry) {
  base::Assert(entry->reading != nullptr, "what a page memory keeps has a reading");
  Forget(key);
  const std::size_t bytes = BytesOf(key, *entry);
  if (bytes > bytes_max_) return;
  items_.push_front({key, std::move(entry), bytes});
  by_key_.emplace(key, items_.begin());
  bytes_ += bytes;
  while (bytes_ > bytes_max_) Forget(std::string(items_.back().key));
}

void PageMemory::Forget(const std::string& key) {
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return;
  base::Assert(bytes_ >= it->second->bytes, "a page memory gives back only what it counted");
  bytes_ -= it->second->bytes;
  items_.erase(it->second);
  by_key_.erase(it);
}

}  // namespace vedette::html
