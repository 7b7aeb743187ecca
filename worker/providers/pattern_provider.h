#pragma once

#include "worker/providers/email_memory.h"
#include "worker/providers/provider.h"

namespace vedette::worker {

// Guesses addresses at the company's domain from the person's name: by the pattern that the
// organisation has learnt of the domain, else by the usual ones (domain/email/candidate.h).
// Its candidates are not stated. Nothing in mode PERSONAL, without a domain, at free mailboxes, and
// for names that cannot be read. Everything handed in must outlive this object.
class PatternProvider final : public Provider {
 public:
  static constexpr std::string_view kId = "pattern";

  PatternProvider(EmailMemory& memory, std::size_t guesses_max)
      : memory_(memory), guesses_max_(guesses_max) {}

  std::string_view id() const override { return kId; }
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  EmailMemory& memory_;
  const std::size_t guesses_max_;
};

// Answers with what the organisation has found before: addresses of the same person at the same
// company. In mode PROFESSIONAL those at the company, in mode PERSONAL the others. Of
// reverse_email: the name that the local part is made of, where the organisation has found the
// address for it. Of company_domain: the domain that the organisation's leads have named for the
// company (AgreedDomain).
class StoreProvider final : public Provider {
 public:
  static constexpr int kNameConfidence = 5;

  explicit StoreProvider(EmailMemory& memory) : memory_(memory) {}

  std::string_view id() const override;
  void Start(LookupRequest request, std::function<void(LookupAnswer)> done) override;

 private:
  void Reverse(const LookupRequest& request, std::function<void(LookupAnswer)> done);
  void Company(const LookupRequest& request, std::function<void(LookupAnswer)> done);

  EmailMemory& memory_;
};

}  // namespace vedette::worker
