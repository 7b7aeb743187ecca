// What a page costs, apart by step: probe_bench SECONDS FILE URL UNNAMED_URL DESCRIPTION...
// FILE holds what both URLs serve, the second one without ETag and Last-Modified. Prints one line
// of JSON: {step: {"pages", "pages_per_s", "cpu_us_per_page"}} for fetch, parse, extract (without
// the parsing), whole (all of it by the web probe, of a page that changed), same bytes and not
// modified (of one that did not). CPU is this process's, the server's is not in it.
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "base/json.h"
#include "base/thread_pool.h"
#include "config/net_config.h"
#include "config/parts.h"
#include "config/probe_config.h"
#include "config/role_config.h"
#include "html/charset.h"
#include "html/html_document.h"
#include "html/selector.h"
#include "net/http_client.h"
#include "worker/probes/web_probe.h"

namespace vedette::worker {
namespace {

using html::DecodeBody;
using html::ExtractionStop;
using html::FetchedPage;
using html::FieldSet;
using html::HtmlDocument;
using html::PageMemory;

using Clock = std::chrono::steady_clock;

constexpr int kInFlight = 8;
constexpr std::size_t kMemoryBytes = 64 << 20;

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Cost {
  long pages = 0;
  double seconds = 0;
  double cpu_us = 0;  // of a page

  base::Json ToJson() const {
    return {{"pages", pages},
            {"pages_per_s", static_cast<double>(pages) / seconds},
            {"cpu_us_per_page", cpu_us}};
  }
};

// Runs `page` again and again; it says how many pages it made.
Cost Measure(double seconds, const std::function<long()>& page) {
  page();  // warm
  Cost cost;
  const double cpu = CpuSeconds();
  const auto began = Clock::now();
  do {
    cost.pages += page();
    cost.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  } while (cost.seconds < seconds);
  cost.cpu_us = (CpuSeconds() - cpu) * 1e6 / static_cast<double>(cost.pages);
  return cost;
}

[[noreturn]] void Fail(const std::string& what) {
  std::cerr << "probe_bench: " << what << "\n";
  std::exit(1);
}

// Keeps kInFlight of `start` going on the loop until the time is over. `start` calls its argument
// when a page is done.
Cost MeasureOnLoop(base::EventLoop& loop, double seconds,
                   const std::function<void(std::function<void()>)>& start) {
  Cost cost;
  double cpu = 0;
  Clock::time_point began;
  int running = 0;
  std::function<void()> done = [&] {
    ++cost.pages;
    cost.seconds = std::chrono::duration<double>(Clock::now() - began).count();
    if (cost.seconds < seconds) return start(done);
    if (--running == 0) loop.Stop();
  };
  loop.Post([&] {
    cpu = CpuSeconds();
    began = Clock::now();
    for (running = 0; running < kInFlight; ++running) start(done);
  });
  loop.Run();
  cost.cpu_us = (CpuSeconds() - cpu) * 1e6 / static_cast<double>(cost.pages);
  return cost;
}

config::Config Config() {
  return config::LoadConfig(std::nullopt, {{"VEDETTE_NET_ALLOW", "127.0.0.0/8"}});
}

Cost MeasureFetch(double seconds, const std::string& url, std::size_t bytes) {
  const config::Config config = Config();
  base::EventLoop loop;
  net::HttpClient client(loop, config.net);
  return MeasureOnLoop(loop, seconds, [&](std::function<void()> done) {
    net::HttpRequest request;
    request.url = url;
    request.body_bytes_max = 100 << 20;
    client.Send(std::move(request), [done = std::move(done), bytes](net::HttpResponse response) {
      if (response.body.size() != bytes) Fail("the page cannot be fetched: " + response.error);
      done();
    });
  });
}

// `memory_bytes`: 0 reads every page each time, as one that changed.
Cost MeasureWhole(double seconds, const std::string& url, const std::vector<WatchedField>& watched,
                  std::size_t memory_bytes) {
  const config::Config config = Config();
  base::EventLoop loop;
  net::HttpClient client(loop, config.net);
  base::ThreadPool pool("parse", {2, 2, 1000});
  const net::AddressPolicy policy(config.net.allow);
  PageMemory memory(memory_bytes);
  base::ByteBudget budget(config.worker.pages_held_bytes_max, 0.1);
  WebProbe probe(loop, client, pool, policy, memory, budget, config.probes.at("low"), config.net);
  auto spec = std::make_shared<ProbeSpec>();
  spec->watched = watched;
  return MeasureOnLoop(loop, seconds, [&](std::function<void()> done) {
    ProbeRequest request;
    request.spec = spec;
    request.subject = base::Json{{"url", url}};
    request.context = base::Json::object();
    request.known = base::Json::object();
    request.timeout = std::chrono::seconds(30);
    request.deadline_left = std::chrono::seconds(120);
    probe.Start(std::move(request), [done = std::move(done)](const ProbeResult& result) {
      const auto* failure = std::get_if<ProbeFailure>(&result);
      if (failure != nullptr) Fail(failure->message);
      done();
    });
  });
}

int Main(double seconds, const std::string& file, const std::string& url,
         const std::string& unnamed_url, const std::vector<WatchedField>& watched) {
  std::ifstream in(file, std::ios::binary);
  const FetchedPage page{{std::istreambuf_iterator<char>(in), {}}, "text/html", url};
  const auto compiled = FieldSet::Compile(watched);
  if (const auto* failure = std::get_if<ProbeFailure>(&compiled)) Fail(failure->message);
  const auto& fields = std::get<FieldSet>(compiled);
  const Cost parse = Measure(seconds, [&] {
    const auto parsed = HtmlDocument::Parse(DecodeBody(page.body, {}));
    if (!std::holds_alternative<HtmlDocument>(parsed)) Fail(std::get<std::string>(parsed));
    return 1;
  });
  const Cost both = Measure(seconds, [&] {
    ExtractionStop stop;
    const auto result = fields.Extract(page, stop);
    if (const auto* failure = std::get_if<ProbeFailure>(&result)) Fail(failure->message);
    return 1;
  });
  Cost extract = both;
  extract.cpu_us = std::max(0.0, both.cpu_us - parse.cpu_us);
  extract.seconds = extract.cpu_us * static_cast<double>(extract.pages) / 1e6;
  base::Json out = base::Json::object();
  out["fetch"] = MeasureFetch(seconds, url, page.body.size()).ToJson();
  out["parse"] = parse.ToJson();
  out["extract"] = extract.ToJson();
  out["whole"] = MeasureWhole(seconds, url, watched, 0).ToJson();
  out["same bytes"] = MeasureWhole(seconds, unnamed_url, watched, kMemoryBytes).ToJson();
  out["not modified"] = MeasureWhole(seconds, url, watched, kMemoryBytes).ToJson();
  std::cout << out.dump() << "\n";
  return 0;
}

}  // namespace
}  // namespace vedette::worker

int main(int argc, char** argv) {
  if (argc < 6) {
    std::cerr << "probe_bench SECONDS FILE URL UNNAMED_URL DESCRIPTION...\n";
    return 2;
  }
  std::vector<vedette::worker::WatchedField> watched;
  for (int i = 5; i < argc; ++i) watched.push_back({"f" + std::to_string(i), argv[i]});
  return vedette::worker::Main(std::atof(argv[1]), argv[2], argv[3], argv[4], watched);
}
