#include "worker/providers/local_part_provider.h"

#include <string>
#include <utility>

#include "domain/people/mailbox.h"

namespace vedette::worker {

void LocalPartProvider::Start(LookupRequest request, std::function<void(LookupAnswer)> done) {
  const std::string name = request.lookup == Lookup::kReverseEmail
                               ? domain::NameOfLocalPart(request.address)
                               : std::string();
  if (name.empty()) return done(Nothing{});
  domain::PersonFound person;
  person.candidates.push_back(
      {name, kConfidence, std::string(kId), "The local part of the address is made of it."});
  done(std::move(person));
}

}  // namespace vedette::worker
