# SPDX-License-Identifier: Apache-2.0
"""Measures how a node joins that has to be told of very many routes, and prints a table.

A node of a cluster on this machine gets that many filters from clients of `smqtt bench`; then a second node is started, and a third one.
Of each: how long it takes from the moment on when it has met the first until it knows all routes, and what heap they take there. At the
end all clients go at once, and it is shown how long the others still know routes.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

import nodes


def flags(parser):
    parser.add_argument("--routes", type=int, default=1_500_000)
    parser.add_argument("--nodes", type=int, default=3, choices=[2, 3])
    parser.add_argument("--memory", type=int, default=8192, help="MiB that each node is told its machine has")
    parser.add_argument("--java", default="", help="further flags for the nodes' virtual machines")
    parser.add_argument("--jar", default=str(nodes.JAR), help="the nodes' program")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for each step")


def run(arguments):
    ports = nodes.Ports()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        running, clients = [], None
        try:
            running.append(start(directory, running, ports, arguments).await_start())
            empty = running[0].heap()
            nodes.say(f"node 1 is there; {arguments.routes:,} filters are subscribed ...")
            since = time.monotonic()
            clients = subscribe(running[0], ports, arguments)
            while running[0].routes() < arguments.routes:
                if clients.poll() is not None or time.monotonic() - since > arguments.timeout:
                    sys.exit("the filters were not subscribed")
                time.sleep(2)
                nodes.say(f"node 1 has {running[0].routes():,} of them")
            own = running[0].routes()
            print(f"{own:,} routes on node 1 after {time.monotonic() - since:.1f} s", flush=True)
            say_heap(running[0], empty, own, "of its own, with its clients' subscriptions")
            while len(running) < arguments.nodes:
                join(directory, running, ports, arguments, own, empty)
            for node in running:
                state = node.traffic()
                print(f"node {node.number}: {state['pulls']} pulls, {state['repairs']} repairs, "
                      f"{state['malformed-frames']} malformed frames", flush=True)
            leave(running, clients, arguments)
        finally:
            if clients is not None and clients.poll() is None:
                clients.kill()
            for node in running:
                node.stop()


def start(directory, running, ports, arguments):
    return nodes.Node(directory, len(running), ports, arguments.nodes, arguments.jar, memory=arguments.memory,
                      java=arguments.java.split(), limits="{max-subscriptions-per-client: 10000000}")


def subscribe(node, ports, arguments):
    # The tool waits half a minute for each client to have all of its own.
    command = ["java", "-jar", str(nodes.JAR), "bench", "scenario", "wildcard", "-h", node.host, "-p", str(ports.mqtt),
               "--filters", str(arguments.routes - 1), "--holders", str(arguments.routes // 3000 + 1), "--pubs", "1", "--rate", "100", "--duration", "1h", "--quiet"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def join(directory, running, ports, arguments, routes, empty):
    first = running[0]
    alone = first.heap()
    before = {node: nodes.cpu_seconds(node.pid) for node in running}
    node = start(directory, running, ports, arguments)
    running.append(node)
    met = None
    while met is None:
        peer = node.peer(first)
        if peer["reachable"]:
            met = time.monotonic()
        elif time.monotonic() - node.begun > arguments.timeout:
            sys.exit(f"node {node.number} does not meet node 1")
        else:
            time.sleep(0.02)
    shown = met
    while True:
        peer = node.peer(first)
        now = time.monotonic()
        if peer["routes"] == routes and peer["route-lag"] == 0:
            break
        if now - met > arguments.timeout:
            sys.exit(f"after {arguments.timeout} s node {node.number} says of node 1: {peer}")
        if now - shown > 2:
            shown = now
            nodes.say(f"node {node.number} knows {peer['routes']:,} of them")
        time.sleep(0.02)
    used = {other.number: nodes.cpu_seconds(other.pid) - before.get(other, 0) for other in running}
    print(f"node {node.number} knew all {now - met:.1f} s after it had met node 1, {now - node.begun:.1f} s after its start: "
          f"{routes / (now - met):,.0f} routes/s; processor time, compilers not counted: "
          + ", ".join(f"node {number} {seconds:.1f} s" for number, seconds in used.items()), flush=True)
    say_heap(node, empty, routes, "of node 1")
    if alone is not None:
        print(f"  node 1 has {(first.heap() - alone) / 1e6:+.0f} MB of heap since the moment before", flush=True)


def say_heap(node, empty, routes, what):
    heap = node.heap()
    if heap is None:
        print(f"  memory {nodes.memory(node.pid) / 1e6:.0f} MB (no jcmd: what of it is in use is not known)", flush=True)
    else:
        print(f"  heap in use {heap / 1e6:.0f} MB, {(heap - (empty or 0)) / routes:.0f} bytes for each route {what}; "
              f"memory {nodes.memory(node.pid) / 1e6:.0f} MB", flush=True)


def leave(running, clients, arguments):
    clients.kill()
    clients.wait()
    since = time.monotonic()
    waiting = {running[0]: running[0].routes}
    for node in running[1:]:
        waiting[node] = lambda node=node: node.peer(running[0])["routes"]
    while waiting:
        for node, routes in list(waiting.items()):
            if routes() == 0:
                del waiting[node]
                print(f"all clients gone at once: node {node.number} knew no route any more {time.monotonic() - since:.1f} s later", flush=True)
        if time.monotonic() - since > arguments.timeout:
            sys.exit(f"routes are left: {[(node.number, routes()) for node, routes in waiting.items()]}")
        time.sleep(0.1)
    for node in running:
        state = node.traffic()
        print(f"node {node.number}: {state['pulls']} pulls, {state['repairs']} repairs", flush=True)
