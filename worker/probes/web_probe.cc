#include "worker/probes/web_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/crypto.h"
#include "net/retry_after.h"
#include "worker/probes/challenge_page.h"
#include "worker/probes/http_failure.h"
#include "worker/probes/page_address.h"
#include "worker/probes/selector.h"
#include "worker/probes/spec_cache.h"
#include "worker/probes/text.h"
#include "worker/probes/url_reference.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

constexpr int kRedirectsMax = 5;
// What extracting from one page may take, from its beginning on. A pool has few threads, and they
// are everybody's.
constexpr milliseconds kExtractionMax{5000};
// Monitors whose compiled fields are kept, and what they may take together. What is not kept is
// compiled again for each page: a tenant's regexes may take 64 MiB a monitor.
constexpr std::size_t kFieldSetsKeptMax = 256;
constexpr std::size_t kFieldSetsKeptBytesMax = 64 << 20;

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Trying again at once would not help, unless the answer says that it would.
ProbeFailure Blocked(const net::HttpResponse& response, base::Timestamp now) {
  const bool retryable = response.status == 429 || response.status == 503;
  ProbeFailure out{
      "blocked",
      fmt::format("A wall against robots answers for the page (status {}).", response.status),
      retryable,
      {}};
  if (retryable) out.retry_after = net::RetryAfter(response, now);
  return out;
}

// What the loop and a pool thread share of one extraction.
struct Extraction {
  ExtractionStop stop;
  // By Clock::SinceBoot, when a thread began with it; 0 = it waits for one.
  std::atomic<std::chrono::nanoseconds::rep> begun = 0;
};

// The fields of a monitor, compiled, and what tells them from others'.
struct CompiledFields {
  FieldSet fields;
  std::string fingerprint;
};

// The monitor is part of it, so that nothing that is remembered passes from one tenant to another.
std::string Fingerprint(const ProbeSpec& spec) {
  std::string text = spec.monitor_id.ToString();
  for (const WatchedField& field : spec.watched) {
    text.append(1, '\0').append(field.name).append(1, '\0').append(field.description);
  }
  return base::Sha256(text);
}

// Compiles the fields where they are not kept any more; the page's time begins after that.
PageReading ReadGuarded(const std::shared_ptr<const CompiledFields>& kept, const ProbeSpec& spec,
                        const FetchedPage& page, Extraction& extraction,
                        std::size_t text_bytes_max) {
  if (extraction.stop.stopped()) return {OverloadedFailure(), {}};  // nobody waits for it any more
  try {
    if (kept != nullptr) return kept->fields.Read(page, extraction.stop, text_bytes_max);
    const auto compiled = FieldSet::Compile(spec.watched);
    if (const auto* failure = std::get_if<ProbeFailure>(&compiled)) return {*failure, {}};
    extraction.begun = base::SystemClock().SinceBoot().count();
    return std::get<FieldSet>(compiled).Read(page, extraction.stop, text_bytes_max);
  } catch (const std::exception& e) {
    return {ProbeFailure{
                "bad_content", fmt::format("The page cannot be read: {}.", e.what()), false, {}},
            {}};
  }
}

}  // namespace

struct WebProbe::Impl : std::enable_shared_from_this<WebProbe::Impl> {
  using CheckId = std::uint64_t;
  using SharedFields = std::shared_ptr<const CompiledFields>;
  using WeakFields = std::weak_ptr<const CompiledFields>;

  struct Check {
    ProbeRequest request;
    std::function<void(PageReading)> done;
    std::size_t text_bytes_max = 0;
    std::string url;
    WeakFields fields;                                    // as long as they are kept
    std::string fingerprint;                              // of them
    std::shared_ptr<const PageMemory::Entry> remembered;  // of `url`
    PageVersion version;                                  // of what is being extracted
    milliseconds left{};                                  // of the time for requests
    milliseconds wait_left{};                             // of the time for the pool's threads
    milliseconds waited{};                                // for one, before the next request
    int redirects = 0;
    std::chrono::nanoseconds posted{};  // since boot, to the pool
    std::shared_ptr<Extraction> extraction;
    std::unique_ptr<base::Timer> timer;
  };

