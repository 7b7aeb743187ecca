#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/http_client.h"

namespace vedette::html {

// The version of a page as its server names it.
struct PageVersion {
  std::string etag;           // as sent, quotes included; may be empty
  std::string last_modified;  // as sent; may be empty

  bool named() const { return !etag.empty() || !last_modified.empty(); }
  // The headers that ask for the page only if it is another version.
  std::vector<std::pair<std::string, std::string>> ConditionalHeaders() const;
};

// Empty where the answer names no version that can be relied on: it has neither ETag nor
// Last-Modified, it must not be stored, or it was modified in the very second in which it was sent
// (RFC 9110, 8.8.2.2: it may have changed again since). Pure.
std::optional<PageVersion> VersionOf(const net::HttpResponse& response);

// Tells the same bytes of the same type from others.
std::string HashOfBody(std::string_view content_type, std::string_view body);

// What somebody made of a page, whatever that is. Immutable once it is shared; any thread.
struct Reading {
  virtual ~Reading() = default;
  // What it takes in memory, about.
  virtual std::size_t bytes() const = 0;
};

// What was read from pages, so that a 304, or the same bytes, mean the same reading again.
// Bounded; the least recently used are forgotten. What it does not hold (after a start, in another
// process) is fetched whole, so nothing depends on it. One thread.
class PageMemory {
 public:
  struct Entry {
    PageVersion version;
    std::shared_ptr<const Reading> reading;  // never null
    std::string body_hash;                   // of what was read, see HashOfBody
  };

  // 0: remembers nothing.
  explicit PageMemory(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // `key` names the page and what was asked of it. Null where there is nothing.
  std::shared_ptr<const Entry> Find(const std::string& key);
  void Keep(const std::string& key, std::shared_ptr<const Entry> entry);
  void Forget(const std::string& key);

  std::size_t bytes() const { return bytes_; }

  // How many pages came whole, but with the bytes that were seen before, and were not read again.
  void CountSameBody() { ++same_bodies_; }
  std::size_t same_bodies() const { return same_bodies_; }

 private:
  struct Item {
    std::string key;
    std::shared_ptr<const Entry> entry;
    std::size_t bytes;
  };

  std::size_t same_bodies_ = 0;
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::list<Item> items_;  // the most recently used first
  std::unordered_map<std::string, std::list<Item>::iterator> by_key_;
};

}  // namespace vedette::html
