"""The Debian package: made as its target makes it, installed into a minimal Debian root, started there as the unit would
with a PostgreSQL of its own, upgraded, and purged without a trace.

The root is put together from the installed packages of this machine: the essential ones, what the package depends on, and
what these depend on, with a dpkg database that says so. dpkg of that root then works in it, so that dependencies, conffiles
and the scripts of deploy/package are checked by dpkg itself.

What is NOT shown here, because a container has no systemd as its first process: that systemd itself starts the unit, and
the `systemctl` lines of the scripts, which are for machines where it runs. The unit's own commands, environment, credential
files and user are read from the unit that the package installed, and used; test_deploy.py lets systemd-analyze check the rest."""

import gzip
import hashlib
import os
import re
import shutil
import stat
import subprocess
from datetime import datetime, timezone
from pathlib import Path

import pytest

from conftest import ROOT, call, free_port, wait_until

DPKG = Path("/var/lib/dpkg")
PATH = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
# Not needed to run anything.
LEFT_OUT = re.compile(r"/usr/share/(doc|doc-base|man|info|locale|i18n|lintian|bug|zoneinfo|icons)/|/usr/lib/[^/]+/(gconv|perl)/")
# What dpkg, useradd and the loader keep for themselves: databases, locks, backups, caches.
KEPT = re.compile(r"/(var/lib/dpkg|var/log|var/cache|run|dev)(/|$)|/etc/((passwd|group|shadow|gshadow)-|\.pwd\.lock|ld\.so\.cache)$")

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="installing a package and chroot want root")


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def installed_packages():
    """{name: (stanza, fields)} of this machine, provided names included."""
    found = {}
    for stanza in (DPKG / "status").read_text().split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): (.*)$", stanza, re.MULTILINE))
        if fields.get("Status") != "install ok installed":
            continue
        found[fields["Package"]] = (stanza, fields)
        for name in fields.get("Provides", "").split(","):
            found.setdefault(name.split("(")[0].strip(), (stanza, fields))
    return found


def wanted_packages(packages, depends):
    """The essential packages and what `depends` leads to, as {package: stanza}."""
    wanted = {}
    names = [fields["Package"] for _, fields in packages.values() if fields.get("Essential") == "yes"]
    while names or depends:
        for clause in filter(None, (part.strip() for part in depends.split(","))):
            alternatives = [re.match(r"[\w.+-]+", word.strip())[0] for word in clause.split("|")]
            there = [name for name in alternatives if name in packages]
            assert there, f"nothing of {clause} is installed on this machine"
            names.append(there[0])
        depends = ""
        if names:
            stanza, fields = packages[names.pop()]
            if fields["Package"] not in wanted:
                wanted[fields["Package"]] = stanza
                depends = ",".join(fields.get(key, "") for key in ("Pre-Depends", "Depends"))
    return wanted


def copy(path, root):
    """One path of a package; what the machine has not (documents, in slim images) is passed over."""
    source, to = Path(path), Path(f"{root}{path}")
    if not os.path.lexists(source) or os.path.lexists(to):
        return
    if source.is_symlink():
        to.symlink_to(os.readlink(source))
    elif source.is_dir():
        to.mkdir(mode=stat.S_IMODE(source.stat().st_mode), parents=True, exist_ok=True)
    else:
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, to)


