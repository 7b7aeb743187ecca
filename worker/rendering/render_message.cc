#include "worker/rendering/render_message.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/compression.h"
#include "base/json.h"
#include "domain/monitor/page_steps.h"
#include "net/browser/page_cookies.h"
#include "store/sealed.h"

namespace vedette::worker {
namespace {

// Every member of a message, once. A member that is added to what is told does not compile until it
// is named here, too: then it has its line, or a reason to have none.

template <typename Fields, typename Request>
void EachOfRequest(Fields&& field, Request& request) {
  // The organisation has a column of its own; the wait and what is called stay with who asks. Steps
  // and cookies go apart, as they may be secret.
  auto& [org_id, url, wait_for, steps, cookies, reads_cookies, timeout, wait_max, holds_open,
         on_turn] = request;
  field("url", url);
  field("wait_for", wait_for);
  field("timeout_ms", timeout);
  field("reads_cookies", reads_cookies);
  field("holds_open", holds_open);
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
  // Cookies are secret, and of an open page its picture goes.
  auto& [response, url, kind, bytes, refused, failed_step, cookies, open] = page;
  EachOfResponse(field, response);
  field("url", url);
  field("kind", kind);
  field("bytes", bytes);
  field("refused", refused);
  field("failed_step", failed_step);
}

template <typename Fields, typename Step>
void EachOfStep(Fields&& field, Step& step) {
  field("kind", step.kind);
  field("target", step.target);
  field("value", step.value);
  field("secret", step.secret);
  field("only_if", step.only_if);
}

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
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
    } else if constexpr (IsOptional<T>::value) {
      if (value) out[name] = *value;
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
    } else if constexpr (IsOptional<T>::value) {
      value = it->template get<typename T::value_type>();
    } else {
      it->get_to(value);
    }
  }
};

// What is compressed begins with how long it was, in eight bytes, the lowest first.
constexpr std::size_t kLengthBytes = 8;

std::string Compressed(const std::vector<std::uint8_t>& plain) {
  std::string out(kLengthBytes, '\0');
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    out[i] = static_cast<char>((plain.size() >> (8 * i)) & 0xff);
  }
  const std::string_view bytes(reinterpret_cast<const char*>(plain.data()), plain.size());
  return out + base::Compressed(bytes, base::Effort::kLittle);
}

std::string Plain(const std::string& message) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < std::min(kLengthBytes, message.size()); ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(message[i])} << (8 * i);
  }
  if (message.size() < kLengthBytes || length > kRenderMessageBytesMax) {
    throw std::invalid_argument("a message about a page has no length, or a wrong one");
  }
  auto plain = base::Decompressed(std::string_view(message).substr(kLengthBytes), length);
  if (!plain || plain->size() != length) {
    throw std::invalid_argument("a message about a page is not what was compressed");
  }
  return std::move(*plain);
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

std::string Binding(const RenderSeal& seal) {
  return "render " + seal.org_id.ToString();
}

// The member of what is sealed, and that of the key which opens it.
constexpr const char* kSealed = "sealed";
constexpr const char* kSealedBy = "sealed_by";

void PutSealed(base::Json* document, const std::string& plain, const RenderSeal& seal) {
  store::Sealed sealed = store::Seal(seal.security, plain, Binding(seal));
  (*document)[kSealed] = std::move(sealed.bytes);
  (*document)[kSealedBy] = std::move(sealed.key_id);
}

// Empty where nothing is sealed.
std::string TakeSealed(const base::Json& document, const RenderSeal& seal) {
  const auto it = document.find(kSealed);
  if (it == document.end()) return {};
  const store::Sealed sealed{it->get<std::string>(), document.at(kSealedBy).get<std::string>()};
  auto plain = store::OpenSealed(store::NamedKeys(seal.security), sealed, Binding(seal));
  if (plain) return std::move(*plain);
  throw std::invalid_argument(
      "secrets of a page cannot be opened: give processes of the role browser the encryption keys "
      "of the others ([security] encryption_key)");
}

bool IsSecret(const net::RenderRequest& request) {
  const auto types_one = [](const domain::PageStep& step) { return !step.secret.empty(); };
  return !request.cookies.empty() || std::ranges::any_of(request.steps, types_one);
}

std::string ActionsText(const net::RenderRequest& request) {
  base::Json steps = base::Json::array();
  for (const domain::PageStep& step : request.steps) {
    EachOfStep(Writer{steps.emplace_back(base::Json::object())}, step);
  }
  return base::Json{{"steps", std::move(steps)}, {"cookies", net::CookiesText(request.cookies)}}
      .dump();
}

