#include "store/renders.h"

#include <optional>
#include <set>
#include <utility>

#include "store/sql.h"

namespace vedette::store {
namespace {

// Three heartbeats.
constexpr std::chrono::milliseconds kMemberAlive{15'000};

// What is lost in a crash of the database is asked for again.
constexpr Durability kMayBeLost = Durability::kAsync;

}  // namespace

void AskForRender(Session& session, const base::Uuid& id, const base::Uuid& org_id,
                  const std::string& request, std::chrono::milliseconds asked) {
  InTransaction(
      session,
      [&](Transaction& tx) {
        tx.Exec<"render_ask">("id"_a = id, "org_id"_a = org_id, "asked_ms"_a = asked.count(),
                              "request"_a = Bytea(request));
      },
      Durability::kOneStatement);
}

std::vector<RenderNews> LookAtRenders(Session& session, const std::vector<base::Uuid>& ids,
                                      bool renew, std::chrono::milliseconds asked) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        std::vector<RenderNews> news;
        if (renew) {
          const auto there = ReadEach<base::Uuid>(
              tx.Exec<"render_renew">("ids"_a = ids, "asked_ms"_a = asked.count()));
          const std::set<base::Uuid> known(there.begin(), there.end());
          for (const base::Uuid& id : ids) {
            if (!known.contains(id)) news.push_back({.id = id});
          }
        }
        for (const auto& row : tx.Exec<"render_look">("ids"_a = ids)) {
          RenderNews one;
          RenderState state = RenderState::kWaiting;
          std::optional<base::Uuid> token;
          Columns(row).Into("id"_a = &one.id, "state"_a = &state, "lease_token"_a = &token,
                            "claims"_a = &one.claims);
          one.kind = state == RenderState::kOffered    ? RenderNews::Kind::kOffered
                     : state == RenderState::kAnswered ? RenderNews::Kind::kAnswered
                                                       : RenderNews::Kind::kGivenUp;
          one.token = token.value_or(base::Uuid());
          news.push_back(one);
        }
        return news;
      },
      renew ? kMayBeLost : Durability::kOneStatement);
}

std::vector<base::Uuid> AcceptRenders(Session& session, const std::vector<Lease>& offers) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        return ReadEach<base::Uuid>(tx.Exec<"render_accept">(LeaseRows(offers)));
      },
      kMayBeLost);
}

namespace {

std::map<base::Uuid, std::string> AnswersIn(const pqxx::result& rows) {
  std::map<base::Uuid, std::string> answers;
  for (const auto& row : rows) {
    base::Uuid id;
    std::string answer;
    Columns(row).Into("id"_a = &id, "answer"_a = BytesInto{&answer});
    answers.emplace(id, std::move(answer));
  }
  return answers;
}

}  // namespace

std::map<base::Uuid, std::string> CollectRenders(Session& session,
                                                 const std::vector<base::Uuid>& ids) {
  return InTransaction(
      session, [&](Transaction& tx) { return AnswersIn(tx.Exec<"render_collect">("ids"_a = ids)); },
      kMayBeLost);
}

std::map<base::Uuid, std::string> CollectHeldRenders(Session& session,
                                                     const std::vector<base::Uuid>& ids) {
  return InTransaction(
      session,
      [&](Transaction& tx) { return AnswersIn(tx.Exec<"render_collect_held">("ids"_a = ids)); },
      kMayBeLost);
}

void AskForPicture(Session& session, const base::Uuid& id, const std::string& request) {
  InTransaction(
      session,
      [&](Transaction& tx) {
        tx.Exec<"render_ask_picture">("id"_a = id, "request"_a = Bytea(request));
      },
      kMayBeLost);
}

void CancelRenders(Session& session, const std::vector<base::Uuid>& ids) {
  InTransaction(
      session, [&](Transaction& tx) { tx.Exec<"render_cancel">("ids"_a = ids); }, kMayBeLost);
}

BrowserMembers ReadBrowserMembers(Session& session) {
  return Read(session, [&](Transaction& tx) {
    BrowserMembers members;
    Columns(tx.Exec<"render_members">("alive_ms"_a = kMemberAlive.count()).at(0))
        .Into("alive"_a = &members.alive, "shown"_a = &members.shown);
    return members;
  });
}

std::vector<ClaimedRender> ClaimRenders(Session& session, const base::Uuid& token, int limit,
                                        const RenderTurns& turns, std::chrono::milliseconds lease) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        std::vector<ClaimedRender> claimed;
        for (const auto& row :
             tx.Exec<"render_claim">("token"_a = token, "limit"_a = limit,
             "org_ids"_a = turns.org_ids, "used"_a = turns.used, "least"_a = turns.least,
             "page"_a = turns.page, "lease_ms"_a = lease.count())) {
          ClaimedRender& one = claimed.emplace_back();
          Columns(row).Into("id"_a = &one.id, "org_id"_a = &one.org_id,
                            "request"_a = BytesInto{&one.request});
        }
        return claimed;
      },
      kMayBeLost);
}

std::vector<base::Uuid> RenewRenders(Session& session, const std::vector<Lease>& leases,
                                     std::chrono::milliseconds lease) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        return ReadEach<base::Uuid>(
            tx.Exec<"render_hold">(LeaseRows(leases), "lease_ms"_a = lease.count()));
      },
      kMayBeLost);
}

std::vector<base::Uuid> TakenRenders(Session& session, const std::vector<Lease>& leases) {
  return Read(session, [&](Transaction& tx) {
    return ReadEach<base::Uuid>(tx.Exec<"render_taken">(LeaseRows(leases)));
  });
}

std::map<base::Uuid, std::string> LookAtOpenPages(Session& session,
                                                  const std::vector<Lease>& pages) {
  return Read(session, [&](Transaction& tx) {
    return AnswersIn(tx.Exec<"render_open_pages">(LeaseRows(pages)));
  });
}

bool AnswerRender(Session& session, const Lease& lease, const std::string& answer) {
  return InTransaction(
      session,
      [&](Transaction& tx) {
        return !tx.Exec<"render_answer">("id"_a = lease.id, "token"_a = lease.token,
                                         "answer"_a = Bytea(answer))
                    .empty();
      },
      kMayBeLost);
}

void GiveBackRenders(Session& session, const std::vector<Lease>& leases) {
  InTransaction(
      session, [&](Transaction& tx) { tx.Exec<"render_give_back">(LeaseRows(leases)); },
      kMayBeLost);
}

void ForgetRenders(Session& session, const std::vector<Lease>& offers) {
  InTransaction(
      session, [&](Transaction& tx) { tx.Exec<"render_forget">(LeaseRows(offers)); }, kMayBeLost);
}

}  // namespace vedette::store