def device(path, minor, content):
    """A character device of the kernel's memory, or an ordinary file where devices can be neither made nor opened."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        with open(path, "rb"):
            pass
    except OSError:
        path.unlink(missing_ok=True)
        path.write_bytes(content)
    path.chmod(0o666)


def minimal_root(root, depends):
    root.mkdir()
    root.chmod(0o755)
    for name in ("bin", "sbin", "lib", "lib64"):
        if os.path.islink(f"/{name}"):
            (root / os.readlink(f"/{name}")).mkdir(parents=True, exist_ok=True)
            (root / name).symlink_to(os.readlink(f"/{name}"))
    database = root / "var/lib/dpkg"
    for name in ("info", "updates", "triggers", "alternatives", "parts"):
        (database / name).mkdir(parents=True)
    (database / "info/format").write_text("1\n")
    packages = wanted_packages(installed_packages(), depends)
    for name in packages:
        for listing in (*(DPKG / "info").glob(f"{name}.list"), *(DPKG / "info").glob(f"{name}:*.list")):
            shutil.copy(listing, database / "info")
            for path in listing.read_text().splitlines():
                if path != "/." and not LEFT_OUT.match(path):
                    copy(path, root)
    (database / "status").write_text("\n\n".join(packages.values()) + "\n\n")
    (database / "available").write_text("")
    # What the scripts of the copied packages would have made.
    for name, shadow, rest in (("passwd", "shadow", ":*:20000:0:99999:7:::"), ("group", "gshadow", ":*::")):
        shutil.copy(root / f"usr/share/base-passwd/{name}.master", root / "etc" / name)
        lines = (root / "etc" / name).read_text().splitlines()
        (root / "etc" / shadow).write_text("".join(line.split(":")[0] + rest + "\n" for line in lines))
        (root / "etc" / shadow).chmod(0o640)
    (root / "etc/ssl/certs").mkdir(parents=True, exist_ok=True)
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", root / "etc/ssl/certs")
    shutil.copy("/etc/resolv.conf", root / "etc")
    (root / "dev").mkdir(exist_ok=True)
    device(root / "dev/null", 3, b"")
    device(root / "dev/urandom", 9, os.urandom(4096))
    for name in ("tmp", "run", "var/tmp", "proc"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "tmp").chmod(0o1777)
    return root


def inside(root, *command, **more):
    return run("/usr/sbin/chroot", root, *command, env=PATH, **more)


def snapshot(root):
    """{path: what it is} of everything but what dpkg and its like keep for themselves."""
    seen = {}
    for directory, folders, files in os.walk(root):
        for name in folders + files:
            full = os.path.join(directory, name)
            path = full[len(str(root)):]
            if KEPT.match(path):
                continue
            mode = os.lstat(full).st_mode
            content = ""
            if stat.S_ISLNK(mode):
                content = os.readlink(full)
            elif stat.S_ISREG(mode):
                content = hashlib.sha256(Path(full).read_bytes()).hexdigest()
            seen[path] = (oct(mode), content)
    return seen


def packed(request, to, **environment):
    """The .deb as the target `package` makes it, but for the compression, which would take half a minute of a slow machine."""
    build = Path(request.config.getoption("--build")).resolve()
    run("cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", to, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip",
        cwd=to, env={**os.environ, **environment})
    made = list(to.glob("*.deb"))
    assert len(made) == 1, made
    return made[0]


@pytest.fixture(scope="module")
def package(request, tmp_path_factory):
    to = tmp_path_factory.mktemp("package")
    yield packed(request, to)
    shutil.rmtree(to)


def field(package, name):
    return run("dpkg-deb", "-f", package, name).strip()


def higher_version(package, directory):
    """The same package with a higher version, a changed configuration file and a mark in a document."""
    tree = directory / "higher"
    run("dpkg-deb", "-R", package, tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*$", "Version: 99.0", control.read_text(), flags=re.MULTILINE))
    settings = tree / "etc/vedette/vedette.env"
    settings.write_text(settings.read_text() + "# of the higher version\n")
    to = directory / "higher.deb"
    run("dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "-b", tree, to)
    return to


def test_the_package_says_what_it_is_and_needs(package, binary):
    version = re.search(r"^project\(vedette VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    architecture = run("dpkg", "--print-architecture").strip()
    assert package.name == f"vedette_{version}_{architecture}.deb"
    assert (field(package, "Package"), field(package, "Version")) == ("vedette", version)
    needed = {re.match(r"[\w.+-]+", part.strip())[0] for part in field(package, "Depends").split(",")}
    assert {"ca-certificates", "passwd", "tzdata", "libc6", "libcurl4"} <= needed, needed
    # libpq5 is named where the linker keeps what only libpqxx uses; elsewhere libpqxx brings it.
    for library in re.findall(r"NEEDED.*\[(\S+)\]", run("readelf", "-d", binary)):
        owners = {line.split(":")[0] for line in run("dpkg", "-S", f"*/{library}").splitlines()}
        shown = "${Package} ${Provides} "
        named = set(re.findall(r"[a-z0-9][\w.+-]+", run("dpkg-query", "-W", "-f", shown, *owners)))
        assert named & needed, f"no package of {library} ({named}) in {needed}"
    assert any(name.startswith("libpqxx") for name in needed), needed
    modes = {line.split()[5]: line.split()[:2] for line in run("dpkg-deb", "-c", package).splitlines()}
    for path, mode in {"./usr/bin/vedette": "-rwxr-xr-x", "./usr/lib/systemd/system/vedette.service": "-rw-r--r--",
                       "./etc/vedette/vedette.env": "-rw-r--r--", "./usr/share/man/man1/vedette.1.gz": "-rw-r--r--",
                       "./usr/share/man/man1/vedette-ctl.1.gz": "-rw-r--r--", "./usr/share/man/man5/vedette.toml.5.gz": "-rw-r--r--",
                       "./usr/share/doc/vedette/vedette-rendering.conf": "-rw-r--r--",
                       "./usr/share/doc/vedette/operations.md": "-rw-r--r--", "./usr/share/doc/vedette/copyright": "-rw-r--r--",
                       "./etc/vedette/": "drwxr-xr-x"}.items():
        assert modes[path] == [mode, "root/root"], (path, modes.get(path))
    assert not [path for path in modes if path.startswith(("./usr/local", "./home", "./work", "./tmp"))], modes


def test_what_was_built_is_packed_into_the_same_bytes_again(request, package, binary, tmp_path):
    """At another time, in another folder and zone. That compilers make the same binary again is not shown here: it would take as
    long as a build; what would differ by the folder of the build is looked for in it."""
    again = packed(request, tmp_path, TZ="Asia/Tokyo")
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(package.read_bytes()).digest()
    committed = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    if committed.returncode == 0:
        contents = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], capture_output=True, check=True).stdout
        (tmp_path / "contents.tar").write_bytes(contents)
        listed = run("tar", "-tv", "--utc", "--full-time", "-f", tmp_path / "contents.tar")
        wanted = datetime.fromtimestamp(int(committed.stdout), timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
        assert {" ".join(line.split()[3:5]) for line in listed.splitlines()} == {wanted}
    cache = (Path(request.config.getoption("--build")) / "CMakeCache.txt").read_text()
    if "CMAKE_BUILD_TYPE:STRING=Debug" not in cache:
        run("strip", "-o", tmp_path / "stripped", binary)
        assert str(ROOT).encode() + b"/" not in (tmp_path / "stripped").read_bytes()


def test_the_target_makes_it(request):
    build = Path(request.config.getoption("--build"))
    assert re.search(r"^build package: ", (build / "build.ninja").read_text(), re.MULTILINE), "cmake --build --target package"


def test_the_manual_pages_name_every_command(package, binary, tmp_path):
    run("dpkg-deb", "-x", package, tmp_path)

    def commands(*words):
        text = run(binary, *words, "--help").split("\nSubcommands:\n")[1]
        return re.findall(r"^  ([a-z][\w-]*)\b", text, re.MULTILINE)

    def page(name):
        return gzip.decompress((tmp_path / "usr/share/man" / name).read_bytes()).decode().replace("\\-", "-")

    for name in set(commands()) - {"ctl"}:
        assert f"\n.SS {name}\n" in page("man1/vedette.1.gz"), name
    for name in commands("ctl"):
        assert f"\n.SS ctl {name}\n" in page("man1/vedette-ctl.1.gz"), name
    for line in run(binary, "config").splitlines():
        if re.match(r"\[|\w+ = [\d\"]", line):
            assert f"\n{line}\n" in page("man5/vedette.toml.5.gz").replace("\\e", "\\").replace("\\(ga", "`"), line


class Machine:
    """A minimal Debian root with the package, and the unit's processes in it."""

    def __init__(self, root):
        self.root = root
        self.process = None

    def dpkg(self, *arguments):
        return inside(self.root, "dpkg", "--force-unsafe-io", *arguments)

    def install(self, package):
        shutil.copy(package, self.root / "tmp/vedette.deb")
        out = self.dpkg("--force-confold", "-i", "/tmp/vedette.deb")
        (self.root / "tmp/vedette.deb").unlink()
        return out

    def listed(self):
        """The paths of every package that dpkg knows."""
        return {path for listing in (self.root / "var/lib/dpkg/info").glob("*.list")
                for path in listing.read_text().splitlines()}

    def user(self):
        """(uid, gid) of the system user; nothing where there is none."""
        found = re.search(r"^vedette:x:(\d+):(\d+):.*:/nonexistent:/usr/sbin/nologin$", (self.root / "etc/passwd").read_text(),
                          re.MULTILINE)
        return found and (int(found[1]), int(found[2]))

    def unit(self, expression):
        return re.findall(expression, (self.root / "usr/lib/systemd/system/vedette.service").read_text(), re.MULTILINE)

    def environment(self):
        """What systemd would give the unit's processes: the credentials copied for its user alone."""
        uid, gid = self.user()
        credentials = self.root / "run/credentials/vedette.service"
        shutil.rmtree(credentials, ignore_errors=True)
        credentials.mkdir(parents=True)
        for name, source in self.unit(r"^LoadCredential=([\w-]+):(\S+)$"):
            shutil.copy(f"{self.root}{source}", credentials / name)
            (credentials / name).chmod(0o400)
            os.chown(credentials / name, uid, gid)
        given = {key: value.replace("%d", "/run/credentials/vedette.service")
                 for key, value in self.unit(r"^Environment=(\w+)=(\S+)$")}
        for file in self.unit(r"^EnvironmentFile=(\S+)$"):
            given |= dict(re.findall(r"^(VEDETTE_\w+)=(\S+)$", Path(f"{self.root}{file}").read_text(), re.MULTILINE))
        return {**PATH, **given}

    def command(self, name):
        (line,) = self.unit(rf"^{name}=(.+)$")
        uid, gid = self.user()
        return ["/usr/sbin/chroot", f"--userspec={uid}:{gid}", str(self.root), *line.split()]

    def start(self, admin):
        environment = self.environment()
        run(*self.command("ExecStartPre"), env=environment)
        log = self.root.parent / "log"
        with open(log, "wb") as out:
            self.process = subprocess.Popen(self.command("ExecStart"), env=environment, stdout=out, stderr=out)

        def ready():
            assert self.process.poll() is None, log.read_text()
            try:
                return call("GET", f"{admin}/readyz").status == 200
            except OSError:
                return False

        wait_until("vedette to be ready", ready)

    def stop(self):
        self.process.terminate()
        assert self.process.wait(60) == 0
        self.process = None


