#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"

// What is done on a rendered page before it is read, as a person would do it: the member `steps` of
// `probe`, [{"fill": "#password", "value": {"secret": "password"}}, {"click": "#login"}], and the
// secrets that its steps type. Pure.
namespace vedette::domain {

struct ValidationFault;  // domain/text/json_schema.h

inline constexpr std::size_t kPageStepsMax = 20;
inline constexpr std::size_t kSelectorCharsMax = 500;
inline constexpr std::size_t kStepUrlCharsMax = 2000;
inline constexpr std::size_t kStepValueCharsMax = 2000;
inline constexpr std::size_t kProbeSecretsMax = 8;
inline constexpr std::size_t kSecretNameMax = 64;
inline constexpr std::size_t kSecretValueCharsMax = 1000;

// The address of the step that goes back to the row's own page.
inline constexpr std::string_view kRowPage = "row";

struct PageStep {
  enum class Kind { kGoto, kClick, kFill, kSelect, kPress, kWaitFor, kScrollToEnd };

  Kind kind = Kind::kClick;
  // A key of kPress; of kGoto a URL, a path from the row's site on, or kRowPage; of kScrollToEnd
  // nothing; else a CSS selector.
  std::string target;
  std::string value;    // of kFill and kSelect
  std::string secret;   // the name of the secret that is the value; empty: none is
  std::string only_if;  // a CSS selector: the step is made where it matches. Empty: always
};

// "click", as the step's member is called.
std::string_view StepName(PageStep::Kind kind);

// What is wrong with `steps`, which stand at `loc`. No fault repeats a value.
std::vector<ValidationFault> ValidatePageSteps(const base::Json& loc, const base::Json& steps);
// Reads steps that were validated.
std::vector<PageStep> ReadPageSteps(const base::Json& steps);

// Secrets by name. Their values are sealed where they are kept (store/sealed.h), and never shown
// again, logged, or told in a failure.
using ProbeSecrets = std::map<std::string, std::string>;

// What is wrong with the member `secrets`, {"name": "value"}, which stands at `loc`: null in the
// place of a value stands for the one that is kept.
std::vector<ValidationFault> ValidateProbeSecrets(const base::Json& loc, const base::Json& secrets);

// The text that is sealed, and what was sealed; empty where it is no such text.
std::string ProbeSecretsText(const ProbeSecrets& secrets);
std::optional<ProbeSecrets> ParseProbeSecrets(const std::string& text);

// The steps with the values of their secrets; empty where one of them is missing.
std::optional<std::vector<PageStep>> WithSecrets(std::vector<PageStep> steps,
                                                 const ProbeSecrets& secrets);

// `text` with three asterisks in the place of each secret that the steps type, also as it stands in
// a URL.
std::string WithoutSecrets(std::string text, const std::vector<PageStep>& steps);

// The keys that a step may press, by the browser's names.
bool IsStepKey(std::string_view key);

}  // namespace vedette::domain
