#include "domain/monitor/page_steps.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "domain/text/json_schema.h"

namespace vedette::domain {
namespace {

using base::Json;
using Kind = PageStep::Kind;

constexpr std::array<std::string_view, 7> kNames{"goto",  "click",    "fill",         "select",
                                                 "press", "wait_for", "scroll_to_end"};
constexpr std::array<std::string_view, 14> kKeys{
    "Enter",     "Tab",       "Escape",     "Backspace", "Delete", "Space",  "ArrowUp",
    "ArrowDown", "ArrowLeft", "ArrowRight", "Home",      "End",    "PageUp", "PageDown"};

bool TakesValue(Kind kind) {
  return kind == Kind::kFill || kind == Kind::kSelect;
}

std::optional<Kind> KindOf(std::string_view name) {
  const auto* const at = std::find(kNames.begin(), kNames.end(), name);
  if (at == kNames.end()) return std::nullopt;
  return static_cast<Kind>(at - kNames.begin());
}

bool IsSecretName(std::string_view name) {
  return !name.empty() && name.size() <= kSecretNameMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return base::IsAsciiLetter(c) || base::IsAsciiDigit(c) || c == '_' || c == '-';
         });
}

std::optional<std::string> TextFault(const Json& value, std::size_t chars_min,
                                     std::size_t chars_max) {
  if (!value.is_string()) return "Input should be a string";
  const std::size_t chars = base::CountCharacters(value.get_ref<const std::string&>());
  if (chars >= chars_min && chars <= chars_max) return std::nullopt;
  return fmt::format("It should have {} to {} characters, has {}", chars_min, chars_max, chars);
}

// What is wrong with what a step acts on.
std::optional<std::string> TargetFault(Kind kind, const Json& target) {
  if (kind == Kind::kScrollToEnd) {
    if (target.is_boolean() && target.get<bool>()) return std::nullopt;
    return "Input should be true";
  }
  if (auto fault = TextFault(target, 1, kind == Kind::kGoto ? kStepUrlCharsMax : kSelectorCharsMax))
    return fault;
  const auto& text = target.get_ref<const std::string&>();
  if (kind == Kind::kPress && !IsStepKey(text)) {
    return fmt::format("A key is one of {}; text is typed by fill", fmt::join(kKeys, ", "));
  }
  const bool is_address = text == kRowPage || text.starts_with('/') ||
                          text.starts_with("http://") || text.starts_with("https://");
  if (kind == Kind::kGoto && !is_address) {
    return "It should be an address that begins with https:// or http://, a path from / on, or "
           "\"row\" for the row's own page";
  }
  return std::nullopt;
}

std::optional<std::string> ValueFault(const Json& value) {
  if (!value.is_object()) return TextFault(value, 0, kStepValueCharsMax);
  const auto secret = value.find("secret");
  if (value.size() == 1 && secret != value.end() && secret->is_string() &&
      IsSecretName(secret->get_ref<const std::string&>())) {
    return std::nullopt;
  }
  return fmt::format(
      "It should be a text or {{\"secret\": NAME}}, with a name of 1 to {} letters, digits, _ and "
      "-",
      kSecretNameMax);
}

void AddStepFaults(const Json& loc, const Json& step, ValidationFaults* faults) {
  const auto fault_at = [&](const char* member, std::string msg) {
    faults->push_back({LocOf(loc, member), "step", std::move(msg)});
  };
  std::optional<Kind> kind;
  for (const auto& [name, value] : step.items()) {
    const auto named = KindOf(name);
    if (named && kind) return fault_at(name.c_str(), "A step does one thing; make it two steps");
    if (named) kind = named;
    if (!named && name != "value" && name != "if") {
      faults->push_back({LocOf(loc, base::CutCharacters(base::RepairUtf8(name), kSecretNameMax)),
                         "extra_forbidden", "There is no such step"});
      return;
    }
  }
  if (!kind) {
    faults->push_back({loc, "step", fmt::format("A step is one of {}", fmt::join(kNames, ", "))});
    return;
  }
  const std::string name(StepName(*kind));
  if (auto fault = TargetFault(*kind, step[name])) fault_at(name.c_str(), std::move(*fault));
  const auto value = step.find("value");
  if (value == step.end()) {
    if (TakesValue(*kind)) fault_at("value", "Say what to put there");
  } else if (!TakesValue(*kind)) {
    fault_at("value", "Only fill and select take a value");
  } else if (auto fault = ValueFault(*value)) {
    fault_at("value", std::move(*fault));
  }
  const auto only_if = step.find("if");
  if (only_if == step.end()) return;
  if (auto fault = TextFault(*only_if, 1, kSelectorCharsMax)) fault_at("if", std::move(*fault));
}

