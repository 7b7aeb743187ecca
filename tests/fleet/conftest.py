import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cluster import Cluster  # noqa: E402
from scenario import Scenario  # noqa: E402


def pytest_addoption(parser):
    root = Path(__file__).resolve().parents[2]
    parser.addoption("--build", default=str(root / "build" / "release"), help="the build directory or the binary")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    directory = tmp_path_factory.mktemp("pg")
    for parent in (directory, *directory.parents):  # for PostgreSQL's user
        if parent.stat().st_uid == directory.stat().st_uid and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    it = Cluster(directory)
    yield it
    it.close()
    it.remove()


@pytest.fixture
def scenario(request, cluster, tmp_path):
    path = Path(request.config.getoption("--build"))
    binary = path / "vedette" if path.is_dir() else path
    made = []

    def make(disabled=None, settings=None, **more):
        made.append(Scenario(binary, cluster, tmp_path, disabled, settings, **more))
        return made[-1]

    yield make
    for it in made:
        it.close()
    cluster.primary.assert_runs()