  Impl(base::EventLoop& l, net::HttpClient& c, base::ThreadPool& p, const net::AddressPolicy& a,
       PageMemory& m, base::ByteBudget& b, const config::ProbeConfig& probe_config,
       const config::NetConfig& net_config)
      : loop(l),
        client(c),
        pool(p),
        policy(a),
        memory(m),
        budget(b),
        body_bytes_max(probe_config.body_bytes_max),
        user_agent(net_config.user_agent) {}

  ~Impl() {
    for (auto& [id, check] : checks) {
      if (check.extraction) check.extraction->stop.Stop();
    }
  }

  void Read(ProbeRequest request, std::size_t text_bytes_max,
            std::function<void(PageReading)> done);
  void Compile(CheckId id);
  void OnCompiled(CheckId id, std::chrono::nanoseconds began,
                  std::variant<SharedFields, ProbeFailure> compiled);
  static milliseconds WaitEnded(Check& check, std::chrono::nanoseconds began);
  void Fetch(CheckId id);
  void OnResponse(CheckId id, net::HttpResponse response);
  void Redirect(CheckId id, Check& check, const net::HttpResponse& response);
  void Extract(CheckId id, Check& check, net::HttpResponse response);
  void OnExtracted(CheckId id, PageReading reading, std::string body_hash);
  void OnExtractionTimer(CheckId id);
  void Fail(CheckId id, ProbeFailure failure) { Finish(id, {std::move(failure), {}}); }
  void Finish(CheckId id, PageReading reading);

  static std::string MemoryKey(const Check& check) {
    return check.fingerprint + std::to_string(check.text_bytes_max) + " " + check.url;
  }

  Check* Find(CheckId id) {
    const auto it = checks.find(id);
    return it == checks.end() ? nullptr : &it->second;
  }

  base::EventLoop& loop;
  net::HttpClient& client;
  base::ThreadPool& pool;
  const net::AddressPolicy& policy;
  PageMemory& memory;
  base::ByteBudget& budget;
  const std::size_t body_bytes_max;
  const std::string user_agent;
  const base::SystemClock clock;  // durations; and Retry-After where the answer has no date

  std::unordered_map<CheckId, Check> checks;
  CheckId last_id = 0;

  SpecCache<CompiledFields> kept{kFieldSetsKeptMax, kFieldSetsKeptBytesMax};
};

void WebProbe::Impl::Read(ProbeRequest request, std::size_t text_bytes_max,
                          std::function<void(PageReading)> done) {
  if (auto failure = ProseFailure(request.spec->watched)) return done({std::move(*failure), {}});
  const auto address = PageAddress(request.subject.Value(), request.context.Value());
  if (!address) {
    return done(
        {ProbeFailure{
             "no_address", "The row has no url, website or domain that names its page.", false, {}},
         {}});
  }
  if (auto judged = net::JudgeTenantUrl(*address, policy); judged.error) {
    return done({ProbeFailure{"refused_address", std::move(judged.error->message), false, {}}, {}});
  }
  const CheckId id = ++last_id;
  Check check;
  check.left = request.timeout;
  check.wait_left = request.deadline_left;
  check.text_bytes_max = text_bytes_max;
  const SharedFields compiled = kept.Find(request.spec);
  if (compiled != nullptr) {
    check.fields = compiled;
    check.fingerprint = compiled->fingerprint;
  }
  check.request = std::move(request);
  check.done = std::move(done);
  check.url = *address;
  checks.emplace(id, std::move(check));
  return compiled != nullptr ? Fetch(id) : Compile(id);
}

void WebProbe::Impl::Compile(CheckId id) {
  Check& check = checks.at(id);
  check.timer = std::make_unique<base::Timer>(loop, [this, id] { Fail(id, OverloadedFailure()); });
  check.timer->Start(std::max(check.wait_left, milliseconds(1)));
  check.posted = clock.SinceBoot();
  const bool posted = pool.Post(
      check.request.org_id, [id, spec = check.request.spec, weak = weak_from_this(), &to = loop] {
        const auto began = base::SystemClock().SinceBoot();
        auto result = FieldSet::Compile(spec->watched);
        std::variant<SharedFields, ProbeFailure> compiled;
        if (auto* fields = std::get_if<FieldSet>(&result)) {
          compiled = std::make_shared<const CompiledFields>(
              CompiledFields{std::move(*fields), Fingerprint(*spec)});
        } else {
          compiled = std::move(std::get<ProbeFailure>(result));
        }
        to.Post([id, weak, began, compiled = std::move(compiled)]() mutable {
          if (const auto self = weak.lock()) self->OnCompiled(id, began, std::move(compiled));
        });
      });
  if (!posted) Fail(id, OverloadedFailure());
}

