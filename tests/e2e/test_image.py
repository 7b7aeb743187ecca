"""The image of deploy/image, and its parts.

Always: deploy/entrypoint starts a `serve` without a database, unprivileged and with the paths of a test, and comes to a
verified webhook; deploy/sbom describes a small root. Nightly: deploy/image builds the image of the package of this build, which
needs Debian's mirrors and a minute or two, and a container of it comes to a verified webhook.

That container is podman's where podman can start one. Where it cannot (a machine without control groups of its own), the image
is unpacked by this test and started with the user, the environment and the entry point that it names, in namespaces of its own:
a read-only root, a /tmp and the volume, no capabilities. The test prints which of the two it was."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest
from conftest import ROOT, Vedette, fast_directory, openssl_accepts, wait_until
from test_package import package, run  # noqa: F401 (a fixture)

USER = 65532
NOBODY = 65534
DEPLOY = ROOT / "deploy"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="a root of its own and another user want root")


class Contained(Vedette):
    """A service without the address of a database, by a command of the test's."""

    def __init__(self, directory):
        super().__init__(None, "", directory)
        for name in ("DATABASE_URL", "SECURITY_ENCRYPTION_KEY"):
            del self.environment[f"VEDETTE_{name}"]

    def settings(self):
        return {name: value for name, value in self.environment.items() if name.startswith("VEDETTE_")}

    def start_by(self, command, **more):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, **more)
        wait_until("vedette to be ready", self.is_ready)


def comes_to_a_verified_webhook(service, nginx, receiver):
    nginx.write("page.html", "<title>A page</title>")
    tenant = service.organisation()
    monitor = tenant.post("/monitors", {
        "name": "One", "key_columns": ["n"], "rows": [{"n": 1, "url": f"{nginx.url}/page.html"}],
        "struct": {"title": "css:title"}, "frequency": "30d", "webhook_url": receiver.url})["id"]
    tenant.post(f"/monitors/{monitor}/trigger", {})
    wait_until("a webhook", lambda: receiver.requests)
    assert openssl_accepts(tenant.signing_secret, receiver.requests[0])


@contextlib.contextmanager
def a_volume(owner=NOBODY):
    """A directory of `owner`, to whom only root could give pytest's."""
    path = Path(tempfile.mkdtemp(prefix="vedette-e2e-image-", dir=fast_directory()))
    path.chmod(0o755)
    data = path / "data"
    data.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(data, owner, owner)
    try:
        yield data
    finally:
        shutil.rmtree(path, ignore_errors=True)


def entrypoint_in(data, binary):
    """deploy/entrypoint with the volume and the binary of a test."""
    program = data.parent / "vedette"
    if not program.exists():
        run("strip", "-o", program, binary)
    text = (DEPLOY / "entrypoint").read_text()
    assert text.count("/var/lib/vedette\n") == 1 and text.count("/usr/bin/vedette ") == 3
    script = data.parent / "entrypoint"
    script.write_text(text.replace("data=/var/lib/vedette\n", f"data={data}\n").replace("/usr/bin/vedette ", f"{program} "))
    script.chmod(0o755)
    return script


# initdb asks for the name of its user; this machine has none of the image's number.
AS_USER = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def test_without_a_database_the_entry_point_brings_its_own_and_comes_to_a_verified_webhook(binary, nginx, receiver, tmp_path):
    with a_volume() as data:
        entrypoint = entrypoint_in(data, binary)
        service = Contained(tmp_path)
        service.start_by([entrypoint], env=service.environment, **AS_USER)
        comes_to_a_verified_webhook(service, nginx, receiver)
        assert service.stop() == 0
        key = (data / "encryption-key").read_text()
        assert re.fullmatch(r"[0-9a-f]{64}", key) and (data / "encryption-key").stat().st_mode & 0o777 == 0o600
        assert not (data / "admin-token").exists(), "one was given"
        # Started again it has the same data, and what was sealed under its key.
        service.start_by([entrypoint, "serve"], env=service.environment, **AS_USER)
        assert b"Tests" in service.as_operator("GET", "/admin/v1/orgs").body
        assert (data / "encryption-key").read_text() == key
        assert service.stop() == 0


