#include "domain/email/role_names.h"

#include <string>

#include "base/text.h"
#include "domain/email/word_list.h"

namespace vedette::domain {
namespace {

// Without dots and hyphens. The mailboxes of RFC 2142, and by what names companies call their desks
// in English, German, French, Spanish, Portuguese, Italian, Dutch, the languages of Scandinavia,
// Polish, Czech and Turkish. What may be somebody's first name or initials is left out, and so are
// the titles of one person ("ceo"): such an address is that person's.
constexpr std::string_view kRoleNames = R"(
abuse account accounting accounts accountspayable accountsreceivable accueil admin administracao
administracion administrador administratie administration administrativo administrator
administrazione admins admissions adops ads advertise advertising affiliate affiliates agencia
alert alerts amministrazione anfrage anfragen announce announcements answers ap api app
application applications apply ar asistencia assistance assistencia assistenza atencionalcliente
atendimento auftrag backoffice backup benefits beratung bestellung bestellungen bewerbung
bewerbungen biblioteca bibliotheque billing billings biuro bonjour booking bookings bookkeeping
bounce boxoffice buchhaltung buero bugs business businessdevelopment callcenter campaign
campaigns care career careers catering centralino clientes clients clientservices comercial
commande commandes commercial commerciale communication communications community compliance
compras compta comptabilite comunicacao comunicacion comunicazione concierge conference
contabilidad contabilidade contabilita contact contactenos contactform contacto contactos
contacts contactus contato contatti content controlling copyright corporate correo courrier crew
customer customercare customerrelations customers customerservice customerservices
customersuccess customersupport daemon data dataprotection datenschutz delivery demo design
developers development devnull devops digital direccion direction direktion direzione dispatch
dns domain domains donate donations dostawa download dpo dsb ecommerce editor editorial editors
education einkauf email emergency empfang employment engineering enquiries enquiry error errors
escritorio event events everyone export facilities facility facturacion facturas facturatie
facturation faktura fakturor faq fattura fatturazione fattureelettroniche fax feedback financas
finance financeiro financial finanzas finanzen forum foundation franchise frontdesk frontoffice
ftp fundraising general geral gerencia geschaeftsfuehrung gestion giving grants hallo headoffice
hello help helpdesk hiring hola hosting hostmaster hotel hotline hq hr humanresources iletisim
imprensa impressum imprint inbound inbox incoming info infobox infodesk infoline infopoint
informacion informasi informatie informatik information informatique infos inquiries inquiry
insurance international internet internship invest investor investorrelations investors invoice
invoices it ithelp itsupport jobs junk kadry kancelaria kanzlei karriere klantenservice
konferenz kontakt kontakta kontor kundencenter kundendienst kundenservice kundeservice
kundservice lager leads legal library licencias licensing list listserv login logistica
logistics logistik logistyka mail mailbox mailerdaemon mailing mailman maintenance management
marketing marketingteam media mediarelations members membership merchandising mitglieder monitor
monitoring myynti network news newsletter noc nomina noreply notification notifications notify
null obchod oferta offers office officemanager oficina onboarding online operaciones operations
order orders ordini ordre outreach partners partnership partnerships payment payments payroll
pedidos personal personalabteilung personnel planning poczta portal post posta postbox postfach
postmaster postmottak pr prensa presales press presse presseservice pressoffice preventivi
prijem privacy privacyofficer privacypolicy procurement produccion product production products
projects projekt projekte promo promotions proposals protocollo proveedores publicidad
publicidade publicity publicrelations purchase purchasing quality question questions quote
quotes receipts recepcao recepcion receptie reception receptionist reclamaciones reclami recruit
recruiter recruiters recruiting recruitment recrutement recursoshumanos redacao redaccion
redactie redaction redakcja redaktion redazione referrals registrar registration reklama
reklamacje reklamation rekrutacja relacionamento rental rentals report reporting reports request
requests research reservas reservation reservations reservering reservierung reservierungen
returns rezerwacja root rrhh rsvp sac safety sales satis sav scheduling secretaria secretariaat
secretariat security segreteria sekretariat sekretariatet service servicecenter serviceclient
servicedesk services serwis shipping shop shopping signup sistemas site smtp social socialmedia
software solutions soporte spam sponsor sponsorship sprzedaz staff statistics stats store
students studio submissions submit subscribe subscription subscriptions success suggestions
suporte supplier suppliers support supportteam sysadmin system systems talent tax team tech
technical technik techsupport tecnico telemarketing tender tenders test testing ticket tickets
tour tourismus tours trade training transport travel treasury turismo undisclosedrecipients
unsubscribe update updates usenet users uucp vacancies vacatures vendas vendite vendor vendors
ventas ventes verkauf verkoop vertrieb verwaltung voicemail volunteer volunteers vorstand
warehouse web webadmin webdesign webinar webinars webmail webmaster website webteam welcome
werbung wholesale wsparcie www zakupy zamowienia zarzad zentrale
)";

const WordSet& RoleNames() {
  static const WordSet listed = WordsOf(kRoleNames);
  return listed;
}

}  // namespace

bool IsRoleName(std::string_view local) {
  std::string name = base::AsciiLower(local.substr(0, local.find('+')));
  std::erase_if(name, [](char c) { return c == '-' || c == '_' || c == '.'; });
  while (!name.empty() && base::IsAsciiDigit(name.back())) name.pop_back();
  return RoleNames().contains(name);
}

}  // namespace vedette::domain
