#include "worker/probes/web_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "worker/probes/http_failure.h"
#include "worker/probes/page_address.h"
#include "worker/probes/selector.h"
#include "worker/probes/text.h"
#include "worker/probes/url_reference.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

constexpr int kRedirectsMax = 5;
// What extracting from one page may take. A pool has few threads, and they are everybody's.
constexpr milliseconds kExtractionMax{5000};
// Monitors whose compiled fields are kept.
constexpr std::size_t kFieldSetsKeptMax = 256;

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

ProbeFailure Overloaded() {
  return {"overloaded", "Too many pages wait to be read; the check is tried again.", true, {}};
}

// What the loop and a pool thread share of one extraction.
struct Extraction {
  ExtractionStop stop;
  std::atomic<bool> begun = false;
};

ProbeResult ExtractGuarded(const FieldSet& fields, const FetchedPage& page, ExtractionStop& stop) {
  if (stop.stopped()) return Overloaded();  // nobody waits for it any more
  try {
    return fields.Extract(page, stop);
  } catch (const std::exception& e) {
    return ProbeFailure{
        "bad_content", fmt::format("The page cannot be read: {}.", e.what()), false, {}};
  }
}

}  // namespace

struct WebProbe::Impl : std::enable_shared_from_this<WebProbe::Impl> {
  using CheckId = std::uint64_t;
  using SharedFields = std::shared_ptr<const FieldSet>;

  struct Check {
    ProbeRequest request;
    std::function<void(ProbeResult)> done;
    std::string url;
    SharedFields fields;
    milliseconds left{};  // of the attempt's time
    int redirects = 0;
    std::shared_ptr<Extraction> extraction;
    std::unique_ptr<base::Timer> timer;
  };

  Impl(base::EventLoop& l, net::HttpClient& c, base::ThreadPool& p, const net::AddressPolicy& a,
       const config::ProbeConfig& probe_config, const config::NetConfig& net_config)
      : loop(l),
        client(c),
        pool(p),
        policy(a),
        body_bytes_max(probe_config.body_bytes_max),
        user_agent(net_config.user_agent) {}

  ~Impl() {
    for (auto& [id, check] : checks) {
      if (check.extraction) check.extraction->stop.Stop();
    }
  }

  void Start(ProbeRequest request, std::function<void(ProbeResult)> done);
  void Compile(CheckId id);
  void OnCompiled(CheckId id, std::variant<SharedFields, ProbeFailure> compiled);
  void Fetch(CheckId id);
  void OnResponse(CheckId id, net::HttpResponse response);
  void Redirect(CheckId id, Check& check, const net::HttpResponse& response);
  void Extract(CheckId id, Check& check, net::HttpResponse response);
  void OnExtractionOverdue(CheckId id);
  void Finish(CheckId id, ProbeResult result);

  SharedFields Kept(const std::shared_ptr<const ProbeSpec>& spec) const;
  void Keep(const std::shared_ptr<const ProbeSpec>& spec, SharedFields fields);

  Check* Find(CheckId id) {
    const auto it = checks.find(id);
    return it == checks.end() ? nullptr : &it->second;
  }

  base::EventLoop& loop;
  net::HttpClient& client;
  base::ThreadPool& pool;
  const net::AddressPolicy& policy;
  const std::size_t body_bytes_max;
  const std::string user_agent;
  const base::SystemClock clock;  // for dates in Retry-After where the answer has none of its own

  std::unordered_map<CheckId, Check> checks;
  CheckId last_id = 0;

  // A spec is immutable, and the same address is the same spec for as long as it lives.
  struct KeptFields {
    std::weak_ptr<const ProbeSpec> spec;
    SharedFields fields;
  };
  std::unordered_map<const ProbeSpec*, KeptFields> kept;
};

void WebProbe::Impl::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  if (auto failure = ProseFailure(request.spec->watched)) return done(std::move(*failure));
  const auto address = PageAddress(request.subject, request.context);
  if (!address) {
    return done(ProbeFailure{
        "no_address", "The row has no url, website or domain that names its page.", false, {}});
  }
  if (auto judged = net::JudgeTenantUrl(*address, policy); judged.error) {
    return done(ProbeFailure{"refused_address", std::move(judged.error->message), false, {}});
  }
  const CheckId id = ++last_id;
  Check check;
  check.left = request.timeout;
  check.fields = Kept(request.spec);
  check.request = std::move(request);
  check.done = std::move(done);
  check.url = *address;
  const bool compiled = check.fields != nullptr;
  checks.emplace(id, std::move(check));
  return compiled ? Fetch(id) : Compile(id);
}

void WebProbe::Impl::Compile(CheckId id) {
  const bool posted =
      pool.Post([id, spec = checks.at(id).request.spec, weak = weak_from_this(), &to = loop] {
        auto result = FieldSet::Compile(spec->watched);
        std::variant<SharedFields, ProbeFailure> compiled;
        if (auto* fields = std::get_if<FieldSet>(&result)) {
          compiled = std::make_shared<const FieldSet>(std::move(*fields));
        } else {
          compiled = std::move(std::get<ProbeFailure>(result));
        }
        to.Post([id, weak, compiled = std::move(compiled)]() mutable {
          if (const auto self = weak.lock()) self->OnCompiled(id, std::move(compiled));
        });
      });
  if (!posted) Finish(id, Overloaded());
}

