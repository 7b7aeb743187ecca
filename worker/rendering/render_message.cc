#include "worker/rendering/render_message.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.h"

namespace vedette::worker {
namespace {

// Every member of a message, once. A member that is added to what is told does not compile until it
// is named here, too: then it has its line, or a reason to have none.

template <typename Fields, typename Request>
void EachOfRequest(Fields&& field, Request& request) {
  // The organisation has a column of its own; the wait and what is called stay with who asks.
  auto& [org_id, url, wait_for, timeout, wait_max, on_turn] = request;
  field("url", url);
  field("wait_for", wait_for);
  field("timeout_ms", timeout);
}

template <typename Fields, typename Response>
void EachOfResponse(Fields&& field, Response& response) {
  // What the body holds is each process's own.
  auto& [error_class, error, status, headers, body, truncated, held, duration, address] = response;
  field("error_class", error_class);
  field("error", error);
  field("status", status);
  field("headers", headers);
  field("body", body);
  field("truncated", truncated);
  field("took_us", duration);
  field("remote_address", address);
}

template <typename Fields, typename Page>
void EachOfPage(Fields&& field, Page& page) {
  auto& [response, url, kind, bytes, refused] = page;
  EachOfResponse(field, response);
  field("url", url);
  field("kind", kind);
  field("bytes", bytes);
  field("refused", refused);
}

template <typename T>
struct IsDuration : std::false_type {};
template <typename R, typename P>
struct IsDuration<std::chrono::duration<R, P>> : std::true_type {};

// Texts may be any bytes: nothing here is JSON text.
struct Writer {
  base::Json& out;

  template <typename T>
  void operator()(const char* name, const T& value) {
    if constexpr (std::is_enum_v<T>) {
      out[name] = static_cast<int>(value);
    } else if constexpr (IsDuration<T>::value) {
      out[name] = value.count();
    } else {
      out[name] = value;
    }
  }
};

struct Reader {
  const base::Json& in;

  template <typename T>
  void operator()(const char* name, T& value) {
    const auto it = in.find(name);
    if (it == in.end()) return;
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(it->template get<int>());
    } else if constexpr (IsDuration<T>::value) {
      value = T(it->template get<typename T::rep>());
    } else {
      it->get_to(value);
    }
  }
};

// What is compressed begins with how long it was, in eight bytes, the lowest first.
constexpr std::size_t kLengthBytes = 8;

std::string Compressed(const std::vector<std::uint8_t>& plain) {
  uLongf size = compressBound(plain.size());
  std::string out(kLengthBytes + size, '\0');
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    out[i] = static_cast<char>((plain.size() >> (8 * i)) & 0xff);
  }
  const int done = compress2(reinterpret_cast<Bytef*>(out.data() + kLengthBytes), &size,
                             plain.data(), plain.size(), Z_BEST_SPEED);
  if (done != Z_OK) throw std::runtime_error("a message could not be compressed");
  out.resize(kLengthBytes + size);
  return out;
}

std::vector<std::uint8_t> Plain(const std::string& message) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < std::min(kLengthBytes, message.size()); ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(message[i])} << (8 * i);
  }
  if (message.size() < kLengthBytes || length > kRenderMessageBytesMax) {
    throw std::invalid_argument("a message about a page has no length, or a wrong one");
  }
  std::vector<std::uint8_t> out(length);
  uLongf size = length;
  const int done =
      uncompress(out.data(), &size, reinterpret_cast<const Bytef*>(message.data() + kLengthBytes),
                 message.size() - kLengthBytes);
  if (done != Z_OK || size != length) {
    throw std::invalid_argument("a message about a page is not what was compressed");
  }
  return out;
}

base::Json Document(const std::string& message) {
  try {
    base::Json document = base::Json::from_cbor(Plain(message));
    if (document.is_object()) return document;
  } catch (const base::Json::exception&) {
  }
  throw std::invalid_argument("a message about a page is no object");
}

template <typename Read>
auto ReadGuarded(const std::string& message, Read read) {
  const base::Json document = Document(message);
  try {
    return read(document);
  } catch (const base::Json::exception& e) {
    throw std::invalid_argument(e.what());
  }
}

}  // namespace

std::string PackRenderRequest(const net::RenderRequest& request) {
  base::Json document = base::Json::object();
  EachOfRequest(Writer{document}, request);
  return Compressed(base::Json::to_cbor(document));
}

net::RenderRequest UnpackRenderRequest(const std::string& message) {
  return ReadGuarded(message, [](const base::Json& document) {
    net::RenderRequest request;
    EachOfRequest(Reader{document}, request);
    return request;
  });
}

std::string PackRenderedPage(const net::RenderedPage& page) {
  base::Json document = base::Json::object();
  EachOfPage(Writer{document}, page);
  const std::vector<std::uint8_t> plain = base::Json::to_cbor(document);
  if (plain.size() <= kRenderMessageBytesMax) return Compressed(plain);
  net::RenderedPage failed;
  failed.url = page.url;
  failed.bytes = page.bytes;
  failed.refused = page.refused;
  failed.response.error_class = net::HttpErrorClass::kBodyTooLarge;
  failed.response.error = "the rendered page is larger than processes tell each other";
  return PackRenderedPage(failed);
}

net::RenderedPage UnpackRenderedPage(const std::string& message) {
  return ReadGuarded(message, [](const base::Json& document) {
    net::RenderedPage page;
    EachOfPage(Reader{document}, page);
    // A newer process may know classes that are not known here.
    if (page.response.error_class < net::HttpErrorClass::kNone ||
        page.response.error_class > net::HttpErrorClass::kBusy) {
      page.response.error_class = net::HttpErrorClass::kProtocol;
    }
    return page;
  });
}

}  // namespace vedette::worker
