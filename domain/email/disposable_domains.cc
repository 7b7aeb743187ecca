#include "domain/email/disposable_domains.h"

#include "domain/email/word_list.h"

namespace vedette::domain {
namespace {

// Chosen by hand from the public list of disposable-email-domains (CC0): services that say what
// they are by their name, and the best known others. Domains that people also use for good are left
// out, since an address at a listed one is not asked about.
constexpr std::string_view kDisposableDomains = R"(
0-mail.com 0clickemail.com 0wnd.net 0wnd.org 10-minute-mail.com 10mail.org 10minmail.de
10minut.com.pl 10minut.xyz 10minutemail.be 10minutemail.co.uk 10minutemail.co.za
10minutemail.com 10minutemail.de 10minutemail.net 10minutemail.nl 10minutemail.pro
10minutemail.us 10minutemailbox.com 10minutemails.in 10minutenemail.de 10minutesmail.com
10minutesmail.fr 10minutmail.pl 12houremail.com 12minutemail.com 12minutemail.net 1secmail.com
1secmail.net 1secmail.org 1usemail.com 20email.eu 20email.it 20mail.eu 20mail.in 20mail.it
20minutemail.com 20minutemail.it 20minutesmail.com 24hinbox.com 24hourmail.com 24hourmail.net
2prong.com 30mail.ir 30minutemail.com 33mail.com 48hr.email 4warding.com 4warding.net
4warding.org 5minutemail.net 60minutemail.com 675hosting.com 75hosting.com abusemail.de
afrobacon.com ajaxapp.net altmails.com amail4.me ano-mail.net anon-mail.de anonbox.net
anonmail.top anonmails.de anonymail.dk anonymbox.com anonymized.org anonymousness.com
ansibleemail.com antireg.com antireg.ru antispam.de antispam24.de antispammail.de armyspy.com
bareed.ws barooko.com beefmilk.com besttempmail.com binkmail.com bobmail.info boun.cr bouncr.com
boxtemp.com.br brefmail.com broadbandninja.com bsnow.net bspamfree.org bugmenot.com
bumpymail.com burnermail.io burnthespam.info burstmail.info byom.de candymail.de casualdx.com
centermail.com centermail.net chacuo.net chammy.info cheatmail.de chogmail.com choicemail1.com
chong-mail.com chong-mail.net chong-mail.org clipmail.eu clrmail.com cool.fr.nf courriel.fr.nf
courrieltemporaire.com crapmail.org crazymailing.com curryworld.de cust.in cuvox.de
dacoolest.com dandikmail.com dayrep.com dcemail.com deadaddress.com deadfake.tk deadspam.com
deinbox.com delikkt.de despam.it despammed.com dev-null.ml developermail.com devnullmail.com
dingbone.com disbox.net disbox.org discard.email discard.tk discardmail.com discardmail.de
dispo.in dispomail.eu disposable.ml disposable.site disposableaddress.com
disposableemailaddresses.com disposableinbox.com disposablemails.com dispose.it disposeamail.com
disposemail.com disposemymail.com dispostable.com dodgeit.com dodgemail.de dodgit.com dodgit.org
donemail.ru dontreg.com dontsendmespam.de dotmsg.com drdrb.com drdrb.net dropmail.me dudmail.com
dump-email.info dumpandjunk.com dumpmail.de dumpyemail.com e4ward.com easy-trash-mail.com
easytrashmail.com einmalmail.de einrot.com einrot.de eintagsmail.de email-fake.com
email-jetable.fr email-temp.com email60.com emaildienst.de emaildrop.io emailfake.com
emailfake.ml emailgenerator.de emailgo.de emailias.com emailinfive.com emailisvalid.com
emaillime.com emailmiser.com emailna.co emailnax.com emailondeck.com emailproxsy.com
emailresort.com emailsecurer.com emailsensei.com emailspam.tk emailtemporanea.com
emailtemporanea.net emailtemporar.ro emailtemporario.com.br emailthe.net emailtmp.com emailto.de
emailwarden.com emailxfer.com emeil.in emeil.ir emkei.ml emlhub.com emlpro.com emltmp.com
emz.net ephemail.net ephemeral.email explodemail.com eyepaste.com fadingemail.com fake-box.com
fakedemail.com fakeinbox.com fakeinbox.info fakeinformation.com fakemail.fr fakemail.io
fakemailgenerator.com fakemailz.com fantasymail.de fexbox.org fexpost.com fextemp.com
fightallspam.com filzmail.com fivemail.de fivermail.com fleckens.hu flyspam.com foobarbot.net
footard.com forgetmail.com fr.nf frapmail.com freeinbox.email freeml.net front14.org
funnymail.de garbagecollector.org garbagemail.org get1mail.com get2mail.fr getairmail.com
getmails.eu getnada.cc getnada.com getonemail.com getonemail.net ghosttexter.de giantmail.de
gishpuppy.com goemailgo.com gotmail.net gotmail.org great-host.in grr.la guerillamail.biz
guerillamail.com guerillamail.de guerillamail.info guerillamail.net guerillamail.org
guerrillamail.biz guerrillamail.com guerrillamail.de guerrillamail.info guerrillamail.net
guerrillamail.org guerrillamailblock.com gufum.com gustr.com haltospam.com harakirimail.com
hatespam.org hidemail.de hidemail.pro hidemail.us hidzz.com hmamail.com hopemail.biz hulapla.de
ieatspam.eu ieatspam.info ihateyoualot.info iheartspam.org ikbenspamvrij.nl imails.info
imgof.com imgv.de inboxalias.com inboxbear.com inboxclean.com inboxclean.org inboxkitten.com
inboxproxy.com incognitomail.com incognitomail.net incognitomail.org inoutmail.de inoutmail.eu
inoutmail.info inoutmail.net insorg-mail.info instant-mail.de instantemailaddress.com
instantmail.fr ipoo.org irish2me.com iwi.net jetable.com jetable.fr.nf jetable.net jetable.org
jetable.pp.ua jourrapide.com junk.to junk1e.com just-email.com kasmail.com kaspop.com
keepmymail.com killmail.com killmail.net kostenlosemailadresse.de koszmail.pl kuku.lu
kulturbetrieb.info kurzepost.de lackmail.net landmail.co lastmail.co lazyinbox.com lazyinbox.us
letthemeatspam.com lhsdv.com linshiyou.com linshiyouxiang.net litedrop.com lolmail.biz
lookugly.com lortemail.dk losemymail.com luckymail.org m4ilweb.info mail-easy.fr mail-filter.com
mail-temporaire.com mail-temporaire.fr mail.tm mail1a.de mail21.cc mail2rss.org mail4trash.com
mail7.io mailbidon.com mailbiz.biz mailblocks.com mailbucket.org mailcat.biz mailcatch.com
mailde.de mailde.info maildrop.cc maildu.de maildx.com maileater.com mailed.ro mailexpire.com
mailfa.tk mailforspam.com mailfreeonline.com mailfs.com mailguard.me mailgutter.com
mailhazard.com mailhazard.us mailimate.com mailin8r.com mailinatar.com mailinater.com
mailinator.co.uk mailinator.com mailinator.info mailinator.net mailinator.org mailinator.us
mailinator2.com mailincubator.com mailismagic.com mailjunk.tk mailme.lv mailme24.com
mailmenot.io mailmetrash.com mailmoat.com mailmoth.com mailna.co mailnada.cc mailnada.com
mailnator.com mailnesia.com mailnull.com mailorg.org mailpick.biz mailpoof.com mailproxsy.com
mailquack.com mailrock.biz mailsac.com mailscrap.com mailseal.de mailsiphon.com mailslite.com
mailsucker.net mailtemp.info mailtemporaire.com mailtemporaire.fr mailto.plus mailtome.de
mailtothis.com mailtrash.net mailtv.net mailtv.tv mailzilla.com mailzilla.org makemetheking.com
manybrain.com mbx.cc mega.zik.dj meinspamschutz.de meltmail.com messagebeamer.de mezimages.net
mierdamail.com migmail.net migmail.pl mintemail.com minutemail.com moakt.cc moakt.co moakt.com
moakt.ws mohmal.com mohmal.im mohmal.in mohmal.tech moncourrier.fr.nf monemail.fr.nf
monmail.fr.nf monumentmail.com muellemail.com muellmail.com mvrht.com mvrht.net
my10minutemail.com mycleaninbox.net myphantomemail.com myspamless.com mytemp.email
mytempemail.com mytempmail.com mytrashmail.com nada.email nada.ltd nervmich.net nervtmich.net
netzidiot.de nevermail.de nincsmail.com nincsmail.hu no-spam.ws nobugmail.com nobulk.com
noclickemail.com nogmailspam.info nomail.xl.cx nomail2me.com nomorespamemails.com nonspam.eu
nonspammer.de nospam.ze.tc nospam4.us nospamfor.us nospamthanks.info notmailinator.com
notsharingmy.info nowmymail.com nowmymail.net nurfuerspam.de objectmail.com odaymail.com
odnorazovoe.ru one-time.email oneoffemail.com oneoffmail.com onewaymail.com opentrash.com
outlawspam.com owlpic.com pancakemail.com papierkorb.me pokemail.net pookmail.com
poubelle-du.net privatdemail.net privy-mail.com privy-mail.de privymail.de protempmail.com
proxymail.eu putthisinyourspamdatabase.com quickinbox.com quickmail.nl randomail.net rcpt.at
reallymymail.com receiveee.com reconmail.com recyclemail.dk regbypass.com rejectmail.com
rhyta.com safersignup.de safetymail.info safetypost.de saynotospams.com schafmail.de
schrott-email.de secretemail.de selfdestructingmail.com selfdestructingmail.org sendspamhere.com
sharedmailbox.org sharklasers.com shieldedmail.com shiftmail.com shitmail.de shitmail.me
shitmail.org shortmail.net sinnlos-mail.de skeefmail.com slaskpost.se slippery.email
slopsbox.com slothmail.net smashmail.de snakemail.com sneakmail.de sofort-mail.de sofortmail.de
sogetthis.com soodonims.com spam.care spam.la spam.org.es spam.su spam4.me spamail.de
spamavert.com spambob.com spambob.net spambob.org spambog.com spambog.de spambog.net spambog.ru
spambooger.com spambox.info spambox.me spambox.org spambox.us spamcero.com spamcon.org
spamcorptastic.com spamcowboy.com spamcowboy.net spamcowboy.org spamday.com spamdecoy.net
spamex.com spamfree.eu spamfree24.com spamfree24.de spamfree24.eu spamfree24.info spamfree24.net
spamfree24.org spamgoes.in spamgourmet.com spamgourmet.net spamgourmet.org spamherelots.com
spamhereplease.com spamhole.com spamify.com spaminator.de spamkill.info spaml.com spaml.de
spammotel.com spamobox.com spamoff.de spamslicer.com spamspot.com spamstack.net spamthis.co.uk
spamthisplease.com spamtrail.com spamtroll.net speed.1s.fr spoofmail.de spybox.de spymail.one
squizzy.de squizzy.net stop-my-spam.com stopspam.app stuffmail.de super-auswahl.de
supergreatmail.com superrito.com superstachel.de suremail.info swift10minutemail.com tafmail.com
talkinator.com techemail.com telegmail.com teleworm.com teleworm.us temp-link.net temp-mail.com
temp-mail.de temp-mail.io temp-mail.org temp-mail.ru temp-mails.com tempail.com tempalias.com
tempe-mail.com tempemail.biz tempemail.co.za tempemail.com tempemail.net tempinbox.co.uk
tempinbox.com tempmail.cn tempmail.co tempmail.com tempmail.de tempmail.eu tempmail.it
tempmail.net tempmail.plus tempmail.us tempmail.ws tempmail2.com tempmailer.com tempmailer.de
tempmailo.com tempomail.fr tempomail.org temporarily.de temporarioemail.com.br
temporary-mail.net temporaryemail.net temporaryemail.us temporaryforwarding.com
temporaryinbox.com temporarymailaddress.com tempr.email tempsky.com tempthe.net tempymail.com
thankyou2010.com thisisnotmyrealemail.com thismail.net throwawayemailaddress.com
throwawaymail.com tilien.com tittbit.in tmailinator.com tmails.net tmpbox.net tmpemails.com
tmpeml.com tmpmail.net tmpmail.org toomail.biz topranklist.de tormail.org trap-mail.de
trash-amil.com trash-mail.at trash-mail.com trash-mail.de trash-mail.tk trash-me.com
trash2009.com trash2010.com trash2011.com trashcanmail.com trashdevil.com trashdevil.de
trashemail.de trashemails.de trashinbox.com trashmail.at trashmail.com trashmail.de trashmail.io
trashmail.me trashmail.net trashmail.org trashmail.ws trashmailer.com trashmailgenerator.de
trashmails.com trashymail.com trashymail.net trbvm.com trbvn.com trialmail.de trickmail.net
turual.com twinmail.de tyldd.com uggsrock.com upliftnow.com uroid.com veryrealemail.com
viditag.com walkmail.net walkmail.ru wasteland.rfc822.org watch-harry-potter.com
weg-werf-email.de wegwerf-email-addressen.de wegwerf-email-adressen.de wegwerf-email.at
wegwerf-email.de wegwerf-email.net wegwerf-emails.de wegwerfadresse.de wegwerfemail.com
wegwerfemail.de wegwerfemail.info wegwerfemail.net wegwerfemail.org wegwerfemailadresse.com
wegwerfmail.de wegwerfmail.info wegwerfmail.net wegwerfmail.org wegwerpmailadres.nl
wegwrfmail.de wegwrfmail.net wegwrfmail.org wh4f.org whatpaas.com whyspam.me
willselfdestruct.com wuzup.net wuzupmail.net xagloo.com xents.com xmaily.com xojxe.com
yopmail.com yopmail.fr yopmail.gq yopmail.net yopmail.pp.ua you-spam.com yuurok.com
zehnminuten.de zehnminutenmail.de zippymail.info zoemail.net zoemail.org zomg.info
)";

// The list with what the operator's file adds. It is constant from the first question on.
WordSet& DisposableDomains() {
  static WordSet listed = WordsOf(kDisposableDomains);
  return listed;
}

}  // namespace

bool IsDisposableDomain(std::string_view domain) {
  while (!DisposableDomains().contains(domain)) {
    const auto dot = domain.find('.');
    if (dot == std::string_view::npos) return false;
    domain.remove_prefix(dot + 1);
  }
  return true;
}

void AddDisposableDomains(const std::vector<std::string>& domains) {
  DisposableDomains().insert(domains.begin(), domains.end());
}

}  // namespace vedette::domain
