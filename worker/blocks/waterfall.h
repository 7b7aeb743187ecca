#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/email/found.h"

// In which order providers are asked about a lead, which addresses are verified, and when enough is
// known. Pure.
//
//   ask a provider --> verify its addresses --none is OK--> the next provider ... --> end
//        ^                    |    ^                              |
//        |                    |    +--- wait until they can be ---+ (none is left, some said later)
//        +-- a failure that   +--> one is OK: end
//            may pass
//
// One provider is asked at a time, in order. The first address that is OK ends the work; otherwise
// the next provider is asked, and the addresses that nobody could verify are kept. A failure that
// may pass is tried once more, after a short wait, where the row's time allows it. Where something
// verifies, the addresses of an answer that are not OK already are verified before the next
// provider is asked: what was stated all at once, a guess of a pattern that the domain has shown
// alone and first, other guesses kGuessesAtOnce at a time, so that few recipients are named for
// nothing. Once the permits to ask are used up no further guess is asked about.
namespace vedette::worker {

// What came of asking one provider once.
struct Try {
  std::size_t provider = 0;  // its place in the order
  domain::ProviderTry shown;
  bool retryable = false;                   // of a failure
  std::chrono::milliseconds retry_after{};  // what the provider asks for
};

struct AskProvider {
  std::size_t provider = 0;
  std::chrono::milliseconds wait{};  // before it is asked
};
struct VerifyAddresses {
  std::vector<std::size_t> addresses;  // their places in `seen`; all of them at the same time
};
// Nothing is left to do but to verify again those that said "later".
struct WaitUntil {};
struct End {
  domain::FindEnd end = domain::FindEnd::kWorked;
};
using Step = std::variant<AskProvider, VerifyAddresses, WaitUntil, End>;

// Whether something verifies addresses.
enum class Verifying : std::uint8_t { kNo, kYes };

// Before a provider is asked again; longer where it asks for that.
inline constexpr std::chrono::milliseconds kRetryWaitMin{500};
// With less time left nobody is asked: it would count as the provider's failure.
inline constexpr std::chrono::milliseconds kAttemptTimeMin{50};
inline constexpr std::size_t kGuessesAtOnce = 3;

// `tries`: those that have ended, in their order. `seen`: the addresses of their answers.
Step NextStep(std::size_t providers, const std::vector<Try>& tries,
              const std::vector<domain::FoundAddress>& seen, std::chrono::milliseconds time_left,
              Verifying verifying = Verifying::kNo);

// Adds the candidates of one answer to `seen`: each address once, the first `candidates_max` of the
// answer, guesses not counted. One that was seen already takes the better of both statuses, and
// stays where it is; a guess that somebody states becomes a stated address.
void AddCandidates(const std::string& provider, const domain::Candidates& candidates,
                   std::size_t candidates_max, std::vector<domain::FoundAddress>* seen);

// Makes a lead that has waited guess again, where `guesser`, a place in the order, was the last one
// asked: the domain may have shown its pattern meanwhile. Guesses about which a server has said
// something, a greylist too, stay; where no others are left nothing changes.
void ReplanGuesses(std::size_t guesser, std::vector<Try>* tries,
                   std::vector<domain::FoundAddress>* seen);

// Drops guesses that say nothing: all that nobody could verify where an address is OK; else all but
// the first of them where nobody verifies, or where the server's answer to one shows that it cannot
// tell. Guesses that were refused stay.
void DropGuesses(Verifying verifying, std::vector<domain::FoundAddress>* seen);

// What a lead that waits for a greylist takes with it, so that no provider is asked or paid twice.
// Pure.

struct FindMemo {
  std::string domain;             // of the company, where a provider named it; else empty
  std::vector<Try> domain_tries;  // at it
  std::vector<Try> tries;
  std::vector<domain::FoundAddress> seen;
};

// JSON of at most kMemoBytesMax. Where it would be longer, quotes and then sources are left out;
// empty where it is too long even so.
std::optional<std::string> WriteFindMemo(const FindMemo& memo);

// What WriteFindMemo wrote; addresses that said "later" are open again. Empty for anything else.
std::optional<FindMemo> ReadFindMemo(std::string_view json);

}  // namespace vedette::worker
