// The peer: signs and posts as many notifications as it can, curl multi on epoll, and no database.
//   bench_bare_sender URL_PATTERN RECEIVERS COUNT IN_FLIGHT CA_FILE [BODY_FILE]
// {n} of the pattern, if it has one, is replaced by the receiver's address 127.1.x.y. With
// BODY_FILE it posts that body instead, without a signature, as a probe asks a research service;
// where the file is empty it gets. Prints JSON.

#include <curl/curl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

const std::string kSecret = "sk_whsec_" + std::string(64, 'a');

struct Easy {
  CURL* handle = nullptr;
  curl_slist* headers = nullptr;
  std::string body;
};

struct Sender {
  std::vector<std::string> urls;
  std::optional<std::string> body{};  // instead of notifications
  long left = 0;
  long failed = 0;
  long next = 0;
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  long timeout_ms = -1;
  CURLM* multi = curl_multi_init();
};

std::size_t Discard(char*, std::size_t size, std::size_t n, void*) {
  return size * n;
}

std::string Signature(const std::string& body) {
  const std::string t = std::to_string(time(nullptr));
  const std::string text = t + "." + body;
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), kSecret.data(), static_cast<int>(kSecret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac, &size);
  std::string header = "Service-Signature: t=" + t + ",v1=";
  for (unsigned int i = 0; i < size; ++i) {
    char hex[3];
    snprintf(hex, sizeof hex, "%02x", mac[i]);
    header += hex;
  }
  return header;
}

void SetNotification(Easy* easy) {
  easy->body =
      R"({"type":"monitor.field.changed","monitor_id":"018f0f5e-7d1b-7c3e-9a53-2f6f8b1f4a10",)"
      R"("event_group_id":"018f0f5e-7d1b-5c3e-9a53-000000000000","metadata":{"team":"sales"},)"
      R"("created_at":"2026-01-31T09:00:00.123456Z"})";
  curl_slist_free_all(easy->headers);
  easy->headers = nullptr;
  const std::string headers[] = {"Content-Type: application/json",
                                 "User-Agent: vedette/bench",
                                 "Service-Event-Type: monitor.field.changed",
                                 "Service-Event-Id: 018f0f5e-7d1b-5c3e-9a53-000000000000",
                                 "Service-Delivery-Attempt: 1",
                                 Signature(easy->body),
                                 "Expect:"};
  for (const std::string& header : headers)
    easy->headers = curl_slist_append(easy->headers, header.c_str());
}

void Begin(Sender* sender, Easy* easy) {
  --sender->left;
  const long n = sender->next++;
  if (!sender->body) {
    SetNotification(easy);
  } else if (easy->headers == nullptr) {
    easy->body = *sender->body;
    easy->headers = curl_slist_append(nullptr, "Content-Type: application/json");
  }
  curl_easy_setopt(easy->handle, CURLOPT_HTTPHEADER, easy->headers);
  curl_easy_setopt(easy->handle, CURLOPT_URL,
                   sender->urls[static_cast<std::size_t>(n) % sender->urls.size()].c_str());
  if (!easy->body.empty()) {
    curl_easy_setopt(easy->handle, CURLOPT_POSTFIELDS, easy->body.data());
    curl_easy_setopt(easy->handle, CURLOPT_POSTFIELDSIZE, static_cast<long>(easy->body.size()));
  }
  curl_multi_add_handle(sender->multi, easy->handle);
}

int OnSocket(CURL*, curl_socket_t fd, int what, void* self, void* known) {
  auto* sender = static_cast<Sender*>(self);
  epoll_event event{};
  event.data.fd = fd;
  event.events =
      ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0u) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0u);
  if (what == CURL_POLL_REMOVE) {
    epoll_ctl(sender->epoll, EPOLL_CTL_DEL, fd, nullptr);
  } else if (known == nullptr) {
    epoll_ctl(sender->epoll, EPOLL_CTL_ADD, fd, &event);
    curl_multi_assign(sender->multi, fd, sender);
  } else {
    epoll_ctl(sender->epoll, EPOLL_CTL_MOD, fd, &event);
  }
  return 0;
}

