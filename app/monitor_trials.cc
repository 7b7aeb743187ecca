#include "app/monitor_trials.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/delivery_config.h"
#include "config/parts.h"
#include "config/probe_config.h"
#include "config/server_config.h"
#include "domain/monitor/field_description.h"

namespace vedette::app {
namespace {

using std::chrono::milliseconds;

domain::Failure NotSeenYet() {
  return {"timeout", "The preview ended before this row had been seen.", true, {}};
}

domain::Failure NotAsked(const std::string& field) {
  return {"not_previewed",
          "The description of the field '" + field +
              "' is prose, which a model serves at each check; a preview does not ask it.",
          false,
          {}};
}

bool IsProse(const domain::WatchedField& field) {
  return domain::ParseFieldDescription(field.description).kind ==
         domain::FieldDescription::Kind::kProse;
}

}  // namespace

// One preview, from its start until the last of its rows has ended; answered by then, or when its
// time is over.
//
//   asks ── the last row was seen ──▶ answered
//     └──── its time is over ────────▶ answered; what still waits for its turn is not begun
class MonitorPreview::Run : public std::enable_shared_from_this<Run> {
 public:
  Run(MonitorPreview& owner, const api::PreviewRequest& request, Done done)
      : owner_(owner),
        org_id_(request.org_id),
        done_(std::move(done)),
        shows_(request.shows),
        rows_left_(request.rows.size()),
        rows_(request.rows.size(), NotSeenYet()) {}

  void Begin(const Pages& pages, const api::PreviewRequest& request) {
    const bool has_model = !pages.config.model.empty();
    auto spec = std::make_shared<worker::ProbeSpec>();
    spec->subject_type = request.subject_type;
    spec->tier = request.tier;
    spec->research_plan = request.research_plan;
    spec->options = request.options;
    spec->secrets = request.secrets;
    if (!request.request_headers.empty()) {
      spec->request_headers =
          std::make_shared<const domain::RequestHeaders>(request.request_headers);
    }
    for (const domain::WatchedField& field : request.watched) {
      if (has_model && IsProse(field)) {
        not_asked_.insert_or_assign(field.name, NotAsked(field.name));
      } else {
        spec->watched.push_back(field);
      }
    }
    timer_ = std::make_unique<base::Timer>(owner_.loop_, [this] { Answer(); });
    timer_->Start(owner_.config_.preview_timeout_ms);
    for (std::size_t i = 0; i < request.rows.size(); ++i) {
      if (spec->watched.empty()) {
        EndRow(i, domain::Observation{});
      } else {
        Ask(pages, i, request.rows[i], spec);
      }
    }
  }

 private:
  void Ask(const Pages& pages, std::size_t i, const domain::RowValues& row,
           const std::shared_ptr<const worker::ProbeSpec>& spec) {
    worker::ProbeRequest request;
    request.org_id = org_id_;
    request.check_id = base::Uuid::V4();
    request.row_id = base::Uuid::V4();
    request.spec = spec;
    request.subject = base::JsonText(row.subject_json);
    if (row.context_json) request.context = base::JsonText(*row.context_json);
    request.until = owner_.clock_.Now();
    request.timeout = std::min(pages.config.timeout_ms, owner_.config_.preview_timeout_ms);
    request.deadline_left = owner_.config_.preview_timeout_ms;
    request.on_turn = [self = shared_from_this()](milliseconds) { return self->done_ != nullptr; };
    if (shows_ && i == 0) {
      request.on_shown = [self = shared_from_this()](std::string picture, std::string elements) {
        self->picture_ = std::move(picture);
        self->elements_ = std::move(elements);
      };
      request.on_failed_page =
          [self = shared_from_this()](const std::shared_ptr<const domain::SeenPage>& page) {
            self->picture_ = page->picture;
          };
    }
    pages.probe->Start(std::move(request),
                       owner_.live_.Guard([self = shared_from_this(), i](worker::ProbeResult seen) {
                         self->EndRow(i, std::move(seen));
                       }));
  }

  void EndRow(std::size_t i, domain::ObservationResult seen) {
    if (auto* fields = std::get_if<domain::Observation>(&seen)) {
      fields->unread.insert(not_asked_.begin(), not_asked_.end());
    }
    rows_[i] = std::move(seen);
    owner_.rows_.GiveBack(org_id_);
    if (--rows_left_ == 0) Answer();
  }