void WebProbe::Impl::OnCompiled(CheckId id, std::chrono::nanoseconds began,
                                std::variant<SharedFields, ProbeFailure> compiled) {
  Check* check = Find(id);
  if (check == nullptr) return;
  if (auto* failure = std::get_if<ProbeFailure>(&compiled)) {
    return Fail(id, std::move(*failure));
  }
  check->waited = WaitEnded(*check, began);
  check->timer.reset();
  const SharedFields fields = std::get<SharedFields>(compiled);
  check->fields = fields;
  check->fingerprint = fields->fingerprint;
  kept.Keep(check->request.spec, fields, fields->fields.bytes_max());
  Fetch(id);
}

// How long what was posted for the check waited for a thread.
milliseconds WebProbe::Impl::WaitEnded(Check& check, std::chrono::nanoseconds began) {
  const auto waited = std::chrono::floor<milliseconds>(began - check.posted);
  check.wait_left -= waited;
  return waited;
}

void WebProbe::Impl::Fetch(CheckId id) {
  Check& check = checks.at(id);
  net::HttpRequest request;
  request.url = check.url;
  request.headers = {
      {"User-Agent", user_agent},
      {"Accept", "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8"}};
  check.remembered = memory.Find(MemoryKey(check));
  if (check.remembered != nullptr) {
    for (auto& header : check.remembered->version.ConditionalHeaders()) {
      request.headers.push_back(std::move(header));
    }
  }
  request.trust = net::Trust::kTenant;
  request.org = check.request.org_id;
  request.timeout = check.left;
  request.wait_max = kTurnWaitMax;
  if (check.request.on_turn) {
    request.on_turn = [before = std::exchange(check.waited, milliseconds(0)),
                       ask = check.request.on_turn](milliseconds waited) {
      return ask(before + waited);
    };
  }
  request.budget = &budget;
  request.body_bytes_max = body_bytes_max;
  client.Send(std::move(request), [id, weak = weak_from_this()](net::HttpResponse response) {
    if (const auto self = weak.lock()) self->OnResponse(id, std::move(response));
  });
}

void WebProbe::Impl::OnResponse(CheckId id, net::HttpResponse response) {
  Check* check = Find(id);
  if (check == nullptr) return;
  if (response.error_class != net::HttpErrorClass::kNone) {
    return Fail(id, TransportFailure(response, "the page"));
  }
  const auto took = std::chrono::ceil<milliseconds>(response.duration);
  check->left = std::max(check->left - took, milliseconds(1));
  check->wait_left -= took;
  if (IsRedirect(response.status) && response.Header("location")) {
    return Redirect(id, *check, response);
  }
  if (response.status == 304 && check->remembered != nullptr &&
      check->remembered->version.named()) {
    return Finish(id, check->remembered->reading);
  }
  if (IsChallengePage(response)) return Fail(id, Blocked(response, clock.Now()));
  if (response.status < 200 || response.status > 299) {
    return Fail(id, StatusFailure(response, "the page", clock.Now()));
  }
  Extract(id, *check, std::move(response));
}

void WebProbe::Impl::Redirect(CheckId id, Check& check, const net::HttpResponse& response) {
  if (++check.redirects > kRedirectsMax) {
    return Fail(id,
                ProbeFailure{"http_status",
                             fmt::format("The page redirects more than {} times.", kRedirectsMax),
                             false,
                             {}});
  }
  std::string target = ResolveReference(check.url, *response.Header("location"));
  if (target.empty()) {
    return Fail(id, ProbeFailure{"refused_address",
                                 "The page redirects to what is no http or https address.",
                                 false,
                                 {}});
  }
  if (const auto judged = net::JudgeTenantUrl(target, policy); judged.error) {
    return Fail(id, ProbeFailure{"refused_address",
                                 fmt::format("The page redirects to an address that is refused: {}",
                                             judged.error->message),
                                 false,
                                 {}});
  }
  check.url = std::move(target);
  Fetch(id);
}

