#include "worker/probes/web_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/recent_map.h"
#include "base/text.h"
#include "config/net_config.h"
#include "config/probe_config.h"
#include "domain/monitor/field_description.h"
#include "html/fetch.h"
#include "html/http_failure.h"
#include "html/page_reading.h"
#include "html/pdf_text.h"
#include "html/robots.h"
#include "html/selector.h"
#include "html/url_reference.h"
#include "net/browser/page_load.h"
#include "worker/probes/spec_cache.h"

namespace vedette::worker {
namespace {

using domain::Render;
using html::FieldSet;
using html::PageReading;
using std::chrono::milliseconds;

// Monitors whose compiled fields are kept, and what they may take together. What is not kept is
// compiled again for each page: a tenant's regexes may take 64 MiB a monitor.
constexpr std::size_t kFieldSetsKeptMax = 256;
constexpr std::size_t kFieldSetsKeptBytesMax = 64 << 20;
// The characters of an address that a failure names.
constexpr std::size_t kAskedCharactersMax = 200;
constexpr std::string_view kTooSlow = "Reading the page takes too long; simpler selectors may do.";

// The fields of a monitor, compiled, and what tells them from others'.
struct CompiledFields {
  FieldSet fields;
  std::string fingerprint;
};
using SharedFields = std::shared_ptr<const CompiledFields>;

// What a page showed of what is watched: of each field the hash of its value, empty where that is
// absent, and of the page's text under the empty name, where that was read. The values themselves
// may be large, and a page may wait for a browser for long.
using ShownFields = std::map<std::string, std::string>;

// Whether a page that was rendered shows a field, or one as absent, that it did not as it was sent.
bool ShowsMore(const ShownFields& rendered, const ShownFields& sent) {
  return std::any_of(rendered.begin(), rendered.end(), [&](const auto& field) {
    const auto before = sent.find(field.first);
    if (before == sent.end()) return true;
    return !field.second.empty() && field.second != before->second;
  });
}

// A page may be sent whole one day: it is fetched first once more.
constexpr std::chrono::hours kScriptedFor{24};

// Pages that showed more when they were rendered: for a day they are rendered without being fetched
// first. One's key names who reads the page, what is read of it, and its address: what is learned
// of a page changes nothing for others, also of the same host. It forgets those that are not used.
// Loop thread only.
class ScriptedPages {
 public:
  explicit ScriptedPages(const base::Clock& clock) : clock_(clock) {}

  void Insert(const std::string& key) { since_.Insert(key, clock_.SinceBoot()); }

  bool Has(const std::string& key) {
    const auto since = since_.Find(key);
    return since && clock_.SinceBoot() - *since < kScriptedFor;
  }

 private:
  const base::Clock& clock_;
  base::RecentMap<std::string, std::chrono::nanoseconds> since_{10'000};  // since boot
};

// What the memory of pages keeps of a check.
struct FieldReading final : html::Reading {
  explicit FieldReading(PageReading r) : reading(std::move(r)) {}
  std::size_t bytes() const override { return html::BytesOf(reading); }

