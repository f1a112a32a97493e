"""A simulator of one's own: the real binary, on a free port, with its ledger in memory."""

import json
import subprocess
import tempfile
import time
from pathlib import Path
from urllib import parse, request

PROGRAM = Path(__file__).resolve().parents[3] / "target/debug/boring-checkout"
KEY = "sk_test_boring"

# More than any story waits for, unless what it waits for never comes.
PATIENCE_SECONDS = 10


class Simulator:
    """Started by `with Simulator() as simulator`, and expected to stop in good order."""

    def __init__(self, *webhooks):
        """`webhooks` are URL=SECRET, as on the command line."""
        flags = [flag for webhook in webhooks for flag in ("--webhook", webhook)]
        self._folder = tempfile.TemporaryDirectory()
        port_file = Path(self._folder.name, "port")
        flags += ["--ephemeral", "--listen", "127.0.0.1:0", "--port-file", port_file, "--log", "warn"]
        self._process = subprocess.Popen([PROGRAM, "provider", *flags], stdout=subprocess.DEVNULL)
        # The file is there once requests are answered, or never.
        eventually(lambda: port_file.exists() or self._process.poll() is not None)
        self.url = f"http://127.0.0.1:{port_file.read_text().strip()}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        code = self._process.wait(PATIENCE_SECONDS)
        self._folder.cleanup()
        assert code == 0, f"the simulator ended with {code}"

    def control(self, method, path, body=None):
        """The levers of the simulator, which no SDK knows."""
        headers = {"Authorization": f"Bearer {KEY}"}
        data = None if body is None else json.dumps(body).encode()
        wanted = request.Request(f"{self.url}/_control/{path}", data, headers, method=method)
        with request.urlopen(wanted, timeout=PATIENCE_SECONDS) as answer:
            return json.load(answer)

    def fault(self, operation, fault, **details):
        self.control("POST", "faults", {"on": {"operation": operation}, "fault": fault, **details})

    def charges(self):
        """How many payment intents have been paid."""
        return self.control("GET", "ledger")["payment_intents"]["succeeded"]

    def requests(self):
        """What arrived under /v1, oldest first."""
        return list(reversed(self.control("GET", "requests")["data"]))

    def customer(self, url, verdict):
        """The customer presses a button on the bank's page, and is sent on to the URL that is returned."""
        form = parse.urlencode({"verdict": verdict}).encode()
        opener = request.build_opener(_NoRedirect)
        try:
            with opener.open(url, form, timeout=PATIENCE_SECONDS):
                return None
        except request.HTTPError as answer:
            assert answer.code == 303
            return answer.headers["Location"]


class _NoRedirect(request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def eventually(found):
    """Waits for `found` to return something, and returns it."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if it := found():
            return it
        time.sleep(0.01)
    raise AssertionError(f"not in {PATIENCE_SECONDS} seconds")
