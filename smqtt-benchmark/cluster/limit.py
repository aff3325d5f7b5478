# SPDX-License-Identifier: Apache-2.0
"""Opens the connections that the limit of open files allows, 40,000 at most unless told otherwise, through nginx to two nodes, and prints what each
process uses.

The nodes share the connections 1:1, then 1:2, each at QoS 0 and 1, as the former smqtt's published test of its cluster did. nginx runs with
deploy/nginx/weights.conf, in which addresses, weights and the numbers of workers and descriptors are replaced. A part of the clients publishes,
each to a topic of its own; each other client has a filter of its own. Everything is measured in the same seconds, after a warm-up:
processor time (in per cent of one core; of the brokers without what their compilers take), memory (shared pages counted once), bytes that went
over each process's sockets (as the kernel counts them, without TCP's headers; clients are on this machine, too).

Needs nginx with its stream module (Debian: nginx-light and libnginx-mod-stream) and ss (iproute2).
"""
import json
import math
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import nodes

SAMPLE = nodes.ROOT / "deploy/nginx/weights.conf"
RESERVE = 500  # descriptors that a broker has for other things, generously
MOST = 40_000  # connections unless told otherwise: containers often have a limit of a million
TOOL_CLIENTS = 19_500  # of one load tool: its own descriptors
SOCKET = re.compile(r"\s(?:\[::ffff:)?(\d+\.\d+\.\d+\.\d+)]?:(\d+)\s")  # the first of a line is the near end
SENT, RECEIVED = re.compile(r"bytes_sent:(\d+)"), re.compile(r"bytes_received:(\d+)")


