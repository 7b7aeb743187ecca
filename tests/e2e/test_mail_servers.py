"""Verdicts against real mail servers: Postfix, Exim, OpenSMTPD and postgrey, each on a loopback address of its own,
found by a DNS server of ours. Nothing leaves the machine, and no mail is sent."""

import os
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

import mail_servers
import pytest
from dns_server import DnsServer
from testbed import ROOT, free_port

DOMAINS = {"postfix.test": "127.0.0.11", "exim.test": "127.0.0.12", "smtpd.test": "127.0.0.13",
           "all.test": "127.0.0.14", "grey.test": "127.0.0.15"}

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="the servers change to users of their own, which root may")


class Servers:
    """The five servers, and our tool that asks them."""

    def __init__(self, tool, packages, dns, port):
        self.tool, self.packages, self.dns, self.port = tool, packages, dns, port

    def __call__(self, *addresses):
        """The verdict of each address, all asked at once: [(status, reason)]."""
        return [tuple(said[:2]) for said in self.said(*addresses)]

    def said(self, *addresses):
        """The same as above, with the codes of the address and of the control: [[status, reason, code, code]]."""
        answer = subprocess.run([self.tool, "--dns", self.dns.address, "--port", str(self.port)],
                                input="\n".join(addresses) + "\n", capture_output=True, text=True, timeout=120, check=True)
        return [line.split(" ")[-4:] for line in answer.stdout.splitlines()]


@pytest.fixture(scope="module")
def verify(request):
    tool = Path(request.config.getoption("--build")) / "tests/unit/worker/mail_verify"
    assert tool.exists(), f"{tool} is not built"
    packages = mail_servers.download(ROOT / "build" / "mail_packages")
    work = Path(tempfile.mkdtemp(prefix="vedette_mail_"))
    work.chmod(0o755)  # the servers' users read below it
    port, grey_port = free_port(), free_port()
    dns = DnsServer()
    for domain, address in DOMAINS.items():
        dns.names["mx." + domain] = [[address]]
        dns.mx[domain] = [(10, "mx." + domain)]
    servers = []
    try:
        servers.append(mail_servers.postfix(packages, work / "postfix", DOMAINS["postfix.test"], port))
        servers.append(mail_servers.exim(packages, work / "exim", DOMAINS["exim.test"], port))
        servers.append(mail_servers.opensmtpd(packages, work / "smtpd", DOMAINS["smtpd.test"], port))
        servers.append(mail_servers.postfix(packages, work / "all", DOMAINS["all.test"], port, "all.test",
                                            catch_all=True))
        servers.append(mail_servers.postgrey(packages, work / "postgrey", grey_port))
        servers.append(mail_servers.postfix(packages, work / "grey", DOMAINS["grey.test"], port, "grey.test",
                                            policy=f"127.0.0.1:{grey_port}"))

        yield Servers(tool, packages, dns, port)
    finally:
        for server in reversed(servers):
            server.close()
        dns.close()
        shutil.rmtree(work)


def test_postfix_knows_its_mailboxes_and_refuses_others(verify):
    assert verify("ann@postfix.test", "bob@postfix.test", "nobody@postfix.test", "Ann@postfix.test") == [
        ("OK", "-"), ("OK", "-"), ("NOT_FOUND", "refused"), ("OK", "-")]


def test_a_bare_refusal_of_exim_counts_only_beside_a_later_recipient_that_is_accepted(verify):
    assert verify("nobody@exim.test", "ann@exim.test") == [("NOT_FOUND", "refused"), ("OK", "-")]
    assert verify("ann@exim.test", "nobody@exim.test") == [("OK", "-"), ("UNKNOWN", "refused_unclear")]
    assert verify("nobody@exim.test") == [("UNKNOWN", "refused_unclear")]


def test_opensmtpd_likewise(verify):
    assert verify("nobody@smtpd.test", "ann@smtpd.test") == [("NOT_FOUND", "refused"), ("OK", "-")]
    assert verify("nobody@smtpd.test") == [("UNKNOWN", "refused_unclear")]


def test_a_server_that_accepts_everybody_is_a_catch_all(verify):
    assert verify("ann@all.test", "nobody@all.test") == [("UNKNOWN", "catch_all")] * 2


def test_a_greylist_is_no_refusal(verify):
    assert verify("ann@grey.test") == [("UNKNOWN", "greylisted")]


def test_many_addresses_of_one_domain_get_no_wrong_verdict(verify):
    addresses = [f"nobody{i}@postfix.test" for i in range(12)] + ["ann@postfix.test", "bob@postfix.test"]
    verdicts = verify(*addresses)
    assert verdicts[-2:] == [("OK", "-")] * 2
    assert verdicts[:12] == [("NOT_FOUND", "refused")] * 12


def test_a_domain_that_does_not_exist_is_not_found(verify):
    assert verify("ann@nowhere.test") == [("NOT_FOUND", "unknown_domain")]


# Enhanced codes that name the mailbox (RFC 3463); any other refusal is unclear where nobody is accepted after it.
UNKNOWN_MAILBOX = {"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"}


def expected(code, enhanced, control):
    """What the specification says of these replies to an address and to one that should not exist."""
    if code in (250, 251):
        return "OK" if 500 <= control < 600 else "UNKNOWN"
    return "NOT_FOUND" if enhanced in UNKNOWN_MAILBOX else "UNKNOWN"


@pytest.mark.parametrize("domain", DOMAINS)
def test_swaks_hears_the_same_codes_and_they_lead_to_the_same_verdict(verify, domain):
    """An oracle that is not ours: each address by our dialogue and by swaks, which share no line of code."""
    for local in ("bob", "nobody" + secrets.token_hex(4)):
        address, control = f"{local}@{domain}", f"{secrets.token_hex(8)}@{domain}"
        (code, enhanced), (control_code, _) = mail_servers.heard_by_swaks(
            verify.packages, DOMAINS[domain], verify.port, [address, control])
        status, reason, our_code, our_control = verify.said(address)[0]
        assert int(our_code) == code, (address, reason, enhanced)
        assert int(our_control) in (0, control_code), (address, reason)
        assert status == expected(code, enhanced, control_code), (address, reason, code, enhanced, control_code)