void ReplaceAll(std::string* text, std::string_view what) {
  constexpr std::string_view kMasked = "***";
  if (what.empty()) return;
  for (std::size_t at = text->find(what); at != std::string::npos;
       at = text->find(what, at + kMasked.size())) {
    text->replace(at, what.size(), kMasked);
  }
}

// The value as a form puts it into a URL: blanks are `blank`.
std::string InUrl(std::string_view value, std::string_view blank) {
  std::string out;
  for (const char c : value) {
    if (base::IsAsciiLetter(c) || base::IsAsciiDigit(c) ||
        std::string_view("*-._").find(c) != std::string_view::npos) {
      out += c;
    } else if (c == ' ') {
      out += blank;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace

std::string_view StepName(Kind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

bool IsStepKey(std::string_view key) {
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

ValidationFaults ValidatePageSteps(const Json& loc, const Json& steps) {
  ValidationFaults faults;
  if (!steps.is_array()) {
    faults.push_back({loc, "list_type", "Input should be an array of steps"});
  } else if (steps.size() > kPageStepsMax) {
    faults.push_back(
        {loc, "too_long",
         fmt::format("Array should have at most {} steps, has {}", kPageStepsMax, steps.size())});
  } else {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].is_object()) {
        AddStepFaults(LocOf(loc, i), steps[i], &faults);
      } else {
        faults.push_back({LocOf(loc, i), "dict_type", "Input should be an object: one step"});
      }
    }
  }
  return faults;
}

std::vector<PageStep> ReadPageSteps(const Json& steps) {
  std::vector<PageStep> read;
  for (const Json& step : steps) {
    PageStep& out = read.emplace_back();
    for (const auto& [name, value] : step.items()) {
      if (const auto kind = KindOf(name)) {
        out.kind = *kind;
        if (value.is_string()) out.target = value.get<std::string>();
      } else if (name == "if") {
        out.only_if = value.get<std::string>();
      } else if (value.is_object()) {
        out.secret = value.at("secret").get<std::string>();
      } else {
        out.value = value.get<std::string>();
      }
    }
  }
  return read;
}

ValidationFaults ValidateProbeSecrets(const Json& loc, const Json& secrets) {
  ValidationFaults faults;
  if (!secrets.is_object()) {
    faults.push_back({loc, "dict_type", "Input should be an object: name -> value"});
    return faults;
  }
  if (secrets.size() > kProbeSecretsMax) {
    faults.push_back({loc, "too_long",
                      fmt::format("Object should have at most {} secrets, has {}", kProbeSecretsMax,
                                  secrets.size())});
    return faults;
  }
  for (const auto& [name, value] : secrets.items()) {
    Json at = LocOf(loc, base::CutCharacters(base::RepairUtf8(name), kSecretNameMax));
    if (!IsSecretName(name)) {
      faults.push_back(
          {std::move(at), "secret_name",
           fmt::format("A secret's name has 1 to {} letters, digits, _ and -", kSecretNameMax)});
    } else if (auto fault =
                   value.is_null() ? std::nullopt : TextFault(value, 1, kSecretValueCharsMax)) {
      faults.push_back({std::move(at), "secret_value", std::move(*fault)});
    }
  }
  return faults;
}

std::string ProbeSecretsText(const ProbeSecrets& secrets) {
  return base::DumpJson(Json(secrets));
}

std::optional<ProbeSecrets> ParseProbeSecrets(const std::string& text) {
  Json object;
  if (base::ParseJson(text, &object) || !object.is_object()) return std::nullopt;
  ProbeSecrets secrets;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_string()) return std::nullopt;
    secrets[name] = value.get<std::string>();
  }
  return secrets;
}

std::optional<std::vector<PageStep>> WithSecrets(std::vector<PageStep> steps,
                                                 const ProbeSecrets& secrets) {
  for (PageStep& step : steps) {
    if (step.secret.empty()) continue;
    const auto it = secrets.find(step.secret);
    if (it == secrets.end()) return std::nullopt;
    step.value = it->second;
  }
  return steps;
}

std::string WithoutSecrets(std::string text, const std::vector<PageStep>& steps) {
  for (const PageStep& step : steps) {
    if (step.secret.empty()) continue;
    ReplaceAll(&text, step.value);
    ReplaceAll(&text, InUrl(step.value, "+"));
    ReplaceAll(&text, InUrl(step.value, "%20"));
  }
  return text;
}

}  // namespace vedette::domain
