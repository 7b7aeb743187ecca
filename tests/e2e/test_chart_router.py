"""The chart's router: HAProxy takes its configuration, and sends requests to cells by it."""

import base64
import contextlib
import http.server
import json
import re
import subprocess
import threading

import pytest
import yaml

from certificates import Authority
from chart import CHART, helm, objects, of_kind, pod_of, rendered, template  # noqa: F401 (fixtures)
from conftest import ROOT, call, free_port, wait_until
from servers import QuietHandler


def haproxy_of(rendered_objects):
    return of_kind(rendered_objects, "ConfigMap")["v-vedette-router"]["data"]["haproxy.cfg"]


def test_the_router_goes_by_the_rules_that_are_deployed(objects):
    def section(text, name):
        lines = re.search(rf"^{name}\n((?:    .*\n|\n)+)", text, re.MULTILINE)[1].splitlines()
        return [line for line in lines if line.strip() and not line.strip().startswith(("#", "bind "))]
    ours, deployed = haproxy_of(objects["router"]), (ROOT / "deploy" / "cells" / "haproxy.cfg").read_text()
    for name in ("global", "defaults", "frontend api"):
        assert section(ours, name) == section(deployed, name)
    assert len(section(ours, "frontend api")) == 10
    # The cell that is asked at a port of its own differs only in that its name is followed.
    assert [line.replace(" resolvers cluster init-addr libc,none", "").replace("8081", "8080")
            for line in section(ours + "\n", "backend cell_c3")] == section(deployed, "backend cell_c3")


def test_the_router_waits_longer_than_any_request_may(objects):
    def milliseconds(header, name):
        values = re.findall(rf"milliseconds {name}\{{([0-9']+)\}}", (ROOT / "config" / header).read_text())
        assert values, name
        return max(int(value.replace("'", "")) for value in values)
    longest = milliseconds("lookup_config.h", r"wait_\w+_ms") + milliseconds("server_config.h", "held_wait_ms")
    for text in (haproxy_of(objects["router"]), (ROOT / "deploy" / "cells" / "haproxy.cfg").read_text()):
        assert int(re.search(r"^ *timeout server (\d+)s$", text, re.MULTILINE)[1]) * 1000 > longest


