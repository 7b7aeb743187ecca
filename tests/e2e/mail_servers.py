"""Real mail servers on loopback addresses of their own, out of Debian's packages, and swaks, which asks them as we do. The
packages conflict with each other, so they are unpacked and not installed. Every server knows the same mailboxes and refuses all else.
They need root, as they change to users of their own."""

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import textwrap

from testbed import wait_until

PACKAGES = ["postfix", "exim4-base", "exim4-daemon-light", "opensmtpd", "postgrey", "swaks"]
KNOWN = ["ann", "bob", "postmaster"]


def download(folder):
    """The packages, each in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        if (folder / package).exists():
            continue
        subprocess.run(["apt-get", "download", "-q", package], cwd=folder, check=True, capture_output=True)
        archive = next(folder.glob(f"{package}_*.deb"))
        subprocess.run(["dpkg-deb", "-x", archive, folder / package], check=True)
    return folder


def ensure_user(name, home="/nonexistent"):
    """A system user that a server was compiled to change to."""
    if subprocess.run(["getent", "passwd", name], capture_output=True).returncode != 0:
        subprocess.run(["useradd", "--system", "--no-create-home", "--home-dir", home, "--shell", "/usr/sbin/nologin",
                        "--user-group", name], check=True, capture_output=True)


def listening(address, port, greets):
    """Whether it answers; one that does not speak first takes a connection."""
    try:
        with socket.create_connection((address, port), 1) as connection:
            return not greets or connection.recv(4).startswith(b"220")
    except OSError:
        return False


class Server:
    """A process with its children, in a session of its own."""

    def __init__(self, name, command, address, port, environment=None, greets=True):
        self.name, self.address, self.port = name, address, port
        self.log = open(os.devnull, "wb")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, start_new_session=True,
                                        env={**os.environ, **(environment or {})})
        wait_until(f"{name} to listen", lambda: listening(address, port, greets), 30)

    def close(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                break
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                continue
        self.log.close()


def exim(packages, work, address, port):
    """Exim refuses unknown mailboxes with a bare 550."""
    ensure_user("Debian-exim", "/var/spool/exim4")
    work.mkdir()
    spool = work / "spool"
    spool.mkdir()
    shutil.chown(spool, "Debian-exim", "Debian-exim")
    config = work / "exim.conf"
    config.write_text(textwrap.dedent(f"""\
        primary_hostname = exim.test
        spool_directory = {spool}
        log_file_path = {spool}/%slog
        local_interfaces = {address}
        daemon_smtp_ports = {port}
        tls_advertise_hosts =
        host_lookup =
        rfc1413_hosts =
        acl_smtp_rcpt = acl_rcpt
        domainlist local_domains = exim.test
        begin acl
        acl_rcpt:
          accept domains = +local_domains
                 local_parts = {" : ".join(KNOWN)}
          deny message = no such user
        begin routers
        begin transports
        """))
    binary = packages / "exim4-daemon-light/usr/sbin/exim4"
    return Server("exim", [binary, "-bdf", "-C", config], address, port)


def opensmtpd(packages, work, address, port):
    """OpenSMTPD answers a bare 550 with the enhanced code of an invalid recipient."""
    for user in ("opensmtpd", "opensmtpq"):
        ensure_user(user, "/var/lib/opensmtpd/empty")
    os.makedirs("/var/lib/opensmtpd/empty", mode=0o711, exist_ok=True)
    work.mkdir()
    (work / "users").write_text("@ nobody\n")
    (work / "known").write_text("".join(f"{user}@smtpd.test\n" for user in KNOWN))
    config = work / "smtpd.conf"
    config.write_text(textwrap.dedent(f"""\
        table users file:{work}/users
        table known file:{work}/known
        listen on {address} port {port} hostname smtpd.test
        action "keep" mda "true" virtual <users>
        match from any for domain "smtpd.test" rcpt-to <known> action "keep"
        """))
    return Server("opensmtpd", [packages / "opensmtpd/usr/sbin/smtpd", "-d", "-f", config], address, port)


def postfix(packages, work, address, port, domain="postfix.test", catch_all=False, policy=None, mailboxes=None):
    """Postfix refuses unknown mailboxes with 550 5.1.1. It keeps mail in the folder `mailboxes`, or nowhere."""
    for user in ("vdpostfix", "vdpostdrop"):
        ensure_user(user)
    root = packages / "postfix"
    work.mkdir()
    queue, data, etc = work / "queue", work / "data", work / "etc"
    for folder in (queue, data, etc):
        folder.mkdir()
    for name in ("active", "bounce", "corrupt", "defer", "deferred", "flush", "hold", "incoming", "private", "saved",
                 "trace"):
        (queue / name).mkdir(mode=0o700)
        shutil.chown(queue / name, "vdpostfix")
    for name, mode in (("maildrop", 0o1730), ("public", 0o710)):
        (queue / name).mkdir()
        shutil.chown(queue / name, "vdpostfix", "vdpostdrop")
        (queue / name).chmod(mode)
    (queue / "pid").mkdir()
    shutil.chown(data, "vdpostfix")
    users = work / "users"
    users.write_text(("@%s x\n" % domain) if catch_all else "".join(f"{user}@{domain} x\n" for user in KNOWN))
    keeps = "virtual_transport = discard:"
    if mailboxes:
        mailboxes.mkdir()
        shutil.chown(mailboxes, "vdpostfix")
        owner = pwd.getpwnam("vdpostfix")
        users.write_text("".join(f"{user}@{domain} {user}/\n" for user in KNOWN))
        keeps = (f"virtual_transport = virtual\nvirtual_mailbox_base = {mailboxes}\nvirtual_minimum_uid = 1\n"
                 f"virtual_uid_maps = static:{owner.pw_uid}\nvirtual_gid_maps = static:{owner.pw_gid}")
    restrictions = "reject_unauth_destination" + (f", check_policy_service inet:{policy}" if policy else "")
    libraries = f"{root}/usr/lib/postfix"
    (etc / "main.cf").write_text(textwrap.dedent(f"""\
        compatibility_level = 3.6
        queue_directory = {queue}
        data_directory = {data}
        daemon_directory = {root}/usr/lib/postfix/sbin
        command_directory = {root}/usr/sbin
        shlib_directory = {libraries}
        meta_directory = {root}/etc/postfix
        import_environment = MAIL_CONFIG MAIL_LOGTAG TZ LANG=C POSTLOG_SERVICE POSTLOG_HOSTNAME LD_LIBRARY_PATH={libraries}
        export_environment = MAIL_CONFIG TZ LANG POSTLOG_SERVICE POSTLOG_HOSTNAME LD_LIBRARY_PATH={libraries}
        mail_owner = vdpostfix
        setgid_group = vdpostdrop
        inet_interfaces = loopback-only
        inet_protocols = ipv4
        myhostname = mx.{domain}
        mydestination =
        mynetworks =
        virtual_mailbox_domains = {domain}
        virtual_mailbox_maps = texthash:{users}
        alias_maps =
        alias_database =
        smtpd_relay_restrictions = {restrictions}
        smtpd_recipient_restrictions = {restrictions}
        smtpd_peername_lookup = no
        smtpd_tls_security_level = none
        maillog_file_prefixes = {work}
        maillog_file = {work}/log
        """) + keeps + "\n")
    (etc / "master.cf").write_text(textwrap.dedent(f"""\
        {address}:{port} inet n - n - - smtpd
        pickup unix n - n 60 1 pickup
        cleanup unix n - n - 0 cleanup
        qmgr unix n - n 300 1 qmgr
        tlsmgr unix - - n 1000? 1 tlsmgr
        rewrite unix - - n - - trivial-rewrite
        bounce unix - - n - 0 bounce
        defer unix - - n - 0 bounce
        trace unix - - n - 0 bounce
        verify unix - - n - 1 verify
        flush unix n - n 1000? 0 flush
        proxymap unix - - n - - proxymap
        proxywrite unix - - n - 1 proxymap
        smtp unix - - n - - smtp
        relay unix - - n - - smtp
        showq unix n - n - - showq
        error unix - - n - - error
        retry unix - - n - - error
        discard unix - - n - - discard
        local unix - n n - - local
        virtual unix - n n - - virtual
        lmtp unix - - n - - lmtp
        anvil unix - - n - 1 anvil
        scache unix - - n - 1 scache
        postlog unix-dgram n - n - 1 postlogd
        """))
    return Server("postfix", [root / "usr/lib/postfix/sbin/master", "-c", etc, "-d"], address, port,
                  {"LD_LIBRARY_PATH": libraries, "MAIL_CONFIG": str(etc)})


def postgrey(packages, work, port, delay_s=2):
    """A greylist, as a policy service of Postfix."""
    ensure_user("postgrey")
    work.mkdir()
    state = work / "db"
    state.mkdir()
    shutil.chown(state, "postgrey", "postgrey")
    command = ["/usr/bin/perl", "-T", packages / "postgrey/usr/sbin/postgrey", f"--inet=127.0.0.1:{port}", f"--delay={delay_s}",
               f"--dbdir={state}", "--user=postgrey", "--group=postgrey",
               f"--whitelist-clients={work}/none", f"--whitelist-recipients={work}/none"]
    (work / "none").write_text("")
    return Server("postgrey", command, "127.0.0.1", port, greets=False)


def heard_by_swaks(packages, address, port, recipients):
    """What the server says of each recipient, asked on one connection by somebody else's program: (code, enhanced code)."""
    done = subprocess.run(["/usr/bin/perl", packages / "swaks/usr/bin/swaks", "--server", address, "--port", str(port),
                           "--ehlo", "verify.example", "--from", "oracle@verify.example", "--to", ",".join(recipients),
                           "--quit-after", "RCPT", "--timeout", "30"], capture_output=True, text=True, timeout=120)
    said = re.findall(r"^ -> RCPT TO:<(.*)>\n<(?:- |\*\*) (\d{3})(?:[ -](\d\.\d{1,3}\.\d{1,3}))?", done.stdout, re.MULTILINE)
    assert [recipient for recipient, _, _ in said] == list(recipients), done.stdout + done.stderr
    return [(int(code), enhanced) for _, code, enhanced in said]
