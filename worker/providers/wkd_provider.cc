#include "worker/providers/wkd_provider.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "base/crypto.h"
#include "base/text.h"
#include "domain/email/idn.h"
#include "domain/people/mailbox.h"
#include "domain/people/openpgp.h"
#include "domain/people/people_answer.h"
#include "domain/people/stated_name.h"
#include "pages/url_reference.h"
#include "worker/providers/held_fetch.h"
#include "worker/providers/reverse_reading.h"

namespace vedette::worker {
namespace {

using std::chrono::milliseconds;

struct KeyReading final : pages::Reading {
  domain::PersonFound person;
  std::size_t bytes() const override { return sizeof *this; }
};

}  // namespace

struct WkdProvider::Dependencies {
  const base::Clock& clock;
  pages::Fetcher& fetcher;
  const OriginOf origin_of;
};

// One address. It lives as long as a URL of it is asked.
class WkdProvider::Question : public std::enable_shared_from_this<Question> {
 public:
  Question(const std::shared_ptr<const Dependencies>& deps, LookupRequest request,
           domain::Address address, std::function<void(LookupAnswer)> done)
      : deps_(deps),
        request_(std::move(request)),
        address_(std::move(address)),
        urls_(WkdUrls(address_, deps->origin_of)),
        deadline_(deps->clock.SinceBoot() + std::min(request_.timeout, kTimeMax)),
        done_(std::move(done)) {}

  void AskNext() {
    const auto deps = deps_.lock();
    if (deps == nullptr) return;
    if (!request_.MayCall()) {
      return done_(domain::Failure{
          std::string(kLookupUnheld), "Nobody waits for the lookup any more.", true, {}});
    }
    const auto left = std::chrono::floor<milliseconds>(deadline_ - deps->clock.SinceBoot());
    if (asked_ == urls_.size() || left <= milliseconds(0)) return done_(Nothing{});
    pages::FetchRequest fetch;
    fetch.org_id = request_.org_id;
    fetch.url = urls_[asked_++];
    fetch.body_bytes_max = domain::kOpenPgpBytesMax;
    fetch.timeout = left;
    fetch.turn_wait_max = left;
    fetch.thread_wait_max = left;
    auto read = [address = address_](const pages::FetchedPage& page,
                                     pages::ReadingTime&) -> pages::Fetched {
      auto reading = std::make_shared<KeyReading>();
      reading->person = PersonOfKey(address, page.url, page.body);
      return std::shared_ptr<const pages::Reading>(std::move(reading));
    };
    FetchHeld(deps->fetcher, std::move(fetch), request_.may_call, std::move(read),
              [self = shared_from_this()](const pages::Fetched& fetched) {
                // The provider has ended: its callbacks are dropped.
                if (!self->deps_.expired()) self->OnKey(fetched);
              });
  }

 private:
  void OnKey(const pages::Fetched& fetched) {
    if (const auto* failure = std::get_if<domain::Failure>(&fetched)) {
      if (SaysNothing(*failure)) return done_(*failure);
      return AskNext();
    }
    const auto& person =
        static_cast<const KeyReading&>(*std::get<std::shared_ptr<const pages::Reading>>(fetched))
            .person;
    if (person.name.empty() && person.candidates.empty()) return AskNext();
    done_(person);
  }

  const std::weak_ptr<const Dependencies> deps_;
  const LookupRequest request_;
  const domain::Address address_;
  const std::vector<std::string> urls_;
  const std::chrono::nanoseconds deadline_;
  const std::function<void(LookupAnswer)> done_;
  std::size_t asked_ = 0;  // of the URLs
};

WkdProvider::WkdProvider(const base::Clock& clock, pages::Fetcher& fetcher, OriginOf origin_of)
    : deps_(std::make_shared<const Dependencies>(
          Dependencies{clock, fetcher, std::move(origin_of)})) {}

WkdProvider::~WkdProvider() = default;

void WkdProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  const auto address = domain::ParseAddress(request.address);
  if (!address || request.lookup != Lookup::kReverseEmail) return done(Nothing{});
  std::make_shared<Question>(deps_, std::move(request), *address, std::move(done))->AskNext();
}

std::string ZBase32(std::string_view bytes) {
  constexpr std::string_view kDigits = "ybndrfg8ejkmcpqxot1uwisza345h769";
  constexpr unsigned kDigitBits = 5;
  std::string text;
  unsigned value = 0;
  unsigned bits = 0;
  for (const char c : bytes) {
    value = (value << 8 | static_cast<unsigned char>(c)) & 0xFFFF;
    for (bits += 8; bits >= kDigitBits; bits -= kDigitBits) {
      text += kDigits[(value >> (bits - kDigitBits)) & 0x1F];
    }
  }
  if (bits > 0) text += kDigits[(value << (kDigitBits - bits)) & 0x1F];
  return text;
}

std::vector<std::string> WkdUrls(const domain::Address& address, const OriginOf& origin_of) {
  const auto domain = domain::AsciiDomain(address.domain);
  if (!domain) return {};
  constexpr std::string_view kPath = "/.well-known/openpgpkey/";
  const std::string file = "hu/" + ZBase32(base::Sha1(base::AsciiLower(address.local))) +
                           "?l=" + pages::EncodeComponent(address.local);
  return {origin_of("openpgpkey." + *domain) + std::string(kPath) + *domain + "/" + file,
          origin_of(*domain) + std::string(kPath) + file};
}

domain::PersonFound PersonOfKey(const domain::Address& address, const std::string& url,
                                std::string_view key) {
  const std::string asked = domain::MailboxKey(address);
  domain::PersonFound person;
  for (const domain::UserId& id : domain::ReadUserIds(key)) {
    const auto of = domain::ParseAddress(id.address);
    const std::string name = domain::StatedName(id.name);
    if (!of || domain::MailboxKey(*of) != asked || name.empty()) continue;
    const std::string evidence = base::CutCharacters(
        "A user id of the address's OpenPGP key: " + name, domain::kPersonEvidenceCharactersMax);
    const auto& all = person.candidates;
    const bool is_known = std::any_of(all.begin(), all.end(), [&](const auto& other) {
      return domain::IsSameName(other.name, name);
    });
    if (is_known || all.size() == domain::kPersonCandidatesMax) continue;
    person.candidates.push_back({name, kBesideConfidence, std::string(WkdProvider::kId), evidence});
  }
  if (person.candidates.size() != 1) return person;
  person.name = person.candidates.front().name;
  person.evidence = person.candidates.front().evidence;
  person.confidence = WkdProvider::kConfidence;
  person.sources = {url};
  person.candidates.clear();
  return person;
}

}  // namespace vedette::worker
