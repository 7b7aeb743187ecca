#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "store/email/mail_facts.h"

// What the verifier remembers beyond this process: facts of domains, permits, blocked hosts.
namespace vedette::worker {

// Loop thread only. Callbacks come later, from the loop, exactly once; none after it is destroyed
// has to be expected, and none is lost before.
class MailServerMemory {
 public:
  virtual ~MailServerMemory() = default;

  // Nothing where nothing is known, also where the database cannot be asked.
  virtual void ReadDomain(const std::string& domain,
                          std::function<void(std::optional<domain::MailDomainFacts>)> done) = 0;
  virtual void SaveDomain(const domain::MailDomainFacts& facts) = 0;

  // Nothing is granted where the database cannot be asked.
  virtual void Admit(const std::string& host_key, const std::vector<store::MailPermit>& permits,
                     int recipients, std::function<void(store::MailAdmission)> done) = 0;
  // The host refused us, or could not be reached. It is left alone from then on where the fleet has
  // seen enough of that in a row.
  virtual void NoteTrouble(const std::string& host_key, const store::MailTrouble& trouble,
                           const domain::MailBlockTimes& times) = 0;
  // It served us, which ends what is counted.
  virtual void NoteServed(const std::string& host_key) = 0;
};

}  // namespace vedette::worker

namespace vedette::app {

// Every permit is there, and nothing is remembered: for commands that work without a database.
class OpenMailServerMemory : public worker::MailServerMemory {
 public:
  explicit OpenMailServerMemory(base::EventLoop& loop) : loop_(loop) {}
  void ReadDomain(const std::string&,
                  std::function<void(std::optional<domain::MailDomainFacts>)> done) override {
    loop_.Post([done = std::move(done)] { done(std::nullopt); });
  }
  void SaveDomain(const domain::MailDomainFacts&) override {}
  void Admit(const std::string&, const std::vector<store::MailPermit>&, int,
             std::function<void(store::MailAdmission)> done) override {
    store::MailAdmission admission;
    admission.granted = true;
    loop_.Post([done = std::move(done), admission] { done(admission); });
  }
  void NoteTrouble(const std::string&, const store::MailTrouble&,
                   const domain::MailBlockTimes&) override {}
  void NoteServed(const std::string&) override {}

 private:
  base::EventLoop& loop_;
};

}  // namespace vedette::app