  const PageReading reading;
};

// The monitor is part of it, so that nothing that is remembered passes from one tenant to another,
// and so are its headers: a page may look otherwise to who is logged in.
std::string Fingerprint(const ProbeSpec& spec) {
  std::string text = spec.monitor_id.ToString();
  if (spec.request_headers != nullptr) text += domain::RequestHeadersText(*spec.request_headers);
  for (const WatchedField& field : spec.watched) {
    text.append(1, '\0').append(field.name).append(1, '\0').append(field.description);
  }
  for (const auto* parts : {&spec.options.ignore.patterns, &spec.options.ignore.selectors}) {
    text.append(1, '\0');
    for (const std::string& part : *parts) text.append(1, '\0').append(part);
  }
  return base::Sha256(text);
}

// Read as it comes, such a page would be told as a change.
ProbeFailure NotRendered() {
  return {"not_rendered",
          "The monitor's steps need a browser, and this page would not be rendered: its tier gives "
          "less by now, the monitor has request_headers, or the service has no browser.",
          false,
          {}};
}

ProbeFailure HeadersSealed() {
  return {"unreadable_headers",
          "The monitor's request headers cannot be opened with the service's present encryption "
          "keys; give them again, or ask the operator.",
          false,
          {}};
}

// Null where nothing was read. Under the keys of these readings nothing else is kept.
const PageReading* ReadingOf(const html::Fetched& fetched) {
  const auto* found = std::get_if<std::shared_ptr<const html::Reading>>(&fetched);
  return found == nullptr ? nullptr : &static_cast<const FieldReading&>(**found).reading;
}

// Whether a page that was fetched without running its scripts may show more with them.
bool MayNeedScripts(const html::Fetched& fetched) {
  constexpr std::string_view kClass = "made_by_scripts";
  if (const auto* failure = std::get_if<ProbeFailure>(&fetched)) {
    return failure->error_class == kClass;
  }
  const PageReading& reading = *ReadingOf(fetched);
  if (reading.may_need_scripts) return true;
  const auto* seen = std::get_if<Observation>(&reading.result);
  return seen != nullptr &&
         std::any_of(seen->unread.begin(), seen->unread.end(),
                     [&](const auto& f) { return f.second.error_class == kClass; });
}

ShownFields ShownBy(const PageReading* reading) {
  ShownFields shown;
  if (reading == nullptr) return shown;
  if (const auto* seen = std::get_if<Observation>(&reading->result)) {
    for (const auto& [name, field] : seen->fields) {
      const std::string& value = field.value.Text();
      shown[name] = value == "null" ? "" : base::Sha256(value);
    }
  }
  if (reading->text) shown[""] = base::Sha256(reading->text->text);
  return shown;
}

html::Fetched AsFetched(PageReading reading) {
  if (auto* failure = std::get_if<ProbeFailure>(&reading.result)) return std::move(*failure);
  return std::make_shared<const FieldReading>(std::move(reading));
}

// Whether anything is observed of a row that is not known of it.
bool IsNews(const base::Json& known, const Observation& seen) {
  return std::any_of(seen.fields.begin(), seen.fields.end(), [&](const auto& field) {
    const auto it = known.find(field.first);
    const base::Json& value = field.second.value.Value();
    return it == known.end() ? !value.is_null() : *it != value;
  });
}

// Whether a check that observed this is one whose page is looked at later: the first, and those
// that saw something new. Null where nothing is kept. Compares with a copy: another thread may look
// into what the check knows.
FieldSet::IsKept IsNewsOf(const ProbeRequest& request) {
  if (request.spec->monitor_id.is_nil()) return nullptr;
  if (!request.since) return [](const Observation&) { return true; };
  return [known = request.known.Value()](const Observation& seen) { return IsNews(known, seen); };
}

// What is watched by its place in the page.
std::vector<net::Outlined> OutlinedOf(const ProbeSpec& spec) {
  std::vector<net::Outlined> outlined;
  for (const WatchedField& field : spec.watched) {
    auto description = domain::ParseFieldDescription(field.description);
    const bool is_xpath = description.kind == domain::FieldDescription::Kind::kXPath;
    if (!is_xpath && description.kind != domain::FieldDescription::Kind::kCss) continue;
    outlined.push_back({is_xpath, std::move(description.selector)});
  }
  return outlined;
}

// Somebody else reads the texts of these pages, too.
bool EveryPage(const Observation&) {
  return true;
}

void AddPicture(std::string file, PageReading* reading) {
  auto* seen = std::get_if<Observation>(&reading->result);
  if (file.empty() || seen == nullptr || seen->page == nullptr) return;
  domain::SeenPage page = *seen->page;
  page.picture_hash = base::Sha256(file);
  page.picture = std::move(file);
  seen->page = std::make_shared<const domain::SeenPage>(std::move(page));
  if (reading->text) reading->text->kept = seen->page;
}

using Shown = std::function<void(std::string picture, std::string elements)>;

// Hands the reading on, with a picture where the page is open and is kept. The check waits for the
// picture: what is open is closed as soon as nothing needs it.
void Picture(const std::shared_ptr<net::OpenPage>& open, const ProbeSpec& spec,
             const FieldSet::IsKept& is_news, const Shown& shown, const PageReading& reading,
             const std::function<void(PageReading)>& done) {
  if (open != nullptr && shown) {
    return open->TakePicture({OutlinedOf(spec), true},
                             [reading, shown, done](net::Picture picture) {
                               if (!picture.file.empty())
                                 shown(std::move(picture.file), std::move(picture.elements));
                               done(reading);
                             });
  }
  const auto* seen = std::get_if<Observation>(&reading.result);
  const bool wants =
      open != nullptr && is_news && seen != nullptr && seen->page != nullptr && is_news(*seen);
  if (!wants) return done(reading);
  open->TakePicture({OutlinedOf(spec)},
                    [kept = PageReading(reading), done](net::Picture picture) mutable {
                      AddPicture(std::move(picture.file), &kept);
                      done(std::move(kept));
                    });
}

using FailedPage = std::function<void(std::shared_ptr<const domain::SeenPage> page)>;

// Hands the failure on, and what the page looked like where it was rendered.
void PictureFailure(const std::shared_ptr<net::OpenPage>& open, const std::string& url,
                    const FailedPage& told, ProbeFailure failure,
                    const std::function<void(PageReading)>& done) {
  if (open == nullptr || !told) return done({std::move(failure), {}});
  open->TakePicture({},
                    [failure = std::move(failure), url, told, done](net::Picture picture) mutable {
                      if (!picture.file.empty()) {
                        domain::SeenPage page;
                        page.url = url;
                        page.picture_hash = base::Sha256(picture.file);
                        page.picture = std::move(picture.file);
                        told(std::make_shared<const domain::SeenPage>(std::move(page)));
                      }
                      done({std::move(failure), {}});
                    });
}

// Compiles the fields where they are not kept any more; the page's time begins after that.
html::Fetched ReadText(const SharedFields& kept, const ProbeSpec& spec, std::size_t text_bytes_max,
                       const FieldSet::IsKept& is_kept, const html::FetchedPage& page,
                       html::ReadingTime& time) {
  if (kept != nullptr) {
    return AsFetched(kept->fields.Read(page, time.stop(), text_bytes_max, is_kept));
  }
  const auto compiled = FieldSet::Compile(spec.watched, spec.options.ignore);
  if (const auto* failure = std::get_if<ProbeFailure>(&compiled)) return *failure;
  time.Begin();
  return AsFetched(std::get<FieldSet>(compiled).Read(page, time.stop(), text_bytes_max, is_kept));
}

html::Fetched ReadFields(const SharedFields& kept, const ProbeSpec& spec,
                         std::size_t text_bytes_max, std::size_t body_bytes_max,
                         const FieldSet::IsKept& is_kept, const html::FetchedPage& page,
                         html::ReadingTime& time) {
  if (!html::IsPdf(page.content_type)) {
    return ReadText(kept, spec, text_bytes_max, is_kept, page, time);
  }
  const auto stopped = [&time] { return time.stop().stopped(); };
  auto text = html::TextOfPdf(page.body, stopped, {body_bytes_max});
  if (auto* failure = std::get_if<ProbeFailure>(&text)) return std::move(*failure);
  html::FetchedPage read{std::get<std::string>(std::move(text)), "text/plain; charset=utf-8",
                         page.url};
  read.of_pdf = true;
  return ReadText(kept, spec, text_bytes_max, is_kept, read, time);
}

}  // namespace

// A check whose fields are kept goes to the fetcher at once; another one waits here until a thread
// of the pool has compiled them.
struct WebProbe::Impl : std::enable_shared_from_this<WebProbe::Impl> {
  using CheckId = std::uint64_t;
  using Done = std::function<void(PageReading)>;
  using CompileResult = std::variant<SharedFields, ProbeFailure>;

