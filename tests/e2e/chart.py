"""The Helm chart as a real Helm renders it, for the tests that read what comes out."""

import subprocess

import pytest
import yaml

from conftest import ROOT

CHART = ROOT / "helm" / "vedette"
VALUE_SETS = sorted((CHART / "ci").glob("*.yaml"))


@pytest.fixture(scope="session")
def helm():
    done = subprocess.run([ROOT / "scripts" / "helm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def template(helm, values, *more):
    return subprocess.run([helm, "template", "v", CHART, "-f", values, *more], capture_output=True, text=True)


@pytest.fixture(scope="session")
def rendered(helm):
    """The text of each value set."""
    texts = {}
    for values in VALUE_SETS:
        done = template(helm, values)
        assert done.returncode == 0, done.stderr
        texts[values.stem] = done.stdout
    return texts


@pytest.fixture(scope="session")
def objects(rendered):
    return {name: [o for o in yaml.safe_load_all(text) if o] for name, text in rendered.items()}


def of_kind(objects, kind):
    return {o["metadata"]["name"]: o for o in objects if o["kind"] == kind}


def pod_of(workload):
    return workload["spec"]["template"]["spec"]


def workloads(objects):
    return [o for o in objects if o["kind"] in ("Deployment", "Job")]
