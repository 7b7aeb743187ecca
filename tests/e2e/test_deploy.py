"""deploy/: the compose file's and the systemd unit's processes are started with the arguments and the environment that they
give. (The image has tests of its own: test_image.py.)"""

import re
import shutil
import subprocess

import pytest
import yaml

from conftest import ENCRYPTION_KEY, ROOT, call, clean_environment, free_port, wait_until

DEPLOY = ROOT / "deploy"


def serve_with(binary, database, directory, environment, secrets):
    """Starts `serve` with an environment of deploy/, its secret files and ports replaced; ready, it is stopped."""
    contents = {"database": database.url, "encryption": ENCRYPTION_KEY, "admin": "a token of deploy"}
    directory.mkdir()
    env, admin = {}, free_port()
    for key, value in environment.items():
        if key.endswith("_FILE"):
            path = directory / value.rsplit("/", 1)[1]
            assert path.name in secrets, f"{key} names {value}"
            path.write_text(contents[re.match(r"[a-z]+", path.name).group()] + "\n")
            value = str(path)
        elif key.endswith("_LISTEN"):
            value = f"127.0.0.1:{admin if 'ADMIN' in key else 0}"
        env[key] = value
    env = clean_environment(env)
    assert subprocess.run([binary, "migrate"], env=env, capture_output=True).returncode == 0
    with open(directory / "log", "wb") as log:
        process = subprocess.Popen([binary, "serve"], env=env, stdout=log, stderr=log)
    try:
        def ready():
            assert process.poll() is None, (directory / "log").read_text()
            try:
                return call("GET", f"http://127.0.0.1:{admin}/readyz").status == 200
            except OSError:
                return False
        wait_until("vedette to be ready", ready)
        assert call("GET", f"http://127.0.0.1:{admin}/admin/v1/overview",
                    headers={"Authorization": "Bearer a token of deploy"}).status == 200
    finally:
        process.terminate()
        assert process.wait(60) == 0
    assert (directory / "log").read_text().startswith("{"), "logs are JSON lines"


def test_the_compose_file_starts_what_it_says(binary, database, tmp_path):
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = compose["services"]
    for name, service in services.items():
        assert set(service.get("secrets", [])) <= set(compose["secrets"]), name
        assert set(service.get("depends_on", {})) <= set(services), name
        # Nothing that listens for the world.
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
        if name != "postgres":
            assert service["read_only"] and service["cap_drop"] == ["ALL"], name
    assert services["migrate"]["command"] == ["migrate"] and services["vedette"]["command"] == ["serve"]
    serve_with(binary, database, tmp_path / "run", services["vedette"]["environment"], services["vedette"]["secrets"])


def test_the_secrets_of_the_compose_file_do_not_reach_git():
    assert "/deploy/secrets/" in (ROOT / ".gitignore").read_text().split()
    assert "{file: secrets/" in (ROOT / "deploy" / "compose.yaml").read_text()


def test_the_systemd_unit_is_sound_and_starts_what_it_says(binary, database, tmp_path):
    text = (DEPLOY / "vedette.service").read_text()
    unit = tmp_path / "vedette.service"
    unit.write_text(text.replace("/usr/bin/vedette", str(binary.resolve())))
    if shutil.which("systemd-analyze"):
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
        assert done.returncode == 0 and "vedette.service" not in done.stderr, done.stderr
    assert "LimitCORE=0" in text.splitlines(), "a core dump would hold every secret"
    assert "TimeoutStartSec=infinity" in text.splitlines(), "a migration is never killed and begun again for ever"
    environment = dict(re.findall(r"^Environment=(\w+)=(\S+)$", text, re.MULTILINE))
    environment |= dict(re.findall(r"^(VEDETTE_\w+)=(\S+)$", (DEPLOY / "vedette.env").read_text(), re.MULTILINE))
    credentials = dict(re.findall(r"^LoadCredential=([\w-]+):(\S+)$", text, re.MULTILINE))
    assert {v.removeprefix("%d/") for v in environment.values() if v.startswith("%d/")} == set(credentials)
    serve_with(binary, database, tmp_path / "run", environment, set(credentials))


def test_the_drop_in_for_rendering_is_sound(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd here")
    unit = (DEPLOY / "vedette.service").read_text().replace("/usr/bin/vedette", "/bin/true")
    (tmp_path / "vedette.service").write_text(unit)
    (tmp_path / "vedette.service.d").mkdir()
    (tmp_path / "vedette.service.d/rendering.conf").write_text((DEPLOY / "vedette-rendering.conf").read_text())
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", tmp_path / "vedette.service"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and "rendering.conf" not in done.stderr, done.stderr


@pytest.mark.empty_database
def test_the_health_port_tells_why_a_process_is_not_ready(binary, database, tmp_path):
    """A worker, which has no admin port, before the schema is there; it begins by itself once it is."""
    health = free_port()
    env = clean_environment({"VEDETTE_DATABASE_URL": database.url, "VEDETTE_HEALTH_LISTEN": f"127.0.0.1:{health}"})
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen([binary, "serve", "--roles", "worker"], env=env, stdout=log, stderr=log)
    try:
        def readiness():
            assert process.poll() is None, (tmp_path / "log").read_text()
            try:
                return call("GET", f"http://127.0.0.1:{health}/readyz")
            except OSError:
                return None
        wait_until("the reason", lambda: (a := readiness()) and a.status == 503 and
                   "vedette migrate" in " ".join(a.json["reasons"]))
        assert call("GET", f"http://127.0.0.1:{health}/healthz").status == 200, "alive all the while"
        subprocess.run([binary, "migrate"], env=env, check=True, capture_output=True)
        wait_until("readiness", lambda: readiness().status == 200)
    finally:
        process.terminate()
        assert process.wait(60) == 0
