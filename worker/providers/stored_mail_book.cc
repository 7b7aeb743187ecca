#include "worker/providers/stored_mail_book.h"

#include <utility>
#include <variant>

#include "store/async.h"

namespace vedette::worker {

using domain::MailDomainFacts;

void StoredMailServerMemory::Write(std::function<void(store::Session&)> write) {
  store::RunAsync<bool>(
      pool_, loop_,
      [write = std::move(write)](store::Session& session) {
        write(session);
        return true;
      },
      [](const std::variant<bool, store::Failure>&) {});
}

void StoredMailServerMemory::ReadDomain(const std::string& domain,
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

void StoredMailServerMemory::SaveDomain(const MailDomainFacts& facts) {
  Write([facts](store::Session& session) { store::SaveMailDomain(session, facts); });
}

void StoredMailServerMemory::Admit(const std::string& host_key,
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

void StoredMailServerMemory::NoteTrouble(const std::string& host_key,
                                         const store::MailTrouble& trouble,
                                         const domain::MailBlockTimes& times) {
  Write(
      [=](store::Session& session) { store::NoteMailTrouble(session, host_key, trouble, times); });
}

void StoredMailServerMemory::NoteServed(const std::string& host_key) {
  Write([host_key](store::Session& session) { store::NoteMailServed(session, host_key); });
}

}  // namespace vedette::worker
