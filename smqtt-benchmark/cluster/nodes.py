# SPDX-License-Identifier: Apache-2.0
"""Nodes of a cluster on this machine, each on a loopback address of its own, and what their processes use. Linux only."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
JAR = ROOT / "smqtt-bootstrap/target/smqtt.jar"
TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE = 60  # seconds for a process to start or to end
CONFIG = """
management: {{host: {host}, port: {management}, sys-interval: never}}
storage: {storage}
access: {{allow-anonymous: true}}
listeners:
  tcp: {{host: {host}, port: {port}{listener}}}
  ws: {{enabled: false}}
limits: {limits}
cluster:
  enabled: true
  node-id: node-{number}
  bind: '{host}:{cluster}'
  seeds: {seeds}
{more}
"""


def host(index):
    return f"127.0.0.{index + 1}"


def free(count=3, offset=0):
    """A port that is free on the addresses of so many nodes, and the one so far above it too."""
    while True:
        with socket.socket() as first:
            first.bind((host(0), 0))
            port = first.getsockname()[1]
        try:
            for index in range(count):
                for number in {port, port + offset}:
                    with socket.socket() as probe:
                        probe.bind((host(index), number))
            return port
        except (OSError, OverflowError):
            continue


def say(text):
    """Progress: beside the result, on standard error."""
    print(text, file=sys.stderr, flush=True)


class Ports:
    """The ports that all nodes have in common, on addresses of their own."""

    def __init__(self):
        self.mqtt, self.cluster, self.management = free(), free(offset=100), free()


class Node:
    """A broker process of a cluster, which begins to start."""

    def __init__(self, directory, index, ports, count, jar, java=(), listener="", limits="{}", more="", memory=None, storage="{kind: memory}"):
        self.number, self.host, self.ports = index + 1, host(index), ports
        self.config = directory / f"node-{self.number}.yaml"
        self.config.write_text(CONFIG.format(
            host=self.host, port=ports.mqtt, management=ports.management, cluster=ports.cluster, number=self.number,
            listener=listener, limits=limits, more=more, storage=storage, seeds=[f"{host(i)}:{ports.cluster}" for i in range(count)]))
        environment = dict(os.environ)
        if memory is None:
            command = ["java", *java, "-jar", str(jar)]
        else:  # as users start it, on a machine with so much memory
            command = [str(program(directory, jar))]
            environment |= {"SMQTT_MEMORY": str(memory), "SMQTT_CACHE_DIR": "none", "JAVA_OPTS": " ".join(java)}
        self.begun = time.monotonic()
        self.process = subprocess.Popen([*command, "start", "--config", str(self.config), "--data", str(directory / f"data-{self.number}")], env=environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def await_start(self):
        """Waits until it lets clients in."""
        for line in self.process.stdout:
            if "smqtt started" in line:
                return self
        sys.exit(f"node {self.number} did not start: smqtt start --config {self.config}")

    @property
    def pid(self):
        return self.process.pid

    def cluster(self):
        """What it says of the cluster."""
        with urllib.request.urlopen(f"http://{self.host}:{self.ports.management}/cluster", timeout=PATIENCE) as answer:
            return json.load(answer)

    def routes(self):
        """How many it has itself."""
        return self.cluster()["self"]["routes"]

    def traffic(self):
        """What it has sent and received in the cluster, by name."""
        return self.cluster()["traffic"]

    def peer(self, other):
        """What it says of another node."""
        try:
            peers = self.cluster()["peers"]
        except OSError:  # its management port is not there yet
            peers = []
        for peer in peers:
            if peer["node-id"] == f"node-{other.number}":
                return peer
        return {"routes": 0, "reachable": False, "route-lag": 0}

    def await_peer(self, other, routes=0, timeout=PATIENCE):
        """Waits until it reaches another node and knows so many of its routes; seconds that this took."""
        since = time.monotonic()
        while time.monotonic() - since < timeout:
            peer = self.peer(other)
            if peer["reachable"] and peer["routes"] == routes and peer["route-lag"] == 0:
                return time.monotonic() - since
            time.sleep(0.02)
        sys.exit(f"after {timeout} s node {self.number} says of node {other.number}: {self.peer(other)}")

    def heap(self):
        """Bytes of its heap that are in use, after a collection; None without jcmd."""
        if not shutil.which("jcmd"):
            return None
        def ask(question):
            return subprocess.run(["jcmd", str(self.pid), question], check=True, capture_output=True, text=True).stdout
        ask("GC.run")
        # "def new generation   total 9792K, used 1143K [...", "garbage-first heap   total ..."
        return sum(int(used) * 1024 for used in re.findall(r"total \d+K, used (\d+)K", ask("GC.heap_info")))

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def program(directory, jar):
    """bin/smqtt with this jar."""
    script = directory / "program/bin/smqtt"
    if not script.exists():
        script.parent.mkdir(parents=True)
        shutil.copy(ROOT / "bin/smqtt", script)
        (directory / "program/lib").mkdir()
        (directory / "program/lib/smqtt.jar").symlink_to(pathlib.Path(jar).resolve())
    return script


def ticks(stat):
    name, fields = stat.read_text().rsplit(")", 1)
    fields = fields.split()
    return name.split("(", 1)[1], int(fields[11]) + int(fields[12])


def cpu_seconds(pid):
    """Processor time, without that of the threads that compile: it is spent in the first minute only."""
    of_process = pathlib.Path(f"/proc/{pid}")
    used = ticks(of_process / "stat")[1]
    for thread in (of_process / "task").iterdir():
        try:
            name, mine = ticks(thread / "stat")
        except OSError:
            continue  # it has ended
        if "CompilerThre" in name:
            used -= mine
    return used / TICKS


def written(pid):
    """Bytes that it has sent to disks."""
    for line in pathlib.Path(f"/proc/{pid}/io").read_text().splitlines():
        if line.startswith("write_bytes:"):
            return int(line.split()[1])
    return 0


def memory(pid):
    """Resident bytes; what several processes share is counted once for all of them together."""
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0
