"""The API does what its description says, whatever it is sent: no 5xx, no answer that is not described, nothing bad taken."""

import subprocess
import sys
from pathlib import Path

CONFIG = Path(__file__).with_name("schemathesis.toml")

# It takes a third of that, which the number of examples sees to.
PATIENCE_SECONDS = 180


def test_it_is_as_it_is_described(shop, tmp_path):
    schemathesis = [Path(sys.executable).with_name("schemathesis"), "--config-file", CONFIG, "run"]
    run = subprocess.run(
        [*schemathesis, "--checks", "all", f"{shop.url}/api/v1/openapi.json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=PATIENCE_SECONDS,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    counts = shop.audit()
    assert counts["orders"] > 0, "some of it was bought"
