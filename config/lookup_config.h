#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Keys of [lookups], [age], [email], [email.smtp], [providers] and [investigations].
// config/parts.h says what all of it is.
namespace vedette::domain {
struct Recipe;  // domain/email/recipe.h
}

namespace vedette::config {

using std::chrono::milliseconds;

// Lookups: the providers that are asked, in order, and how long.
struct LookupsConfig {
  std::vector<std::string> find_email;           // ids of providers, for mode PROFESSIONAL
  std::vector<std::string> find_email_personal;  // and for mode PERSONAL
  std::vector<std::string> reverse_email;        // whom lookups of an address ask
  std::vector<std::string> verify_age;           // and lookups of an age
  std::vector<std::string> company_domain;       // and the domain of a company that has none
  milliseconds row_timeout_ms;
  milliseconds age_deadline_ms;  // of a job that looks for an age
  int minimum_result_age;        // [age]: a younger person has no result; 0: off
  std::string verifier;          // who verifies addresses: smtp, none, or a provider's id

  // The rest has no keys.
  int candidates_max = 3;                    // addresses of one answer that are looked at
  int guesses_max = 10;                      // addresses that are guessed for one lead
  milliseconds wait_single_ms{60'000};       // how long a client that waits is kept: for one lead,
  milliseconds wait_bulk_ms{300'000};        // and for a batch
  milliseconds find_deadline_ms{3'600'000};  // of jobs that nobody waits for
  milliseconds bulk_deadline_ms{21'600'000};
  milliseconds reverse_deadline_ms{900'000};

  bool operator==(const LookupsConfig&) const = default;
};

// What lookups of an age ask by themselves.
struct AgeConfig {
  bool wikidata;             // asked at all: it learns the names of people
  std::string wikidata_url;  // of its Action API

  bool operator==(const AgeConfig&) const = default;
};

// What is read of a company's site when an address or a person is looked for there; there are no
// keys.
struct EmailConfig {
  int pages_max = 8;                      // of one site, robots.txt not counted
  milliseconds site_timeout_ms{20'000};   // all pages of one site together
  std::int64_t page_bytes_max = 2 << 20;  // of one page

  bool operator==(const EmailConfig&) const = default;
};

// Domains that the operator adds to the lists of those that are no company's; keys of [email].
struct MailDomainsConfig {
  std::string free_domains_file;  // empty: none
  std::string disposable_domains_file;
  // What stands in them: in lower case and A-labels, sorted, each once.
  std::vector<std::string> free;
  std::vector<std::string> disposable;

  bool operator==(const MailDomainsConfig&) const = default;
};

// The recipients of a connection beside its addresses: one that should not exist, and postmaster.
inline constexpr int kSmtpRecipientsReserved = 2;

// A proxy, by its address.
struct SocksProxy {
  std::string address;  // without brackets
  int port = 0;

  // Reads "socks5://ADDRESS:PORT", of which an address of IPv6 is in brackets. Empty for anything
  // else: a name, which would have to be looked up, and credentials among it.
  static std::optional<SocksProxy> Parse(std::string_view text);
};

// How this process asks mail servers about addresses (docs/email.md).
struct SmtpConfig {
  std::string hello_name;  // of EHLO; empty: this process verifies nothing
  std::string mail_from;   // empty: postmaster@hello_name
  int port;
  std::string proxy;           // as SocksProxy::Parse reads it; empty: none
  std::string public_address;  // behind NAT; empty: the one that the system leaves by
  // RCPT commands of the whole fleet. Each is enough for one address and what is asked beside it.
  int per_domain_hour;
  int per_class_minute;
  int per_day;
  std::vector<std::string> doctor_domains;
  std::vector<std::string> doctor_lists;

  // The rest has no keys.
  std::string ip = "4";           // 4, 46
  int connections_per_class = 4;  // of one process
  // Recipients and refusals after which a connection ends; known classes of servers have fewer.
  int recipients_max = 16;
  int refusals_max = 5;
  milliseconds linger_ms{500};  // how long a connection stays for further recipients
  milliseconds connect_timeout_ms{10'000};
  milliseconds banner_timeout_ms{30'000};  // honest servers delay their first line
  milliseconds reply_timeout_ms{30'000};
  milliseconds connection_timeout_ms{90'000};

  bool operator==(const SmtpConfig&) const = default;
};

// A service of the operator's that answers lookups: [providers.http.<id>]. What the file does not
// say is as it stands here.
struct HttpProviderConfig {
  std::string url;
  std::string api_key;         // from api_key or api_key_file; sent as bearer token
  std::string signing_secret;  // from signing_secret or signing_secret_file
  milliseconds timeout_ms{20'000};
  std::size_t body_bytes_max = 1024 * 1024;
  int in_flight_max = 64;  // of one process
  bool trust = true;       // an OK that it states is taken; otherwise it is UNKNOWN

  bool operator==(const HttpProviderConfig&) const = default;
};

// A language model that points to statements about people's ages: [providers.llm.<id>]. What the
// file does not say is as it stands here.
struct LlmProviderConfig {
  std::string url;  // OpenAI-compatible
  std::string model;
  std::string api_key;  // from api_key or api_key_file
  milliseconds timeout_ms{60'000};
  std::size_t body_bytes_max = 1024 * 1024;  // of an answer
  std::optional<double> temperature = 0;     // empty: not sent
  int tokens_max = 1024;                     // of one answer
  std::string tokens_max_field = "max_tokens";
  std::string answer_format = "json_schema";  // json_schema, json_object, text
  std::size_t page_text_bytes_max = 16384;    // of a page's text given to the model

  bool operator==(const LlmProviderConfig&) const = default;
};

// Gravatar, which is asked only where it has a URL: it learns the addresses that are looked up.
struct GravatarConfig {
  std::string url;
  std::string api_key;              // from api_key or api_key_file; empty: 100 questions an hour
  milliseconds timeout_ms{10'000};  // it has no key

  bool operator==(const GravatarConfig&) const = default;
};

struct ProvidersConfig {
  int breaker_failures;             // in a row, until a provider is left out for a while
  milliseconds breaker_ms{30'000};  // how long; it has no key
  std::map<std::string, LlmProviderConfig> llm;    // by id
  std::map<std::string, HttpProviderConfig> http;  // by id
  std::string recipes_dir;                         // a folder of *.toml; empty: there is none
  std::map<std::string, std::shared_ptr<const domain::Recipe>> recipes;  // by id

  bool operator==(const ProvidersConfig&) const = default;
};

// Investigations (docs/investigations.md).
struct InvestigationsConfig {
  std::vector<std::string> providers;  // whom each subject is looked up with, in order
  std::int64_t expansion_mc;           // [prices.investigation] expansion: of each subject

  // These have no keys. An RDAP server, for the provider rdap, which may redirect to the one that
  // knows, and a search in logs of certificates, for the provider ct.
  std::string rdap_url = "https://rdap.org/";
  std::string ct_url = "https://crt.sh/";
  milliseconds deadline_ms{3'600'000};  // of one investigation

  bool operator==(const InvestigationsConfig&) const = default;
};

}  // namespace vedette::config
