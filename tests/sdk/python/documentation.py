"""docs/simulator.md, as far as it can be run."""

import re
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[3] / "docs/simulator.md"


def blocks(language):
    """The blocks of code in this language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)


def at(simulator, code):
    """The code with the port of this simulator in place of the usual one."""
    return code.replace("12111", simulator.url.rsplit(":", 1)[1])


def promised(code):
    """What the code says that it prints: the comments at the ends of its lines."""
    return re.findall(r"\S  # (.+)$", code, re.MULTILINE)


def rows(*header):
    """The cells of the table that has this header, row by row, without the marks of code."""
    text = DOCUMENT.read_text()
    start = text.index(f"| {' | '.join(header)} |\n")
    lines = text[start:].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def spellings(name):
    """`pm_{a,b}_c` stands for `pm_a_c` and `pm_b_c`."""
    if found := re.fullmatch(r"(.*)\{(.*)\}(.*)", name):
        before, middles, behind = found.groups()
        return [f"{before}{middle}{behind}" for middle in middles.split(",")]
    return [name]
