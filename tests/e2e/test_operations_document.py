"""docs/operations.md is followed to the letter: a machine is set up from nothing, and an organisation is added, by the
document's own commands. The directories, and what has the machine to itself (sudo, systemctl, the postgres user's
server), are the test's."""

import os
import re
import subprocess

import pytest

from conftest import ADMIN_TOKEN, ENCRYPTION_KEY, MIGRATED, ROOT, Database, Tenant, Vedette, call, clean_environment, free_port, wait_until

TEXT = (ROOT / "docs" / "operations.md").read_text()


def block(name):
    """The shell block whose fence says `name`, without the list's indentation."""
    found = re.search(rf"^( *)```sh {name}\n(.*?)^\1```$", TEXT, re.MULTILINE | re.DOTALL)
    assert found, f"docs/operations.md has no block {name}"
    return "".join(line.removeprefix(found[1]) for line in found[2].splitlines(keepends=True))


class Machine:
    def __init__(self, directory, postgres, binary):
        self.root, self.postgres, self.binary = directory, postgres, binary
        stubs = directory / "stubs"
        stubs.mkdir()
        for name, does in {"sudo": 'if [ "$1" = -u ]; then shift 2; fi; exec "$@"', "systemctl": "exit 0"}.items():
            (stubs / name).write_text(f"#!/bin/sh\n{does}\n")
            (stubs / name).chmod(0o755)
        self.environment = clean_environment({
            "PATH": f"{stubs}:{directory}/usr/bin:{postgres.bin}:{os.environ['PATH']}",
            "PGHOST": "127.0.0.1", "PGPORT": str(postgres.port), "PGUSER": "vedette", "PGDATABASE": "postgres"})

    def here(self, text):
        for path in ("/usr/bin/vedette", "/etc/vedette", "/usr/share/doc", "/etc/systemd"):
            text = text.replace(f" {path}", f" {self.root}{path}")
        # vedette is the name of the superuser of the test's server.
        for command in ("createuser vedette", "--owner vedette vedette", "alter role vedette"):
            text = text.replace(command, command.replace("vedette", "machine"))
        return text.replace("build/release/vedette", str(self.binary.resolve()))

    def run(self, name):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", self.here(block(name))], env=self.environment, cwd=ROOT,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def unit_environment(self):
        """What systemd gives the processes of the unit that was installed."""
        unit = (self.root / "etc/systemd/system/vedette.service").read_text()
        given = dict(re.findall(r"^Environment=(\w+)=(\S+)$", unit, re.MULTILINE))
        credentials = dict(re.findall(r"^LoadCredential=([\w-]+):(\S+)$", unit, re.MULTILINE))
        env = {key: f"{self.root}{credentials[value.removeprefix('%d/')]}" for key, value in given.items()}
        settings = (self.root / "etc/vedette/vedette.env").read_text()
        return env | dict(re.findall(r"^(VEDETTE_\w+)=(\S+)$", settings, re.MULTILINE))


@pytest.fixture
def machine(tmp_path, postgres, binary):
    it = Machine(tmp_path, postgres, binary)
    yield it
    postgres.execute("postgres", "drop database if exists machine with (force)")
    postgres.execute("postgres", "drop role if exists machine")


def test_one_machine_from_nothing_and_an_organisation(machine, postgres, tmp_path):
    machine.run("install")
    secrets = tmp_path / "etc/vedette"
    for name in ("database-url", "encryption-key", "admin-token"):
        assert (secrets / name).stat().st_mode & 0o777 == 0o600, name
    # The server of this test has other addresses than a Debian machine's.
    url = (secrets / "database-url").read_text()
    assert re.fullmatch(r"postgresql://vedette:[0-9a-f]{48}@127\.0\.0\.1/vedette", url)
    (secrets / "database-url").write_text(f"postgresql://machine@127.0.0.1:{postgres.port}/machine")
    api, admin = free_port(), free_port()
    env = clean_environment({**machine.unit_environment(), "VEDETTE_API_LISTEN": f"127.0.0.1:{api}",
                             "VEDETTE_ADMIN_LISTEN": f"127.0.0.1:{admin}"})
    vedette = tmp_path / "usr/bin/vedette"
    assert subprocess.run([vedette, "migrate"], env=env).returncode == 0  # ExecStartPre
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen([vedette, "serve"], env=env, stdout=log, stderr=log)
    try:
        def ready():
            assert process.poll() is None, (tmp_path / "log").read_text()
            try:
                return call("GET", f"http://127.0.0.1:{admin}/readyz").status == 200
            except OSError:
                return False
        wait_until("vedette to be ready", ready)
        machine.environment["VEDETTE_ADMIN_URL"] = f"http://127.0.0.1:{admin}"
        assert "ready" in machine.run("look")
        machine.environment["VEDETTE_ADMIN_TOKEN"] = (secrets / "admin-token").read_text().strip()
        shown = machine.run("organisation")
        key = re.search(r"vd_live_\w{43}", shown)[0]
        assert re.search(r"sk_whsec_[0-9a-f]{64}", shown) and "Example Ltd" in shown
        made = call("POST", f"http://127.0.0.1:{api}/monitors", {
            "name": "first", "key_columns": ["url"], "rows": [{"url": "https://example.com/"}], "struct": {"t": "css:h1"}},
            {"x-api-key": key})
        assert made.status == 200, made
        credits = call("GET", f"http://127.0.0.1:{api}/credits", headers={"x-api-key": key}).json
        assert 0 < credits["credits"] <= 1000
    finally:
        process.terminate()
        assert process.wait(60) == 0


