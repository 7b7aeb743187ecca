#include "worker/probes/mixed_probe.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "config/role_config.h"
#include "domain/field_description.h"
#include "pages/page_address.h"
#include "worker/probes/attempt_time.h"
#include "worker/probes/spec_cache.h"

namespace vedette::worker {
namespace {

// Monitors whose fields are kept apart, and of what length together.
constexpr std::size_t kSplitsKeptMax = 256;
constexpr std::size_t kSplitsKeptBytesMax = 8 << 20;

// A monitor's fields by who observes them.
struct Split {
  std::shared_ptr<const ProbeSpec> selectors;
  std::shared_ptr<const ProbeSpec> prose;
};

Split SplitFields(const ProbeSpec& spec) {
  ProbeSpec selectors = spec;
  ProbeSpec prose = spec;
  const auto is_prose = [](const WatchedField& field) {
    return domain::ParseFieldDescription(field.description).kind ==
           domain::FieldDescription::Kind::kProse;
  };
  std::erase_if(selectors.watched, is_prose);
  std::erase_if(prose.watched, [&](const WatchedField& field) { return !is_prose(field); });
  return {std::make_shared<const ProbeSpec>(std::move(selectors)),
          std::make_shared<const ProbeSpec>(std::move(prose))};
}

}  // namespace

struct MixedProbe::Impl : std::enable_shared_from_this<MixedProbe::Impl> {
  using Done = std::function<void(ProbeResult)>;

  Impl(WebProbe& w, LlmProbe& m, const base::Clock& k, const config::ProbeConfig& config)
      : web(w), model(m), clock(k), page_text_bytes_max(config.page_text_bytes_max) {}

  void Start(ProbeRequest request, Done done);
  void OnRead(ProbeRequest prose, pages::PageReading page, Done done);
  void AskModel(ProbeRequest prose, std::optional<pages::PageText> page, Observation seen,
                Done done);

  WebProbe& web;
  LlmProbe& model;
  const base::Clock& clock;
  const std::size_t page_text_bytes_max;
  SpecCache<Split> splits{kSplitsKeptMax, kSplitsKeptBytesMax};
};

void MixedProbe::Impl::Start(ProbeRequest request, Done done) {
  auto split = splits.Find(request.spec);
  if (split == nullptr) {
    split = std::make_shared<const Split>(SplitFields(*request.spec));
    splits.Keep(request.spec, split, TextBytes(*split->selectors) + TextBytes(*split->prose));
  }
  if (split->prose->watched.empty()) return web.Start(std::move(request), std::move(done));
  ProbeRequest prose = request;
  prose.spec = split->prose;
  if (split->selectors->watched.empty() &&
      !pages::PageAddress(request.subject.Value(), request.context.Value())) {
    return model.Ask(std::move(prose), std::nullopt, std::move(done));
  }
  request.spec = split->selectors;
  auto time = MeasureTurns(&request, request.timeout, clock.SinceBoot());
  web.Read(std::move(request), page_text_bytes_max,
           [weak = weak_from_this(), prose = std::move(prose), done = std::move(done),
            time = std::move(time)](pages::PageReading page) mutable {
             const auto self = weak.lock();
             if (self == nullptr) return;
             prose.timeout = time->Timeout(self->clock.SinceBoot());
             self->OnRead(std::move(prose), std::move(page), std::move(done));
           });
}

void MixedProbe::Impl::OnRead(ProbeRequest prose, pages::PageReading page, Done done) {
  auto* seen = std::get_if<Observation>(&page.result);
  if (seen == nullptr) return done(std::move(page.result));
  AskModel(std::move(prose), std::move(page.text), std::move(*seen), std::move(done));
}

void MixedProbe::Impl::AskModel(ProbeRequest prose, std::optional<pages::PageText> page,
                                Observation seen, Done done) {
  model.Ask(std::move(prose), std::move(page),
            [seen = std::move(seen), done = std::move(done)](ProbeResult result) mutable {
              if (auto* said = std::get_if<Observation>(&result)) {
                said->fields.merge(seen.fields);
                said->unread.merge(seen.unread);
              }
              done(std::move(result));
            });
}

MixedProbe::MixedProbe(WebProbe& web, LlmProbe& model, const base::Clock& clock,
                       const config::ProbeConfig& config)
    : impl_(std::make_shared<Impl>(web, model, clock, config)) {}

MixedProbe::~MixedProbe() = default;

void MixedProbe::Start(ProbeRequest request, std::function<void(ProbeResult)> done) {
  impl_->Start(std::move(request), std::move(done));
}

}  // namespace vedette::worker
