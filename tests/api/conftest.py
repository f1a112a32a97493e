"""A shop for each story: the real binary on free ports, with its simulator, in a folder of its own."""

import json
import subprocess
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "target/debug/boring-checkout"
PATIENCE_SECONDS = 30


class Shop:
    def __init__(self, folder):
        self._database = f"sqlite://{folder}/shop.db"
        flags = ["--listen", "127.0.0.1:0", "--provider-listen", "127.0.0.1:0", "--lab", "--log", "warn"]
        flags += ["--database-url", self._database, "--provider-database-url", "sqlite::memory:"]
        flags += ["--mail-folder", f"{folder}/mail"]
        self._process = subprocess.Popen([PROGRAM, "serve", *flags], stdout=subprocess.PIPE, text=True)
        self.url = self._says("The Boring Shop is open at")
        self.provider_url = self._says("The payment provider is at")

    def _says(self, what):
        line = next(line for line in self._process.stdout if line.startswith(what))
        return line.split()[-1]

    def audit(self):
        """What the shop and the provider say of what has happened; it is the same."""
        flags = ["--json", "--database-url", self._database, "--provider-url", self.provider_url, "--log", "warn"]
        audit = subprocess.run([PROGRAM, "audit", *flags], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        report = json.loads(audit.stdout)
        assert report["ok"], report
        return report["counts"]

    def stops(self):
        self._process.terminate()
        code = self._process.wait(PATIENCE_SECONDS)
        self._process.stdout.close()
        assert code == 0, f"the shop ended with {code}"


@pytest.fixture
def shop(tmp_path):
    shop = Shop(tmp_path)
    yield shop
    shop.stops()
