#include "domain/email/role_names.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/text.h"

namespace vedette::domain {
namespace {

// Sorted; without dots and hyphens.
constexpr std::string_view kRoleNames[] = {
    "abuse",
    "accounting",
    "accounts",
    "admin",
    "administration",
    "administrator",
    "advertising",
    "answers",
    "ap",
    "ar",
    "billing",
    "bonjour",
    "booking",
    "bookings",
    "bounce",
    "buchhaltung",
    "career",
    "careers",
    "clients",
    "compliance",
    "contact",
    "contacto",
    "contato",
    "customerservice",
    "customersupport",
    "datenschutz",
    "developers",
    "dpo",
    "editor",
    "empfang",
    "enquiries",
    "events",
    "facturacion",
    "feedback",
    "finance",
    "general",
    "hallo",
    "hello",
    "help",
    "helpdesk",
    "hola",
    "hostmaster",
    "hr",
    "impressum",
    "info",
    "informacion",
    "information",
    "infos",
    "inquiries",
    "investors",
    "invoice",
    "invoices",
    "it",
    "jobs",
    "kontakt",
    "legal",
    "mail",
    "mailbox",
    "mailerdaemon",
    "marketing",
    "media",
    "news",
    "newsletter",
    "noc",
    "noreply",
    "office",
    "operations",
    "orders",
    "partners",
    "payments",
    "personal",
    "postmaster",
    "pr",
    "press",
    "presse",
    "privacy",
    "procurement",
    "purchasing",
    "reception",
    "recruiting",
    "recruitment",
    "redaktion",
    "reservations",
    "root",
    "sales",
    "security",
    "service",
    "services",
    "shop",
    "spam",
    "staff",
    "subscribe",
    "support",
    "team",
    "tech",
    "unsubscribe",
    "usenet",
    "verkauf",
    "vertrieb",
    "web",
    "webmaster",
    "webteam",
    "welcome",
    "www",
};
static_assert(std::is_sorted(std::begin(kRoleNames), std::end(kRoleNames)));

}  // namespace

bool IsRoleName(std::string_view local) {
  std::string name = base::AsciiLower(local.substr(0, local.find('+')));
  std::erase_if(name, [](char c) { return c == '-' || c == '_' || c == '.'; });
  while (!name.empty() && base::IsAsciiDigit(name.back())) name.pop_back();
  return std::binary_search(std::begin(kRoleNames), std::end(kRoleNames), name);
}

}  // namespace vedette::domain
