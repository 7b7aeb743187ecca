#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "store/session.h"
#include "worker/providers/mail/mail_book.h"

namespace vedette::worker {

// The memory in the database. Everything handed in must outlive this object.
class StoredMailServerMemory final : public MailServerMemory {
 public:
  StoredMailServerMemory(base::EventLoop& loop, store::Pool& pool) : loop_(loop), pool_(pool) {}

  void ReadDomain(const std::string& domain,
                  std::function<void(std::optional<domain::MailDomainFacts>)> done) override;
  void SaveDomain(const domain::MailDomainFacts& facts) override;
  void Admit(const std::string& host_key, const std::vector<store::MailPermit>& permits,
             int recipients, std::function<void(store::MailAdmission)> done) override;
  void NoteTrouble(const std::string& host_key, const store::MailTrouble& trouble,
                   const domain::MailBlockTimes& times) override;
  void NoteServed(const std::string& host_key) override;

 private:
  // For what may as well be lost.
  void Write(std::function<void(store::Session&)> write);

  base::EventLoop& loop_;
  store::Pool& pool_;
};

}  // namespace vedette::worker
