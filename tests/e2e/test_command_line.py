"""The command line: help, version, exit statuses, `vedette verify`, `vedette probe` and `vedette lookup`."""

import json
import re
import shutil
import subprocess
import time

import pytest
from test_documents import NAMING, name

from conftest import ROOT, clean_environment, free_port

SECRET = "sk_whsec_" + "a" * 64


def run(binary, *arguments, stdin=b"", environment=None):
    return subprocess.run([binary, *arguments], input=stdin, capture_output=True, timeout=60,
                          env=clean_environment(environment))


def test_memory_that_nobody_asks_for_goes_back_though_no_thread_allocates(binary):
    """What the allocator says of itself as the process ends: it is jemalloc, and it has a thread for that."""
    told = run(binary, "version", environment={"MALLOC_CONF": "stats_print:true"}).stderr
    assert b"opt.background_thread: true" in told, told


def test_version_and_help(binary):
    version = run(binary, "--version").stdout
    project = re.search(rb"project\(vedette VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_bytes())[1]
    assert re.fullmatch(rb"vedette (\d+\.\d+\.\d+) \(([0-9a-f]{12}|unknown)\)\n", version)[1] == project
    assert run(binary, "version").stdout == version
    help_text = run(binary, "--help")
    assert help_text.returncode == 0
    for command in (b"serve", b"migrate", b"version", b"demo", b"ctl", b"probe", b"lookup", b"verify"):
        assert command in help_text.stdout


@pytest.mark.parametrize("arguments", [[], ["fly"], ["serve", "--nonsense"], ["demo", "--api-port", "99999"],
                                       ["demo", "--receiver", "sleepy"], ["verify"]])
def test_a_wrong_command_line_is_2_and_says_why(binary, arguments):
    done = run(binary, *arguments)
    assert done.returncode == 2 and done.stderr


@pytest.mark.parametrize("arguments, hint", [
    (["demoo"], 'there is no command "demoo"; the closest one is "demo"'),
    (["ctl", "--url", "http://127.0.0.1:1", "org-featurs"],
     'there is no command "org-featurs"; the closest one is "org-features"'),
    (["ctl", "orgs", "--limti", "3"], 'there is no option "--limti"; the closest one is "--limit"'),
    (["elephantine"], 'there is no command "elephantine"\n'),
])
def test_a_wrong_word_is_named_with_the_closest_right_one(binary, arguments, hint):
    done = run(binary, *arguments)
    assert done.returncode == 2 and not done.stdout
    assert hint in done.stderr.decode(), done.stderr


@pytest.mark.parametrize("arguments, said", [
    (["demo", "--receiver", "sleepy"], "sleepy not in {honest,refuse,wrong-key}"),
    (["serve", "--roles", ""], "--roles: name at least one role"),
    (["probe", "--url", "http://a.example/", "--watch", "a=css:h1", "--watch", "a=css:h2"],
     "--watch a: the name is given twice"),
])
def test_a_wrong_value_is_named_with_what_is_allowed(binary, arguments, said):
    done = run(binary, *arguments, environment={"VEDETTE_DATABASE_URL": "postgresql:///",
                                                "VEDETTE_SECURITY_ENCRYPTION_KEY": "0" * 64})
    assert done.returncode == 2 and not done.stdout
    assert said in done.stderr.decode(), done.stderr


def test_every_option_that_documents_give_a_command_of_ctl_is_one(binary):
    given = {}
    for document in NAMING:
        for command, rest in re.findall(r"\bvedette ctl (?:--json )?((?:email )?[a-z][a-z-]*)([^`|\n;)]*)", document.read_text()):
            given.setdefault(command, {}).update(dict.fromkeys(re.findall(r"(?<!\S)\[?(--[a-z-]+)", rest), name(document)))
    assert len(given) > 30
    wrong = []
    for command, options in given.items():
        shown = run(binary, "ctl", *command.split(), "--help")
        if shown.returncode != 0:
            wrong.append(command)
        known = set(re.findall(r"(?<![\w-])--[a-z-]+", shown.stdout.decode()))
        wrong += [f"{document}: ctl {command} {option}" for option, document in options.items() if option not in known]
    assert wrong == []


def test_config_prints_the_defaults_and_checks_a_file(binary, tmp_path):
    defaults = run(binary, "config")
    assert defaults.returncode == 0 and b"[limits]" in defaults.stdout
    file = tmp_path / "vedette.toml"
    file.write_bytes(b"[limits]\nrequests_per_minute = 7\n")
    environment = {"VEDETTE_DATABASE_URL": "postgresql:///", "VEDETTE_SECURITY_ENCRYPTION_KEY": "0" * 64}
    sound = run(binary, "config", "--check", "--config", file, environment=environment)
    assert sound.returncode == 0 and b"sound" in sound.stdout, sound.stderr
    file.write_bytes(b"[limits]\nrequest_per_minute = 7\n")
    wrong = run(binary, "config", "--check", "--config", file, environment=environment)
    assert wrong.returncode == 2 and b"requests_per_minute" in wrong.stderr


@pytest.mark.parametrize(("setting", "value", "said"), [
    ("ADMIN_ROLES_NOBODY", "viewer", '[admin.roles] nobody = "viewer": there is no token of this name'),
    ("ADMIN_OIDC_VIEWERS", "staff", '[admin.oidc] issuer = "": must be set where other keys of [admin.oidc] are'),
    ("SEARCH_FIELDS_FILE", "/nonexistent", "[search] fields_file: /nonexistent cannot be read"),
    ("BROWSER_ENABLED", "true", "[browser] executable: there is no /nonexistent"),
    ("CELLS_FILE", "/nonexistent", "/nonexistent"),
    ("ADMIN_TOKENS_SECOND", "one\ntwo", "[admin.tokens] second = (not shown): must be one line"),
    ("NET_CA_FILE", "/nonexistent", "[net] ca_file: /nonexistent cannot be read"),
])
def test_config_refuses_what_serve_refuses(binary, setting, value, said):
    environment = {"VEDETTE_DATABASE_URL": "postgresql://127.0.0.1:1/none", "VEDETTE_SECURITY_ENCRYPTION_KEY": "0" * 64,
                   "VEDETTE_ADMIN_TOKEN": "a token", "VEDETTE_BROWSER_EXECUTABLE": "/nonexistent",
                   "VEDETTE_API_LISTEN": "127.0.0.1:0", "VEDETTE_ADMIN_LISTEN": "127.0.0.1:0",
                   f"VEDETTE_{setting}": value}
    for command in (["config", "--check"], ["serve"]):
        refused = run(binary, *command, environment=environment)
        assert refused.returncode == 2 and said in refused.stderr.decode(), (command, refused)


@pytest.mark.parametrize("url", [
    "vedette:SECRETPW@127.0.0.1/x", "postgres//vedette:SECRETPW@127.0.0.1/x", "postgresql://vedette:SECRETPW%RET@127.0.0.1/x",
    "postgresql://vedette:SECRETPW/RET@127.0.0.1/x", "postgresql://vedette:SECRETPW@RET@127.0.0.1/x",
    "postgresql://vedette:12/SECRETPW@127.0.0.1/x", "postgresql://vedette:SECRETPW@127.0.0.1:bad/x",
    "postgresql://vedette:SECRETPW@127.0.0.1:5432,127.0.0.2:65536/x"])
def test_a_url_of_the_database_that_is_none_is_refused_and_not_shown(binary, url):
    for key in ("url", "pooled_url"):
        for command in (["config", "--check"], ["serve"], ["migrate"]):
            done = run(binary, *command, environment={f"VEDETTE_DATABASE_{key.upper()}": url})
            said = (done.stdout + done.stderr).decode()
            assert done.returncode == 2 and f"[database] {key} = (not shown): must be a URL of PostgreSQL" in said, (command, said)
            assert "percent-encoded" in said and not re.search("SECRETPW|RET@", said), said


@pytest.mark.parametrize("url", [
    "postgresql://vedette:a%40b%2F@127.0.0.1:1,127.0.0.2/x?sslmode=prefer", "postgres://127.0.0.1:1", "postgresql:///x?host=/run/postgresql",
    "host=@abstract dbname=x password='a b'", "host=127.0.0.1 port=5432"])
def test_a_url_of_the_database_may_have_each_form_of_libpq(binary, url):
    checked = run(binary, "config", "--check", environment={"VEDETTE_DATABASE_URL": url})
    assert checked.returncode == 0, checked


def test_config_tells_secrets_that_serve_would_lack(binary):
    checked = run(binary, "config", "--check")
    said = checked.stdout.decode()
    assert checked.returncode == 0 and "sound" in said, checked
    for absent in ("[security] encryption_key is not set: the roles api, admin and delivery need it",
                   "no admin token is set: the role admin needs one", "[database] url is not set"):
        assert f"But `vedette serve` would refuse: {absent}" in said, said
    refused = run(binary, "serve")
    assert refused.returncode == 2 and "[security] encryption_key is not set" in refused.stderr.decode()


# ---- verify


def signed(body, t, secret=SECRET):
    done = subprocess.run(["openssl", "dgst", "-sha256", "-hmac", secret], input=str(t).encode() + b"." + body,
                          capture_output=True, check=True)
    return f"t={t},v1={done.stdout.decode().split('= ')[1].strip()}"


def test_verify_agrees_with_openssl(binary):
    body = b'{"type":"monitor.field.changed"}'
    header = signed(body, 1700000000)
    arguments = ["verify", "--secret", SECRET, "--header", header, "--now"]
    assert run(binary, *arguments, "1700000000", stdin=body).returncode == 0
    assert run(binary, *arguments, "1700000300", stdin=body).returncode == 0
    assert run(binary, *arguments, "1700000301", stdin=body).returncode == 1, "too old"
    assert run(binary, *arguments, "1699999699", stdin=body).returncode == 1, "from the future"
    assert run(binary, *arguments, "1700000000", stdin=body + b"\n").returncode == 1, "the raw bytes count"


def test_verify_takes_the_clock_and_any_of_several_segments(binary):
    body = bytes(range(256))
    header = signed(body, int(time.time())).replace("v1=", "v1=" + "0" * 64 + ",v1=")
    assert run(binary, "verify", "--secret", SECRET, "--header", header, stdin=body).returncode == 0
    wrong = run(binary, "verify", "--secret", SECRET + "b", "--header", header, stdin=body)
    assert wrong.returncode == 1 and wrong.stderr
    assert run(binary, "verify", "--secret", SECRET, "--header", "nonsense", stdin=body).returncode == 1


def test_verify_takes_the_secret_where_nobody_else_sees_it(binary, tmp_path):
    header = signed(b"{}", int(time.time()))
    kept = tmp_path / "secret"
    kept.write_text(f"{SECRET}\n")
    by_file = ("verify", "--secret-file", kept, "--header", header)
    assert run(binary, "verify", "--header", header, stdin=b"{}", environment={"SIGNING_SECRET": SECRET}).returncode == 0
    assert run(binary, *by_file, stdin=b"{}").returncode == 0
    assert run(binary, *by_file, stdin=b"{}", environment={"SIGNING_SECRET": SECRET + "b"}).returncode == 1
    without = run(binary, "verify", "--header", header, stdin=b"{}")
    assert without.returncode == 2 and b"set SIGNING_SECRET" in without.stderr
    kept.write_text("")
    assert run(binary, *by_file, stdin=b"{}").returncode == 2


# ---- probe

PAGE = """<html><head><title>A page</title></head><body>
  <p class="price" data-amount="12">12 euros</p><p class="price">13 euros</p></body></html>"""
ALLOW = {"VEDETTE_NET_ALLOW": "127.0.0.0/8"}


def test_probe_prints_the_first_matches(binary, nginx):
    nginx.write("page.html", PAGE)
    done = run(binary, "probe", "--url", f"{nginx.url}/page.html", "--watch", "title=css:title",
               "--watch", "price=css:.price @data-amount", "--watch", "text=xpath://p[2]", "--watch", "none=css:h6",
               environment=ALLOW)
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)["values"]
    assert {name: entry["value"] for name, entry in values.items()} == {
        "title": "A page", "price": "12", "text": "13 euros"}