void WebProbe::Impl::OnCompiled(CheckId id, std::variant<SharedFields, ProbeFailure> compiled) {
  Check* check = Find(id);
  if (check == nullptr) return;
  if (auto* failure = std::get_if<ProbeFailure>(&compiled)) {
    return Finish(id, std::move(*failure));
  }
  check->fields = std::get<SharedFields>(compiled);
  Keep(check->request.spec, check->fields);
  Fetch(id);
}

void WebProbe::Impl::Fetch(CheckId id) {
  const Check& check = checks.at(id);
  net::HttpRequest request;
  request.url = check.url;
  request.headers = {
      {"User-Agent", user_agent},
      {"Accept", "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8"}};
  request.trust = net::Trust::kTenant;
  request.timeout = check.left;
  request.body_bytes_max = body_bytes_max;
  client.Send(std::move(request), [id, weak = weak_from_this()](net::HttpResponse response) {
    if (const auto self = weak.lock()) self->OnResponse(id, std::move(response));
  });
}

void WebProbe::Impl::OnResponse(CheckId id, net::HttpResponse response) {
  Check* check = Find(id);
  if (check == nullptr) return;
  if (response.error_class != net::HttpErrorClass::kNone) {
    return Finish(id, TransportFailure(response, "the page"));
  }
  check->left -= std::chrono::ceil<milliseconds>(response.duration);
  check->left = std::max(check->left, milliseconds(1));
  if (IsRedirect(response.status) && response.Header("location")) {
    return Redirect(id, *check, response);
  }
  if (response.status < 200 || response.status > 299) {
    return Finish(id, StatusFailure(response, "the page", clock.Now()));
  }
  Extract(id, *check, std::move(response));
}

void WebProbe::Impl::Redirect(CheckId id, Check& check, const net::HttpResponse& response) {
  if (++check.redirects > kRedirectsMax) {
    return Finish(id,
                  ProbeFailure{"http_status",
                               fmt::format("The page redirects more than {} times.", kRedirectsMax),
                               false,
                               {}});
  }
  std::string target = ResolveReference(check.url, *response.Header("location"));
  if (target.empty()) {
    return Finish(id, ProbeFailure{"refused_address",
                                   "The page redirects to what is no http or https address.",
                                   false,
                                   {}});
  }
  if (const auto judged = net::JudgeTenantUrl(target, policy); judged.error) {
    return Finish(id,
                  ProbeFailure{"refused_address",
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
  check.extraction = std::make_shared<Extraction>();
  check.timer = std::make_unique<base::Timer>(loop, [this, id] { OnExtractionOverdue(id); });
  check.timer->Start(std::min(check.left, kExtractionMax));
  const bool posted = pool.Post([id, weak = weak_from_this(), &to = loop, fields = check.fields,
                                 extraction = check.extraction, page = std::move(page)] {
    extraction->begun = true;
    to.Post([id, weak, result = ExtractGuarded(*fields, page, extraction->stop)]() mutable {
      if (const auto self = weak.lock()) self->Finish(id, std::move(result));
    });
  });
  if (!posted) Finish(id, Overloaded());
}

void WebProbe::Impl::OnExtractionOverdue(CheckId id) {
  Check* check = Find(id);
  if (check == nullptr) return;
  check->extraction->stop.Stop();
  if (!check->extraction->begun) return Finish(id, Overloaded());
  Finish(
      id,
      ProbeFailure{
          "bad_content", "Reading the page takes too long; simpler selectors may do.", false, {}});
}

void WebProbe::Impl::Finish(CheckId id, ProbeResult result) {
  const auto it = checks.find(id);
  if (it == checks.end()) return;
  const auto done = std::move(it->second.done);
  checks.erase(it);
  done(std::move(result));
}

WebProbe::Impl::SharedFields WebProbe::Impl::Kept(
    const std::shared_ptr<const ProbeSpec>& spec) const {
  const auto it = kept.find(spec.get());
  return it != kept.end() && it->second.spec.lock() == spec ? it->second.fields : nullptr;
}

void WebProbe::Impl::Keep(const std::shared_ptr<const ProbeSpec>& spec, SharedFields fields) {
  if (kept.size() >= kFieldSetsKeptMax) {
    std::erase_if(kept, [](const auto& entry) { return entry.second.spec.expired(); });
  }
  if (kept.size() >= kFieldSetsKeptMax) kept.clear();
  kept.insert_or_assign(spec.get(), KeptFields{spec, std::move(fields)});
}

WebProbe::WebProbe(base::EventLoop& loop, net::HttpClient& client, base::ThreadPool& pool,
                   const net::AddressPolicy& policy, const config::ProbeConfig& probe,
                   const config::NetConfig& net)
    : impl_(std::make_shared<Impl>(loop, client, pool, policy, probe, net)) {}

WebProbe::~WebProbe() = default;

void WebProbe::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  impl_->Start(std::move(request), std::move(done));
}

}  // namespace vedette::worker
