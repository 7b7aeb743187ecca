#include "metrics/metrics.h"
#include "metrics/metrics_impl.h"

// The metrics of lookups, their providers and mail servers.
namespace vedette::metrics {

void Metrics::ObserveLookup(std::string_view kind, std::string_view outcome,
                            std::chrono::microseconds duration) {
  impl_->lookups.Get(kind, outcome).Increment();
  impl_->lookup_duration.Get(kind).Observe(Seconds(duration));
}

void Metrics::AddSuppressed(std::string_view kind) {
  impl_->suppressed.Get(kind).Increment();
}

void Metrics::AddProviderCall(std::string_view provider, std::string_view lookup,
                              std::string_view outcome) {
  impl_->provider_calls.Get(provider, lookup, "failed");  // there before the first one fails
  impl_->provider_calls.Get(provider, lookup, outcome).Increment();
}

void Metrics::AddSmtpConnection(std::string_view mail_class, std::string_view outcome) {
  impl_->smtp_connections.Get(mail_class, outcome).Increment();
}

void Metrics::AddSmtpRecipient(std::string_view mail_class, std::string_view verdict) {
  impl_->smtp_recipients.Get(mail_class, verdict).Increment();
}

void Metrics::SetSmtpBlocked(std::string_view mail_class, std::int64_t n) {
  impl_->smtp_blocked.Get(mail_class).Set(static_cast<double>(n));
}

void Metrics::SetSmtpWaiting(std::string_view reason, std::int64_t n) {
  impl_->smtp_waiting.Get(reason).Set(static_cast<double>(n));
}

void Metrics::SetEmailDoctor(std::string_view check, double value) {
  impl_->email_doctor.Get(check).Set(value);
}

void Metrics::ObserveProviderCall(std::string_view provider, std::chrono::microseconds duration) {
  impl_->provider_duration.Get(provider).Observe(Seconds(duration));
}

}  // namespace vedette::metrics
