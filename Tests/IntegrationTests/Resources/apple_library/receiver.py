"""A server of the developer's: takes notifications and requests for retention messages, over TLS."""

import http.server
import json
import pathlib
import ssl
import threading


class Receiver:
    """Keeps every body that is sent to it, by path."""

    def __init__(self, certificate, key):
        self.certificate = pathlib.Path(certificate).read_text(encoding="utf-8")
        self._lock = threading.Lock()
        self._bodies = {}
        self._statuses = {}
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Answers what it is told to."""

            protocol_version = "HTTP/1.1"

            def do_POST(self):  # pylint: disable=invalid-name
                """Takes a body."""
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.take(self.path, body)
                answer = b"{}"
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                """Says nothing."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def url(self, path):
        """The URL of a path."""
        return f"https://127.0.0.1:{self._server.server_port}{path}"

    def answer(self, path, status):
        """Sets the status that a path answers from now on."""
        with self._lock:
            self._statuses[path] = status

    def take(self, path, body):
        """Keeps a body; the status to answer."""
        with self._lock:
            self._bodies.setdefault(path, []).append(json.loads(body))
            return self._statuses.get(path, 200)

    def bodies(self, path):
        """What came to a path, oldest first."""
        with self._lock:
            return list(self._bodies.get(path, []))

    def close(self):
        """Stops listening."""
        self._server.shutdown()
        self._server.server_close()
