#include "domain/email/address.h"

#include <gtest/gtest.h>

namespace vedette::domain {
namespace {

std::string Key(std::string_view text) {
  return MailboxKey(*ParseAddress(text));
}

TEST(MailboxTest, SpellingsOfOneMailboxHaveOneKey) {
  EXPECT_EQ(Key("Ada@Example.com"), "ada@example.com");
  EXPECT_EQ(Key("ada+news@example.com"), "ada@example.com");
  EXPECT_EQ(Key("A.d.a+x@GoogleMail.com"), "ada@gmail.com");
  EXPECT_EQ(Key("a.da@example.com"), "a.da@example.com");
  EXPECT_EQ(Key("+ada@example.com"), "+ada@example.com");
  EXPECT_EQ(Key("ZOÉ+x@example.com"), "zoé@example.com");
  EXPECT_EQ(Key("Zoe\u0301@example.com"), "zoé@example.com");
  EXPECT_NE(Key("zoe@example.com"), "zoé@example.com");
}

TEST(MailboxTest, AnAddressIsTheCompanysBelowItsDomainAndInEverySpelling) {
  const auto is_of = [](const char* address, const char* company) {
    return IsOfCompany(*ParseAddress(address), company);
  };
  EXPECT_TRUE(is_of("ann@acme.com", "acme.com"));
  EXPECT_TRUE(is_of("ann@mail.acme.com", "acme.com"));
  EXPECT_TRUE(is_of("ann@acme.com", "shop.acme.com"));
  EXPECT_TRUE(is_of("ann@MÜLLER.example", "xn--mller-kva.example"));
  EXPECT_TRUE(is_of("ann@xn--mller-kva.example", "müller.example"));
  EXPECT_TRUE(is_of("ann@mu\u0308ller.example", "xn--mller-kva.example"));
  EXPECT_FALSE(is_of("ann@muller.example", "xn--mller-kva.example"));
  EXPECT_FALSE(is_of("ann@notacme.com", "acme.com"));
  EXPECT_FALSE(is_of("ann@acme.com", ""));
}

TEST(MailboxTest, TheListsKnowADomainInEverySpelling) {
  AddFreeMailboxDomains({"xn--pst-sna.example"});
  AddDisposableDomains({"xn--mll-hoa.example"});
  EXPECT_EQ(ClassOf(*ParseAddress("ann@pöst.example")), MailboxClass::kFree);
  EXPECT_EQ(ClassOf(*ParseAddress("ann@x.müll.example")), MailboxClass::kDisposable);
}

TEST(MailboxTest, ARoleIsNobodysAtEveryDomain) {
  EXPECT_EQ(ClassOf(*ParseAddress("Info@engines.example")), MailboxClass::kRole);
  EXPECT_EQ(ClassOf(*ParseAddress("sales+eu@gmail.com")), MailboxClass::kRole);
  EXPECT_EQ(ClassOf(*ParseAddress("ada@mailinator.com")), MailboxClass::kDisposable);
  EXPECT_EQ(ClassOf(*ParseAddress("ada@gmail.com")), MailboxClass::kFree);
  EXPECT_EQ(ClassOf(*ParseAddress("infante@engines.example")), MailboxClass::kCompany);
}

TEST(MailboxTest, TheListsKnowProvidersOfTheWorldAndDesksOfManyLanguages) {
  const auto class_of = [](const char* text) { return ClassOf(*ParseAddress(text)); };
  for (const char* free : {"a@hotmail.com.br", "a@yahoo.co.kr", "a@rambler.ru", "a@ukr.net",
                           "a@interia.pl", "a@abv.bg", "a@docomo.ne.jp", "a@bigpond.com",
                           "a@videotron.ca", "a@telkomsa.net", "a@mynet.com"}) {
    EXPECT_EQ(class_of(free), MailboxClass::kFree) << free;
  }
  for (const char* thrown_away :
       {"a@wegwerf-email.de", "a@trashmail.ws", "a@guerrillamail.info", "a@jetable.net",
        "a@spamfree24.org", "a@x.mailinator2.com", "a@zehnminutenmail.de"}) {
    EXPECT_EQ(class_of(thrown_away), MailboxClass::kDisposable) << thrown_away;
  }
  for (const char* desk :
       {"buero@engines.example", "Ventas@engines.example", "comptabilite2@engines.example",
        "financeiro@engines.example", "segreteria@engines.example",
        "klantenservice@engines.example", "kundservice@engines.example", "biuro@engines.example",
        "iletisim@engines.example", "no-reply@engines.example",
        "customer.service@engines.example"}) {
    EXPECT_EQ(class_of(desk), MailboxClass::kRole) << desk;
  }
  // First names, initials and titles of one person are a person's.
  for (const char* person : {"dev@engines.example", "job@engines.example", "rh@engines.example",
                             "ceo@engines.example"}) {
    EXPECT_EQ(class_of(person), MailboxClass::kCompany) << person;
  }
}

TEST(MailboxTest, TheOperatorsDomainsAreAddedToOurs) {
  const Address free = *ParseAddress("ada@everybodys.test");
  const Address thrown_away = *ParseAddress("ada@a.gone-tomorrow.test");
  EXPECT_EQ(ClassOf(free), MailboxClass::kCompany);
  EXPECT_EQ(ClassOf(thrown_away), MailboxClass::kCompany);
  AddFreeMailboxDomains({"everybodys.test"});
  AddDisposableDomains({"gone-tomorrow.test"});
  EXPECT_EQ(ClassOf(free), MailboxClass::kFree);
  EXPECT_EQ(ClassOf(thrown_away), MailboxClass::kDisposable);
  EXPECT_EQ(CompanyDomainOf(free), "");
  EXPECT_EQ(CompanyDomainOf(thrown_away), "");
  EXPECT_EQ(ClassOf(*ParseAddress("ada@gmail.com")), MailboxClass::kFree);
  EXPECT_EQ(ClassOf(*ParseAddress("ada@yopmail.com")), MailboxClass::kDisposable);
  EXPECT_EQ(ClassOf(*ParseAddress("ada@engines.example")), MailboxClass::kCompany);
}

}  // namespace
}  // namespace vedette::domain