  void Answer() {
    if (done_ == nullptr) return;
    timer_->Stop();
    api::PreviewOutcome outcome;
    outcome.rows = rows_;
    outcome.picture = picture_;
    outcome.elements = elements_;
    std::exchange(done_, nullptr)(std::move(outcome));
  }

  MonitorPreview& owner_;
  const base::Uuid org_id_;
  Done done_;  // empty once it has been called
  const bool shows_;
  std::size_t rows_left_;
  std::string picture_;
  std::string elements_;
  std::vector<domain::ObservationResult> rows_;
  std::map<std::string, domain::Failure> not_asked_;
  std::unique_ptr<base::Timer> timer_;
};

MonitorPreview::MonitorPreview(base::EventLoop& loop, ProbeSet& probes, const base::Clock& clock,
                               const config::Config& config)
    : loop_(loop),
      clock_(clock),
      config_(config.previews),
      rows_(static_cast<std::size_t>(config.previews.previews_in_flight_max), base::kUsualReserve) {
  for (const auto& [name, probe] : config.probes) {
    if (probe.kind != "web") continue;
    tiers_.emplace(*domain::ParseTier(name), Pages{probes.NewWebProbe(probe), probe});
  }
}

MonitorPreview::~MonitorPreview() = default;

bool MonitorPreview::Serves(domain::Tier tier) const {
  return tiers_.contains(tier);
}

void MonitorPreview::Preview(api::PreviewRequest request, Done done) {
  loop_.Post(
      [this, request = std::move(request), done = std::move(done)] { Start(request, done); });
}

void MonitorPreview::Start(const api::PreviewRequest& request, Done done) {
  const std::size_t rows = request.rows.size();
  const std::size_t held = rows_.held_by(request.org_id);
  // All of its rows are taken or none: the last of them decides.
  const auto total = static_cast<std::size_t>(config_.previews_in_flight_max);
  if (!base::MayTakeMore(held + rows - 1, rows_.used() + rows - 1, total, base::kUsualReserve)) {
    using Refusal = api::PreviewOutcome::Refusal;
    return done({held == 0 ? Refusal::kAll : Refusal::kOrganisation, {}});
  }
  rows_.Take(request.org_id, rows);
  std::make_shared<Run>(*this, request, std::move(done))->Begin(tiers_.at(request.tier), request);
}

WebhookTest::WebhookTest(base::EventLoop& loop, store::Pool& pool, const base::Clock& clock,
                         const config::Config& config, base::Logger log)
    : clock_(clock),
      calls_(loop, config.net, config.delivery.tests_in_flight_max),
      sender_(loop, pool, calls_.client(), clock, config, log) {}

void WebhookTest::Test(api::WebhookTestTarget target, Done done) {
  domain::Notification n;
  n.delivery_id = base::Uuid::V4();
  n.org_id = target.org_id;
  n.event_group_id = base::Uuid::V4();
  n.type = domain::NotificationType::kTest;
  n.created_at = clock_.Now();
  n.url = std::move(target.url);
  // The test notification is about the monitor itself.
  n.about = domain::CheckNotice{target.monitor_id, target.monitor_id,
                                std::move(target.metadata_json), target.channel_id};
  const base::Uuid org_id = n.org_id;
  calls_.Begin(org_id, [this, n = std::move(n), done = std::move(done)](OutsideCalls::Place place) {
    if (place == OutsideCalls::Place::kTaken) return Start(n, done);
    using Refusal = api::WebhookTestOutcome::Refusal;
    api::WebhookTestOutcome refused;
    refused.refusal =
        place == OutsideCalls::Place::kAllTaken ? Refusal::kAll : Refusal::kOrganisation;
    done(std::move(refused));
  });
}

void WebhookTest::Start(const domain::Notification& n, const Done& done) {
  sender_.Send(n, 1, [this, done, org_id = n.org_id](delivery::SendResult result) {
    calls_.End(org_id);
    api::WebhookTestOutcome outcome;
    outcome.delivered = !result.error;
    outcome.status_code = result.status_code;
    outcome.error = std::move(result.error);
    outcome.duration_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(result.duration).count();
    done(std::move(outcome));
  });
}

}  // namespace vedette::app
