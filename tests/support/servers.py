"""HTTP servers that tests and benchmarks stand beside vedette: handlers without a log, and a private nginx."""

import http.server
import socket
import subprocess

from testbed import wait_until


class QuietHandler(http.server.BaseHTTPRequestHandler):
    """Says nothing of its requests on the test's output."""

    def log_message(self, *_):
        pass


def accepts(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def start_nginx(directory, port, http_block, program="/usr/sbin/nginx", main="master_process off;", connections=512):
    """The process of an nginx that keeps what it writes in `directory`, once it accepts at `port`. `http_block` is what
    stands in its http { }. Unless `main` says otherwise it is one process, ours, with nothing to change user to."""
    config = directory / "nginx.conf"
    config.write_text(f"""
        daemon off; {main}
        pid {directory}/pid;
        error_log {directory}/error.log;
        events {{ worker_connections {connections}; }}
        http {{
          client_body_temp_path {directory}/t1; proxy_temp_path {directory}/t2;
          fastcgi_temp_path {directory}/t3; uwsgi_temp_path {directory}/t4; scgi_temp_path {directory}/t5;
          {http_block}
        }}""")
    process = subprocess.Popen([program, "-p", directory, "-c", config], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)

    def is_up():
        assert process.poll() is None, (directory / "error.log").read_text()
        return accepts(port)

    wait_until("nginx", is_up)
    return process
