"""Where the simulator delivers its webhooks in these stories."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from simulator import eventually


class Receiver:
    """Keeps what arrives as it arrived: the raw body and its signature."""

    def __init__(self):
        self.deliveries = []
        deliveries = self.deliveries

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                deliveries.append((body, self.headers["Stripe-Signature"]))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/webhooks"

    def __enter__(self):
        Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def waits_for(self, kind):
        """The body and the signature of the first delivery of this type of event."""
        wanted = f'"type":"{kind}"'.encode()
        return eventually(lambda: next((it for it in self.deliveries if wanted in it[0]), None))