@pytest.mark.parametrize("watch", ["title=css:p[", "title=xpath://p[", "title=regex:(", "title=the boss, in prose"])
def test_probe_says_what_is_wrong_with_a_selector(binary, nginx, watch):
    nginx.write("page.html", PAGE)
    done = run(binary, "probe", "--url", f"{nginx.url}/page.html", "--watch", watch, environment=ALLOW)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith(b"vedette probe: ")


def test_probe_says_what_is_wrong_with_a_page(binary, nginx):
    missing = run(binary, "probe", "--url", f"{nginx.url}/none.html", "--watch", "title=css:title", environment=ALLOW)
    assert missing.returncode == 1 and b"404" in missing.stderr
    nobody = run(binary, "probe", "--url", f"http://127.0.0.1:{free_port()}/", "--watch", "t=css:title", environment=ALLOW)
    assert nobody.returncode == 1 and b"(connect)" in nobody.stderr


def test_probe_reaches_no_private_address_unless_allowed(binary, nginx):
    nginx.write("page.html", PAGE)
    done = run(binary, "probe", "--url", f"{nginx.url}/page.html", "--watch", "title=css:title")
    assert done.returncode == 1 and b"(refused_address)" in done.stderr and b"VEDETTE_NET_ALLOW" in done.stderr
    assert nginx.requests("page.html") == 0