  struct Check {
    ProbeRequest request;
    std::string url;
    std::size_t text_bytes_max = 0;
    Done done;
    // Those that a page which is acted on has left, once it has been read. Else null.
    std::shared_ptr<std::optional<std::vector<net::PageCookie>>> cookies{};
    milliseconds waited{};        // for a thread that compiled the fields
    milliseconds login_waited{};  // for another page that logs in
  };
  // The key of ScriptedPages; what belongs to no monitor is its organisation's.
  static std::string ScriptedKey(const Check& check, const CompiledFields& fields) {
    return base::Sha256(check.request.org_id.ToString() + fields.fingerprint + check.url);
  }
  struct Compiling {
    Check check;
    std::chrono::nanoseconds posted{};  // since boot
    std::unique_ptr<base::Timer> timer;
  };

  Impl(base::EventLoop& l, net::HttpClient& client, base::ThreadPool& p,
       const net::AddressPolicy& policy, html::PageMemory& memory, base::ByteBudget& budget,
       const config::ProbeConfig& probe_config, const config::NetConfig& net_config,
       html::RobotsCache* book, net::Renderer* renderer, LoginKeeper* keeper)
      : loop(l),
        pool(p),
        fetcher(l, client, p, policy, memory, budget, net_config.user_agent, renderer),
        robots(book),
        logins(keeper),
        body_bytes_max(probe_config.body_bytes_max),
        render(renderer == nullptr
                   ? Render::kNever
                   : domain::ParseRender(probe_config.render).value_or(Render::kNever)) {}

