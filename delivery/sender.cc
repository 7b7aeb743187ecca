#include "delivery/sender.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/json.h"
#include "config/config.h"
#include "domain/auth/cell.h"
#include "domain/channel/channel.h"
#include "domain/channel/chat.h"
#include "domain/channel/mail.h"
#include "domain/job/webhook.h"
#include "domain/workflow/block_type.h"
#include "domain/workflow/cells.h"
#include "domain/workflow/lookup_result.h"
#include "domain/workflow/result_file.h"
#include "domain/workflow/run_plan.h"
#include "net/retry_after.h"
#include "store/jobs/read.h"
#include "store/jobs/runs.h"

namespace vedette::delivery {
namespace {

using base::Json;

constexpr std::size_t kReadBytesMax = std::size_t{256} << 10;
constexpr int kReadPartsMax = 16;

// The `row_count` rows as an array of objects; nothing where that would be longer than `bytes_max`,
// or where not all of them are kept any more.
std::optional<std::string> InlineRows(store::Session& session, const base::Uuid& run_id, int block,
                                      const domain::Columns& columns, std::int64_t row_count,
                                      std::size_t bytes_max) {
  std::string text = "[";
  std::int64_t left = row_count;
  for (int from = 0;;) {
    const auto parts =
        store::ReadRunParts(session, run_id, block, from, kReadBytesMax, kReadPartsMax);
    if (parts.empty()) return left > 0 ? std::nullopt : std::optional(text + "]");
    for (const store::RunPart& part : parts) {
      left -= part.row_count;
      domain::ForEachRow(part.rows_json, columns.size(), [&](const base::CellTexts& row) {
        if (text.size() >= bytes_max) return;
        if (text.size() > 1) text.push_back(',');
        domain::AppendRowObject(columns, row, &text);
      });
      if (text.size() >= bytes_max) return std::nullopt;
    }
    from = parts.back().part + 1;
  }
}

// One notification's run, as it is told.
class Callback {
 public:
  Callback(store::Session& session, const store::RunDetail& detail, int block,
           const config::Config& config)
      : session_(session),
        run_(detail.run),
        graph_(domain::ReadRunGraph(detail.params_json)),
        rows_of_(domain::RowsOf(graph_, block)),
        config_(config) {
    for (const store::JobBlockView& view : store::ReadJobBlocks(session, run_.id)) {
      if (view.block == rows_of_) row_count_ = view.rows_out;
    }
    const auto specs = store::ReadRunBlockSpecs(session, run_.id, block);
    if (!specs) throw std::invalid_argument("the block is not there");
    include_results_ = domain::ReadBoundSpecs(*specs).specs.at("include_results").get<bool>();
  }

  std::string Body(const domain::Notification& n, base::Timestamp now) const {
    const bool completed = run_.status == domain::JobStatus::kCompleted;
    const auto columns = store::ReadRunColumns(session_, run_.id, rows_of_);
    std::optional<std::string> rows;
    const bool wanted = completed && include_results_ && columns;
    if (wanted) {
      rows = InlineRows(session_, run_.id, rows_of_, *columns, row_count_,
                        std::min(config_.workflows.inline_results_bytes_max,
                                 config_.delivery.body_bytes_max / 2));
    }
    const domain::ResultFile file{run_.id, rows_of_, domain::ResultFormat::kCsv};
    const base::Timestamp expires = now + domain::kDownloadLifetime;
    const bool kept = row_count_ == 0 || store::AreRowsKept(session_, run_.id, rows_of_);
    const bool linked = !config_.public_url.empty() && columns && kept;
    Json body{{"event_id", n.event_group_id.ToString()},
              {"type", domain::EventTypeHeader(n)},
              {"run_id", run_.id.ToString()},
              {"workflow_id", run_.workflow_id.ToString()},
              {"workflow_name", run_.workflow_name},
              {"status", domain::JobStatusName(domain::RunStatus(run_.status))},
              {"row_count", row_count_},
              {"results", nullptr},
              {"results_truncated", wanted && !rows},
              {"results_download_url", nullptr},
              {"results_download_expires_at", nullptr},
              {"created_at", base::FormatTimestamp(n.created_at)}};
    if (linked) {
      body["results_download_url"] =
          config_.public_url +
          domain::DownloadPath(file, expires, config_.security.encryption_key) +
          domain::CellQuery(config_.cell.id);
      body["results_download_expires_at"] =
          base::FormatTimestamp(std::chrono::floor<std::chrono::seconds>(expires));
    }
    std::string text = base::DumpJson(body);
    if (!rows) return text;
    // The rows' text goes in as it is: numbers stay as they were written.
    constexpr std::string_view kNoResults = "\"results\":null";
    return text.replace(text.rfind(kNoResults), kNoResults.size(), "\"results\":" + *rows);
  }