def test_probe_asks_for_name_and_description(binary):
    done = run(binary, "probe", "--url", "http://example.com/", "--watch", "title")
    assert done.returncode == 2 and b"name=description" in done.stderr


# ---- lookup, which needs no database; these ask nobody


def test_lookup_prints_the_answer_of_one_row_and_whom_it_asked(binary):
    done = run(binary, "lookup", "--kind", "reverse_email", "--lead", "email=ada.lovelace+x@engines.example",
               "--providers", "local_part,nobody")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["email"] == "ada.lovelace+x@engines.example" and answer["name"] is None
    assert [(c["name"], c["confidence"]) for c in answer["candidates"]] == [("Ada Lovelace", 2)]
    assert [(t["provider"], t["outcome"]) for t in answer["details"]["tries"]] == [
        ("local_part", "found"), ("nobody", "skipped")]
    assert answer["details"]["charged"] is False


def test_lookup_fails_where_the_row_does(binary):
    done = run(binary, "lookup", "--kind", "verify_age", "--lead", "name=Ada Lovelace", "--providers", "nobody")
    assert done.returncode == 1 and json.loads(done.stdout)["error"] == "sources_failed"


def test_lookup_knows_the_operators_lists_of_domains(binary, tmp_path):
    domains = tmp_path / "domains"
    domains.write_text("everybodys.test\n")
    lead = ["--lead", "name=Ada Lovelace", "--lead", "domain=everybodys.test"]
    done = run(binary, "lookup", *lead, environment={"VEDETTE_EMAIL_FREE_DOMAINS_FILE": str(domains)})
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["email"] == [["", "NOT_FOUND", "COMPANY"]] and answer["personal_email"] == []
    assert answer["details"]["reason"] == "free_mailbox_domain" and answer["details"]["tries"] == []
    thrown_away = run(binary, "lookup", "--kind", "reverse_email", "--lead", "email=ada@x.everybodys.test",
                      environment={"VEDETTE_EMAIL_DISPOSABLE_DOMAINS_FILE": str(domains)})
    assert json.loads(thrown_away.stdout)["details"]["reason"] == "disposable"
    domains.write_text("everybodys.test\nno domain\n")
    wrong = run(binary, "lookup", *lead, environment={"VEDETTE_EMAIL_FREE_DOMAINS_FILE": str(domains)})
    assert wrong.returncode == 2 and f'{domains}:2: "no domain" is no domain' in wrong.stderr.decode()