  void Read(ProbeRequest request, std::size_t text_bytes_max, Done done);
  void Compile(Check check);
  void OnCompiled(CheckId id, std::chrono::nanoseconds began, CompileResult compiled);
  void Fail(CheckId id, ProbeFailure failure);
  void Fetch(Check check, const SharedFields& fields);
  void FetchLoggedIn(Check check, const SharedFields& fields, PageLogin login);
  // Takes what the check asks when it has its turn.
  html::FetchRequest RequestOf(Check& check, const SharedFields& fields, PageLogin login);
  std::function<void(html::Fetched)> RenderedWhereNeeded(std::string key, html::FetchRequest again,
                                                         html::ReadPage read,
                                                         std::function<void(html::Fetched)> then);
  void FetchAs(Check check, const SharedFields& fields, PageLogin login);
  void AskRobots(std::vector<std::string> urls, html::FetchRequest fetch, html::ReadPage read,
                 std::function<void(html::Fetched)> then);
  void FetchOnce(html::FetchRequest fetch, html::ReadPage read,
                 std::function<void(html::Fetched)> then);
  Render RenderOf(const ProbeSpec& spec) const;
  bool RendersFirst(const Check& check, const CompiledFields& fields);

  base::EventLoop& loop;
  base::ThreadPool& pool;
  html::Fetcher fetcher;
  html::RobotsCache* const robots;  // null: robots.txt is not asked
  PageLogins logins;
  const std::size_t body_bytes_max;
  const Render render;  // at most
  const base::SystemClock clock;

  std::unordered_map<CheckId, Compiling> compiling;
  CheckId last_id = 0;

  ScriptedPages scripted{clock};

