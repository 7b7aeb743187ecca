#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "worker/providers/mail/mail_book.h"

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
