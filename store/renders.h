#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "store/lease.h"
#include "store/session.h"

// Pages that are to be rendered by another process of the fleet. Who asks for one is told of each
// step, as LISTEN and NOTIFY and a poll behind them go, and the page lives no longer than that
// process. All functions throw as InTransaction.
namespace vedette::store {

// What has become of a page, a row of `render`.
//
//             claim              accept              answer              collect
//   kWaiting --------> kOffered --------> kTaken ----------> kAnswered ----------> (gone)
//      ^  ^               |   |              |
//      |  +-- give back --+---|--------------+
//      |                  |   |              |
//      |                  |   +-- forget: nobody accepted it --> (gone)
//      +--- the lease ends, at most kRenderClaimsMax claims ---+
//
// A page that stays open for its picture keeps its row behind its answer:
//
//   kAnswered -- collect --> kHeld -- ask for its picture --> kPictured -- answer --> kAnswered
//
//   any -- cancel; who asks is gone --> (gone): nobody wants its picture, and it is closed
//
// A page is offered first, and loaded once its check may begin: its monitor may have been paused
// while it waited (G5), and who asks may have died.
enum class RenderState : std::int8_t {
  kWaiting = 0,
  kOffered = 1,
  kTaken = 2,
  kAnswered = 3,
  kHeld = 4,
  kPictured = 5,
};

// How often a page is tried whose process dies with it.
inline constexpr int kRenderClaimsMax = 3;

// What asks.

// A page that waits from now on; it is asked for until `asked` has passed, or for as long as that
// is renewed. `request` is opaque here.
void AskForRender(Session& session, const base::Uuid& id, const base::Uuid& org_id,
                  const std::string& request, std::chrono::milliseconds asked);

struct RenderNews {
  enum class Kind {
    kOffered,   // under `token`: AcceptRenders is waited for
    kAnswered,  // to be collected
    kGivenUp,   // kRenderClaimsMax processes have died with it
    kGone,      // there is no such page
  };
  base::Uuid id;
  Kind kind = Kind::kGone;
  base::Uuid token;
  int claims = 0;  // the one of the offer included
};
// What has happened to these pages; with `renew`, their time, too, and whether they are gone is
// said only then.
std::vector<RenderNews> LookAtRenders(Session& session, const std::vector<base::Uuid>& ids,
                                      bool renew, std::chrono::milliseconds asked);

// The offers that were still there; the others will be offered again.
std::vector<base::Uuid> AcceptRenders(Session& session, const std::vector<Lease>& offers);

// The answers of those that are answered, by id; each is gone with that.
std::map<base::Uuid, std::string> CollectRenders(Session& session,
                                                 const std::vector<base::Uuid>& ids);

// The same of pages that are open for their pictures: their rows stay.
std::map<base::Uuid, std::string> CollectHeldRenders(Session& session,
                                                     const std::vector<base::Uuid>& ids);

// `request` is opaque here. What comes of it LookAtRenders says; nothing where the page is gone.
void AskForPicture(Session& session, const base::Uuid& id, const std::string& request);

void CancelRenders(Session& session, const std::vector<base::Uuid>& ids);

struct BrowserMembers {
  bool alive = false;  // a process of the role browser is
  bool shown = false;  // one is, or was within kMemberShown
};
BrowserMembers ReadBrowserMembers(Session& session);

// What renders.

// In whose turn pages are claimed: by what organisations have used, in milliseconds of the browser.
struct RenderTurns {
  std::vector<base::Uuid> org_ids;
  std::vector<std::int64_t> used;
  std::int64_t least = 0;  // of all others
  std::int64_t page = 0;   // what a page counts that has not ended
};

struct ClaimedRender {
  base::Uuid id;
  base::Uuid org_id;
  std::string request;
};
// At most `limit` pages, as offers under `token`.
std::vector<ClaimedRender> ClaimRenders(Session& session, const base::Uuid& token, int limit,
                                        const RenderTurns& turns, std::chrono::milliseconds lease);

// Those that are still held. A page for which nobody asks any more is not.
std::vector<base::Uuid> RenewRenders(Session& session, const std::vector<Lease>& leases,
                                     std::chrono::milliseconds lease);
// Those of these offers that were accepted.
std::vector<base::Uuid> TakenRenders(Session& session, const std::vector<Lease>& leases);
// False: the page is another process's by now, or nobody's.
bool AnswerRender(Session& session, const Lease& lease, const std::string& answer);
// Which of these open pages are still asked for, by id; with what is asked of their pictures, or
// empty: that is not decided yet.
std::map<base::Uuid, std::string> LookAtOpenPages(Session& session,
                                                  const std::vector<Lease>& pages);
void GiveBackRenders(Session& session, const std::vector<Lease>& leases);
// Offers that nobody accepted.
void ForgetRenders(Session& session, const std::vector<Lease>& offers);

}  // namespace vedette::store