def section(title):
    """The text under a heading, up to the next one of its rank."""
    return re.search(rf"^## {title}\n(.*?)(?=^## )", TEXT, re.MULTILINE | re.DOTALL)[1]


def test_what_a_move_is_said_to_say_is_what_it_says():
    """The table by which an operator knows what to do next."""
    source = "".join(path.read_text() for path in (ROOT / "store" / "move").glob("*.cc"))
    source = re.sub(r'"\s*\n\s*"', "", source)  # literals that go on in the next line
    said = [text for row in re.findall(r"^\| (`.*?) \|", section("Move an organisation to another cell"), re.MULTILINE)
            for text in re.findall(r"`([^`]+)`", row)]
    assert len(said) >= 7
    wanted = [(text, re.escape(text.removesuffix("...").rstrip()).replace(r"\.\.\.", ".*")) for text in said]
    assert [text for text, pattern in wanted if not re.search(pattern, source)] == []


@pytest.fixture
def two_cells(binary, postgres, tmp_path):
    """c2 and c3, with their configurations in files, and the list of both."""
    services, databases = [], []
    for cell in ("c2", "c3"):
        database = Database(postgres, postgres.new_name())
        postgres.create(database.name, MIGRATED)
        databases.append(database)
        (tmp_path / f"{cell}.toml").write_text(f'[cell]\nid = "{cell}"\n[database]\nurl = "{database.url}"\n'
                                               f'[security]\nencryption_key = "{ENCRYPTION_KEY}"\n')
        services.append(Vedette(binary, database.url, tmp_path, {"VEDETTE_CELL_ID": cell}).start(roles="api,admin,scheduler,worker"))
    (tmp_path / "token").write_text(ADMIN_TOKEN)
    (tmp_path / "cells").write_text("".join(f"{cell} {service.admin} {tmp_path}/token\n"
                                            for cell, service in zip(("c2", "c3"), services)))
    yield services
    assert [service.stop() for service in services] == [0, 0]
    for database in databases:
        postgres.drop(database.name)


def test_an_organisation_moves_by_the_pages_own_commands(two_cells, binary, tmp_path):
    """Those of the page of several cells, too: as an operator goes through them."""
    old, new = two_cells
    tenant = old.organisation()
    monitor = tenant.post("/monitors", {"name": "m", "key_columns": ["url"], "rows": [{"url": "https://example.com/"}],
                                        "struct": {"t": "css:h1"}, "frequency": "1d"})["id"]
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "vedette").symlink_to(binary.resolve())
    environment = clean_environment({"PATH": f"{bin_folder}:{os.environ['PATH']}", "VEDETTE_CELLS_FILE": str(tmp_path / "cells"),
                                     "org": tenant.org_id})

    def run(script):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    for command in re.findall(r"`(vedette ctl (?:cells|org-find|cell-map)[^`]*)`", section("Several cells")):
        assert run(command.replace("TEXT", "Tests")), command
    assert tenant.org_id in run(f"vedette ctl org-find {tenant.org_id}")
    said = run(block("move"))
    assert "monitor: 1 rows, before the lock" in said and "it works at cell c3" in said
    assert re.findall(r'"cell": "(\w+)"', run("vedette ctl --json org-find Tests")) == ["c3"], "where it lives, and nowhere else"
    moved = Tenant(new, tenant.org_id, tenant.api_key, tenant.signing_secret)
    assert moved.get(f"/monitors/{monitor}")["name"] == "m"
    assert f"{tenant.org_id} cell_c3" in run("vedette ctl cell-map organisations")
    move = block("move").splitlines()[-1].split("#")[0]
    assert "removed from cell c2" in run(f"{move} --remove --grace-h 0")
    assert re.findall(r'"cell": "(\w+)"', run("vedette ctl --json org-find Tests")) == ["c3"]
