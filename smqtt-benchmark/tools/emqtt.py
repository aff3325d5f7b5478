# SPDX-License-Identifier: Apache-2.0
"""emqtt_bench (Erlang): connections, publishers and subscribers by TCP, TLS and WebSocket. EMQTT_BENCH names the program.

The broadcast is that of EMQX's guide "Performance Test with eMQTT-Bench": 20 publishers with 10 messages per second each, 500 subscribers.
"""
import os
import re
import shutil
import subprocess
import tempfile
import time

import broker as brokers
import page
import runs

TOTAL = re.compile(r"^(\d+)s (\w+) total=(\d+) rate=([\d.]+)", re.M)
PATIENCE = 60  # seconds for all clients of a run to connect
BROADCAST = {"subs": 500, "pubs": 20, "topic": "t", "size": 256, "interval": 100, "limit": 1000}
PAIRS = {"subs": 100, "pubs": 100, "topic": "bench/%i", "size": 256, "interval": 100, "limit": 10000}
CASES = [
    {"key": "conn", "title": "`conn -c 5000 -i 1`", "conn": 5000},
    {"key": "conn-tls", "title": "`conn -c 1000 -i 1 -S`", "conn": 1000, "more": ["-S"]},
    *({"key": f"broadcast-q{qos}", "title": f"`sub -t t -c 500`, `pub -t t -c 20 -I 100 -L 1000`, QoS {qos}", "qos": qos, **BROADCAST} for qos in range(3)),
    {"key": "tcp", "title": "`sub -t bench/%i -c 100`, `pub -t bench/%i -c 100 -I 100 -L 10000`, QoS 1", "qos": 1, **PAIRS},
    {"key": "tls", "title": "the same with `-S`", "qos": 1, "more": ["-S"], **PAIRS},
    {"key": "ws", "title": "the same with `--ws`", "qos": 1, "more": ["--ws"], **PAIRS},
]


def program():
    return os.environ.get("EMQTT_BENCH") or shutil.which("emqtt_bench")


def missing():
    return None if program() else "EMQTT_BENCH does not name emqtt_bench, and it is not on the path"


def run():
    brokers.run("tools-emqtt", CASES, measured)


def measured(case):
    with brokers.Broker() as broker:
        return broker.counted(lambda: connect(broker, case) if "conn" in case else exchange(broker, case))


def words(broker, case, command):
    more = case.get("more", [])
    port = broker.tls if "-S" in more else broker.ws if "--ws" in more else broker.tcp
    return brokers.pinned("tool", program(), command, "-h", broker.host, "-p", port, "-i", 1, *more)


class Started:
    """A command of the tool that runs, and what it has counted so far."""

    def __init__(self, command):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def totals(self):
        """{counter: (second, total, rate)} of the last lines."""
        self.log.flush()
        with open(f"/proc/self/fd/{self.log.fileno()}", encoding="utf-8", errors="replace") as log:
            lines = TOTAL.findall(log.read())
        return {name: int(total) for _, name, total, _ in lines}, max((float(rate) for _, name, _, rate in lines if name == "recv"), default=0)

    def until(self, name, total):
        end = time.monotonic() + PATIENCE
        while self.totals()[0].get(name, 0) < total and time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.2)
        return self.totals()[0].get(name, 0)


def connect(broker, case):
    tool = Started([*words(broker, case, "conn"), "-c", str(case["conn"])])
    try:
        began = time.monotonic()
        count = tool.until("connect_succ", case["conn"])
        return f"{count:,} connected in {time.monotonic() - began:.0f} s"
    finally:
        brokers.ended(tool.process)


def exchange(broker, case):
    subscribers = Started([*words(broker, case, "sub"), "-c", str(case["subs"]), "-t", case["topic"], "-q", str(case["qos"])])
    try:
        subscribers.until("sub", case["subs"])
        publish = [*words(broker, case, "pub"), "-c", case["pubs"], "-t", case["topic"], "-q", case["qos"], "-s", case["size"], "-I", case["interval"],
                   "-L", case["limit"], "-w", "true"]
        publishers = Started([str(word) for word in publish])
        try:
            publishers.process.wait(PATIENCE)
        finally:
            brokers.ended(publishers.process)
        broker.settled()
        expected = case["limit"] * (case["subs"] if case["topic"] == "t" else 1)
        received = subscribers.until("recv", expected) if subscribers.totals()[0].get("recv", 0) < expected else expected
        return f"{received:,} of {expected:,} received, at most {subscribers.totals()[1]:,.0f}/s"
    finally:
        brokers.ended(subscribers.process)


def report():
    found = page.saved("tools-emqtt")
    rows = [brokers.row(case["title"], found["cases"][case["key"]]["said"], found["cases"][case["key"]]) for case in CASES if case["key"] in found["cases"]]
    page.write("tools-emqtt", [page.facts(found), "", "```", "EMQTT_BENCH=… smqtt-benchmark/bin/tools emqtt", "```", "", *page.table(brokers.HEAD, rows)], by="tools emqtt")
