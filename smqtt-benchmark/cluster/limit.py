# SPDX-License-Identifier: Apache-2.0
"""Opens the connections that the limit of open files allows, 40,000 at most unless told otherwise, through nginx to two nodes, or as many as --weights
names, and prints what each process uses.

The nodes share the connections 1:1, then 1:2, each at QoS 0 and 1, as the former smqtt's published test of its cluster did. nginx runs with
deploy/nginx/weights.conf, in which addresses, weights and the numbers of workers and descriptors are replaced. A part of the clients publishes,
each to a topic of its own; each other client has a filter of its own. Everything is measured in the same seconds, after a warm-up:
processor time (in per cent of one core; of the brokers without what their compilers take), memory (shared pages counted once), bytes that went
over each process's sockets (as the kernel counts them, without TCP's headers; clients are on this machine, too).

Needs nginx with its stream module (Debian: nginx-light and libnginx-mod-stream) and ss (iproute2).
"""
import itertools
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
OWNER = re.compile(r"pid=(\d+)")
SENT, RECEIVED = re.compile(r"bytes_sent:(\d+)"), re.compile(r"bytes_received:(\d+)")


def flags(parser):
    parser.add_argument("--weights", default="1:1,1:2", help="shares of the nodes (default 1:1,1:2)")
    parser.add_argument("--qos", default="0,1")
    parser.add_argument("--connections", type=int, default=MOST, help=f"at most what the limit of open files allows (default {MOST})")
    parser.add_argument("--publishers", type=float, default=0.2, help="which part of the clients publishes (default 0.2)")
    parser.add_argument("--rate", type=float, default=2000, help="messages per second of all of them (default 2000)")
    parser.add_argument("--size", type=int, default=44, help="bytes of a message (default 44)")
    parser.add_argument("--connect-rate", type=float, default=1500, help="new connections per second (default 1500)")
    parser.add_argument("--keep-alive", type=int, default=120, help="seconds (default 120)")
    parser.add_argument("--warm-up", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--memory", type=int, default=8192, help="MiB that each broker is told its machine has")
    parser.add_argument("--java", default="", help="further flags for the brokers' virtual machines")
    parser.add_argument("--jar", default=str(nodes.JAR), help="the brokers' program")


def run(arguments):
    for weights in arguments.weights.split(","):
        if not re.fullmatch(r"[1-9]\d*(:[1-9]\d*){0,2}", weights):
            sys.exit(f"--weights {weights}: up to three numbers, as in 1:2")
    for weights in arguments.weights.split(","):
        for qos in arguments.qos.split(","):
            show(measured(arguments, weights, qos))


def measured(arguments, weights, qos):
    """What every process used, and what was delivered, with fresh nodes that share the connections by these weights."""
    for needed, remedy in {"nginx": "nginx-light and libnginx-mod-stream", "ss": "iproute2"}.items():
        if not where(needed):
            sys.exit(f"there is no {needed}: install it first (Debian: apt-get install {remedy.replace(' and ', ' ')})")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as directory:
        return Case(arguments, pathlib.Path(directory), [int(weight) for weight in weights.split(":")], qos, hard).run()


def show(found):
    print(f"\nWeights {found['weights']}, QoS {found['qos']}: {found['asked']:,} connections asked for, connected in {found['connected_s']:.0f} s\n")
    print("| process | connections | CPU | memory | from clients | to clients | from the other side | to it |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    for of in found["processes"]:
        connections = f"{of['connections']:,}" + (f" + {of['upstream']:,}" if "upstream" in of else "")
        cells = [of["name"], connections, f"{of['cpu']:.0f} %", f"{of['memory_mb']:,.0f} MB"]
        print("| " + " | ".join(cells + [f"{value:,.0f} kB/s" for value in of["kb_per_second"]]) + " |")
    print(f"\n{found['delivered']:,.0f} delivered/s, p50 {found['p50_ms']:.2f} ms, p99 {found['p99_ms']:.2f} ms, at most {found['max_ms']:.0f} ms, "
          f"lost {found['lost']:.0f}, connections that failed or ended {found['ended']:.0f}", flush=True)


def where(program):
    """Programs of administrators are not always on the path."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin")


class Case:
    """Fresh brokers, nginx and the load tools."""

    def __init__(self, arguments, directory, shares, qos, hard):
        self.arguments, self.directory, self.shares, self.qos, self.hard = arguments, directory, shares, qos, hard
        allowed = (hard - RESERVE) * sum(shares) // max(shares)
        self.connections = min(allowed, arguments.connections)
        self.tools = math.ceil(self.connections / min(TOOL_CLIENTS, hard - RESERVE))
        self.ports, self.front = nodes.Ports(), nodes.free()
        self.brokers, self.nginx, self.loads = [], None, []

    def run(self):
        nodes.say(f"{self.connections:,} connections through nginx to nodes {self.title()} ({self.hard:,} open files for each process) ...")
        try:
            for index in range(len(self.shares)):
                self.brokers.append(nodes.Node(
                    self.directory, index, self.ports, len(self.shares), self.arguments.jar, java=self.arguments.java.split(), memory=self.arguments.memory,
                    listener=", proxy-protocol: true, trusted-proxies: [127.0.0.1]").await_start())
            for one, other in itertools.permutations(self.brokers, 2):
                one.await_peer(other)
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
            return self.figures(before, after, connected)
        finally:
            for load in self.loads:
                load.process.kill()
                load.process.wait()
            if self.nginx is not None:
                self.nginx.stop()
            for node in self.brokers:
                node.stop()

    def title(self):
        return f"{':'.join(map(str, self.shares))}, QoS {self.qos}"

    def watch(self, done, doing):
        shown = 0
        while not done():
            for load in self.loads:
                load.check()
            if self.nginx.process.poll() is not None or any(node.process.poll() is not None for node in self.brokers):
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
        cpu = [nodes.cpu_seconds(node.pid) for node in self.brokers] + [sum(nodes.cpu_seconds(pid) for pid in workers)]
        when = time.monotonic()
        memory = [nodes.memory(node.pid) for node in self.brokers] + [sum(nodes.memory(pid) for pid in [self.nginx.process.pid, *workers])]
        return {"when": when, "cpu": cpu, "memory": memory, "sockets": self.sockets()}

    def sockets(self):
        """Of each node: connections, bytes in, bytes out, and the same towards the other nodes; of nginx towards clients."""
        mqtt, cluster, front = self.ports.mqtt, self.ports.cluster, self.front
        listing = established(f"sport = :{mqtt} or sport = :{front}")
        when = time.monotonic()
        found = {"clients": [[0, 0, 0] for _ in self.brokers], "peers": [[0, 0, 0] for _ in self.brokers], "front": [0, 0, 0], "when": when}
        hosts, pids = [node.host for node in self.brokers], [node.pid for node in self.brokers]
        for line in listing:
            end = SOCKET.search(line)
            if end and int(end.group(2)) == front:
                add(found["front"], line)
            elif end:
                add(found["clients"][hosts.index(end.group(1))], line)
        for line in established(f"sport = :{cluster} or dport = :{cluster}", "-p"):  # either end of each: an address does not say whose
            owner = OWNER.search(line)
            if owner and int(owner.group(1)) in pids:
                add(found["peers"][pids.index(int(owner.group(1)))], line)
        return found

    def figures(self, before, after, connected):
        seconds = after["when"] - before["when"]
        first, last = before["sockets"], after["sockets"]
        elapsed = last["when"] - first["when"]

        def rates(kind, index=None):
            old, new = (first[kind], last[kind]) if index is None else (first[kind][index], last[kind][index])
            return [(new[i] - old[i]) / elapsed / 1000 for i in (1, 2)]

        processes = [{"name": f"node {index + 1}", "connections": last["clients"][index][0], "kb_per_second": rates("clients", index) + rates("peers", index)}
                     for index in range(len(self.brokers))]
        # What the nodes sent came in at nginx.
        upstream = [sum(of["kb_per_second"][1] for of in processes), sum(of["kb_per_second"][0] for of in processes)]
        processes.append({"name": f"nginx, {len(self.nginx.workers_seen)} workers", "connections": last["front"][0],
                          "upstream": sum(of["connections"] for of in processes), "kb_per_second": rates("front") + upstream})
        for index, of in enumerate(processes):
            of["cpu"] = (after["cpu"][index] - before["cpu"][index]) * 100 / seconds
            of["memory_mb"] = after["memory"][index] / 1e6
        results = [load.result() for load in self.loads]

        def worst(name):
            return max(result["latency_us"][name] for result in results) / 1000

        return {"weights": ":".join(map(str, self.shares)), "qos": self.qos, "asked": self.connections, "connected_s": connected, "processes": processes,
                "delivered": sum(result["delivered"]["per_second"] for result in results), "p50_ms": worst("p50"), "p99_ms": worst("p99"),
                "max_ms": worst("max"), "lost": sum(result["faults"]["lost"] for result in results),
                "ended": sum(result["faults"]["connections_lost"] + result["connect_failures"] for result in results)}


def established(which, *more):
    """Lines of ss: the connections that fit."""
    return subprocess.run([where("ss"), "-tinHO", *more, "state", "established", f"( {which} )"], check=True, capture_output=True,
                          text=True).stdout.splitlines()


def add(counts, line):
    sent, received = SENT.search(line), RECEIVED.search(line)
    counts[0] += 1
    counts[1] += int(received.group(1)) if received else 0
    counts[2] += int(sent.group(1)) if sent else 0


class Nginx:
    """nginx with the sample of deploy/nginx."""

    def __init__(self, directory, front, mqtt, shares, connections, hard):
        # The kernel spreads connections over the workers by a hash, not evenly: a tenth to spare.
        self.count = max(2, math.ceil(connections * 2 * 1.1 / (hard - RESERVE)))
        text = SAMPLE.read_text()
        servers = re.findall(r"^ *server 10\.0\.0\.\d+:1883 weight=\d+ .*\n", text, re.M)
        text = replaced(text, "".join(servers) or "server 10.0.0.11:1883 weight=1 ", "".join(
            re.sub(r"10\S+ weight=\d+", f"{nodes.host(index)}:{mqtt} weight={weight}", servers[0]) for index, weight in enumerate(shares)))
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
                   "-q", case.qos, "-s", str(arguments.size), "--rate", str(arguments.rate / case.tools), "-k", str(arguments.keep_alive),
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
