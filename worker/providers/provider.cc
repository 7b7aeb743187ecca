#include "worker/providers/provider.h"

#include <string>
#include <utility>

#include "base/text.h"
#include "domain/email/address.h"

namespace vedette::worker {
namespace {

constexpr std::string_view kSource = "https://null.example/";

// "Ann-Marie O'Neil" -> "ann.marie.o.neil".
std::string LocalPart(const domain::Person& person) {
  std::string name = person.name;
  if (name.empty()) name = person.first_name + " " + person.last_name;
  std::string out;
  for (const char c : name) {
    if (base::IsAsciiLetter(c) || base::IsAsciiDigit(c)) {
      out += base::AsciiLower(c);
    } else if (!out.empty() && out.back() != '.') {
      out += '.';
    }
  }
  if (out.size() > domain::kLocalPartBytesMax) out.resize(domain::kLocalPartBytesMax);
  while (!out.empty() && out.back() == '.') out.pop_back();
  return out;
}

// "ada.lovelace@engines.example" -> "Ada Lovelace".
LookupAnswer PersonOf(const std::string& address) {
  domain::PersonFound person;
  person.name = domain::NameOfLocalPart(address);
  if (person.name.empty()) return Nothing{};
  person.confidence = domain::kConfidenceMax;
  person.sources = {std::string(kSource)};
  return person;
}

LookupAnswer ClaimsOf() {
  domain::AgeClaim claim;
  claim.standing = domain::AgeClaim::Standing::kService;
  claim.identity = domain::Identity::kSame;
  claim.date = {1980, 5, 6};
  claim.confidence = domain::kConfidenceMax;
  claim.url = kSource;
  claim.quote = "born on 6 May 1980";
  claim.provider = NullProvider::kId;
  return domain::AgeClaims{std::move(claim)};
}

LookupAnswer AnswerOf(const LookupRequest& request) {
  if (request.lookup == Lookup::kReverseEmail) return PersonOf(request.address);
  if (request.lookup == Lookup::kVerifyAge) return ClaimsOf();
  if (request.person == nullptr) return Nothing{};
  const domain::Person& person = *request.person;
  const std::string local = LocalPart(person);
  if (local.empty()) return Nothing{};
  domain::Candidate candidate;
  candidate.address = local + "@" + (person.domain.empty() ? "null.example" : person.domain);
  candidate.status = domain::AddressStatus::kOk;
  candidate.confidence = domain::kConfidenceOk;
  // The domain of a lead may be longer than an address allows.
  if (!domain::ParseAddress(candidate.address)) return Nothing{};
  return domain::Candidates{std::move(candidate)};
}

}  // namespace

domain::Failure LookupUnheld() {
  return {std::string(kLookupUnheld), "Nobody waits for the lookup any more.", true, {}};
}

NullProvider::NullProvider(base::EventLoop& loop, std::chrono::milliseconds delay)
    : loop_(loop), delay_(delay) {}

NullProvider::~NullProvider() = default;

void NullProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  LookupAnswer answer = AnswerOf(request);
  if (delay_ == std::chrono::milliseconds(0)) return done(std::move(answer));
  const std::uint64_t id = ++last_id_;
  auto& timer = timers_[id];
  timer = std::make_unique<base::Timer>(
      loop_, [this, id, answer = std::move(answer), done = std::move(done)] {
        // The callback, and what it holds, belongs to the timer: it is kept until it has run.
        const auto kept = timers_.extract(id);
        done(answer);
      });
  timer->Start(delay_);
}

}  // namespace vedette::worker
