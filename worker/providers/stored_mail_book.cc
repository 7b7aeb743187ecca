#include "worker/providers/stored_mail_book.h"

#include <utility>
#include <variant>

#include "store/async.h"

namespace vedette::worker {

using domain::MailDomainFacts;

void StoredMailBook::Write(std::function<void(store::Session&)> write) {
  store::RunAsync<bool>(
      pool_, loop_,
      [write = std::move(write)](store::Session& session) {
        write(session);
        return true;
      },
      [](const std::variant<bool, store::Failure>&) {});
}

void StoredMailBook::ReadDomain(const std::string& domain,
                                std::function<void(std::optional<MailDomainFacts>)> done) {
  using Read = std::optional<MailDomainFacts>;
  store::RunAsync<Read>(
      pool_, loop_,
      [domain](store::Session& session) { return store::ReadMailDomain(session, domain); },
      [done = std::move(done)](std::variant<Read, store::Failure> result) {
        auto* read = std::get_if<Read>(&result);
        done(read == nullptr ? std::nullopt : std::move(*read));
      });
}

void StoredMailBook::SaveDomain(const MailDomainFacts& facts) {
  Write([facts](store::Session& session) { store::SaveMailDomain(session, facts); });
}

void StoredMailBook::Admit(const std::string& host_key,
                           const std::vector<store::MailPermit>& permits, int recipients,
                           std::function<void(store::MailAdmission)> done) {
  store::RunAsync<store::MailAdmission>(
      pool_, loop_,
      [host_key, permits, recipients](store::Session& session) {
        return store::AdmitRecipients(session, host_key, permits, recipients);
      },
      [done = std::move(done)](std::variant<store::MailAdmission, store::Failure> result) {
        auto* admission = std::get_if<store::MailAdmission>(&result);
        done(admission == nullptr ? store::MailAdmission{} : *admission);
      });
}

void StoredMailBook::Block(const std::string& host_key, std::chrono::milliseconds block,
                           domain::VerdictReason reason, const std::string& last_reply) {
  Write([=](store::Session& session) {
    store::BlockMailHost(session, host_key, block, static_cast<int>(reason), last_reply);
  });
}

void StoredMailBook::Unblock(const std::string& host_key) {
  Write([host_key](store::Session& session) { store::UnblockMailHost(session, host_key); });
}

}  // namespace vedette::worker