def test_the_entry_point_says_what_it_needs_and_leaves_a_database_that_is_named_alone(binary, tmp_path):
    with a_volume() as data:
        entrypoint = entrypoint_in(data, binary)

        def answer(*arguments, **environment):
            done = subprocess.run([entrypoint, *arguments], env={"PATH": "/usr/bin:/bin", **environment}, capture_output=True,
                                  text=True, timeout=60, **AS_USER)
            return done.returncode, done.stderr

        assert subprocess.run([entrypoint, "--version"], capture_output=True, text=True).stdout.startswith("vedette ")
        status, said = answer("migrate", VEDETTE_DATABASE_URL="postgresql://vedette@127.0.0.1:1/vedette")
        assert status == 1 and "refused" in said.lower(), said
        # `serve` with one goes to it: only its own complaint (no encryption key) ends it.
        status, said = answer("serve", "--roles", "nobody", VEDETTE_DATABASE_URL="postgresql://vedette@127.0.0.1:1/vedette")
        assert status == 2 and "nobody" in said, said
        status, said = answer("serve", "--config", "/nonexistent.toml")
        assert status == 2 and "nonexistent.toml" in said, said
        assert not list(data.iterdir()), "nothing was drawn or made"
        data.chmod(0o500)
        if os.geteuid() == 0:
            os.chown(data, 0, 0)
        status, said = answer()
        assert status == 2 and "mount a volume there" in said, said


def test_a_database_of_ones_own_and_one_that_is_named_are_refused_together(binary, tmp_path):
    done = subprocess.run([binary, "serve", "--private-postgres", tmp_path / "data"], capture_output=True, text=True,
                          env={"VEDETTE_DATABASE_URL": "postgresql://vedette@127.0.0.1:1/vedette"})
    assert done.returncode == 2 and "--private-postgres" in done.stderr and "VEDETTE_DATABASE_URL" in done.stderr
    assert not (tmp_path / "data").exists()


STATUS = """Package: alpha
Status: install ok installed
Maintainer: A Team <team@example.org>
Architecture: amd64
Source: alphabet (1:2.0)
Version: 1:2.0+b1

Package: beta
Status: install ok installed
Maintainer: A Team <team@example.org>
Architecture: all
Version: 3

Package: gone
Status: deinstall ok config-files
Architecture: all
Version: 1

Package: gamma
Status: install ok installed
Architecture: all
Version: 4
"""
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: someone
License: GPL-2+ or Artistic, and Expat
 A text.

Files: b
License: Odd-1
"""


def test_the_bill_of_materials_names_what_is_installed_and_guesses_no_licence(tmp_path):
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").write_text(STATUS)
    for name, text in (("alpha", COPYRIGHT), ("beta", "In plain words: the GPL.\n")):
        (tmp_path / "usr/share/doc" / name).mkdir(parents=True)
        (tmp_path / "usr/share/doc" / name / "copyright").write_text(text)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    text = run(DEPLOY / "sbom", tmp_path, "1.0.0", env=environment)
    assert text == run(DEPLOY / "sbom", tmp_path, "1.0.0", env=environment)
    bill = json.loads(text)
    assert_it_is_sound(bill)
    assert bill["creationInfo"]["created"] == "2023-11-14T22:13:20Z"
    image, alpha, beta, gamma = bill["packages"]
    assert image["licenseDeclared"] == "Apache-2.0"
    assert (alpha["name"], alpha["versionInfo"], alpha["supplier"]) == ("alpha", "1:2.0+b1", "Organization: A Team")
    assert alpha["sourceInfo"] == "built from the source alphabet 1:2.0"
    assert alpha["externalRefs"][0]["referenceLocator"] == "pkg:deb/debian/alpha@1%3A2.0%2Bb1?arch=amd64"
    assert alpha["licenseDeclared"] == "(GPL-2.0-or-later OR Artistic-1.0-Perl AND MIT) AND LicenseRef-debian-Odd-1"
    assert [info["licenseId"] for info in bill["hasExtractedLicensingInfos"]] == ["LicenseRef-debian-Odd-1"]
    assert beta["licenseDeclared"] == gamma["licenseDeclared"] == "NOASSERTION"


def assert_it_is_sound(bill):
    """The rules of SPDX 2.3 that a bill of packages can break."""
    assert (bill["spdxVersion"], bill["dataLicense"], bill["SPDXID"]) == ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT")
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bill["documentNamespace"])
    ids = [package["SPDXID"] for package in bill["packages"]]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one) for one in ids)
    assert bill["documentDescribes"] == [ids[0]]
    ends = {(one["spdxElementId"], one["relatedSpdxElement"]) for one in bill["relationships"]}
    assert ends == {("SPDXRef-DOCUMENT", ids[0])} | {(ids[0], one) for one in ids[1:]}
    known = {info["licenseId"] for info in bill.get("hasExtractedLicensingInfos", [])}
    for package in bill["packages"]:
        assert package["name"] and package["versionInfo"] and package["downloadLocation"] == "NOASSERTION"
        assert set(re.findall(r"LicenseRef-[A-Za-z0-9.-]+", package["licenseDeclared"])) <= known


class Image:
    """An OCI archive: its configuration, and its files unpacked."""

    def __init__(self, archive, directory):
        layout = directory / "layout"
        with tarfile.open(archive) as tar:
            tar.extractall(layout)

        def blob(descriptor):
            return layout / "blobs" / descriptor["digest"].replace(":", "/")

        (entry,) = json.loads((layout / "index.json").read_text())["manifests"]
        manifest = json.loads(blob(entry).read_text())
        self.config = json.loads(blob(manifest["config"]).read_text())["config"]
        self.root = directory / "root"
        self.root.mkdir()
        for layer in manifest["layers"]:
            run("tar", "-x", "-C", self.root, "-f", blob(layer))
        shutil.rmtree(layout)

    def start(self, service, data):
        """In namespaces of its own, as an engine would with --read-only --cap-drop ALL --tmpfs /tmp --network host."""
        environment = {**dict(pair.split("=", 1) for pair in self.config["Env"]), **service.settings()}
        script = f"""set -e
            cd {self.root}
            mount --bind . . && cd {self.root}
            mount -t proc proc proc && mount --rbind /dev dev
            mount -t tmpfs -o mode=1777 tmpfs tmp && mount --bind {data} var/lib/vedette
            mount -o remount,bind,ro .
            exec chroot --userspec={self.config["User"]} . /usr/bin/setpriv --no-new-privs "$@" """
        service.start_by(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh",
                          *self.config["Entrypoint"], *self.config["Cmd"]], env=environment)

    def stop(self, service):
        pid = service.process.pid
        inside = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        os.kill(int(inside[0]), signal.SIGTERM)
        return service.process.wait(60)


def podman(archive, store):
    """podman's command with the image in a storage of its own, and the image's name; nothing where it can start no container."""
    if not shutil.which("podman"):
        return None
    engine = ["podman", "--storage-driver", "vfs", "--root", str(store / "storage"), "--runroot", str(store / "run")]
    said = ""
    for words in (["load", "-i", str(archive)], ["images", "--format", "{{.Repository}}:{{.Tag}}"], ["run", "--rm", None, "--version"]):
        done = subprocess.run([*engine, *(word or said.split()[0] for word in words)], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"podman can start no container here: {done.stderr.strip()}")
            return None
        said = done.stdout if words[0] == "images" else said
    return engine, said.split()[0]


@pytest.fixture(scope="module")
def built(package, tmp_path_factory):  # noqa: F811
    """The archive and the bill of materials of the image of this build's package."""
    to = tmp_path_factory.mktemp("image")
    archive = Path(run(DEPLOY / "image", package, to).splitlines()[-1])
    yield archive, json.loads(archive.with_name(archive.name.replace(".oci.tar", ".spdx.json")).read_text())
    shutil.rmtree(to)


