# SPDX-License-Identifier: Apache-2.0
"""Coolpy7_benchmark (Go): connections with subscriptions, publishers, and pairs at full speed. COOLPY7 names the folder of its programs.

The tool connects only from an address that begins with 192.168. and is not loopback. So two network namespaces are made, with a pair of veth between them:
the broker is in one, the tool in the other, and no packet leaves the machine. Needs root.
"""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import broker as brokers
import page
import runs

PROGRAMS = ("test_bench_sub", "test_bench_pub", "test_pubsum1max")
SPACES, ADDRESSES = (f"smqtt-broker-{os.getpid()}", f"smqtt-tool-{os.getpid()}"), ("192.168.77.1", "192.168.77.2")
PATIENCE = 90  # seconds for all clients of a run to connect
SECONDS = 10
AVERAGE = re.compile(r"Average Throughput: (\d+) msg/s")
CASES = [
    {"key": "sub", "title": "`bench_sub -workers=5000`: each subscribes to a topic of its own", "subs": 5000},
    *({"key": f"pub-q{qos}", "title": f"`bench_sub -workers=20`, `bench_pub -workers=20 -I=1 -s=256`, QoS {qos}", "subs": 20, "pubs": 20, "qos": qos}
      for qos in range(3)),
    {"key": "max", "title": "`pubsub1max -workers=10`: pairs as fast as they can, QoS 0, 500 B", "max": 10},
]


def folder():
    return pathlib.Path(os.environ.get("COOLPY7", "."))


def missing():
    if os.geteuid() != 0:
        return "needs root, to make network namespaces"
    absent = [name for name in PROGRAMS if not (folder() / name).exists()]
    return f"COOLPY7 names a folder without {', '.join(absent)}" if absent else None


@contextlib.contextmanager
def namespaces():
    """Two namespaces that see only each other; the words that run a command in each."""
    try:
        for space in SPACES:
            ip("netns", "add", space)
        ip("link", "add", "smqtt0", "netns", SPACES[0], "type", "veth", "peer", "name", "smqtt1", "netns", SPACES[1])
        for number, space in enumerate(SPACES):
            ip("-n", space, "address", "add", f"{ADDRESSES[number]}/24", "dev", f"smqtt{number}")
            for device in ("lo", f"smqtt{number}"):
                ip("-n", space, "link", "set", device, "up")
        yield [["ip", "netns", "exec", space] for space in SPACES]
    finally:
        for space in SPACES:
            subprocess.run(["ip", "netns", "delete", space], capture_output=True)  # with its end of the pair


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def run():
    brokers.run("tools-coolpy7", CASES, measured)


def measured(case):
    with namespaces() as (of_broker, of_tool), brokers.Broker(ADDRESSES[0], of_broker) as broker:
        return broker.counted(lambda: fastest(broker, of_tool, case) if "max" in case else exchange(broker, of_tool, case))


def words(broker, of_tool, program, **options):
    options["url"] = f"tcp://{broker.host}:{broker.tcp}"
    return [*of_tool, *brokers.pinned("tool", folder().resolve() / program), *(f"-{name}={value}" for name, value in options.items())]


class Started:
    """A program of the tool that runs, and what it has said."""

    def __init__(self, command):
        self.log = tempfile.NamedTemporaryFile("w+")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def text(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def until_ready(self):
        """Seconds until all of its clients are connected."""
        began = time.monotonic()
        while "finish" not in self.text() and time.monotonic() < began + PATIENCE and self.process.poll() is None:
            time.sleep(0.1)
        return time.monotonic() - began

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
            return
        self.process.kill()
        self.process.wait()


def exchange(broker, of_tool, case):
    subscribers = Started(words(broker, of_tool, "test_bench_sub", workers=case["subs"], qos=case.get("qos", 0)))
    try:
        seconds = subscribers.until_ready()
        if "pubs" not in case:
            return f"{case['subs']:,} connected and subscribed in {seconds:.0f} s"
        publishers = Started(words(broker, of_tool, "test_bench_pub", workers=case["pubs"], qos=case["qos"], I=1, s=256))
        try:
            publishers.until_ready()
            time.sleep(SECONDS)  # it publishes until it is stopped
        finally:
            publishers.stop()
        broker.settled()
        lines = len(re.findall(r"cp7sub\d+ \d 256$", subscribers.text(), re.M))
        return f"{lines:,} received"
    finally:
        subscribers.stop()


def fastest(broker, of_tool, case):
    tool = Started(words(broker, of_tool, "test_pubsum1max", workers=case["max"], duration=SECONDS))
    try:
        tool.process.wait(SECONDS + PATIENCE)
        found = AVERAGE.findall(tool.text())
        return f"{int(found[-1]):,} received per second" if found else "no result: " + tool.text()[-200:]
    finally:
        tool.stop()


def report():
    found = page.saved("tools-coolpy7")
    rows = [brokers.row(case["title"], found["cases"][case["key"]]["said"], found["cases"][case["key"]]) for case in CASES if case["key"] in found["cases"]]
    page.write("tools-coolpy7", [page.facts(found), "", "```", "COOLPY7=… smqtt-benchmark/bin/tools coolpy7", "```", "", *page.table(brokers.HEAD, rows)],
               by="tools coolpy7")