void ReadActions(const std::string& text, net::RenderRequest* request) {
  const base::Json actions = base::Json::parse(text);
  for (const base::Json& step : actions.at("steps")) {
    EachOfStep(Reader{step}, request->steps.emplace_back());
  }
  request->cookies = net::ParseCookies(actions.at("cookies").get<std::string>())
                         .value_or(decltype(request->cookies){});
}

}  // namespace

std::string PackPictureRequest(const net::PictureOrder& order) {
  base::Json list = base::Json::array();
  for (const net::Outlined& one : order.outlined) {
    list.push_back({{"is_xpath", one.is_xpath}, {"selector", one.selector}});
  }
  return base::DumpJson({{"outlined", std::move(list)}, {"lists_elements", order.lists_elements}});
}

net::PictureOrder UnpackPictureRequest(const std::string& message) {
  net::PictureOrder order;
  base::Json document;
  if (base::ParseJson(message, &document) || !document.is_object()) return order;
  order.lists_elements = document.value("lists_elements", false);
  for (const base::Json& one : document.value("outlined", base::Json::array())) {
    if (!one.is_object()) continue;
    order.outlined.push_back({one.value("is_xpath", false), one.value("selector", "")});
  }
  return order;
}

std::string PackPicture(const net::Picture& picture) {
  const std::vector<std::uint8_t> bytes =
      base::Json::to_cbor({{"file", picture.file}, {"elements", picture.elements}});
  return {bytes.begin(), bytes.end()};
}

net::Picture UnpackPicture(const std::string& message) {
  const base::Json document = base::Json::from_cbor(message, true, false);
  if (!document.is_object()) return {};
  return {document.value("file", ""), document.value("elements", "")};
}

std::string PackRenderRequest(const net::RenderRequest& request, const RenderSeal& seal) {
  base::Json document = base::Json::object();
  EachOfRequest(Writer{document}, request);
  if (IsSecret(request)) {
    PutSealed(&document, ActionsText(request), seal);
  } else if (!request.steps.empty()) {
    document["actions"] = ActionsText(request);
  }
  return Compressed(base::Json::to_cbor(document));
}

net::RenderRequest UnpackRenderRequest(const std::string& message, const RenderSeal& seal) {
  return ReadGuarded(message, [&seal](const base::Json& document) {
    net::RenderRequest request;
    EachOfRequest(Reader{document}, request);
    const std::string sealed = TakeSealed(document, seal);
    const std::string actions = sealed.empty() ? document.value("actions", "") : sealed;
    if (!actions.empty()) ReadActions(actions, &request);
    return request;
  });
}

std::string PackRenderedPage(const net::RenderedPage& page, const RenderSeal& seal) {
  base::Json document = base::Json::object();
  EachOfPage(Writer{document}, page);
  if (page.open != nullptr) document["picture"] = page.open->taken();  // empty: it is open
  if (!page.cookies.empty()) PutSealed(&document, net::CookiesText(page.cookies), seal);
  const std::vector<std::uint8_t> plain = base::Json::to_cbor(document);
  if (plain.size() <= kRenderMessageBytesMax) return Compressed(plain);
  net::RenderedPage failed;
  failed.url = page.url;
  failed.bytes = page.bytes;
  failed.refused = page.refused;
  failed.response.error_class = net::HttpErrorClass::kBodyTooLarge;
  failed.response.error = "the rendered page is larger than processes tell each other";
  return PackRenderedPage(failed, seal);
}

net::RenderedPage UnpackRenderedPage(const std::string& message, const RenderSeal& seal) {
  return ReadGuarded(message, [&seal](const base::Json& document) {
    net::RenderedPage page;
    EachOfPage(Reader{document}, page);
    if (const auto it = document.find("picture"); it != document.end()) {
      page.open = std::make_unique<net::OpenPage>(it->get<std::string>());
    }
    const std::string cookies = TakeSealed(document, seal);
    if (!cookies.empty()) {
      page.cookies = net::ParseCookies(cookies).value_or(decltype(page.cookies){});
    }
    // A newer process may know classes that are not known here.
    if (page.response.error_class < net::HttpErrorClass::kNone ||
        page.response.error_class > net::HttpErrorClass::kBusy) {
      page.response.error_class = net::HttpErrorClass::kProtocol;
    }
    return page;
  });
}

}  // namespace vedette::worker