@pytest.mark.nightly
@needs_root
def test_the_image_is_built_and_a_container_of_it_comes_to_a_verified_webhook(built, nginx, receiver, tmp_path):
    archive, _ = built
    service = Contained(tmp_path)
    with a_volume(USER) as data:
        engine = podman(archive, data.parent)
        if engine:
            print("started by podman")
            given = [word for name, value in service.settings().items() for word in ("--env", f"{name}={value}")]
            service.start_by([*engine[0], "run", "--rm", "--network", "host", "--read-only", "--cap-drop", "ALL",
                              "--volume", f"{data}:/var/lib/vedette", *given, engine[1]])
        else:
            print("started by unshare and chroot")
            image = Image(archive, data.parent)
            image.start(service, data)
        comes_to_a_verified_webhook(service, nginx, receiver)
        assert (service.stop() if engine else image.stop(service)) == 0


@pytest.mark.nightly
@needs_root
def test_the_image_has_no_secret_no_privilege_and_a_bill_of_what_is_in_it(built, tmp_path):
    archive, bill = built
    image = Image(archive, tmp_path)
    assert image.config["User"] == f"{USER}:{USER}" and image.config["Cmd"] == ["serve"]
    assert not (image.root / "etc/vedette/encryption-key").exists() and not (image.root / "etc/vedette/admin-token").exists()
    assert not list((image.root / "etc/ssl/private").glob("*"))
    assert run("find", image.root, "-xdev", "-type", "f", "-perm", "/6000") == ""
    assert run("chroot", image.root, "/usr/bin/vedette", "--version").startswith("vedette ")
    assert_it_is_sound(bill)
    named = {p["name"]: p["versionInfo"] for p in bill["packages"][1:]}
    shown = run("chroot", image.root, "dpkg-query", "-W", "-f", "${Package} ${Version}\n")
    assert named == dict(line.split() for line in shown.splitlines())
    assert {"vedette", "postgresql-15", "libcurl4", "libc6"} <= set(named)
    shutil.rmtree(image.root)