def test_a_change_of_the_routers_configuration_makes_new_pods(helm, objects):
    done = template(helm, CHART / "ci" / "router.yaml", "--set", "oidc.orgClaim=tenant")
    changed = [o for o in yaml.safe_load_all(done.stdout) if o]
    sums = {of_kind(o, "Deployment")["v-vedette-router"]["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
            for o in (objects["router"], changed)}
    assert len(sums) == 2 and haproxy_of(changed) != haproxy_of(objects["router"])


def test_the_router_is_known_to_go_before_it_refuses(objects):
    [container] = pod_of(of_kind(objects["router"], "Deployment")["v-vedette-router"])["containers"]
    [program, seconds] = container["lifecycle"]["preStop"]["exec"]["command"]
    assert program == "sleep" and int(seconds) >= 2 * container["readinessProbe"]["periodSeconds"]


def write_maps(folder):
    """Maps such as `vedette ctl cell-map` prints."""
    (folder / "cells.map").write_text("- cell_\nc2 cell_c2\nc3 cell_c3\n")
    (folder / "prefixes.map").write_text("vd_live_c2_ cell_c2\nvd_live_c3_ cell_c3\nvd_live_Ab12cd cell_c3\n")
    (folder / "organisations.map").write_text("acme cell_c2\n")


def check_configuration(text, folder):
    write_maps(folder)
    (folder / "haproxy.cfg").write_text(text.replace("/etc/haproxy/cells", str(folder)) + "\n")
    done = subprocess.run(["/usr/sbin/haproxy", "-c", "-f", folder / "haproxy.cfg"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_haproxy_takes_the_routers_configuration_though_no_cell_is_there(objects, tmp_path):
    check_configuration(haproxy_of(objects["router"]), tmp_path)
    [container] = pod_of(of_kind(objects["router"], "Deployment")["v-vedette-router"])["containers"]
    assert container["command"] == ["haproxy", "-db", "-f", "/etc/haproxy/haproxy.cfg"]
    assert {m["mountPath"] for m in container["volumeMounts"]} == {"/etc/haproxy/haproxy.cfg", "/etc/haproxy/cells"}


def server_lines(text):
    return re.findall(r"^    server (.*)$", text, re.MULTILINE)


def test_cells_are_verified_by_the_ca_that_is_mounted_or_by_those_of_the_system(helm, objects, tmp_path):
    def lines(ca):
        return ["first v-vedette-api.first.svc.cluster.local:80 check",
                f"c2 c2.internal:443 check ssl verify required ca-file {ca} sni str(c2.internal) verifyhost c2.internal check-ssl check-sni c2.internal",
                f"c3 c3.internal:8443 check port 9464 ssl verify required ca-file {ca} sni str(c3.internal) verifyhost c3.internal no-check-ssl"]
    assert server_lines(haproxy_of(objects["tls"])) == lines("/etc/haproxy/ca/cells.pem")
    pod = pod_of(of_kind(objects["tls"], "Deployment")["v-vedette-router"])
    assert {"name": "ca", "mountPath": "/etc/haproxy/ca", "readOnly": True} in pod["containers"][0]["volumeMounts"]
    assert {"name": "ca", "secret": {"secretName": "cells-ca", "defaultMode": 0o440, "items": [
        {"key": "cells.pem", "path": "cells.pem"}]}} in pod["volumes"]
    ca = Authority(tmp_path, "ours").certificate
    check_configuration(haproxy_of(objects["tls"]).replace("/etc/haproxy/ca/cells.pem", str(ca)), tmp_path)

    done = template(helm, CHART / "ci" / "tls.yaml", "--set", "router.cellsCaSecret.existingSecret=")
    assert done.returncode == 0, done.stderr
    rendered = [o for o in yaml.safe_load_all(done.stdout) if o]
    assert server_lines(haproxy_of(rendered)) == lines("@system-ca")
    assert "/etc/haproxy/ca" not in json.dumps(of_kind(rendered, "Deployment"))
    check_configuration(haproxy_of(rendered), tmp_path)


class Named(QuietHandler):
    """A cell that says only which it is, and what it was asked."""

    def do_GET(self):
        is_check = self.path in ("/readyz", "/.well-known/oauth-authorization-server")
        if is_check:
            self.server.checked.add(self.path)
        text = self.server.cell.encode()
        self.send_response(self.server.says if is_check else 200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        with contextlib.suppress(OSError):  # a check reads no body
            self.wfile.write(text)


class Cell(http.server.ThreadingHTTPServer):
    """A server that runs, by TLS where it is given some."""

    def __init__(self, name, tls=None):
        super().__init__(("127.0.0.1", 0), Named)
        self.cell, self.says, self.checked, self.at = name, 200, set(), f"127.0.0.1:{self.server_address[1]}"
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass  # the router ends a connection to a certificate that it does not trust

    def close(self):
        self.shutdown()
        self.server_close()


@contextlib.contextmanager
def running_router(text, folder):
    """The router by this configuration, with its ports here: what asks it, and its port for health."""
    write_maps(folder)
    api, health = free_port(), free_port()
    text = text.replace("/etc/haproxy/cells", str(folder)).replace("inter 1s", "inter 100ms")
    text = text.replace("bind :8080", f"bind 127.0.0.1:{api}").replace("bind :9465", f"bind 127.0.0.1:{health}")
    (folder / "haproxy.cfg").write_text(text + "\n")
    process = subprocess.Popen(["/usr/sbin/haproxy", "-db", "-f", folder / "haproxy.cfg"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)

    def ask(path="/monitors", **headers):
        answer = call("GET", f"http://127.0.0.1:{api}{path}", headers={k.replace("_", "-"): v for k, v in headers.items()})
        return answer.body.decode() if answer.status == 200 else answer.status

    def live():
        try:
            return call("GET", f"http://127.0.0.1:{health}/healthz").status == 200
        except OSError:
            return False
    try:
        wait_until("HAProxy", live)
        yield ask, health
    finally:
        process.kill()
        process.wait(20)


@pytest.fixture
def routed(helm, tmp_path):
    """The router as it is rendered, before three servers."""
    done = template(helm, CHART / "ci" / "router.yaml", "--set", "oidc.orgClaim=/https:~1~1idp.example.com/org")
    assert done.returncode == 0, done.stderr
    text = haproxy_of([o for o in yaml.safe_load_all(done.stdout) if o])
    with contextlib.ExitStack() as stack:
        cells = {}
        for cell, at in (("first", "v-vedette-api.first.svc.cluster.local:80"), ("c2", "v-vedette-api.second.svc.cluster.local:80"),
                         ("c3", "10.0.3.11:8081 check port 9464")):
            cells[cell] = server = stack.enter_context(contextlib.closing(Cell(cell)))
            text = text.replace(at, server.at + (f" check port {server.server_port}" if "check" in at else ""))
        ask, health = stack.enter_context(running_router(text, tmp_path))
        wait_until("HAProxy to have asked every cell", lambda: all(server.checked for server in cells.values()))
        yield ask, cells, health


def test_the_router_sends_each_request_to_the_cell_that_it_names(routed):
    ask, cells, health = routed
    part = base64.urlsafe_b64encode(json.dumps({"https://idp.example.com": {"org": "acme"}}).encode()).decode().rstrip("=")
    assert ask() == ask(x_api_key="vd_live_" + "a" * 43) == "first", "what names none"
    assert ask(x_cell="c2") == ask(x_cell="c2", x_api_key="vd_live_c3_a") == "c2", "the header goes before all else"
    assert ask("/feeds/a?cell=c3") == "c3"
    assert ask(x_api_key="vd_live_c2_a") == "c2" and ask(authorization="Bearer vd_live_Ab12cde") == "c3"
    assert ask(authorization=f"Bearer eyJhbGciOiJFUzI1NiJ9.{part}.signature") == "c2", "by the claim that oidc.orgClaim names"
    assert [server.checked for server in cells.values()] == [{"/.well-known/oauth-authorization-server"}] * 2 + [{"/readyz"}]
    assert b"haproxy_backend_status" in call("GET", f"http://127.0.0.1:{health}/metrics").body
    assert call("GET", f"http://127.0.0.1:{health}/monitors").status == 404


def test_a_cell_that_is_not_there_is_a_503_and_the_others_go_on(routed):
    ask, cells, _ = routed
    cells["first"].says = 404  # an API without a public URL
    cells["c2"].says = cells["c3"].says = 503
    for cell in ("c2", "c3"):
        wait_until(f"{cell} to be left out", lambda cell=cell: ask(x_cell=cell) == 503)
    assert ask() == "first"
    cells["c3"].says = 200
    wait_until("c3 to be back", lambda: ask(x_cell="c3") == "c3")


@pytest.mark.parametrize("signer, names, reached", [
    ("ours", "DNS:c2.internal,DNS:c3.internal", True), ("theirs", "DNS:c2.internal,DNS:c3.internal", False),
    ("ours", "DNS:elsewhere.internal,IP:127.0.0.1", False)], ids=["its own", "of another CA", "for another name"])
def test_a_cell_by_tls_is_reached_if_its_certificate_is_its_own(objects, tmp_path, signer, names, reached):
    authorities = {name: Authority(tmp_path, name) for name in ("ours", "theirs")}
    text = haproxy_of(objects["tls"]).replace("/etc/haproxy/ca/cells.pem", str(authorities["ours"].certificate))
    with contextlib.ExitStack() as stack:
        first, c2, c3, c3_health = (stack.enter_context(contextlib.closing(Cell(name, tls))) for name, tls in (
            ("first", None), *((cell, authorities[signer].server(names)) for cell in ("c2", "c3")), ("the health of c3", None)))
        for at, server in (("v-vedette-api.first.svc.cluster.local:80", first), ("c2.internal:443", c2), ("c3.internal:8443", c3)):
            text = text.replace(at, server.at)
        ask, _ = stack.enter_context(running_router(text.replace("port 9464", f"port {c3_health.server_port}"), tmp_path))
        wait_until("HAProxy to have asked for the health of c3 without TLS", lambda: c3_health.checked == {"/readyz"})
        assert ask() == "first"
        if reached:
            wait_until("HAProxy to have asked c2 by TLS", lambda: c2.checked == {"/.well-known/oauth-authorization-server"})
        assert [ask(x_cell="c2"), ask(x_cell="c3")] == (["c2", "c3"] if reached else [503, 503])
        assert not c3.checked and (reached or not c2.checked)
