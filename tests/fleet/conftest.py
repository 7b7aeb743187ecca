from pathlib import Path


def pytest_addoption(parser):
    root = Path(__file__).resolve().parents[2]
    parser.addoption("--build", default=str(root / "build" / "release"), help="the build directory or the binary")
