"""What the tests of the services of docs/examples share. It needs the standard library alone, as they do."""

import http.client
import json
import threading
import unittest


class ServiceTest(unittest.TestCase):
    def serve(self, server):
        """Until the test ends."""
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.port = server.server_address[1]

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.headers, json.loads(response.read())
