import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cluster import Cluster, fast_directory  # noqa: E402
from scenario import Scenario  # noqa: E402


def pytest_addoption(parser):
    root = Path(__file__).resolve().parents[2]
    parser.addoption("--build", default=str(root / "build" / "release"), help="the build directory or the binary")


def pytest_configure(config):
    config.addinivalue_line("markers", "nightly: takes minutes; ctest runs it in a nightly run")


@pytest.fixture(scope="session")
def cluster():
    # Not below pytest's own directory, which every other pytest that starts closes to PostgreSQL's user.
    directory = Path(tempfile.mkdtemp(prefix="vedette-fleet-", dir=fast_directory()))
    directory.chmod(0o755)
    it = Cluster(directory)
    it.primary.keep_connections()
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