 private:
  store::Session& session_;
  const store::RunView& run_;
  const domain::RunGraph graph_;
  const int rows_of_;
  const config::Config& config_;
  std::int64_t row_count_ = 0;
  bool include_results_ = true;
};

std::string MonitorsUrlOf(const config::Config& config) {
  return domain::MonitorsUrl(config.public_url, config.dashboard.enabled, config.cell.id);
}

std::string BodyFor(const store::ChannelMessage& message, std::string_view monitors_url) {
  const domain::ChatMessage shown = domain::ChatMessageOf(message.news, monitors_url);
  switch (message.kind) {
    case domain::ChannelKind::kSlack:
      return domain::SlackBody(shown);
    case domain::ChannelKind::kTeams:
      return domain::TeamsBody(shown);
    case domain::ChannelKind::kDiscord:
      return domain::DiscordBody(shown);
    default:
      break;
  }
  return domain::AppriseBody(shown, message.tag);
}

// The headers and the body of an attempt to tell a chat, in its own form (domain/channel/chat.h),
// unsigned, as chats read no signatures. The message is of no other kind than those with a secret
// address. Pure.
net::HttpRequest ChatRequest(const store::ChannelMessage& message, std::string_view monitors_url) {
  net::HttpRequest request;
  request.headers = {{"Content-Type", "application/json"},
                     {"User-Agent", "vedette/" VEDETTE_VERSION}};
  request.body = BodyFor(message, monitors_url);
  return request;
}

// The e-mail of an attempt: the question to the owner of an address that is not confirmed, or what
// the notification tells. Nothing where the recipient is not to get it any more, or is not there.
// Pure.
std::optional<net::OutgoingMail> MailRequest(const store::ChannelMessage& message,
                                             const domain::Notification& notification,
                                             const config::Config& config, base::Timestamp now) {
  using domain::MailLink;
  using domain::MailStatus;
  // A test that a client asks for has no receiver; the question is a test that has one.
  const bool asks =
      notification.type == domain::NotificationType::kTest && !notification.endpoint_id.is_nil();
  const auto wanted = asks ? MailStatus::kUnconfirmed : MailStatus::kConfirmed;
  const auto& recipient = message.recipient;
  if (!recipient || recipient->status != wanted || recipient->address.empty()) return std::nullopt;
  const auto link = [&](MailLink use) {
    return config.public_url +
           domain::MailLinkPath(recipient->id, use, config.security.encryption_key) +
           domain::CellQuery(config.cell.id);
  };
  const domain::MailEnvelope envelope{config.mail.from, recipient->address,
                                      notification.delivery_id, now, message.channel_name};
  net::OutgoingMail mail;
  mail.from = envelope.from;
  mail.to = envelope.to;
  mail.timeout = config.delivery.timeout_ms;
  mail.message = asks ? domain::ConfirmationMail(envelope, link(MailLink::kConfirm),
                                                 link(MailLink::kUnsubscribe))
                      : domain::NewsMail(envelope, message.news, MonitorsUrlOf(config),
                                         link(MailLink::kUnsubscribe));
  return mail;
}

}  // namespace

std::map<RunBlock, std::string> RunCallbackBodies(
    store::Session& session, const std::vector<domain::Notification>& notifications,
    const config::Config& config, base::Timestamp now) {
  std::set<base::Uuid> ids;
  for (const auto& n : notifications) ids.insert(std::get<domain::JobNotice>(n.about).job_id);
  const auto runs = store::ReadEndedRuns(session, std::vector<base::Uuid>(ids.begin(), ids.end()));
  std::map<RunBlock, std::string> bodies;
  for (const domain::Notification& n : notifications) {
    const auto& notice = std::get<domain::JobNotice>(n.about);
    const auto run = runs.find(notice.job_id);
    if (run == runs.end()) continue;
    try {
      bodies.emplace(RunBlock{notice.job_id, *notice.block},
                     Callback(session, run->second, *notice.block, config).Body(n, now));
    } catch (const std::logic_error&) {
      continue;  // what is stored cannot be read: the attempt fails, which the operator sees
    } catch (const base::Json::exception&) {
      continue;
    }
  }
  return bodies;
}

namespace {

// Readings for one attempt, where the database answers too late for the answer to be of use.
constexpr int kReadsMax = 3;

// The share of the bodies' room that an organisation that is alone leaves free.
constexpr double kBodiesReserve = 0.25;

constexpr const char* kNotReadNow =
    "signing: the signing secret and the monitor could not be read now";

std::string StatusError(int status) {
  if (status >= 300 && status < 400) {
    return "redirect: the receiver answered " + std::to_string(status) +
           "; redirects are not followed";
  }
  return "http_status: the receiver answered " + std::to_string(status);
}

// Not on the loop, as rows may be large. A job whose rows cannot be read has no body.
std::map<base::Uuid, std::string> CallbackBodies(
    const std::map<base::Uuid, domain::EndedLookup>& lookups, const config::Config& config) {
  std::map<base::Uuid, std::string> bodies;
  for (const auto& [job_id, lookup] : lookups) {
    try {
      bodies.emplace(job_id, domain::LookupCallbackBody(lookup, config.cents_per_credit,
                                                        config.delivery.body_bytes_max));
    } catch (const std::invalid_argument&) {
      continue;  // the attempt fails, which the operator sees
    }
  }
  return bodies;
}

// The client of the relay, if there is one. It calls itself by the domain that mail is from.
std::unique_ptr<net::MailClient> NewMailClient(base::EventLoop& loop,
                                               const config::Config& config) {
  if (config.mail.relay.empty()) return nullptr;
  const std::string& from = config.mail.from;
  return std::make_unique<net::MailClient>(loop, config.net,
                                           domain::ParseMailRelay(config.mail.relay).value(),
                                           config.mail.password, from.substr(from.rfind('@') + 1));
}

}  // namespace

Sender::Sender(base::EventLoop& loop, store::Pool& pool, net::HttpClient& client,
               const base::Clock& clock, const config::Config& config, base::Logger log)
    : loop_(loop),
      client_(client),
      clock_(clock),
      config_(config),
      mail_(NewMailClient(loop, config)),
      bodies_(std::make_shared<base::ByteBudget>(config.delivery.bodies_held_bytes_max,
                                                 kBodiesReserve)),
      read_(loop, pool, log, {.failed = "reading secrets and targets failed"},
            {.begin = [this] { return Read(); },
             .finish =
                 [this](const Reading& reading) {
                   OnRead(std::exchange(reading_for_, {}), reading);
                   return waiting_.empty() ? lease::kAtPoll : lease::kAtOnce;
                 },
             .failed = [this](const store::Failure& /*failure*/) { OnNotRead(); }}) {}

bool Sender::IsFresh(std::chrono::nanoseconds read_at) const {
  return clock_.SinceBoot() - read_at < store::kSecretsKnownMax;
}

void Sender::Send(const domain::Notification& notification, int attempt,
                  std::function<void(SendResult)> done, std::function<bool()> may) {
  Waiting waiting{notification, attempt, std::move(done)};
  waiting.may = std::move(may);
  if (std::holds_alternative<domain::JobNotice>(notification.about) ||
      domain::ChannelOf(notification)) {
    SendWithRoom(std::move(waiting));
    return;
  }
  const auto it = secrets_.find(notification.org_id);
  const bool signable = it != secrets_.end() && IsFresh(it->second.read_at);
  if (signable && (notification.endpoint_id.is_nil() || IsFresh(notification.read_at))) {
    Post(std::move(waiting), it->second.secrets, domain::NotificationBody(notification));
    return;
  }
  waiting_.push_back(std::move(waiting));
  read_.Wake();
}

// One takes room for the largest body before what it is made of is read.
void Sender::SendWithRoom(Waiting waiting) {
  const auto room =
      std::make_shared<Room>(Room{bodies_, bodies_->Open(waiting.notification.org_id)});
  waiting.room = room;
  const auto at = for_room_.insert(for_room_.end(), std::move(waiting));
  auto go_on = live_.Guard([this, at] {
    waiting_.push_back(std::move(*at));
    for_room_.erase(at);
    read_.Wake();
  });
  const auto later = [go_on, &loop = loop_] { loop.Post(go_on); };
  if (room->holding.Take(config_.delivery.body_bytes_max, later)) go_on();
}

// One reading for everybody who waits by then.
lease::Step<Sender::Reading>::Job Sender::Read() {
  if (waiting_.empty()) return nullptr;
  reading_for_ = std::exchange(waiting_, {});
  std::set<base::Uuid> orgs;
  std::set<base::Uuid> monitors;
  std::set<base::Uuid> jobs;
  std::vector<domain::Notification> runs;
  std::vector<domain::Notification> channels;
  for (const Waiting& w : reading_for_) {
    const domain::Notification& n = w.notification;
    orgs.insert(n.org_id);
    if (const auto* job = std::get_if<domain::JobNotice>(&n.about)) {
      if (job->block) {
        runs.push_back(n);
      } else {
        jobs.insert(job->job_id);
      }
    } else if (domain::ChannelOf(n)) {
      channels.push_back(n);
    } else if (!n.endpoint_id.is_nil() && !IsFresh(n.read_at)) {
      monitors.insert(std::get<domain::CheckNotice>(n.about).monitor_id);
    }
  }
  return [org_ids = std::vector<base::Uuid>(orgs.begin(), orgs.end()),
          monitor_ids = std::vector<base::Uuid>(monitors.begin(), monitors.end()),
          job_ids = std::vector<base::Uuid>(jobs.begin(), jobs.end()), runs = std::move(runs),
          channels = std::move(channels), &clock = clock_,
          &config = config_](store::Session& session) {
    Reading reading;
    reading.began = clock.SinceBoot();
    reading.secrets = store::ReadSigningSecrets(session, org_ids, config.security);
    if (!monitor_ids.empty()) {
      reading.targets = store::ReadDeliveryTargets(session, monitor_ids);
    }
    if (!job_ids.empty()) {
      reading.bodies = CallbackBodies(store::ReadEndedLookups(session, job_ids), config);
    }
    if (!runs.empty()) {
      reading.run_bodies = RunCallbackBodies(session, runs, config, clock.Now());
    }
    if (!channels.empty()) {
      reading.channels = store::ReadChannelMessages(session, channels, config.security);
    }
    return reading;
  };
}

void Sender::OnNotRead() {
  for (const Waiting& w : std::exchange(reading_for_, {})) Fail(w, kNotReadNow);
}

void Sender::OnRead(WaitingList waiting, const Reading& reading) {
  std::erase_if(secrets_, [this](const auto& known) { return !IsFresh(known.second.read_at); });
  for (const auto& [org_id, secrets] : reading.secrets) {
    secrets_[org_id] = {secrets, reading.began};
  }
  for (Waiting& w : waiting) {
    if (!IsFresh(reading.began)) {
      if (++w.reads < kReadsMax) {
        waiting_.push_back(std::move(w));
      } else {
        Fail(w, kNotReadNow);
      }
      continue;
    }
    PostAsRead(std::move(w), reading);
  }
}

const std::string* Sender::BodyOf(const domain::JobNotice& job, const Reading& reading) {
  if (job.block) {
    const auto body = reading.run_bodies.find({job.job_id, *job.block});
    return body == reading.run_bodies.end() ? nullptr : &body->second;
  }
  const auto body = reading.bodies.find(job.job_id);
  return body == reading.bodies.end() ? nullptr : &body->second;
}

// The next claim finds out where it goes.
void Sender::Moved(const Waiting& waiting) {
  SendResult moved;
  moved.tried = false;
  moved.moved = true;
  loop_.Post(live_.Guard(
      [done = waiting.done, moved = std::move(moved)]() mutable { done(std::move(moved)); }));
}

// A channel that moved or was deleted since the claim is left to the next one; a test has no claim.
void Sender::PostToChannel(Waiting waiting, const Reading& reading) {
  const domain::Notification& n = waiting.notification;
  const auto found = reading.channels.find(n.delivery_id);
  const bool test = n.endpoint_id.is_nil();
  if (found == reading.channels.end()) {
    return test ? Fail(waiting, "channel: it was deleted") : Moved(waiting);
  }
  const store::ChannelMessage& message = found->second;
  if (!test && message.endpoint_id != n.endpoint_id) return Moved(waiting);
  if (message.is_paused && n.type != domain::NotificationType::kTest) {
    return GiveUp(waiting, std::string(domain::kChannelPaused));
  }
  if (message.news.digest && message.news.digest->notifications == 0) {
    return GiveUp(waiting, "digest_gone: what the digest told is not kept any more");
  }
  if (message.kind == domain::ChannelKind::kEmail) return Mail(waiting, message);
  if (!message.url) {
    return Fail(waiting,
                "channel: its address cannot be read. Configure the encryption key it was sealed "
                "with, or give the channel its address again");
  }
  waiting.notification.url = *message.url;
  if (message.kind == domain::ChannelKind::kWebhook) {
    const store::OrgSecrets& secrets = reading.secrets.at(n.org_id);
    return Post(std::move(waiting), secrets,
                domain::ChannelWebhookBody(message.news, config_.delivery.body_bytes_max));
  }
  Call(std::move(waiting), ChatRequest(message, MonitorsUrlOf(config_)));
}

void Sender::PostAsRead(Waiting waiting, const Reading& reading) {
  if (domain::ChannelOf(waiting.notification)) return PostToChannel(std::move(waiting), reading);
  domain::Notification& n = waiting.notification;
  const store::OrgSecrets& secrets = reading.secrets.at(n.org_id);
  if (const auto* job = std::get_if<domain::JobNotice>(&n.about)) {
    if (const std::string* body = BodyOf(*job, reading)) {
      Post(std::move(waiting), secrets, *body);
    } else {
      Fail(waiting, "job: the job that the callback tells of cannot be read");
    }
    return;
  }
  auto& check = std::get<domain::CheckNotice>(n.about);
  if (const auto it = reading.targets.find(check.monitor_id); it != reading.targets.end()) {
    const store::DeliveryTarget& target = it->second;
    if (!target.url || target.endpoint_id != n.endpoint_id) {
      Moved(waiting);
      return;
    }
    n.url = *target.url;
    check.metadata = target.metadata;
  }
  std::string body = domain::NotificationBody(n);
  Post(std::move(waiting), secrets, std::move(body));
}

void Sender::Fail(const Waiting& waiting, std::string error) {
  SendResult failed;
  failed.tried = false;
  failed.error = std::move(error);
  loop_.Post(live_.Guard(
      [done = waiting.done, failed = std::move(failed)]() mutable { done(std::move(failed)); }));
}

void Sender::Post(Waiting waiting, const store::OrgSecrets& secrets, std::string body) {
  if (secrets.configured && (!secrets.readable || secrets.secrets.empty())) {
    Fail(waiting,
         "signing: the signing secret cannot be read; nothing is sent unsigned. Configure the "
         "encryption key it was sealed with, or rotate it");
    return;
  }
  net::HttpRequest request;
  request.body = std::move(body);
  request.headers = domain::NotificationHeaders(waiting.notification, waiting.attempt);
  if (secrets.configured) {
    const auto unix_seconds =
        std::chrono::floor<std::chrono::seconds>(clock_.Now()).time_since_epoch().count();
    request.headers.emplace_back(
        "Service-Signature", domain::SignatureHeader(secrets.secrets, unix_seconds, request.body));
    const std::string id = waiting.notification.event_group_id.ToString();
    for (auto& header :
         domain::StandardWebhooksHeaders(secrets.secrets, id, unix_seconds, request.body)) {
      request.headers.push_back(std::move(header));
    }
  }
  Call(std::move(waiting), std::move(request));
}

// With its headers and body.
void Sender::Call(Waiting waiting, net::HttpRequest request) {
  if (waiting.may && !waiting.may()) return Moved(waiting);
  request.method = "POST";
  request.url = std::move(waiting.notification.url);
  request.trust = net::Trust::kTenant;
  request.org = waiting.notification.org_id;
  request.timeout = config_.delivery.timeout_ms;  // everything, a wait for a connection included
  request.body_bytes_max = config_.delivery.answer_bytes_max;
  request.truncate_body = true;
  client_.Send(std::move(request), live_.Guard([this, done = std::move(waiting.done),
                                                room = waiting.room](net::HttpResponse response) {
    SendResult result;
    result.duration = response.duration;
    if (response.error_class == net::HttpErrorClass::kNone) {
      result.status_code = response.status;
      result.answer = std::move(response.body);
      result.retry_after = net::RetryAfter(response, clock_.Now());
      if (response.status < 200 || response.status > 299)
        result.error = StatusError(response.status);
    } else {
      result.error =
          std::string(net::HttpErrorClassName(response.error_class)) + ": " + response.error;
    }
    done(std::move(result));
  }));
}

void Sender::GiveUp(const Waiting& waiting, std::string error) {
  SendResult gone;
  gone.tried = false;
  gone.end = domain::AttemptEnd::kDead;
  gone.error = std::move(error);
  loop_.Post(live_.Guard(
      [done = waiting.done, gone = std::move(gone)]() mutable { done(std::move(gone)); }));
}

// A recipient who is not told any more is no failure of the relay's.
void Sender::Mail(const Waiting& waiting, const store::ChannelMessage& message) {
  if (!mail_) return Fail(waiting, "mail: there is no relay. Configure [mail] relay");
  auto mail = MailRequest(message, waiting.notification, config_, clock_.Now());
  if (!mail) return GiveUp(waiting, "recipient: the address is not told any more, or not yet");
  if (waiting.may && !waiting.may()) return Moved(waiting);
  mail_->Send(std::move(*mail),
              live_.Guard([done = waiting.done, room = waiting.room](net::MailOutcome outcome) {
                using End = net::MailOutcome::End;
                SendResult result;
                result.duration = outcome.duration;
                if (outcome.reply != 0) result.status_code = outcome.reply;
                if (outcome.end == End::kTaken) result.end = domain::AttemptEnd::kDelivered;
                if (outcome.end == End::kRefusedAddress) result.end = domain::AttemptEnd::kDead;
                if (outcome.end != End::kTaken) result.error = std::move(outcome.error);
                done(std::move(result));
              }));
}

}  // namespace vedette::delivery
