#include "worker/providers/dns_expander.h"

#include <iterator>
#include <optional>
#include <utility>

#include "base/text.h"
#include "domain/email/address.h"

namespace vedette::worker {
namespace {

using domain::Finding;
using domain::Subject;
using domain::SubjectKind;

// Records of one kind that become findings.
constexpr std::size_t kRecordsMax = 16;

Finding Found(std::string evidence) {
  Finding finding;
  finding.evidence = std::move(evidence);
  finding.provider = DnsExpander::kId;
  finding.confidence = 10;
  return finding;
}

}  // namespace

// The questions about one subject, one after the other. It lives as long as one is under way.
class DnsExpander::Asking : public std::enable_shared_from_this<Asking> {
 public:
  Asking(std::weak_ptr<const DnsNames> names, ExpandRequest request,
         std::function<void(ExpandAnswer)> done)
      : names_(std::move(names)), request_(std::move(request)), done_(std::move(done)) {}

  void Begin() {
    const std::string& value = request_.subject.value;
    switch (request_.subject.type) {
      case SubjectKind::kDomain:
        return AskMailServers();
      case SubjectKind::kIp:
        return AskNames();
      case SubjectKind::kEmail:
        if (const auto address = domain::ParseAddress(value)) {
          Relate("at_domain", SubjectKind::kDomain, address->domain,
                 "The domain of " + value + ".");
        }
        return End();
      default:
        return End();
    }
  }

 private:
  void Relate(std::string_view predicate, SubjectKind type, const std::string& value,
              std::string evidence) {
    auto to = domain::ReadSubject(type, value);
    if (!std::holds_alternative<Subject>(to)) return;
    auto both = domain::RelationTo(request_.investigation_id, request_.subject, predicate,
                                   std::get<Subject>(to), Found(std::move(evidence)));
    std::move(both.begin(), both.end(), std::back_inserter(findings_));
  }

  void AskMailServers() {
    const auto names = names_.lock();
    if (names == nullptr) return;
    if (!request_.may_call()) return End();
    names->mx(request_.subject.value, [self = shared_from_this()](auto records) {
      if (self->names_.expired()) return;
      for (std::size_t i = 0; i < std::min(records.records.size(), kRecordsMax); ++i) {
        const auto& record = records.records[i];
        self->Relate("mail_server", SubjectKind::kDomain, record.host,
                     "MX " + std::to_string(record.preference) + " " + record.host);
      }
      self->AskNameServers();
    });
  }

  void AskNameServers() {
    const auto names = names_.lock();
    if (names == nullptr) return;
    if (!request_.may_call()) return End();
    names->ns(request_.subject.value, [self = shared_from_this()](auto records) {
      if (self->names_.expired()) return;
      for (std::size_t i = 0; i < std::min(records.records.size(), kRecordsMax); ++i) {
        self->Relate("name_server", SubjectKind::kDomain, records.records[i],
                     "NS " + records.records[i]);
      }
      self->AskTexts();
    });
  }

  void AskTexts() {
    const auto names = names_.lock();
    if (names == nullptr) return;
    if (!request_.may_call()) return End();
    names->txt(request_.subject.value, [self = shared_from_this()](auto records) {
      if (self->names_.expired()) return;
      for (std::size_t i = 0; i < std::min(records.records.size(), kRecordsMax); ++i) {
        // A record is whatever bytes its owner likes, up to 64 KiB of them.
        const std::string value =
            base::CutCharacters(base::RepairUtf8(records.records[i]), domain::kSubjectCharsMax);
        Finding text = Found("TXT " + value);
        text.kind = domain::FindingKind::kAttribute;
        text.subject = self->request_.subject;
        text.predicate = "dns_text";
        text.object = domain::FindingObject{"text", value};
        self->findings_.push_back(std::move(text));
      }
      self->AskAddresses();
    });
  }

  void AskAddresses() {
    const auto names = names_.lock();
    if (names == nullptr) return;
    if (!request_.may_call()) return End();
    names->addresses(request_.subject.value, [self = shared_from_this()](auto resolved) {
      if (self->names_.expired()) return;
      for (std::size_t i = 0; i < std::min(resolved.addresses.size(), kRecordsMax); ++i) {
        const std::string ip = resolved.addresses[i].ToString();
        self->Relate("address", SubjectKind::kIp, ip, "The name has the address " + ip + ".");
      }
      self->End();
    });
  }

  void AskNames() {
    const auto names = names_.lock();
    const auto ip = net::IpAddress::Parse(request_.subject.value);
    if (names == nullptr) return;
    if (!ip || !request_.may_call()) return End();
    names->names(*ip, [self = shared_from_this()](auto records) {
      if (self->names_.expired()) return;
      for (std::size_t i = 0; i < std::min(records.records.size(), kRecordsMax); ++i) {
        self->Relate("name", SubjectKind::kDomain, records.records[i], "PTR " + records.records[i]);
      }
      self->End();
    });
  }

  void End() { std::exchange(done_, nullptr)(std::move(findings_)); }

  const std::weak_ptr<const DnsNames> names_;
  const ExpandRequest request_;
  std::function<void(ExpandAnswer)> done_;
  std::vector<Finding> findings_;
};

DnsNames NamesOf(net::Resolver* resolver) {
  return {
      [resolver](const std::string& name, auto done) { resolver->QueryMx(name, std::move(done)); },
      [resolver](const std::string& name, auto done) { resolver->QueryTxt(name, std::move(done)); },
      [resolver](const std::string& name, auto done) { resolver->Resolve(name, std::move(done)); },
      [resolver](const net::IpAddress& ip, auto done) { resolver->QueryPtr(ip, std::move(done)); },
      [resolver](const std::string& name, auto done) { resolver->QueryNs(name, std::move(done)); }};
}

bool DnsExpander::Takes(SubjectKind type) const {
  return type == SubjectKind::kDomain || type == SubjectKind::kIp || type == SubjectKind::kEmail;
}

void DnsExpander::Start(ExpandRequest request, std::function<void(ExpandAnswer)> done) {
  std::make_shared<Asking>(names_, std::move(request), std::move(done))->Begin();
}

}  // namespace vedette::worker
