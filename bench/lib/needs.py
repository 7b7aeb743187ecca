"""What a benchmark needs of Debian beside ./quickstart's packages: where it is missing, the program ends by saying which
command installs it, before anything is measured."""

import importlib.util
import shutil
import sys
from pathlib import Path


def program(name, package):
    """The path of the program: /usr/sbin is not on everybody's path."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    return found or missing(package)


def modules(package, *names):
    for name in names:
        if importlib.util.find_spec(name) is None:
            missing(package)


def file(path, package):
    if not Path(path).exists():
        missing(package)


def missing(package):
    sys.exit(f"bench: {package} is not installed. Run: sudo apt-get install {package}\n"
             "(scripts/bench_tools installs what all benchmarks need)")
