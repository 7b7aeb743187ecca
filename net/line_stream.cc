#include "net/line_stream.h"

#include <curl/curl.h>

#include <exception>
#include <memory>
#include <stdexcept>

#include "config/net_config.h"

namespace vedette::net {
namespace {

struct Reading {
  CURL* curl = nullptr;
  const std::function<bool(std::string_view line)>& take;
  StreamEnd end{};
  std::string line{};  // as far as it has come
  std::exception_ptr thrown{};
  bool left = false;  // by who takes

  // False: nothing more is wanted.
  bool Feed(std::string_view data);
};

bool Reading::Feed(std::string_view data) {
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) {
    end.body.append(data.substr(0, kStreamRefusalBytesMax - end.body.size()));
    return true;
  }
  for (auto at = data.find('\n'); at != std::string_view::npos; at = data.find('\n')) {
    line.append(data.substr(0, at));
    data.remove_prefix(at + 1);
    left = !take(line);
    line.clear();
    if (left) return false;
  }
  line.append(data);
  if (line.size() <= kStreamLineBytesMax) return true;
  end.error = "a line of the answer is too long";
  return false;
}

std::size_t OnData(char* data, std::size_t, std::size_t size, void* user) {
  auto* reading = static_cast<Reading*>(user);
  try {
    return reading->Feed({data, size}) ? size : CURL_WRITEFUNC_ERROR;
  } catch (...) {
    reading->thrown = std::current_exception();
    return CURL_WRITEFUNC_ERROR;
  }
}

}  // namespace

StreamEnd ReadLines(const LineStream& stream, const config::NetConfig& config,
                    const std::function<bool(std::string_view line)>& take) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 &curl_easy_cleanup);
  if (curl == nullptr) throw std::runtime_error("curl_easy_init failed");
  curl_slist* lines = nullptr;
  for (const auto& [name, value] : stream.headers) {
    lines = curl_slist_append(lines, (name + ": " + value).c_str());
  }
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(lines,
                                                                            &curl_slist_free_all);
  Reading reading{.curl = curl.get(), .take = take};
  char error[CURL_ERROR_SIZE] = "";
  const auto set = [&curl](CURLoption option, auto value) {
    curl_easy_setopt(curl.get(), option, value);
  };
  set(CURLOPT_URL, stream.url.c_str());
  set(CURLOPT_HTTPHEADER, headers.get());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_PROXY, config.proxy.c_str());
  set(CURLOPT_NOPROXY, config.proxy.empty() ? "*" : "");
  if (!config.ca_file.empty()) set(CURLOPT_CAINFO, config.ca_file.c_str());
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(config.connect_timeout_ms.count()));
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(stream.quiet_max.count()));
  set(CURLOPT_ERRORBUFFER, &error[0]);
  set(CURLOPT_WRITEFUNCTION, &OnData);
  set(CURLOPT_WRITEDATA, &reading);
  const CURLcode code = curl_easy_perform(curl.get());
  if (reading.thrown) std::rethrow_exception(reading.thrown);
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  reading.end.status = static_cast<int>(status);
  if (code != CURLE_OK && !reading.left && reading.end.error.empty()) {
    reading.end.error = error[0] != '\0' ? &error[0] : curl_easy_strerror(code);
  }
  return reading.end;
}

}  // namespace vedette::net