void WebProbe::Impl::Extract(CheckId id, Check& check, net::HttpResponse response) {
  FetchedPage page{std::move(response.body),
                   std::string(response.Header("content-type").value_or("")), check.url};
  check.version = VersionOf(response).value_or(PageVersion{});
  check.extraction = std::make_shared<Extraction>();
  check.timer = std::make_unique<base::Timer>(loop, [this, id] { OnExtractionTimer(id); });
  check.timer->Start(std::clamp(check.wait_left, milliseconds(1), kExtractionMax));
  check.posted = clock.SinceBoot();
  const bool posted = pool.Post(
      check.request.org_id, [id, weak = weak_from_this(), &to = loop, fields = check.fields,
                             spec = check.request.spec, text_bytes_max = check.text_bytes_max,
                             extraction = check.extraction, remembered = check.remembered,
                             page = std::move(page), held = std::move(response.held)]() mutable {
        extraction->begun = base::SystemClock().SinceBoot().count();
        std::string hash = HashOfBody(page.content_type, page.body);
        const bool same = remembered != nullptr && remembered->body_hash == hash;
        PageReading reading =
            same ? remembered->reading
                 : ReadGuarded(fields.lock(), *spec, page, *extraction, text_bytes_max);
        page = {};
        held.reset();
        to.Post([id, weak, same, reading = std::move(reading), hash = std::move(hash)]() mutable {
          const auto self = weak.lock();
          if (self == nullptr) return;
          if (same) self->memory.CountSameBody();
          self->OnExtracted(id, std::move(reading), std::move(hash));
        });
      });
  if (!posted) Fail(id, OverloadedFailure());
}

void WebProbe::Impl::OnExtracted(CheckId id, PageReading reading, std::string body_hash) {
  Check* check = Find(id);
  if (check == nullptr) return;
  const auto waited = WaitEnded(*check, std::chrono::nanoseconds(check->extraction->begun));
  if (check->request.on_turn) check->request.on_turn(waited);
  if (std::holds_alternative<Observation>(reading.result)) {
    memory.Keep(MemoryKey(*check), std::make_shared<const PageMemory::Entry>(PageMemory::Entry{
                                       std::move(check->version), reading, std::move(body_hash)}));
  } else if (check->remembered != nullptr) {
    memory.Forget(MemoryKey(*check));
  }
  Finish(id, std::move(reading));
}

// An extraction has its time from its beginning on; until then the check's deadline bounds the
// wait.
void WebProbe::Impl::OnExtractionTimer(CheckId id) {
  Check* check = Find(id);
  if (check == nullptr) return;
  const std::chrono::nanoseconds begun(check->extraction->begun);
  const bool waits = begun.count() == 0;
  const auto end = waits ? check->posted + check->wait_left : begun + kExtractionMax;
  const auto left = std::chrono::ceil<milliseconds>(end - clock.SinceBoot());
  if (left > milliseconds(0)) return check->timer->Start(std::min(left, kExtractionMax));
  check->extraction->stop.Stop();
  if (waits) return Fail(id, OverloadedFailure());
  Fail(id,
       ProbeFailure{
           "bad_content", "Reading the page takes too long; simpler selectors may do.", false, {}});
}

void WebProbe::Impl::Finish(CheckId id, PageReading reading) {
  const auto it = checks.find(id);
  if (it == checks.end()) return;
  const auto done = std::move(it->second.done);
  checks.erase(it);
  done(std::move(reading));
}

WebProbe::WebProbe(base::EventLoop& loop, net::HttpClient& client, base::ThreadPool& pool,
                   const net::AddressPolicy& policy, PageMemory& memory, base::ByteBudget& budget,
                   const config::ProbeConfig& probe, const config::NetConfig& net)
    : impl_(std::make_shared<Impl>(loop, client, pool, policy, memory, budget, probe, net)) {}

WebProbe::~WebProbe() = default;

void WebProbe::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  impl_->Read(std::move(request), 0,
              [done = std::move(done)](PageReading reading) { done(std::move(reading.result)); });
}

void WebProbe::Read(ProbeRequest request, std::size_t text_bytes_max,
                    std::function<void(PageReading)> done) {
  impl_->Read(std::move(request), text_bytes_max, std::move(done));
}

}  // namespace vedette::worker
