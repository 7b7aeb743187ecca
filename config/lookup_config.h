#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// Keys of [lookups], [age], [email], [mail_domains] and [smtp].
// config/config.h says what all of it is.
namespace vedette::config {

using std::chrono::milliseconds;

// Lookups: the providers that are asked, in order, and how long.
struct LookupsConfig {
  std::vector<std::string> find_email;           // ids of providers, for mode PROFESSIONAL
  std::vector<std::string> find_email_personal;  // and for mode PERSONAL
  std::vector<std::string> reverse_email;        // whom lookups of an address ask
  std::vector<std::string> verify_age;           // and lookups of an age
  std::vector<std::string> company_domain;       // and the domain of a company that has none
  int candidates_max;                            // addresses of one answer that are looked at
  int guesses_max;                               // addresses that are guessed for one lead
  milliseconds row_timeout_ms;
  milliseconds wait_single_ms;  // how long a client that waits is kept
  milliseconds wait_bulk_ms;
  milliseconds find_deadline_ms;  // of jobs that nobody waits for
  milliseconds bulk_deadline_ms;
  milliseconds reverse_deadline_ms;
  milliseconds age_deadline_ms;
  int minimum_result_age;  // a younger person has no result; 0: off
  std::string verifier;    // who verifies addresses: smtp, none, or a provider's id

  bool operator==(const LookupsConfig&) const = default;
};

// Whom lookups of an age ask of their own.
struct AgeConfig {
  bool wikidata;             // asked at all: it learns the names of people
  std::string wikidata_url;  // of its Action API

  bool operator==(const AgeConfig&) const = default;
};

// What is read of a company's site when an address or a person is looked for there.
struct EmailConfig {
  int pages_max;                 // of one site, robots.txt not counted
  milliseconds site_timeout_ms;  // all pages of one site together
  std::int64_t page_bytes_max;

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

// How this process asks mail servers about addresses (docs/email.md).
struct SmtpConfig {
  std::string hello_name;  // of EHLO; empty: this process verifies nothing
  std::string mail_from;   // empty: postmaster@hello_name
  int port;
  std::string ip;              // 4, 46
  std::string proxy;           // socks5://host:port; empty: none
  std::string public_address;  // behind NAT; empty: the one that the system leaves by
  // RCPT commands of the whole fleet.
  int per_domain_hour;
  int per_class_minute;
  int per_day;
  int connections_per_class;  // of one process
  int recipients_max;         // of a connection to a host of no known class
  int refusals_max;           // of a connection, until it ends
  milliseconds linger_ms;     // how long a connection stays for further recipients
  milliseconds connect_timeout_ms;
  milliseconds banner_timeout_ms;
  milliseconds reply_timeout_ms;
  milliseconds connection_timeout_ms;
  std::vector<std::string> doctor_domains;
  std::vector<std::string> doctor_lists;

  bool operator==(const SmtpConfig&) const = default;
};

}  // namespace vedette::config
