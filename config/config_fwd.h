#pragma once

// The names of the configuration's parts, for headers that only pass references on, so that a new
// key recompiles what reads it and nothing else.
namespace vedette::config {

struct AdminOidcConfig;
struct AgeConfig;
struct ApiMemoryConfig;
struct BrowserConfig;
struct CellConfig;
struct Config;
struct DashboardConfig;
struct DatabaseConfig;
struct DeliveryConfig;
struct EmailConfig;
struct GravatarConfig;
struct HealthConfig;
struct HttpProviderConfig;
struct HttpServerConfig;
struct InvestigationsConfig;
struct JobsConfig;
struct JwksConfig;
struct LimitsConfig;
struct LlmProviderConfig;
struct LogConfig;
struct LookupsConfig;
struct MailConfig;
struct MailDomainsConfig;
struct NetConfig;
struct OauthConfig;
struct OidcConfig;
struct PreviewsConfig;
struct ProbeConfig;
struct ProvidersConfig;
struct RetentionConfig;
struct SchedulerConfig;
struct SearchConfig;
struct SecurityConfig;
struct SessionsConfig;
struct SmtpConfig;
struct TestingConfig;
struct WaitsConfig;
struct WorkerConfig;
struct WorkflowsConfig;

}  // namespace vedette::config
