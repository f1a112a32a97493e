"""What docs/api.md shows is run here as it stands there."""

import html
import json
import re
import subprocess
from pathlib import Path
from urllib import request

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/api.md"
SESSION = "".join(re.findall(r"^```sh\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL))


def test_the_shell_prints_what_it_promises(shop):
    promised = re.findall(r"\S  # (.+)$", SESSION, re.MULTILINE)
    assert bash(SESSION.replace("http://127.0.0.1:3000", shop.url)).splitlines() == promised
    assert shop.audit()["refunds"] == 2


def bash(session):
    run = subprocess.run(["bash", "-euo", "pipefail", "-c", session], capture_output=True, text=True, timeout=30)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_page_shows_a_call_that_works(shop):
    with request.urlopen(f"{shop.url}/api/v1/docs", timeout=30) as page:
        calls = re.findall(r"<pre[^>]*><code>(curl .*?)</code></pre>", page.read().decode(), re.DOTALL)
    buying = next(call for call in map(html.unescape, calls) if "/checkouts'" in call)
    assert json.loads(bash(f"{buying} --silent"))["status"] == "paid"
    assert shop.audit()["orders"] == 1
