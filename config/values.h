#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

// How single values of the configuration are read. Inside config/ only.
namespace vedette::config {

// A value as it was written, before it is known what it should be. In the environment and in secret
// files everything is plain text; TOML has types, and a number in quotation marks is none.
struct RawValue {
  enum class Kind { kPlain, kText, kInteger, kReal, kBoolean, kList, kOther };
  Kind kind = Kind::kOther;
  std::string text;  // kPlain, kText
  std::int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::vector<std::string> list;

  static RawValue Plain(std::string text);

  // For error messages.
  std::string Show() const;
};

// Reads values of one kind. `allowed` completes the sentence "must be ...".
template <typename T>
struct ValueReader {
  std::string allowed;
  std::function<std::optional<T>(const RawValue&)> read;
  bool secret = false;  // never shown; may also come from a file named by <key>_file
};

ValueReader<int> Int(int min, int max);
ValueReader<std::int64_t> Int64(std::int64_t min, std::int64_t max);
ValueReader<std::size_t> Bytes(std::size_t min, std::size_t max);
ValueReader<std::chrono::milliseconds> Milliseconds(std::chrono::milliseconds min,
                                                    std::chrono::milliseconds max);
ValueReader<std::chrono::seconds> Seconds(std::chrono::seconds min, std::chrono::seconds max);
ValueReader<double> Real(double min, double max);
// Empty text unsets it.
ValueReader<std::optional<double>> OptionalReal(double min, double max);
// Credits outside, millicredits inside.
ValueReader<std::int64_t> Credits(std::int64_t max);
// "90d", in whole hours.
ValueReader<std::chrono::hours> Hours();
// "5s"; empty text unsets it.
ValueReader<std::optional<std::chrono::seconds>> OptionalDuration();

ValueReader<bool> Flag();
ValueReader<std::string> Text();
ValueReader<std::string> NonEmptyText();
ValueReader<std::string> Choice(std::vector<std::string> choices);
ValueReader<std::string> ListenAddress();
ValueReader<std::string> OptionalListenAddress();
// Of PostgreSQL: postgresql://..., postgres://..., or words such as "host=db dbname=vedette".
ValueReader<std::string> DatabaseUrl();
// http or https, or empty.
ValueReader<std::string> OptionalUrl();
// A URL of https, or of http; without a slash at its end; or empty.
ValueReader<std::string> OptionalIssuer();
// 32 bytes from 64 hexadecimal digits, or empty.
ValueReader<std::string> OptionalKey();

// Lists: of strings in TOML, separated by commas (or, in a secret's file, by lines) in plain text.
ValueReader<std::vector<std::string>> KeyList();
ValueReader<std::vector<std::string>> ChoiceList(std::vector<std::string> choices);
ValueReader<std::vector<std::string>> ProviderIds();
ValueReader<std::vector<std::string>> NameList();  // of domains
ValueReader<std::vector<std::string>> CidrList();
ValueReader<std::vector<std::string>> AddressList();

// Whether a text may name a provider: ^[a-z][a-z0-9_]{1,31}$.
bool IsProviderId(std::string_view text);

// What [testing] knows.
ValueReader<std::vector<TestingConfig::FaultPoint>> FaultPoints();
ValueReader<std::vector<std::string>> Safeties();

template <typename T>
ValueReader<T> Secret(ValueReader<T> reader) {
  reader.secret = true;
  return reader;
}

}  // namespace vedette::config