int OnTimer(CURLM*, long timeout_ms, void* self) {
  static_cast<Sender*>(self)->timeout_ms = timeout_ms;
  return 0;
}

// What is done begins again while there is something left. False once nothing is under way.
bool Reap(Sender* sender, int running) {
  int queued = 0;
  while (const CURLMsg* message = curl_multi_info_read(sender->multi, &queued)) {
    Easy* easy = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, reinterpret_cast<char**>(&easy));
    long status = 0;
    curl_easy_getinfo(easy->handle, CURLINFO_RESPONSE_CODE, &status);
    if (message->data.result != CURLE_OK || status != 200) ++sender->failed;
    curl_multi_remove_handle(sender->multi, easy->handle);
    if (sender->left > 0) {
      Begin(sender, easy);
      ++running;
    }
  }
  return running > 0 || sender->left > 0;
}

void Run(Sender* sender) {
  int running = 1;
  epoll_event events[256];
  do {
    const int n = epoll_wait(sender->epoll, events, 256,
                             sender->timeout_ms < 0 ? 1000 : static_cast<int>(sender->timeout_ms));
    if (n <= 0) curl_multi_socket_action(sender->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    for (int i = 0; i < n; ++i) {
      const int bits = ((events[i].events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                       ((events[i].events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                       ((events[i].events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
      curl_multi_socket_action(sender->multi, events[i].data.fd, bits, &running);
    }
    if (sender->timeout_ms == 0)
      curl_multi_socket_action(sender->multi, CURL_SOCKET_TIMEOUT, 0, &running);
  } while (Reap(sender, running));
}

double Seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6 && argc != 7) return 2;
  const std::string pattern = argv[1];
  const int receivers = atoi(argv[2]);
  const long count = atol(argv[3]);
  const int in_flight = atoi(argv[4]);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  Sender sender;
  sender.left = count;
  if (argc == 7) {
    std::ifstream in(argv[6], std::ios::binary);
    sender.body = std::string(std::istreambuf_iterator<char>(in), {});
  }
  for (int i = 1; i <= receivers; ++i) {
    std::string url = pattern;
    if (const std::size_t at = url.find("{n}"); at != std::string::npos) {
      url.replace(at, 3, "127.1." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1));
    }
    sender.urls.push_back(std::move(url));
  }
  curl_multi_setopt(sender.multi, CURLMOPT_SOCKETFUNCTION, OnSocket);
  curl_multi_setopt(sender.multi, CURLMOPT_SOCKETDATA, &sender);
  curl_multi_setopt(sender.multi, CURLMOPT_TIMERFUNCTION, OnTimer);
  curl_multi_setopt(sender.multi, CURLMOPT_TIMERDATA, &sender);
  curl_multi_setopt(sender.multi, CURLMOPT_MAXCONNECTS, static_cast<long>(in_flight));
  std::vector<std::unique_ptr<Easy>> easies;
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < in_flight && sender.left > 0; ++i) {
    auto easy = std::make_unique<Easy>();
    easy->handle = curl_easy_init();
    curl_easy_setopt(easy->handle, CURLOPT_PRIVATE, easy.get());
    curl_easy_setopt(easy->handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy->handle, CURLOPT_PROXY, "");
    // The hosts are addresses: a cache of them, looked through after each request, only costs.
    curl_easy_setopt(easy->handle, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
    curl_easy_setopt(easy->handle, CURLOPT_WRITEFUNCTION, Discard);
    if (*argv[5] != '\0') curl_easy_setopt(easy->handle, CURLOPT_CAINFO, argv[5]);
    Begin(&sender, easy.get());
    easies.push_back(std::move(easy));
  }
  Run(&sender);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  printf(
      "{\"count\": %ld, \"failed\": %ld, \"seconds\": %.4f, \"user_s\": %.4f, \"kernel_s\": "
      "%.4f}\n",
      count, sender.failed, took.count(), Seconds(used.ru_utime), Seconds(used.ru_stime));
  return sender.failed == 0 ? 0 : 1;
}
