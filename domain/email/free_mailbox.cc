#include "domain/email/free_mailbox.h"

#include "domain/email/word_list.h"

namespace vedette::domain {
namespace {

// Domains where anybody gets a mailbox, so that an address at one tells of no company: providers of
// free mailboxes worldwide with their domains of countries, and providers of access that give each
// customer one. Chosen by hand from what these providers say of themselves; which were missing was
// seen by the list of AfterShip/email-verifier (MIT). A domain that is also a company's own for its
// staff is left out.
constexpr std::string_view kFreeMailboxDomains = R"(
012.net.il 126.com 139.com 163.com 163.net 188.com 189.cn 21cn.com 263.net a1.net aapt.net.au
absamail.co.za abv.bg accountant.com adam.com.au adinet.com.uy africaonline.co.ke aim.com
airtelmail.in alice-dsl.net alice.fr alice.it aliceadsl.fr aliyun.com ameritech.net amorki.pl
ananzi.co.za aol.co.uk aol.com aol.de aol.es aol.fr aol.it aol.jp aol.nl aon.at apollo.lv
arcor.de arnet.com.ar asia.com atlanticbb.net atlas.cz att.net au.com autistici.org autograf.pl
autorambler.ru azet.sk batelco.com.bh bbox.fr belgacom.net bell.net bellsouth.net bezeqint.net
biglobe.ne.jp bigmir.net bigpond.com bigpond.com.au bigpond.net.au biznetvigator.com bk.ru
blu.it bluemail.ch bluewin.ch blueyonder.co.uk bol.com.br bredband.net broadpark.no brutele.be
bsnl.in btinternet.com btopenworld.com buziaczek.pl c2i.net cableone.net caiway.nl cantv.net
caramail.com casema.nl cbn.net.id cegetel.net centrum.cz centrum.sk centurylink.net
centurytel.net charter.net cheerful.com chello.at chello.hu chello.nl china.com chinaren.com
chol.com citromail.hu ciudad.com.ar clear.net.nz clicknet.ro clix.pt club-internet.fr cock.li
cogeco.ca comcast.net comhem.se compuserve.com consultant.com countermail.com cox.net cs.com
cytanet.com.cy d.vodafone.ne.jp dataone.in daum.net dbmail.com dion.ne.jp dir.bg directbox.com
disney.ne.jp disroot.org docomo.ne.jp dodo.com.au dpost.de dr.com dreamwiz.com duck.com e1.ru
earthlink.net eastlink.ca eclipso.de eclipso.eu eim.ae eircom.net elisanet.fi email.com email.cz
email.de email.it email.ro email.si email.t-com.hr email.ua embarqmail.com emirates.net.ae
empas.com engineer.com eunet.rs europe.com euskaltel.net ewetel.net excite.co.jp excite.com
exemail.com.au eyou.com ezweb.ne.jp fastmail.cn fastmail.co.uk fastmail.com fastmail.com.au
fastmail.de fastmail.es fastmail.fm fastmail.in fastmail.jp fastmail.net fastmail.org
fastmail.us fastwebnet.it fibertel.com.ar flash.net forthnet.gr foxmail.com free.fr freechal.com
freemail.de freemail.gr freemail.hu freenet.de freeserve.co.uk frisurf.no frontier.com
frontiernet.net fsmail.net fsnet.co.uk gawab.com gazeta.pl gbg.bg getmail.no giga.net.tw
globo.com globomail.com glocalnet.net gmail.com gmx.at gmx.ch gmx.co.uk gmx.com gmx.de gmx.es
gmx.eu gmx.fr gmx.it gmx.net gmx.us go2.pl goo.jp googlemail.com hanafos.com hanmail.net
hanmail2.net hcm.vnn.vn hetnet.nl hey.com hinet.net hispeed.ch hitel.net hn.vnn.vn hol.gr
home.nl home.se hot.ee hotbox.ru hotmail.be hotmail.ca hotmail.ch hotmail.cl hotmail.co.il
hotmail.co.jp hotmail.co.kr hotmail.co.nz hotmail.co.th hotmail.co.uk hotmail.co.za hotmail.com
hotmail.com.ar hotmail.com.au hotmail.com.br hotmail.com.mx hotmail.com.tr hotmail.de hotmail.dk
hotmail.es hotmail.fi hotmail.fr hotmail.gr hotmail.hu hotmail.it hotmail.nl hotmail.no
hotmail.rs hotmail.se hotmail.sg htp-tel.de hughes.net hush.com hushmail.com hushmail.me
i.softbank.jp i.ua iafrica.com icloud.com ig.com.br ihug.co.nz iinet.net.au in.com in.gr
iname.com inbox.com inbox.lv inbox.ru indamail.hu indiatimes.com indo.net.id inet.hr infoseek.jp
inode.at int.pl inter.net.il interia.eu interia.pl internet.is internet.ru internode.on.net
inwind.it iol.ie iol.it iol.pt iprimus.com.au ist-einmalig.de jaring.my jazzfree.com
jcom.home.ne.jp jubii.dk jumpy.it juno.com kabelmail.de kabsi.at kakao.com katamail.com
keemail.me kolabnow.com kolumbus.fi korea.com kpnmail.nl kpnplanet.nl land.ru lantic.net
laposte.net lenta.ru libero.it link.net list.ru live.at live.be live.ca live.ch live.cl live.cn
live.co.kr live.co.uk live.co.za live.com live.com.ar live.com.au live.com.mx live.com.my
live.com.pt live.com.sg live.de live.dk live.fi live.fr live.hk live.ie live.in live.it live.jp
live.nl live.no live.ru live.se livedoor.com luukku.com lycos.co.kr lycos.co.uk lycos.com
lycos.de lycos.es lycos.it lyse.net mac.com magenta.de mail.bg mail.co.uk mail.com mail.de
mail.dk mail.ee mail.goo.ne.jp mail.kz mail.lt mail.ro mail.ru mail.tele.dk mail.telepac.pt
mail.ua mail2world.com mailbox.gr mailbox.hu mailbox.org mailcity.com mailfence.com mailo.com
maktoob.com me.com mediacombb.net menara.ma messagingengine.com meta.ua mindspring.com
mnet-online.de msa.hinet.net msn.com mts.net mweb.co.za mymts.net mynet.com mynet.com.tr
myrambler.ru myself.com myyahoo.com narod.ru nate.com naver.com neostrada.pl net.hr netcabo.pt
netcologne.de netcourrier.com netian.com netscape.net netspace.net.au netti.fi netvigator.com
netvision.net.il netzero.com netzero.net neuf.fr nexgo.de nf.sympatico.ca ngs.ru nifty.com
nl.rogers.com nm.ru noos.fr ns.sympatico.ca ntlworld.com numericable.fr nvbell.net o2.co.uk
o2.pl o2mail.de o2online.de ocn.ne.jp odn.ne.jp ofir.dk oi.com.br ok.de one.lt one.lv onet.eu
onet.pl online.de online.ee online.nl online.no online.ua onmail.com ono.com op.pl
open.telekom.rs operamail.com optimum.net optonline.net optusnet.com.au orange.es orange.fr
orcon.net.nz osnanet.de otenet.gr outlook.at outlook.be outlook.cl outlook.co.id outlook.co.il
outlook.co.nz outlook.co.th outlook.com outlook.com.ar outlook.com.au outlook.com.br
outlook.com.gr outlook.com.pe outlook.com.tr outlook.com.vn outlook.cz outlook.de outlook.dk
outlook.es outlook.fr outlook.hu outlook.ie outlook.in outlook.it outlook.jp outlook.kr
outlook.lv outlook.my outlook.ph outlook.pt outlook.sa outlook.sg outlook.sk ozemail.com.au
pacbell.net pacific.net.sg paradise.net.nz paran.com passagen.se passport.com pchome.com.tw
peoplepc.com plala.or.jp planet.nl plasa.com pldtdsl.net plus.com pm.me pobox.sk pochta.ru
poczta.fm poczta.onet.eu poczta.onet.pl polka.co.za pop.com.br portugalmail.pt post.com post.cz
post.sk post.tele.dk poste.it posteo.de posteo.net pp.inet.fi primus.ca prodigy.net
prodigy.net.mx proton.me protonmail.ch protonmail.com proximus.be pt.lu ptd.net ptt.rs q.com
qatar.net.qa qip.ru qq.com quick.cz quicknet.nl qwest.net rambler.ru rcn.com rediff.com
rediffmail.com riseup.net ro.ru roadrunner.com rocketmail.com rogers.com rr.com runbox.com
sancharnet.in sapo.pt sasktel.net saunalahti.fi sbcglobal.net scarlet.be seed.net.tw sent.com
seznam.cz sfr.fr shaw.ca sibmail.com sify.com simnet.is sina.cn sina.com sina.com.cn
singnet.com.sg siol.net skiff.com sky.com skyinet.net skynet.be slingshot.co.nz sltnet.lk
smart-mail.de snet.net so-net.ne.jp so-net.net.tw softbank.ne.jp sogou.com sohu.com sol.dk
solcon.nl spectrum.net speedy.com.ar spoko.pl spoluzaci.cz spray.se starhub.net.sg start.no
startmail.com stofanet.dk stonline.sk streamyx.com suddenlink.net sunrise.ch suomi24.fi
supanet.com supereva.it superig.com.br superonline.com swbell.net swipnet.se swissonline.ch
sympatico.ca t-2.net t-online.de t-online.hu t.vodafone.ne.jp takas.lt talk21.com talktalk.net
tdcadsl.dk tds.net techie.com tedata.net.eg teksavvy.com tele2.nl tele2.se telefonica.net
telenet.be telepac.pt teletu.it telfort.nl telia.com telkom.net telkomsa.net telus.net terra.cl
terra.com terra.com.br terra.com.mx terra.es tesco.net tim.it tin.it tiscali.co.uk tiscali.cz
tiscali.it tlen.pl tm.net.my tom.com topnet.tn tpg.com.au ttmail.com ttnet.net.tr turk.net
tut.by tuta.com tuta.io tutamail.com tutanota.com tutanota.de twc.com ukr.net une.net.co
unitel.co.kr unitybox.de unitymedia.de uol.com.br uolsinectis.com.ar upcmail.hu upcmail.nl
uqmobile.jp url.com.tw usa.com uwclub.net verizon.net videotron.ca videotron.qc.ca vip.126.com
vip.163.com vip.hr vip.qq.com vip.sina.com vip.sohu.com vipmail.hu virgilio.it virgin.net
virginmedia.com vivaldi.net vivodinet.gr vnn.vn vodafone.co.nz vodafone.it vodafonemail.de
vodamail.co.za voila.fr volny.cz voo.be vp.pl vsnl.com vsnl.net vtr.net walla.co.il walla.com
wanadoo.fr web.de webmail.co.za webspeed.dk welho.com westnet.com.au which.net windowslive.com
windstream.net wo.cn workmail.com worldnet.att.net wow.lk wowway.com wp.pl writeme.com wxs.nl
xs4all.nl xtra.co.nz xuite.net ya.com ya.ru yahoo.ae yahoo.at yahoo.be yahoo.bg yahoo.ca
yahoo.ch yahoo.cl yahoo.cn yahoo.co.id yahoo.co.il yahoo.co.in yahoo.co.jp yahoo.co.kr
yahoo.co.nz yahoo.co.th yahoo.co.uk yahoo.co.za yahoo.com yahoo.com.ar yahoo.com.au yahoo.com.br
yahoo.com.cn yahoo.com.co yahoo.com.hk yahoo.com.mx yahoo.com.my yahoo.com.pe yahoo.com.ph
yahoo.com.sg yahoo.com.tr yahoo.com.tw yahoo.com.ua yahoo.com.ve yahoo.com.vn yahoo.cz yahoo.de
yahoo.dk yahoo.ee yahoo.es yahoo.fi yahoo.fr yahoo.gr yahoo.hr yahoo.hu yahoo.ie yahoo.in
yahoo.it yahoo.lt yahoo.lv yahoo.nl yahoo.no yahoo.pl yahoo.pt yahoo.ro yahoo.rs yahoo.se
yahoo.sk yandex.by yandex.com yandex.com.tr yandex.kz yandex.ru yandex.ua ybb.ne.jp yeah.net
ymail.com ymobile.ne.jp youmail.dk zahav.net.il ziggo.nl zipmail.com.br zoho.com zohomail.com
zohomail.eu zohomail.in zonnet.nl zoominternet.net zoznam.sk
)";

// The list with what the operator's file adds. It is constant from the first question on.
WordSet& FreeMailboxes() {
  static WordSet listed = WordsOf(kFreeMailboxDomains);
  return listed;
}

}  // namespace

bool IsFreeMailboxDomain(std::string_view domain) {
  return FreeMailboxes().contains(domain);
}

void AddFreeMailboxDomains(const std::vector<std::string>& domains) {
  FreeMailboxes().insert(domains.begin(), domains.end());
}

}  // namespace vedette::domain