  SpecCache<CompiledFields> kept{kFieldSetsKeptMax, kFieldSetsKeptBytesMax};
};

void WebProbe::Impl::Read(ProbeRequest request, std::size_t text_bytes_max, Done done) {
  base::Assert(loop.InLoopThread(), "a check of a page starts on the loop's thread");
  if (auto failure = html::ProseFailure(request.spec->watched)) {
    return done({std::move(*failure), {}});
  }
  if (request.spec->headers_sealed) return done({HeadersSealed(), {}});
  const auto address = html::PageAddress(request.subject.Value(), request.context.Value());
  if (!address) {
    return done(
        {ProbeFailure{
             "no_address", "The row has no url, website or domain that names its page.", false, {}},
         {}});
  }
  if (auto refused = fetcher.CheckUrl(*address)) return done({std::move(*refused), {}});
  const SharedFields fields = kept.Find(request.spec);
  Check check{std::move(request), *address, text_bytes_max, std::move(done)};
  return fields != nullptr ? Fetch(std::move(check), fields) : Compile(std::move(check));
}

void WebProbe::Impl::Compile(Check check) {
  const CheckId id = ++last_id;
  Compiling& waits = compiling[id];
  waits.check = std::move(check);
  waits.timer =
      std::make_unique<base::Timer>(loop, [this, id] { Fail(id, html::OverloadedFailure()); });
  waits.timer->Start(std::max(waits.check.request.deadline_left, milliseconds(1)));
  waits.posted = clock.SinceBoot();
  const ProbeRequest& request = waits.check.request;
  const bool posted =
      pool.Post(request.org_id, [id, spec = request.spec, weak = weak_from_this(), &to = loop] {
        const auto began = base::SystemClock().SinceBoot();
        auto result = FieldSet::Compile(spec->watched, spec->options.ignore);
        CompileResult compiled;
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
  if (!posted) Fail(id, html::OverloadedFailure());
}

void WebProbe::Impl::OnCompiled(CheckId id, std::chrono::nanoseconds began,
                                CompileResult compiled) {
  if (auto* failure = std::get_if<ProbeFailure>(&compiled)) return Fail(id, std::move(*failure));
  auto node = compiling.extract(id);
  if (node.empty()) return;  // its time ran out
  Compiling& waited = node.mapped();
  waited.check.waited = std::chrono::floor<milliseconds>(began - waited.posted);
  const SharedFields& fields = std::get<SharedFields>(compiled);
  kept.Keep(waited.check.request.spec, fields, fields->fields.bytes_max());
  Fetch(std::move(waited.check), fields);
}

void WebProbe::Impl::Fail(CheckId id, ProbeFailure failure) {
  auto node = compiling.extract(id);
  if (!node.empty()) node.mapped().check.done({std::move(failure), {}});
}

void WebProbe::Impl::Fetch(Check check, const SharedFields& fields) {
  const std::shared_ptr<const ProbeSpec> spec = check.request.spec;
  const bool acts = spec->options.Acts();
  if (acts && RenderOf(*spec) != Render::kAlways) return check.done({NotRendered(), {}});
  // Outermost: a login that fails fails other rows too, whose pages are others.
  check.done = [url = check.url, done = std::move(check.done)](PageReading reading) {
    if (auto* failure = std::get_if<ProbeFailure>(&reading.result)) {
      failure->message +=
          fmt::format(" It was asked for {}.", base::CutCharacters(url, kAskedCharactersMax));
    }
    done(std::move(reading));
  };
  if (!acts) return FetchAs(std::move(check), fields, {});
  const auto began = clock.SinceBoot();
  const base::Uuid org_id = check.request.org_id;
  logins.Ask(org_id, spec,
             [weak = weak_from_this(), check = std::move(check), fields,
              began](PageLogins::Given given) mutable {
               const auto self = weak.lock();
               if (self == nullptr) return;
               if (auto* failure = std::get_if<ProbeFailure>(&given)) {
                 return check.done({std::move(*failure), {}});
               }
               check.login_waited =
                   std::chrono::floor<milliseconds>(self->clock.SinceBoot() - began);
               self->FetchLoggedIn(std::move(check), fields, std::move(std::get<PageLogin>(given)));
             });
}

// A step's address goes by the row's own. The login is given back when the page has ended.
void WebProbe::Impl::FetchLoggedIn(Check check, const SharedFields& fields, PageLogin login) {
  for (domain::PageStep& step : login.steps) {
    const bool is_path = step.kind == domain::PageStep::Kind::kGoto && step.target.starts_with('/');
    if (is_path) step.target = html::ResolveReference(check.url, step.target);
  }
  auto cookies = std::make_shared<std::optional<std::vector<net::PageCookie>>>();
  check.cookies = cookies;
  check.done = [weak = weak_from_this(), org_id = check.request.org_id, spec = check.request.spec,
                login, cookies, done = std::move(check.done)](PageReading reading) {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->logins.End(org_id, *spec, login, *cookies, std::get_if<ProbeFailure>(&reading.result));
    done(std::move(reading));
  };
  FetchAs(std::move(check), fields, std::move(login));
}

html::FetchRequest WebProbe::Impl::RequestOf(Check& check, const SharedFields& fields,
                                             PageLogin login) {
  html::FetchRequest fetch;
  fetch.org_id = check.request.org_id;
  fetch.url = check.url;
  fetch.own_headers = check.request.spec->request_headers;
  fetch.render = RendersFirst(check, *fields);
  fetch.wait_for = check.request.spec->options.wait_for;
  fetch.fragment = html::PageFragment(check.request.subject.Value(), check.request.context.Value());
  fetch.steps = std::move(login.steps);
  fetch.cookies = std::move(login.cookies);
  if (check.cookies != nullptr) {
    fetch.on_cookies = [to = check.cookies](std::vector<net::PageCookie> cookies) {
      *to = std::move(cookies);
    };
  }
  // What belongs to no monitor is looked at once, and nothing is remembered of it.
  if (!check.request.spec->monitor_id.is_nil()) {
    fetch.reading_key = fields->fingerprint + std::to_string(check.text_bytes_max);
  }
  fetch.body_bytes_max = body_bytes_max;
  fetch.timeout = check.request.timeout;
  fetch.turn_wait_max = kTurnWaitMax;
  fetch.thread_wait_max = check.request.deadline_left - check.waited;
  fetch.too_slow = kTooSlow;
  if (check.request.on_turn) {
    fetch.on_turn = [before = check.waited + check.login_waited,
                     ask = std::move(check.request.on_turn)](milliseconds waited) mutable {
      return ask(waited + std::exchange(before, milliseconds(0)));
    };
  }
  return fetch;
}

void WebProbe::Impl::FetchAs(Check check, const SharedFields& fields, PageLogin login) {
  html::FetchRequest fetch = RequestOf(check, fields, std::move(login));
  const std::string url = check.url;
  // Weak: while the page is under way the fields may have to make room for others'.
  html::ReadPage read = [weak = std::weak_ptr(fields), spec = check.request.spec,
                         text_bytes_max = check.text_bytes_max, body_bytes_max = body_bytes_max,
                         is_kept = check.text_bytes_max > 0 ? FieldSet::IsKept(EveryPage)
                                                            : IsNewsOf(check.request)](
                            const html::FetchedPage& page, html::ReadingTime& time) {
    return ReadFields(weak.lock(), *spec, text_bytes_max, body_bytes_max, is_kept, page, time);
  };
  const FieldSet::IsKept is_news = IsNewsOf(check.request);
  const auto open = std::make_shared<std::shared_ptr<net::OpenPage>>();
  const bool shows = check.request.on_shown != nullptr;
  if (is_news || shows) {
    fetch.on_open = [open](std::shared_ptr<net::OpenPage> page) { *open = std::move(page); };
  }
  std::function<void(html::Fetched)> then = [done = std::move(check.done), url, open, is_news,
                                             told = std::move(check.request.on_failed_page),
                                             shown = std::move(check.request.on_shown),
                                             spec = check.request.spec](html::Fetched fetched) {
    if (const PageReading* reading = ReadingOf(fetched)) {
      if (!html::LeadsToLogin(url, *reading)) {
        return Picture(std::exchange(*open, nullptr), *spec, is_news, shown, *reading, done);
      }
      fetched = html::LoginRequired(*reading);
    }
    PictureFailure(std::exchange(*open, nullptr), url, told,
                   std::move(std::get<ProbeFailure>(fetched)), done);
  };
  if (RenderOf(*check.request.spec) == Render::kAuto && !fetch.render) {
    then = RenderedWhereNeeded(ScriptedKey(check, *fields), fetch, read, std::move(then));
  }
  FetchOnce(std::move(fetch), std::move(read), std::move(then));
}

// Goes on behind a fetch with what was fetched, or with the page as it is rendered.
std::function<void(html::Fetched)> WebProbe::Impl::RenderedWhereNeeded(
    std::string key, html::FetchRequest again, html::ReadPage read,
    std::function<void(html::Fetched)> then) {
  return [weak = weak_from_this(), key = std::move(key), again = std::move(again),
          read = std::move(read), then = std::move(then),
          began = clock.SinceBoot()](html::Fetched fetched) mutable {
    const auto self = weak.lock();
    if (self == nullptr) return;
    if (!MayNeedScripts(fetched)) return then(std::move(fetched));
    const auto took = std::chrono::floor<milliseconds>(self->clock.SinceBoot() - began);
    again.render = true;
    again.timeout = std::max(again.timeout - took, again.timeout / 2);
    self->FetchOnce(std::move(again), std::move(read),
                    [weak, key, sent = ShownBy(ReadingOf(fetched)),
                     then = std::move(then)](html::Fetched rendered) {
                      const auto held = weak.lock();
                      if (held == nullptr) return;
                      if (ShowsMore(ShownBy(ReadingOf(rendered)), sent)) held->scripted.Insert(key);
                      then(std::move(rendered));
                    });
  };
}

// The browser would send a monitor's own headers to more than the row's own host.
Render WebProbe::Impl::RenderOf(const ProbeSpec& spec) const {
  if (spec.request_headers != nullptr || !fetcher.Renders()) return Render::kNever;
  return domain::RenderIn(render, spec.options);
}

bool WebProbe::Impl::RendersFirst(const Check& check, const CompiledFields& fields) {
  const Render asked = RenderOf(*check.request.spec);
  if (asked == Render::kAuto && check.request.on_shown) return true;
  if (asked != Render::kAuto) return asked == Render::kAlways;
  return scripted.Has(ScriptedKey(check, fields));
}

// The addresses of its steps are asked for like its own.
void WebProbe::Impl::FetchOnce(html::FetchRequest fetch, html::ReadPage read,
                               std::function<void(html::Fetched)> then) {
  if (robots == nullptr) return fetcher.Fetch(std::move(fetch), std::move(read), std::move(then));
  std::vector<std::string> urls{fetch.url};
  for (const domain::PageStep& step : fetch.steps) {
    if (step.kind != domain::PageStep::Kind::kGoto || step.target == domain::kRowPage) continue;
    if (auto refused = fetcher.CheckUrl(step.target)) return then(std::move(*refused));
    urls.push_back(step.target);
  }
  AskRobots(std::move(urls), std::move(fetch), std::move(read), std::move(then));
}

// The last one first.
void WebProbe::Impl::AskRobots(std::vector<std::string> urls, html::FetchRequest fetch,
                               html::ReadPage read, std::function<void(html::Fetched)> then) {
  if (urls.empty()) return fetcher.Fetch(std::move(fetch), std::move(read), std::move(then));
  html::FetchRequest asked;
  asked.org_id = fetch.org_id;
  asked.url = std::move(urls.back());
  asked.timeout = fetch.timeout;
  asked.turn_wait_max = fetch.turn_wait_max;
  asked.thread_wait_max = fetch.thread_wait_max;
  asked.on_turn = fetch.on_turn;
  urls.pop_back();
  robots->Ask(asked, [urls = std::move(urls), fetch = std::move(fetch), read = std::move(read),
                      then = std::move(then),
                      weak = weak_from_this()](std::optional<ProbeFailure> refused) mutable {
    const auto self = weak.lock();
    if (self == nullptr) return;
    if (refused) return then(std::move(*refused));
    self->AskRobots(std::move(urls), std::move(fetch), std::move(read), std::move(then));
  });
}

WebProbe::WebProbe(base::EventLoop& loop, net::HttpClient& client, base::ThreadPool& pool,
                   const net::AddressPolicy& policy, html::PageMemory& memory,
                   base::ByteBudget& budget, const config::ProbeConfig& probe,
                   const config::NetConfig& net, html::RobotsCache* robots, net::Renderer* renderer,
                   LoginKeeper* logins)
    : impl_(std::make_shared<Impl>(loop, client, pool, policy, memory, budget, probe, net, robots,
                                   renderer, logins)) {}

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
