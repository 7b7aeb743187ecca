"""What a benchmark says to whoever has run ./quickstart alone."""

import subprocess
import sys

from conftest import ROOT


def test_a_benchmark_names_the_package_that_it_needs():
    script = "import sys; sys.modules['psycopg2'] = None; sys.path.insert(0, 'bench/lib'); import machine"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "apt-get install python3-psycopg2" in done.stderr
    assert "Traceback" not in done.stderr