@pytest.mark.parametrize("arguments, why", [
    ([], "--lead"),
    (["--lead", "Ada"], "write name=value"),
    (["--lead", "colour=green"], "vedette: lookup: --lead "),
    (["--kind", "fly", "--lead", "name=Ada"], "--kind"),
    (["--mode", "professional", "--lead", "name=Ada"], "--mode"),
])
def test_lookup_says_what_is_wrong_with_a_lead(binary, arguments, why):
    done = run(binary, "lookup", *arguments)
    assert done.returncode == 2 and not done.stdout
    assert why in done.stderr.decode(), done.stderr


def test_the_commit_is_that_of_the_checkout_when_it_was_configured(tmp_path):
    def done(*command):
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout.strip()

    def commit():
        done("git", "-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-q", "--allow-empty", "-m", "one")
        return done("git", "rev-parse", "HEAD")[:12]

    def built(*more):
        done("cmake", "-S", ".", "-B", "build", "-G", "Ninja", *more)
        done("ninja", "-C", "build")  # configures again where it has to
        return re.search(r'return "(\w+)";', (tmp_path / "build" / "generated" / "version.cc").read_text())[1]

    (tmp_path / "base").mkdir()
    shutil.copy(ROOT / "base" / "version.cc.in", tmp_path / "base")
    (tmp_path / "CMakeLists.txt").write_text(f"""
        cmake_minimum_required(VERSION 3.25)
        project(some LANGUAGES NONE)
        include({ROOT}/cmake/Commit.cmake)
        add_custom_target(some)
        vedette_commit(some)""")
    assert built() == "unknown"
    assert built("-DVEDETTE_COMMIT=" + "ab" * 20) == "ab" * 6
    done("git", "init", "-q")
    first = commit()
    assert built("-DVEDETTE_COMMIT=") == first
    second = commit()
    done("ninja", "-C", "build")
    assert second in (tmp_path / "build" / "generated" / "version.cc").read_text()
