# SPDX-License-Identifier: Apache-2.0
"""Results as files, and the part of the page that one command writes."""
import json
import os
import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "smqtt-benchmark/published/results"
ASSETS = ROOT / "docs/assets/benchmarks"
DOCUMENT = ROOT / "docs/published-tests.md"


def output(*words):
    try:
        done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT)
        return (done.stdout + done.stderr).strip() or "unknown"
    except OSError:
        return "unknown"


def machine():
    """What the figures were measured on."""
    cpu = re.search(r"^model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    memory = int(re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text()).group(1)) >> 20
    java = re.search(r'"(.*?)"', output("java", "-version"))
    return {"date": time.strftime("%Y-%m-%d", time.gmtime()), "revision": output("git", "rev-parse", "--short", "HEAD"),
            "machine": f"{os.cpu_count()} cores ({cpu.group(1) if cpu else os.uname().machine}), {memory} GiB", "kernel": os.uname().release,
            "java": java.group(1) if java else "unknown"}


def save(name, case, result):
    """Puts the result of a case into the file of its test; other cases keep theirs."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    old = saved(name)
    cases = {**(old["cases"] if old else {}), case: result}
    (RESULTS / f"{name}.json").write_text(json.dumps({"facts": machine(), "cases": cases}, indent=1) + "\n")


def saved(name):
    file = RESULTS / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else None


def facts(found):
    of = found["facts"]
    return f"{of['date']}, smqtt revision {of['revision']}, {of['machine']}, kernel {of['kernel']}, Java {of['java']}."


def picture(name, text):
    ASSETS.mkdir(parents=True, exist_ok=True)
    (ASSETS / f"{name}.svg").write_text(text)


def table(head, rows):
    titles = [title.strip() for title in head.split("|")]
    return ["| " + " | ".join(titles) + " |", "|---|" + "--:|" * (len(titles) - 1), *("| " + " | ".join(row) + " |" for row in rows), ""]


def write(name, lines, by=None):
    """Replaces the part between the two marker lines of this name."""
    begin, end = f"<!-- {name}: begin (written by smqtt-benchmark/bin/{by or 'published ' + name}) -->", f"<!-- {name}: end -->"
    text = DOCUMENT.read_text()
    if begin not in text or end not in text:
        raise SystemExit(f"{DOCUMENT} has no `{begin}` and `{end}`")
    section = "\n".join([begin, *lines]).rstrip() + "\n" + end
    DOCUMENT.write_text(text[: text.index(begin)] + section + text[text.index(end) + len(end):])