def flags(parser):
    parser.add_argument("--weights", default="1:1,1:2", help="shares of the two nodes (default 1:1,1:2)")
    parser.add_argument("--qos", default="0,1")
    parser.add_argument("--connections", type=int, default=MOST, help=f"at most what the limit of open files allows (default {MOST})")
    parser.add_argument("--publishers", type=float, default=0.2, help="which part of the clients publishes (default 0.2)")
    parser.add_argument("--rate", type=float, default=2000, help="messages per second of all of them (default 2000)")
    parser.add_argument("--size", type=int, default=44, help="bytes of a message (default 44)")
    parser.add_argument("--connect-rate", type=float, default=1500, help="new connections per second (default 1500)")
    parser.add_argument("--warm-up", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--memory", type=int, default=8192, help="MiB that each broker is told its machine has")
    parser.add_argument("--java", default="", help="further flags for the brokers' virtual machines")
    parser.add_argument("--jar", default=str(nodes.JAR), help="the brokers' program")


def run(arguments):
    for needed, remedy in {"nginx": "nginx-light and libnginx-mod-stream", "ss": "iproute2"}.items():
        if not where(needed):
            sys.exit(f"there is no {needed}: install it first (Debian: apt-get install {remedy.replace(' and ', ' ')})")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for weights in arguments.weights.split(","):
        if not re.fullmatch(r"[1-9]\d*:[1-9]\d*", weights):
            sys.exit(f"--weights {weights}: two numbers, as in 1:2")
        shares = [int(weight) for weight in weights.split(":")]
        for qos in arguments.qos.split(","):
            with tempfile.TemporaryDirectory() as directory:
                Case(arguments, pathlib.Path(directory), shares, qos, hard).run()


def where(program):
    """Programs of administrators are not always on the path."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin")


class Case:
    """Two fresh brokers, nginx and the load tools."""

    def __init__(self, arguments, directory, shares, qos, hard):
        self.arguments, self.directory, self.shares, self.qos, self.hard = arguments, directory, shares, qos, hard
        allowed = (hard - RESERVE) * sum(shares) // max(shares)
        self.connections = min(allowed, arguments.connections)
        self.tools = math.ceil(self.connections / min(TOOL_CLIENTS, hard - RESERVE))
        self.ports, self.front = nodes.Ports(), nodes.free()
        self.both, self.nginx, self.loads = [], None, []

    def run(self):
        nodes.say(f"{self.connections:,} connections through nginx to two nodes {self.title()} ({self.hard:,} open files for each process) ...")
        try:
            for index in range(2):
                self.both.append(nodes.Node(
                    self.directory, index, self.ports, 2, self.arguments.jar, java=self.arguments.java.split(), memory=self.arguments.memory,
                    listener=", proxy-protocol: true, trusted-proxies: [127.0.0.1]").await_start())
            self.both[0].await_peer(self.both[1])
            self.both[1].await_peer(self.both[0])
            self.nginx = Nginx(self.directory, self.front, self.ports.mqtt, self.shares, self.connections, self.hard)
            began = time.monotonic()
            self.loads = [Load(self, number) for number in range(self.tools)]
            self.watch(lambda: all(load.loading for load in self.loads), "connecting")
            connected = time.monotonic() - began
            self.watch_for(self.arguments.warm_up, "warming up")
            before = self.snapshot()
            self.watch_for(self.arguments.seconds, "measuring")
            after = self.snapshot()
            self.watch(lambda: all(load.process.poll() is not None for load in self.loads), "ending")
            self.report(before, after, connected)
        finally:
            for load in self.loads:
                load.process.kill()
                load.process.wait()
            if self.nginx is not None:
                self.nginx.stop()
            for node in self.both:
                node.stop()

    def title(self):
        return f"{':'.join(map(str, self.shares))}, QoS {self.qos}"

    def watch(self, done, doing):
        shown = 0
        while not done():
            for load in self.loads:
                load.check()
            if self.nginx.process.poll() is not None or any(node.process.poll() is not None for node in self.both):
                sys.exit("nginx or a broker has ended\n" + "".join(self.nginx.lines[-10:]))
            if time.monotonic() - shown > 2:
                shown = time.monotonic()
                nodes.say(f"{doing}: " + "; ".join(load.line for load in self.loads))
            time.sleep(0.1)

    def watch_for(self, seconds, doing):
        end = time.monotonic() + seconds
        self.watch(lambda: time.monotonic() >= end, doing)

    def snapshot(self):
        """Processor time and memory of each process, bytes of each socket, and when that was."""
        workers = self.nginx.workers()
        cpu = [nodes.cpu_seconds(node.pid) for node in self.both] + [sum(nodes.cpu_seconds(pid) for pid in workers)]
        when = time.monotonic()
        memory = [nodes.memory(node.pid) for node in self.both] + [sum(nodes.memory(pid) for pid in [self.nginx.process.pid, *workers])]
        return {"when": when, "cpu": cpu, "memory": memory, "sockets": self.sockets()}

    def sockets(self):
        """Of nodes 1 and 2: connections, bytes in, bytes out, and the same towards the other node; of nginx towards clients."""
        mqtt, cluster, front = self.ports.mqtt, self.ports.cluster, self.front
        listing = subprocess.run(
            [where("ss"), "-tinHO", "state", "established", f"( sport = :{mqtt} or sport = :{cluster} or sport = :{front} )"],
            check=True, capture_output=True, text=True).stdout
        when = time.monotonic()
        found = {"clients": [[0, 0, 0], [0, 0, 0]], "peers": [[0, 0, 0], [0, 0, 0]], "front": [0, 0, 0], "when": when}
        hosts = [node.host for node in self.both]
        for line in listing.splitlines():
            ends, sent, received = SOCKET.search(line), SENT.search(line), RECEIVED.search(line)
            if not ends:
                continue
            came, went = int(received.group(1)) if received else 0, int(sent.group(1)) if sent else 0
            local, port = ends.group(1), int(ends.group(2))
            if port == front:
                add(found["front"], came, went)
            elif port == mqtt:
                add(found["clients"][hosts.index(local)], came, went)
            else:  # the one end is of this node, the other one of the other
                add(found["peers"][hosts.index(local)], came, went)
                add(found["peers"][1 - hosts.index(local)], went, came)
        return found

    def report(self, before, after, connected):
        seconds = after["when"] - before["when"]
        first, last = before["sockets"], after["sockets"]
        elapsed = last["when"] - first["when"]

        def rates(kind, index=None):
            old, new = (first[kind], last[kind]) if index is None else (first[kind][index], last[kind][index])
            return [(new[i] - old[i]) / elapsed for i in (1, 2)]

        rows = []
        for index in range(2):
            clients, peers = rates("clients", index), rates("peers", index)
            rows.append([f"node {index + 1}", f"{last['clients'][index][0]:,}", clients, peers])
        front = rates("front")
        upstream = [sum(row[2][1] for row in rows), sum(row[2][0] for row in rows)]  # what the nodes sent came in here
        rows.append([f"nginx, {len(self.nginx.workers_seen)} workers", f"{last['front'][0]:,} + {last['clients'][0][0] + last['clients'][1][0]:,}", front, upstream])
        print(f"\nWeights {self.title()}: {self.connections:,} connections asked for, connected in {connected:.0f} s\n")
        print("| process | connections | CPU | memory | from clients | to clients | from the other side | to it |\n|---|--:|--:|--:|--:|--:|--:|--:|")
        for index, (name, connections, near, far) in enumerate(rows):
            cpu = (after["cpu"][index] - before["cpu"][index]) * 100 / seconds
            cells = [name, connections, f"{cpu:.0f} %", f"{after['memory'][index] / 1e6:,.0f} MB"]
            print("| " + " | ".join(cells + [f"{value / 1000:,.0f} kB/s" for value in near + far]) + " |")
        results = [load.result() for load in self.loads]
        delivered = sum(result["delivered"]["per_second"] for result in results)
        lost = sum(result["faults"]["lost"] for result in results)
        ended = sum(result["faults"]["connections_lost"] + result["connect_failures"] for result in results)

        def worst(name):
            return max(result["latency_us"][name] for result in results) / 1000

        print(f"\n{delivered:,.0f} delivered/s, p50 {worst('p50'):.2f} ms, p99 {worst('p99'):.2f} ms, at most {worst('max'):.0f} ms, lost {lost:.0f}, "
              f"connections that failed or ended {ended:.0f}", flush=True)


def add(counts, came, went):
    counts[0] += 1
    counts[1] += came
    counts[2] += went


class Nginx:
    """nginx with the sample of deploy/nginx."""

    def __init__(self, directory, front, mqtt, shares, connections, hard):
        # The kernel spreads connections over the workers by a hash, not evenly: a tenth to spare.
        self.count = max(2, math.ceil(connections * 2 * 1.1 / (hard - RESERVE)))
        text = SAMPLE.read_text()
        for index, weight in enumerate(shares):
            text = replaced(text, f"server 10.0.0.1{index + 1}:1883 weight={index + 1} ", f"server {nodes.host(index)}:{mqtt} weight={weight} ")
        text = replaced(text, "listen 1883 ", f"listen {nodes.host(0)}:{front} ")
        text = replaced(text, "worker_processes auto;", f"worker_processes {self.count};")
        text = replaced(text, "worker_rlimit_nofile 262144;", f"worker_rlimit_nofile {hard};")
        # nginx has memory for all that it may have, so no more than could come.
        text = replaced(text, "worker_connections 131072;", f"worker_connections {min(hard - 100, connections * 2 + 1000)};")
        file = directory / "nginx.conf"
        file.write_text(text)
        command = [where("nginx"), "-c", str(file), "-e", "stderr", "-g", f"daemon off; pid {directory / 'nginx.pid'}; error_log stderr;"]
        check = subprocess.run([*command, "-t"], capture_output=True, text=True)
        if check.returncode != 0:
            if 'unknown directive "stream"' in check.stderr:
                sys.exit("this nginx has no stream module: install it (Debian: apt-get install libnginx-mod-stream), or take an nginx built "
                         "--with-stream; modules are looked for in /etc/nginx/modules-enabled")
            sys.exit("nginx does not take its configuration:\n" + check.stderr)
        self.lines, self.workers_seen = [], []
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self.listen, daemon=True).start()
        until = time.monotonic() + nodes.PATIENCE
        while len(self.workers()) < self.count:
            if self.process.poll() is not None or time.monotonic() > until:
                sys.exit("nginx did not start:\n" + "".join(self.lines))
            time.sleep(0.05)

    def listen(self):
        for line in self.process.stderr:
            self.lines.append(line)

    def workers(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.workers_seen = [int(child) for child in children]
        return self.workers_seen

    def stop(self):
        self.process.terminate()
        self.process.wait(nodes.PATIENCE)


def replaced(text, old, new):
    if old not in text:
        sys.exit(f"{SAMPLE} has no `{old}` any more: this command has to follow it")
    return text.replace(old, new)


class Load:
    """One of the load tools: pairs of a publisher and a subscriber, and clients that only have a filter of their own."""

    def __init__(self, case, number):
        arguments = case.arguments
        clients = case.connections // case.tools + (number < case.connections % case.tools)
        pairs = max(1, min((clients - 1) // 2, round(clients * arguments.publishers)))
        holders = clients - 2 * pairs
        self.report = case.directory / f"load-{number}.json"
        self.line, self.loading, self.lines = "", False, []
        sources = ",".join(f"127.0.{number + 1}.{i + 1}" for i in range(8))
        command = ["java", "-jar", str(nodes.JAR), "bench", "scenario", "wildcard", "-h", nodes.host(0), "-p", str(case.front),
                   "--ifaddr", sources, "--max-clients", str(clients), "--pubs", str(pairs), "--filters", str(holders), "--holders", str(holders),
                   "-q", case.qos, "-s", str(arguments.size), "--rate", str(arguments.rate / case.tools), "-k", "120",
                   "-i", str(1000 * case.tools / arguments.connect_rate), "--warm-up", f"{arguments.warm_up}s",
                   # The tools do not begin in the same moment.
                   "--duration", f"{arguments.seconds + 5}s", "--json", str(self.report)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stderr:
            self.line = line.strip()
            self.lines.append(line)
            self.loading = self.loading or "published" in line

    def check(self):
        if self.process.poll() not in (None, 0):
            sys.exit("a load tool failed:\n" + "".join(self.lines[-5:]))

    def result(self):
        return json.loads(self.report.read_text())