@pytest.fixture
def machine(tmp_path, package):
    it = Machine(minimal_root(tmp_path / "root", field(package, "Depends")))
    yield it
    if it.process:
        it.process.kill()
        it.process.wait(10)
    shutil.rmtree(it.root)


@pytest.mark.empty_database
def test_it_is_installed_started_upgraded_and_purged_without_a_trace(machine, package, database, tmp_path):
    before = snapshot(machine.root)
    assert "database-url" in machine.install(package), "what the administrator has to do"
    secrets = {}
    for name in ("encryption-key", "admin-token"):
        file = machine.root / "etc/vedette" / name
        secrets[name] = file.read_text()
        assert re.fullmatch(r"[0-9a-f]{64}\n", secrets[name]) and file.stat().st_mode & 0o777 == 0o600, name
    # An ordinary file in the place of the device gives the same bytes twice.
    drawn = (machine.root / "dev/urandom").is_char_device()
    assert machine.user() and len(set(secrets.values())) == (2 if drawn else 1)

    # What the administrator sets: where the database is, and which ports.
    (machine.root / "etc/vedette/database-url").write_text(database.postgres.tcp_url(database.name) + "\n")
    api, admin = free_port(), free_port()
    settings = machine.root / "etc/vedette/vedette.env"
    mine = settings.read_text().replace("127.0.0.1:8080", f"127.0.0.1:{api}").replace("127.0.0.1:9464", f"127.0.0.1:{admin}")
    settings.write_text(mine)
    machine.start(f"http://127.0.0.1:{admin}")
    token = {"Authorization": f"Bearer {secrets['admin-token'].strip()}"}
    made = call("POST", f"http://127.0.0.1:{admin}/admin/v1/orgs", {"name": "Example", "features": ["monitors"]}, token)
    assert made.status == 201, made
    assert call("GET", f"http://127.0.0.1:{api}/docs").status == 200
    machine.stop()

    machine.install(higher_version(package, tmp_path))
    assert "Version: 99.0" in machine.dpkg("-s", "vedette")
    assert settings.read_text() == mine, "the administrator's settings stay"
    for name, secret in secrets.items():
        assert (machine.root / "etc/vedette" / name).read_text() == secret, f"{name} is drawn once"
    machine.start(f"http://127.0.0.1:{admin}")
    kept = call("GET", f"http://127.0.0.1:{admin}/admin/v1/orgs/{made.json['id']}", headers=token)
    assert kept.status == 200 and kept.json["name"] == "Example"
    machine.stop()
    shutil.rmtree(machine.root / "run/credentials")

    machine.dpkg("--remove", "vedette")
    assert not (machine.root / "usr/bin/vedette").exists()
    assert settings.exists() and (machine.root / "etc/vedette/encryption-key").exists(), "until the purge"
    machine.dpkg("--purge", "vedette")
    assert machine.user() is None
    after = snapshot(machine.root)
    # A directory that other packages have, too, and that this root had not, is not this package's to remove.
    others = machine.listed()
    traces = {p: what for p, what in after.items() if before.get(p) != what and not (p not in before and p in others)}
    assert traces == {}
    assert set(before) - set(after) == set()
    assert "vedette" not in (machine.root / "var/lib/dpkg/status").read_text()
