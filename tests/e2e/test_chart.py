"""The Helm chart: rendered by a real Helm, validated by Kubernetes' own schemas, its promises read from what comes
out, and its containers' arguments and environment taken by the binary."""

import copy
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import psycopg2
import pytest
import yaml

from certificates import Authority
from chart import CHART, VALUE_SETS, helm, objects, of_kind, pod_of, rendered, template, workloads  # noqa: F401 (fixtures)
from conftest import ENCRYPTION_KEY, ROOT, call, clean_environment, free_port, wait_until
from testbed import npm_tools

# Those of which npm has schemas (tests/kubernetes).
VERSIONS = ("1.27", "1.33", "1.34")
OPERATOR_KINDS = {"ServiceMonitor", "PrometheusRule"}  # of the Prometheus operator: no model here


@pytest.fixture(scope="session")
def schemas():
    """Validates objects by the schemas of these versions of Kubernetes."""
    node, modules = npm_tools() / "node_modules/.bin/node", npm_tools("tests/kubernetes") / "node_modules"

    def validate(objects, versions=VERSIONS):
        return subprocess.run([node, ROOT / "tests" / "e2e" / "kubernetes_models.js", modules, *versions],
                              input=json.dumps(objects), capture_output=True, text=True)
    return validate


def test_lints(helm):
    for values in VALUE_SETS:
        done = subprocess.run([helm, "lint", "--strict", CHART, "-f", values], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


# What a release of the chart may have on top of one of the value sets: each is rendered by itself, too.
FEATURES = {
    "a cell": ("--set", "cell.id=c2"),
    "a cell that knows the others": ("--set", "cell.id=c2,cell.cellsSecret=vedette-cells"),
    "an image of one's own, by its digest": ("--set", "image.repository=registry.internal/vedette,image.digest=sha256:" + "0" * 64),
    "a Service of Patroni": ("--set", "database.existingSecret=,database.patroni.hosts={acid-vedette},"
                             "database.patroni.passwordSecret.existingSecret=vedette.acid.credentials"),
    "a pooler": ("--set", "database.existingSecretPooledKey=pooled-url"),
    "rendering": ("--set", "rendering.enabled=true"),
    "the role browser": ("--set", "roles.browser.enabled=true"),
}


@pytest.fixture(scope="session")
def features(helm):
    found = {}
    for name, settings in FEATURES.items():
        done = template(helm, CHART / "ci" / "secrets.yaml", *settings)
        assert done.returncode == 0, f"{name}: {done.stderr}"
        found[name] = [o for o in yaml.safe_load_all(done.stdout) if o]
    return found


def test_what_is_rendered_is_valid_to_each_version_of_kubernetes(objects, features, schemas):
    for name, rendered_objects in {**objects, **features}.items():
        done = schemas(rendered_objects)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        unknown = {line.split()[0] for line in done.stdout.splitlines() if "no model" in line}
        assert unknown <= OPERATOR_KINDS
        for version in VERSIONS:
            assert done.stdout.count(f"({version}): valid") >= 3, done.stdout


def test_the_schemas_are_those_of_the_versions_that_they_are_called_by(objects, schemas):
    """By fields of a pod that came with a version: 1.33 has the signal that stops a container, 1.34 a host name of one's own."""
    deployment = next(iter(of_kind(objects["secrets"], "Deployment").values()))
    newer, newest = copy.deepcopy(deployment), copy.deepcopy(deployment)
    pod_of(newer)["containers"][0]["lifecycle"] = {"stopSignal": "SIGUSR1"}
    pod_of(newest)["hostnameOverride"] = "one"
    known = {version: [schemas([d], [version]).returncode == 0 for d in (deployment, newer, newest)] for version in VERSIONS}
    assert known == {"1.27": [True, False, False], "1.33": [True, True, False], "1.34": [True, True, True]}


@pytest.mark.parametrize("spoil", [
    lambda d: d["spec"].update(replicas="two"),
    lambda d: d["spec"].pop("selector"),
    lambda d: pod_of(d)["containers"][0].update(imagePulPolicy="Always"),
])
def test_the_validator_refuses_what_kubernetes_would(objects, schemas, spoil):
    deployment = copy.deepcopy(next(iter(of_kind(objects["secrets"], "Deployment").values())))
    spoil(deployment)
    done = schemas([deployment])
    assert done.returncode == 1 and done.stdout.count("refused") == len(VERSIONS), done.stdout


def test_what_looks_like_a_number_stays_text(helm, schemas):
    settings = ["database.existingSecret=17", "database.existingSecretKey=18", "encryptionKey.existingSecret=19",
                "adminTokens.existingSecret=20", "workerSecrets.existingSecret=21", "fullnameOverride=22", "nameOverride=23"]
    done = subprocess.run([helm, "template", "123", CHART, "-f", CHART / "ci" / "secrets.yaml", "--set-string", ",".join(settings),
                           "--set", "serviceMonitor.enabled=true,prometheusRule.enabled=true"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = [o for o in yaml.safe_load_all(done.stdout) if o]
    validated = schemas([o for o in made if o["kind"] not in OPERATOR_KINDS])
    assert validated.returncode == 0, validated.stdout
    for one in made:
        assert isinstance(one["metadata"]["name"], str)
        assert one["metadata"]["labels"]["app.kubernetes.io/instance"] == "123"


def test_a_file_of_settings_may_begin_with_an_indented_line(helm, tmp_path):
    written = '  [api]\n# "half" \\ a line: {{ none }} é\nlisten = "127.0.0.1:1"\n\n'
    (tmp_path / "vedette.toml").write_text(written)
    done = template(helm, CHART / "ci" / "secrets.yaml", "--set-file", f"config={tmp_path / 'vedette.toml'}")
    assert done.returncode == 0, done.stderr
    made = of_kind([o for o in yaml.safe_load_all(done.stdout) if o], "ConfigMap")
    assert made["v-vedette-config"]["data"]["vedette.toml"] == written


def test_yaml_is_tidy(rendered, tmp_path):
    rules = tmp_path / "yamllint.yaml"
    # Helm takes out comments' blank lines and indents as the templates say.
    rules.write_text("extends: default\nrules: {line-length: disable, document-start: disable,"
                     " braces: disable, indentation: {indent-sequences: whatever}, comments-indentation: disable}\n")
    for name, text in rendered.items():
        if name == "everything":
            # The rules and dashboards inside are files of their own.
            text = "---\n".join(p for p in text.split("---\n") if "PrometheusRule" not in p and "dashboard" not in p)
        path = tmp_path / f"{name}.yaml"
        path.write_text(text)
        done = subprocess.run(["yamllint", "--strict", "-c", rules, path], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
    for path in [CHART / "values.yaml", CHART / "rules" / "vedette.yaml", *VALUE_SETS]:
        done = subprocess.run(["yamllint", "--strict", "-c", rules, path], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("setting, named", [
    ("roles.worker.replicas=many", "replicas"),
    ("roles.worker.replicas=-1", "replicas"),
    ("roles.wroker.replicas=2", "wroker"),
    ("roles.api.also={api,sheduler}", "also"),
    ("roles.worker.lanes={checks,smpt}", "lanes"),
    ("workers.mail.replicas=1", "lanes"),
    ("workers.mail.lanes={}", "lanes"),
    ("workers.Mail.lanes={smtp}", "Mail"),
    ("image.tagg=1", "tagg"),
    ("image.digest=sha256:short", "digest"),
    ("log.level=loud", "level"),
    ("service.api.port=70000", "port"),
    ("service.api.type=ExternalName", "type"),
    ("terminationGracePeriodSeconds=5", "terminationGracePeriodSeconds"),
    ("adminTokens.names={Al ice}", "names"),
    ("ingress.enabled=true", "host"),
    ("networkPolicy.adminFrom={anybody}", "adminFrom"),
    ("serviceMonitor.interval=often", "interval"),
    ("database.patroni.hosts={pg:5432}", "hosts"),
    ("database.patroni.sslmode=verify", "sslmode"),
    ("database.caSecret.existingSecret=Of us", "caSecret"),
    ("router.image.tag=", "tag"),
    ("router.cells[0].id=c2", "host"),
    ("router.cells[0].id=C2,router.cells[0].host=a,router.cells[0].port=80", "id"),
    ("router.cells[0].id=c2,router.cells[0].host=a,router.cells[0].port=443,router.cells[0].tls=yes", "tls"),
    ("router.cellsCaSecret.existingSecretKey=", "existingSecretKey"),
    ("networkPolicy.cellsTo={anywhere}", "cellsTo"),
])
def test_a_wrong_value_is_refused_by_the_schema(helm, setting, named):
    done = template(helm, CHART / "ci" / "secrets.yaml", "--set", setting)
    assert done.returncode != 0, setting
    assert "schema" in done.stderr and named in done.stderr, done.stderr


GRACE = "terminationGracePeriodSeconds is {}: it has to be at least {}, drainDelaySeconds and 30 s for what is under way"
ONE_DATABASE = "give exactly one of database.existingSecret, database.url (if it holds no password) and database.patroni.hosts"
EACH_CELL_ONCE = 'router.cells names each cell once, and one of them is the first, whose id is ""'
NEEDS_A_CA = "database.patroni.sslmode is verify-{}, which needs the CA: name its Secret in database.caSecret.existingSecret"
NOT_ALWAYS_VERIFIED = ("database.patroni.sslmode is {}, by which the server is not always verified, and database.caSecret names a CA: leave sslmode empty, "
                       "or give verify-ca or verify-full")
TLS_AT_AN_ADDRESS = "router.cells has tls at the address 10.0.2.11: give the name of that host, since HAProxy compares certificates with names alone"


@pytest.mark.parametrize("values, setting, sentence", [
    ("secrets", "drainDelaySeconds=60", GRACE.format(45, 90)),
    ("secrets", "drainDelaySeconds=1,terminationGracePeriodSeconds=30", GRACE.format(30, 31)),
    ("secrets", "encryptionKey.existingSecret=", "set encryptionKey.existingSecret"),
    ("secrets", "database.existingSecret=", ONE_DATABASE),
    ("secrets", "database.url=postgresql://db/vedette", ONE_DATABASE),
    ("secrets", "database.patroni.hosts={pg}", ONE_DATABASE),
    ("patroni", "database.url=postgresql://db/vedette", ONE_DATABASE),
    ("patroni", "database.patroni.passwordSecret.existingSecret=", "set database.patroni.passwordSecret.existingSecret"),
    ("patroni", "database.patroni.sslmode=verify-full", NEEDS_A_CA.format("full")),
    ("patroni", "database.patroni.sslmode=verify-ca", NEEDS_A_CA.format("ca")),
    ("tls", "database.patroni.sslmode=prefer", NOT_ALWAYS_VERIFIED.format("prefer")),
    ("tls", "database.patroni.sslmode=require", NOT_ALWAYS_VERIFIED.format("require")),
    ("router", "router.cellsCaSecret.existingSecret=ca", "router.cellsCaSecret verifies the cells that have tls: true, and none in router.cells has"),
    ("tls", "router.cells[1].id=c2,router.cells[1].host=10.0.2.11,router.cells[1].port=443,router.cells[1].tls=true", TLS_AT_AN_ADDRESS),
    ("router", "router.mapsConfigMap=", "set router.mapsConfigMap"),
    ("router", "router.cells=null", EACH_CELL_ONCE),
    ("router", "router.cells[0].id=c4,router.cells[0].host=a,router.cells[0].port=80", EACH_CELL_ONCE),
    ("router", "router.cells[1].id=,router.cells[1].host=a,router.cells[1].port=80", EACH_CELL_ONCE),
])
def test_what_is_missing_or_does_not_go_together_is_refused_with_a_sentence(helm, values, setting, sentence):
    done = template(helm, CHART / "ci" / f"{values}.yaml", "--set", setting)
    assert done.returncode != 0 and sentence in done.stderr, done.stderr


def test_pods_that_render_have_room_for_a_browser_and_its_sandbox_and_no_others(helm):
    done = template(helm, CHART / "ci" / "secrets.yaml", "--set", "rendering.enabled=true")
    assert done.returncode == 0, done.stderr
    seen = {}
    for workload in workloads([o for o in yaml.safe_load_all(done.stdout) if o]):
        pod = pod_of(workload)
        [room] = [v["emptyDir"]["sizeLimit"] for v in pod.get("volumes", []) if v["name"] == "tmp"] or [None]
        role = workload["metadata"]["labels"].get("app.kubernetes.io/component")
        seen[role] = pod["securityContext"]["seccompProfile"]["type"], room
        assert pod["securityContext"]["runAsNonRoot"] is True
    assert seen["worker"] == seen["api"] == ("Unconfined", "2Gi")
    assert seen["scheduler"] == seen["delivery"] == ("RuntimeDefault", "64Mi")


def test_with_the_role_browser_its_pods_alone_start_one(helm):
    done = template(helm, CHART / "ci" / "secrets.yaml", "--set", "roles.browser.enabled=true")
    assert done.returncode == 0, done.stderr
    rendered = [o for o in yaml.safe_load_all(done.stdout) if o]
    seen = {}
    for workload in workloads(rendered):
        pod = pod_of(workload)
        env = {e["name"]: e.get("value") for e in pod["containers"][0].get("env", [])}
        role = workload["metadata"]["labels"].get("app.kubernetes.io/component")
        seen[role] = env.get("VEDETTE_BROWSER_ENABLED"), pod["securityContext"]["seccompProfile"]["type"]
    assert seen["browser"] == ("true", "Unconfined")
    assert seen["worker"] == seen["api"] == seen["admin"] == ("false", "RuntimeDefault")
    assert seen["scheduler"] == seen["delivery"] == (None, "RuntimeDefault")
    named = [o["metadata"]["name"] for o in rendered if o["kind"] == "NetworkPolicy"]
    assert any(name.endswith("-browser-egress") for name in named), "pages, and nothing inside"


def test_no_pod_has_more_rights_than_it_needs(objects):
    for rendered_objects in objects.values():
        for workload in workloads(rendered_objects):
            pod = pod_of(workload)
            assert pod["automountServiceAccountToken"] is False
            assert pod["securityContext"]["runAsNonRoot"] is True
            assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
            for container in pod["containers"]:
                assert container["securityContext"] == {
                    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]}}
                assert container["resources"]["limits"]["memory"]


def mounted(workload):
    return {v["secret"]["secretName"] for v in pod_of(workload)["volumes"] if "secret" in v}


def test_secrets_go_to_the_roles_that_need_them_and_to_no_other(objects):
    deployments = of_kind(objects["secrets"], "Deployment")
    secrets = {name: mounted(d) for name, d in deployments.items()}
    assert secrets == {"v-vedette-api": {"vedette-key"}, "v-vedette-delivery": {"vedette-key"},
                       "v-vedette-admin": {"vedette-key", "vedette-admin"},
                       "v-vedette-scheduler": set(), "v-vedette-worker": {"vedette-key"}}
    everything = of_kind(objects["everything"], "Deployment")
    assert {name: mounted(d) for name, d in everything.items()} == {
        name: {"vedette-research"} | more for name, more in {
            "watch-api": {"vedette-key", "vedette-dashboard"},
            "watch-admin": {"vedette-key", "vedette-admin", "vedette-console"}, "watch-scheduler": set(),
            "watch-worker": {"vedette-key"}, "watch-worker-research": {"vedette-key"},
            "watch-delivery": {"vedette-key"}}.items()}, "what the configuration names is there for everybody who reads it"
    for rendered_objects in objects.values():
        assert not of_kind(rendered_objects, "Secret"), "secrets are by reference"


def test_every_file_that_the_configuration_names_is_mounted_where_it_is_read(objects):
    """A process reads all of its configuration at its start, and ends where a file of it is missing."""
    [settings] = [o["data"]["vedette.toml"] for o in objects["everything"] if o["metadata"]["name"] == "watch-config"]
    files = re.findall(r'_file = "([^"]+)"', settings)
    assert files
    for name, deployment in of_kind(objects["everything"], "Deployment").items():
        [container] = pod_of(deployment)["containers"]
        folders = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert {str(Path(file).parent) for file in files} <= folders, name


def environment_of(deployment):
    return {e["name"]: e.get("value") for e in pod_of(deployment)["containers"][0]["env"]}


def test_who_signs_in_by_a_provider_is_said_to_the_port_where_he_does(objects):
    deployments = of_kind(objects["everything"], "Deployment")
    said = {name: {key: value for key, value in environment_of(d).items() if "OIDC" in key} for name, d in deployments.items()}
    assert said.pop("watch-api") == {
        "VEDETTE_OIDC_ISSUER": "https://idp.example.com/", "VEDETTE_OIDC_AUDIENCE": "https://api.example.com",
        "VEDETTE_OIDC_ORG_CLAIM": "/org/id", "VEDETTE_OIDC_TEAM_CLAIM": "team", "VEDETTE_OIDC_CLIENT_ID": "dashboard",
        "VEDETTE_OIDC_CLIENT_SECRET_FILE": "/etc/vedette/oidc/client-secret"}
    assert said.pop("watch-admin") == {
        "VEDETTE_ADMIN_OIDC_ISSUER": "https://staff.example.com", "VEDETTE_ADMIN_OIDC_CLIENT_ID": "console",
        "VEDETTE_ADMIN_OIDC_CLIENT_SECRET_FILE": "/etc/vedette/admin-oidc/secret",
        "VEDETTE_ADMIN_OIDC_PUBLIC_URL": "http://localhost:9464", "VEDETTE_ADMIN_OIDC_ROLE_CLAIM": "groups",
        "VEDETTE_ADMIN_OIDC_OPERATORS": "on call,night",
        "VEDETTE_ADMIN_OIDC_ADMINS": "owners"}
    assert not any(said.values()), "nobody else is told"
    for name, folder in (("watch-api", "/etc/vedette/oidc"), ("watch-admin", "/etc/vedette/admin-oidc")):
        [container] = pod_of(deployments[name])["containers"]
        assert folder in {mount["mountPath"] for mount in container["volumeMounts"]}


def test_workers_serve_their_lanes_and_further_ones_differ_only_in_what_they_say(objects):
    assert "VEDETTE_WORKER_LANES" not in environment_of(of_kind(objects["secrets"], "Deployment")["v-vedette-worker"])
    everything = of_kind(objects["everything"], "Deployment")
    worker, research = everything["watch-worker"], everything["watch-worker-research"]
    assert environment_of(worker)["VEDETTE_WORKER_LANES"] == "checks,lookup"
    assert environment_of(research)["VEDETTE_WORKER_LANES"] == "transform,research"
    assert "--roles=worker" in pod_of(research)["containers"][0]["args"], "says that it does nothing else"
    assert research["spec"]["replicas"] == 3 and pod_of(research)["nodeSelector"] == {"kubernetes.io/arch": "arm64"}
    for inherited in ("tolerations", "affinity"):
        assert pod_of(research)[inherited] == pod_of(worker)[inherited]
    assert labels_of(research)["vedette.role/worker"] == "true", "the policies are those of workers"
    assert research["spec"]["selector"] != worker["spec"]["selector"]
    assert mounted(research) == {"vedette-key", "vedette-research"}, "request headers are sealed; it does not deliver"
    others = [d for name, d in everything.items() if "worker" not in name]
    assert others and not any("VEDETTE_WORKER_LANES" in environment_of(d) for d in others)


def test_every_process_knows_the_public_url(objects):
    """Links begin with it, and keys of the configuration that all read, as those of mail, need it."""
    for name, deployment in of_kind(objects["everything"], "Deployment").items():
        assert environment_of(deployment)["VEDETTE_API_PUBLIC_URL"] == "https://api.example.com", name
    assert not any("VEDETTE_API_PUBLIC_URL" in environment_of(d) for d in of_kind(objects["secrets"], "Deployment").values())


def test_every_process_knows_of_which_cell_it_is(objects):
    for name, deployment in of_kind(objects["everything"], "Deployment").items():
        assert environment_of(deployment)["VEDETTE_CELL_ID"] == "c2", name
    assert not any("VEDETTE_CELL_ID" in environment_of(d) for d in of_kind(objects["secrets"], "Deployment").values())


def test_the_list_of_all_cells_is_the_operators_alone(features):
    deployments = of_kind(features["a cell that knows the others"], "Deployment")
    told = {name for name, d in deployments.items() if environment_of(d).get("VEDETTE_CELLS_FILE") == "/etc/vedette/cells/cells"}
    assert told == {name for name, d in deployments.items() if "vedette-cells" in mounted(d)} == {"v-vedette-admin"}


def config_defaults():
    return tomllib.loads((ROOT / "config" / "config.default.toml").read_text())


def drain_times_ms():
    """Those of the API, the admin port, a worker and the deliveries; all but the worker's have no keys."""
    parts = "".join(path.read_text() for path in sorted((ROOT / "config").glob("*_config.h")))
    constants = [int(ms.replace("'", "")) for ms in re.findall(r"drain_timeout_ms(?: = milliseconds\(|\{)([\d']+)", parts)]
    assert len(constants) == 3, constants
    return [*constants, config_defaults()["worker"]["drain_timeout_ms"]]


def test_pods_have_the_time_to_drain(objects):
    assert sum(drain_times_ms()) < 30_000, "which the chart asks for"
    for rendered_objects in objects.values():
        for name, deployment in of_kind(rendered_objects, "Deployment").items():
            if name.endswith("-router"):
                continue  # drains by a signal of HAProxy's
            pod = pod_of(deployment)
            env = {e["name"]: e.get("value") for e in pod["containers"][0]["env"]}
            drain_ms = int(env["VEDETTE_HEALTH_DRAIN_DELAY_MS"])
            assert drain_ms >= 2 * 1000 * pod["containers"][0]["readinessProbe"]["periodSeconds"], \
                "refuses before it is known to be unready"
            drain_ms += sum(drain_times_ms())
            assert pod["terminationGracePeriodSeconds"] * 1000 > drain_ms + 5000
            assert deployment["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


def allows(policies, labels, port, source=None):
    """Whether some policy lets `port` in, and from whom: None where closed, [] for everybody."""
    sources = None
    for policy in policies.values():
        wanted = policy["spec"]["podSelector"].get("matchLabels", {})
        if "Ingress" not in policy["spec"]["policyTypes"] or not wanted.items() <= labels.items():
            continue
        for rule in policy["spec"].get("ingress", []):
            if any(p["port"] == port for p in rule["ports"]):
                sources = rule.get("from", [])
    return sources


def labels_of(deployment):
    return deployment["spec"]["template"]["metadata"]["labels"]


def test_the_admin_port_is_closed_to_the_world(objects):
    policies = of_kind(objects["secrets"], "NetworkPolicy")
    for deployment in of_kind(objects["secrets"], "Deployment").values():
        assert allows(policies, labels_of(deployment), 9464) is None
        assert allows(policies, labels_of(deployment), 9465) == []
    assert allows(policies, labels_of(of_kind(objects["secrets"], "Deployment")["v-vedette-api"]), 8080) == []
    everything = objects["everything"]
    admin = labels_of(of_kind(everything, "Deployment")["watch-admin"])
    assert [list(peer) for peer in allows(of_kind(everything, "NetworkPolicy"), admin, 9464)] == \
        [["namespaceSelector", "podSelector"]], "one peer with both, not two"
    for rendered_objects in objects.values():
        assert of_kind(rendered_objects, "Service")
        for name, service in of_kind(rendered_objects, "Service").items():
            ports = {p["targetPort"] for p in service["spec"]["ports"]}
            assert not (ports - {"api"} and service["spec"].get("type", "ClusterIP") != "ClusterIP"), name
    leads_to = {name: ingress["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"]
                for name, rendered_objects in objects.items() for ingress in of_kind(rendered_objects, "Ingress").values()}
    assert leads_to == {"everything": "watch-api", "router": "v-vedette-router"}


def test_the_admin_port_asks_an_api_of_its_own_that_nobody_else_reaches(objects):
    """The form of a monitor in the console is validated by the API of the same process."""
    for name, deployment in (("secrets", "v-vedette-admin"), ("everything", "watch-admin")):
        admin = of_kind(objects[name], "Deployment")[deployment]
        [container] = pod_of(admin)["containers"]
        assert "--roles=admin,api" in container["args"]
        assert environment_of(admin)["VEDETTE_API_LISTEN"] == "127.0.0.1:8080", "of the pod alone"
        assert "vedette.role/api" not in labels_of(admin), "no service and no policy of the API is its own"
        assert "api" not in {port["name"] for port in container["ports"]}
        assert "VEDETTE_OIDC_ISSUER" not in environment_of(admin)
    [together] = of_kind(objects["one-deployment"], "Deployment").values()
    assert environment_of(together)["VEDETTE_API_LISTEN"] == "0.0.0.0:8080"
    assert labels_of(together)["vedette.role/api"] == "true"


def test_workers_reach_the_internet_and_nothing_inside(objects):
    policies = of_kind(objects["secrets"], "NetworkPolicy")
    worker = labels_of(of_kind(objects["secrets"], "Deployment")["v-vedette-worker"])
    scheduler = labels_of(of_kind(objects["secrets"], "Deployment")["v-vedette-scheduler"])

    def blocks(labels):
        return [to["ipBlock"] for p in policies.values() for rule in p["spec"].get("egress", [])
                for to in rule.get("to", []) if p["spec"]["podSelector"]["matchLabels"].items() <= labels.items()]

    [four, six] = blocks(worker)
    assert four["cidr"] == "0.0.0.0/0" and six["cidr"] == "2000::/3"
    assert {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "127.0.0.0/8"} <= set(four["except"])
    assert blocks(scheduler) == []
    admin = labels_of(of_kind(objects["secrets"], "Deployment")["v-vedette-admin"])
    assert [block["cidr"] for block in blocks(admin)] == ["0.0.0.0/0", "2000::/3"], "it validates published keys"


def test_services_find_their_pods(objects):
    for rendered_objects in objects.values():
        for name, service in of_kind(rendered_objects, "Service").items():
            chosen = [d for d in of_kind(rendered_objects, "Deployment").values()
                      if service["spec"]["selector"].items() <= labels_of(d).items()]
            assert chosen, name
            for port in service["spec"]["ports"]:
                for deployment in chosen:
                    names = {p["name"] for p in pod_of(deployment)["containers"][0]["ports"]}
                    assert port["targetPort"] in names, (name, port)


def test_budgets_autoscalers_and_the_migration(objects):
    everything = objects["everything"]
    assert set(of_kind(everything, "PodDisruptionBudget")) == {
        "watch-api", "watch-scheduler", "watch-worker", "watch-delivery"}
    scaled = of_kind(everything, "HorizontalPodAutoscaler")
    assert set(scaled) == {"watch-api", "watch-worker"}
    assert [m["type"] for m in scaled["watch-worker"]["spec"]["metrics"]] == ["Resource", "External"]
    for name in scaled:
        assert "replicas" not in of_kind(everything, "Deployment")[name]["spec"], "the autoscaler's to say"
    job = of_kind(everything, "Job")["watch-migrate"]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert pod_of(job)["containers"][0]["args"] == ["migrate"]
    assert not of_kind(objects["one-deployment"], "Job")


def test_the_rules_and_dashboards_are_those_of_the_chart(objects, tmp_path):
    rule = of_kind(objects["everything"], "PrometheusRule")["watch"]
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump(rule["spec"]))
    done = subprocess.run(["promtool", "check", "rules", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    alerts = [r for g in rule["spec"]["groups"] for r in g["rules"] if "alert" in r]
    assert alerts
    for alert in alerts:
        assert alert["annotations"]["runbook_url"] == \
            f"https://runbooks.example.com/vedette#{alert['alert'].lower()}"
    maps = of_kind(objects["everything"], "ConfigMap")
    for path in (CHART / "dashboards").glob("*.json"):
        data = maps[f"watch-dashboard-{path.stem}"]["data"][path.name]
        assert json.loads(data) == json.loads(path.read_text())


@pytest.mark.parametrize("cell", ["", "c2"])
def test_job_and_cell_of_what_is_scraped_are_those_that_the_rules_ask_for(helm, cell):
    done = template(helm, CHART / "ci" / "everything.yaml", "--set", f"nameOverride=watcher,cell.id={cell}")
    assert done.returncode == 0, done.stderr
    rendered = [o for o in yaml.safe_load_all(done.stdout) if o]
    [monitor], [rules] = (list(of_kind(rendered, kind).values()) for kind in ("ServiceMonitor", "PrometheusRule"))
    [endpoint] = monitor["spec"]["endpoints"]
    of_cell = [{"targetLabel": "cell", "replacement": cell}] if cell else []
    assert endpoint["relabelings"] == [{"targetLabel": "job", "replacement": "vedette"}, *of_cell]
    assert set(re.findall(r'\bjob="([^"]*)"', json.dumps(rules).replace("\\", ""))) == {"vedette"}


def test_a_transaction_pooler_has_a_url_of_its_own_in_the_same_secret(helm):
    pooled = ("--set", "database.existingSecretPooledKey=pooled-url")
    done = template(helm, CHART / "ci" / "secrets.yaml", *pooled)
    assert done.returncode == 0, done.stderr
    for workload in workloads([o for o in yaml.safe_load_all(done.stdout) if o]):
        env = {e["name"]: e.get("valueFrom") for e in pod_of(workload)["containers"][0]["env"]}
        keys = [env[name]["secretKeyRef"] for name in ("VEDETTE_DATABASE_URL", "VEDETTE_DATABASE_POOLED_URL")]
        assert keys == [{"name": "vedette-database", "key": "url"}, {"name": "vedette-database", "key": "pooled-url"}]
    refused = template(helm, CHART / "ci" / "everything.yaml", *pooled)
    assert refused.returncode != 0 and "is a key of database.existingSecret" in refused.stderr


def test_the_binary_takes_the_containers_arguments_and_environment(binary, objects, database, tmp_path):
    """Each Deployment's container, started as it is, but for its ports and where its files are mounted: what `config` says
    goes to all of them, what other values give, as the provider of [admin.oidc], to some."""
    subprocess.run([binary, "migrate"], env=clean_environment({"VEDETTE_DATABASE_URL": database.url}), check=True,
                   capture_output=True)
    (tmp_path / "encryption-key").mkdir()
    (tmp_path / "encryption-key" / "key").write_text(ENCRYPTION_KEY)
    (tmp_path / "admin-tokens").mkdir()
    for name in ("alice", "bob_2"):
        (tmp_path / "admin-tokens" / name).write_text(f"the token of {name}")
    (tmp_path / "config").mkdir()
    maps = of_kind(objects["everything"], "ConfigMap")
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "research-key").write_text("the key of the research service")
    for folder, key in ("oidc", "client-secret"), ("admin-oidc", "secret"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / key).write_text("the secret of a client")

    def here(text):
        return text.replace("/etc/vedette", str(tmp_path))

    (tmp_path / "config" / "vedette.toml").write_text(here(maps["watch-config"]["data"]["vedette.toml"]))
    for name, deployment in of_kind(objects["everything"], "Deployment").items():
        container = pod_of(deployment)["containers"][0]
        env = {e["name"]: here(e["value"]) for e in container["env"]}
        health = free_port()
        for key in env:
            if key.endswith("_LISTEN"):
                env[key] = f"127.0.0.1:{health if 'HEALTH' in key else 0}"
        env.update(VEDETTE_DATABASE_URL=database.url, VEDETTE_HEALTH_DRAIN_DELAY_MS="0")
        log = tmp_path / f"{name}.log"
        with open(log, "wb") as out:
            process = subprocess.Popen([binary, *map(here, container["args"])], env=clean_environment(env),
                                       stdout=out, stderr=out)
        try:
            def ready():
                assert process.poll() is None, f"{name}: {log.read_text()}"
                try:
                    return call("GET", f"http://127.0.0.1:{health}/readyz").status == 200
                except OSError:
                    return False
            wait_until(f"{name} to be ready", ready)
            # Health and metrics, and nothing else: no token opens anything there.
            assert call("GET", f"http://127.0.0.1:{health}/healthz").status == 200
            assert b"vedette_build_info" in call("GET", f"http://127.0.0.1:{health}/metrics").body
            for path in ("/", "/admin/v1/overview", "/console/app.js"):
                assert call("GET", f"http://127.0.0.1:{health}{path}",
                            headers={"Authorization": "Bearer the token of alice"}).status == 404
            roles = re.search(r"--roles=(\S+)", " ".join(container["args"])).group(1)
            started = next(line for line in map(json.loads, log.read_text().splitlines()) if "roles" in line)
            assert started["roles"].split(",") == \
                [r for r in ("api", "admin", "scheduler", "worker", "delivery", "browser") if r in roles.split(",")]
        finally:
            process.terminate()
            assert process.wait(60) == 0


def database_variables(workload):
    return [e for e in pod_of(workload)["containers"][0]["env"] if e["name"].startswith(("PG", "VEDETTE_DATABASE_URL"))]


def test_hosts_under_patroni_make_the_url_of_every_process_without_the_password(objects, features):
    one = "postgresql://vedette@acid-vedette:5432/vedette"
    several = ("postgresql://watcher@pg-0.pg.db.svc:5433,pg-1.pg.db.svc:5433,10.0.0.13:5433/watches"
               "?target_session_attrs=read-write&sslmode=prefer")
    for rendered_objects, url, secret in ((features["a Service of Patroni"], one, "vedette.acid.credentials"),
                                          (objects["patroni"], several, "watcher.pg.credentials")):
        told = workloads(rendered_objects)
        assert {w["kind"] for w in told} == {"Deployment", "Job"}
        for workload in told:
            assert database_variables(workload) == [
                {"name": "VEDETTE_DATABASE_URL", "value": url},
                {"name": "PGPASSWORD", "valueFrom": {"secretKeyRef": {"name": secret, "key": "password"}}}], workload["metadata"]["name"]
    assert not any("PGPASSWORD" in environment_of(d) for d in of_kind(objects["secrets"], "Deployment").values())


def test_the_binary_finds_the_primary_among_the_hosts_and_takes_the_password_beside_the_url(helm, binary, postgres, database):
    """The first host answers nobody, the second one wants a password."""
    hba = postgres.data / "pg_hba.conf"
    hba.write_text("host all watcher all scram-sha-256\n" + hba.read_text())
    database.rows("create role watcher superuser login password 'p@ss:/word'")
    database.rows("select pg_reload_conf()")
    done = template(helm, CHART / "ci" / "patroni.yaml", "--set", "database.patroni.hosts={127.0.0.2,127.0.0.1},"
                    f"database.patroni.port={postgres.port},database.patroni.database={database.url.split('/')[3].split('?')[0]}")
    assert done.returncode == 0, done.stderr
    [job] = of_kind([o for o in yaml.safe_load_all(done.stdout) if o], "Job").values()
    [url, password] = database_variables(job)
    assert "127.0.0.2" in url["value"] and "read-write" in url["value"]

    def migrates(secret):
        return subprocess.run([binary, *pod_of(job)["containers"][0]["args"]], capture_output=True, text=True, timeout=60,
                              env=clean_environment({password["name"]: secret, url["name"]: url["value"]}))
    right, wrong = migrates("p@ss:/word"), migrates("another")
    assert right.returncode == 0, right.stderr
    assert wrong.returncode != 0 and "password" in wrong.stderr + wrong.stdout, wrong


def test_every_process_that_has_the_url_has_the_ca_that_verifies_the_server(helm, objects):
    of_a_secret = "database.patroni.hosts=null,database.existingSecret=vedette-database"
    for setting, sslmode in (("", "verify-full"), ("database.patroni.sslmode=verify-ca", "verify-ca"), (of_a_secret, None)):
        done = template(helm, CHART / "ci" / "tls.yaml", "--set", setting)
        assert done.returncode == 0, done.stderr
        told = {w["metadata"]["name"]: w for w in workloads([o for o in yaml.safe_load_all(done.stdout) if o])}
        assert "database" not in json.dumps(told.pop("v-vedette-router"))
        assert {"v-vedette-api", "v-vedette-worker", "v-vedette-migrate"} < set(told)
        for name, workload in told.items():
            url, *_, ca = database_variables(workload)
            assert url.get("value") == (sslmode and f"postgresql://vedette@pg-rw.db.svc:5432/vedette?sslmode={sslmode}"), name
            assert ca == {"name": "PGSSLROOTCERT", "value": "/etc/vedette/database-ca/ca.crt"}, name
            pod = pod_of(workload)
            assert {"name": "database-ca", "mountPath": "/etc/vedette/database-ca", "readOnly": True} in pod["containers"][0]["volumeMounts"]
            assert {"name": "database-ca", "secret": {"secretName": "pg-ca", "defaultMode": 0o440, "items": [
                {"key": "ca.crt", "path": "ca.crt"}]}} in pod["volumes"], "the CA's own key may lie beside it"
    assert not any("database-ca" in json.dumps(w) for w in workloads(objects["patroni"]))


@pytest.fixture
def certified(postgres, database, tmp_path):
    """The server speaks TLS, with a certificate for the name localhost; the CA, and another one."""
    authority = Authority(tmp_path, "ours")
    for made, name in zip(authority.files("DNS:localhost"), ("server.crt", "server.key")):
        shutil.copy(made, postgres.data / name)
        (postgres.data / name).chmod(0o600)
        if postgres.user:
            shutil.chown(postgres.data / name, postgres.user["user"])

    def speaks_tls():
        try:
            postgres.connect(database.name, sslmode="require").close()
            return True
        except psycopg2.OperationalError:
            return False
    database.rows("alter system set ssl = on")
    database.rows("select pg_reload_conf()")
    try:
        wait_until("PostgreSQL to speak TLS", speaks_tls)
        yield authority, Authority(tmp_path, "theirs")
    finally:
        database.rows("alter system reset ssl")
        database.rows("select pg_reload_conf()")


def test_the_binary_verifies_the_server_by_the_ca_that_is_mounted(helm, binary, postgres, database, certified, tmp_path):
    def migrates(host, authority):
        done = template(helm, CHART / "ci" / "tls.yaml", "--set", f"database.patroni.hosts={{{host}}}",
                        "--set", f"database.patroni.port={postgres.port},database.patroni.database={database.name}")
        assert done.returncode == 0, done.stderr
        [job] = of_kind([o for o in yaml.safe_load_all(done.stdout) if o], "Job").values()
        [url, _, ca] = database_variables(job)
        shutil.copy(authority.certificate, tmp_path / "ca.crt")
        return subprocess.run([binary, *pod_of(job)["containers"][0]["args"]], capture_output=True, text=True, timeout=60,
                              env=clean_environment({url["name"]: url["value"],
                                                     ca["name"]: ca["value"].replace("/etc/vedette/database-ca", str(tmp_path))}))
    ours, theirs = certified
    verified, of_another, misnamed = migrates("localhost", ours), migrates("localhost", theirs), migrates("127.0.0.1", ours)
    assert verified.returncode == 0, verified.stderr
    assert of_another.returncode != 0 and "certificate verify failed" in of_another.stderr + of_another.stdout, of_another
    assert misnamed.returncode != 0 and "does not match host name" in misnamed.stderr + misnamed.stdout, misnamed


def test_pods_may_go_to_the_port_of_the_hosts_and_the_router_to_no_database(objects):
    for name, port in (("secrets", 5432), ("patroni", 5433), ("router", 5432)):
        [policy] = [p["spec"] for n, p in of_kind(objects[name], "NetworkPolicy").items() if n.endswith("-database")]
        assert [p["port"] for rule in policy["egress"] for p in rule["ports"]] == [port]
        assert policy["podSelector"]["matchExpressions"] == [
            {"key": "app.kubernetes.io/component", "operator": "NotIn", "values": ["router"]}]
    policies = of_kind(objects["router"], "NetworkPolicy")
    router = labels_of(of_kind(objects["router"], "Deployment")["v-vedette-router"])
    assert router["app.kubernetes.io/component"] == "router"
    ports = {p["port"] for policy in policies.values() for rule in policy["spec"].get("egress", []) for p in rule.get("ports", [])
             if "matchExpressions" not in policy["spec"]["podSelector"]
             and policy["spec"]["podSelector"]["matchLabels"].items() <= router.items()}
    assert ports == {53, 8080, 80, 8081, 9464}, "names, and the ports of the cells and of their pods"


def test_who_may_ask_the_router_may_ask_it_and_the_router_the_api(objects):
    deployments, policies = of_kind(objects["router"], "Deployment"), of_kind(objects["router"], "NetworkPolicy")
    router, api = (labels_of(deployments[f"v-vedette-{name}"]) for name in ("router", "api"))
    ingress = {"namespaceSelector": {"matchLabels": {"name": "ingress"}}}
    assert allows(policies, router, 8080) == [ingress] and allows(policies, router, 9464) is None
    [outside, inside] = allows(policies, api, 8080)
    assert outside == ingress and inside["podSelector"]["matchLabels"].items() <= router.items()
