# SPDX-License-Identifier: Apache-2.0
"""Measures what three replicas of each store cost beside one, and prints a table.

Three nodes of a cluster on this machine, first with storage.replicas 1, then with 3 (extension `replication`). Messages at QoS 1 are queued for
sessions that are away, and fetched by them when they come back: processor time and bytes on
their way to the disk, of all three nodes together, for each message. Each case is run --rounds times on the same nodes and the last run counts, so that the virtual
machines are warm; what their compilers take is not counted. Loaded by `smqtt bench` on the same machine, at the first node. Then messages that are
stored before their PUBACK, --warm seconds that do not count and --seconds for each of --rates: how long that takes, beside an append and a sync of
the same disk at the same time.
"""
import json
import pathlib
import subprocess
import tempfile

import acks
import nodes

EXTENSION = nodes.ROOT / "smqtt-replication/target/ext"
COUNT = 3


def flags(parser):
    parser.add_argument("--replicas", default="1,3")
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--messages", type=int, default=100, help="for each session")
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=4, help="runs of each case; the last one counts")
    parser.add_argument("--rates", default="200,2000", help="messages a second whose acknowledgements are timed, one after the other; empty for none")
    parser.add_argument("--seconds", type=int, default=20, help="for each rate")
    parser.add_argument("--warm", type=int, default=60, help="seconds at the last rate before, which do not count")
    parser.add_argument("--directory", help="where the nodes have their data; the default is that of temporary files")
    parser.add_argument("--java", default="-Xmx700m", help="flags for the nodes' virtual machines")
    parser.add_argument("--jar", default=str(nodes.JAR), help="the nodes' program, to compare with another build")
    parser.add_argument("--ext", default=str(EXTENSION), help="the same for the extension")


def run(arguments):
    print(f"{'replicas':>8} {'queued/s':>10} {'CPU us each':>12} {'disk bytes each':>16} {'memory MiB':>11} {'lost':>6}", flush=True)
    for replicas in arguments.replicas.split(","):
        with tempfile.TemporaryDirectory(dir=arguments.directory) as name:
            case(arguments, pathlib.Path(name), int(replicas))


def case(arguments, directory, replicas):
    ports, replica_port = nodes.Ports(), nodes.free()
    places = ", ".join(f"'node-{i + 1}={nodes.host(i)}:{replica_port}'" for i in range(COUNT))
    more = "  secret: 0123456789abcdef-0123456789\n" + (f"  nodes: [{places}]\n" if replicas > 1 else "")
    all_nodes = []
    try:
        for index in range(COUNT):
            all_nodes.append(nodes.Node(
                directory, index, ports, COUNT, arguments.jar, java=[*arguments.java.split(), f"-Dsmqtt.ext={arguments.ext}"], more=more,
                limits="{max-queued-messages: 1000000, max-queued-bytes: 1000000000, max-total-queued-bytes: 4000000000}",
                storage=f"{{kind: rocksdb, replicas: {replicas}}}"))
        for node in all_nodes:  # the first start with replicas needs all of them
            node.await_start()
        for node in all_nodes:
            for other in all_nodes:
                if node is not other:
                    node.await_peer(other)
        for number in range(arguments.rounds):
            before = used(all_nodes)
            result = load(arguments, directory, all_nodes[0])
            after = used(all_nodes)
            nodes.say(f"round {number + 1}: {result['queued']:.0f} queued/s")
        each = arguments.sessions * arguments.messages
        memory = sum(nodes.memory(node.pid) for node in all_nodes) / 2**20
        print(f"{replicas:8} {result['queued']:10.0f} {(after[0] - before[0]) * 1e6 / each:12.2f} {(after[1] - before[1]) / each:16.0f} "
              f"{memory:11.0f} {result['lost']:6.0f}", flush=True)
        timed_acks(arguments, directory, all_nodes)
    finally:
        for node in all_nodes:
            node.stop()


def timed_acks(arguments, directory, all_nodes):
    rates = [int(rate) for rate in arguments.rates.split(",") if rate]
    if not rates:
        return
    place = all_nodes[0].host, all_nodes[0].ports.mqtt
    acks.absent(*place)
    if arguments.warm:
        acks.times(*place, rates[-1], arguments.warm)
    for rate in rates:
        before = used(all_nodes)[0]
        with acks.Syncs(directory) as syncs:
            acknowledged = acks.times(*place, rate, arguments.seconds)
        cores = (used(all_nodes)[0] - before) / arguments.seconds
        print(f"{rate:8} messages/s: PUBACK p50, p99 {percentiles(acknowledged)} ms; sync {percentiles(syncs.sorted())} ms; {cores:.2f} cores", flush=True)


def percentiles(seconds):
    return f"{acks.percentile(seconds, 0.5):.2f}, {acks.percentile(seconds, 0.99):.2f}"


def used(all_nodes):
    return sum(nodes.cpu_seconds(node.pid) for node in all_nodes), sum(nodes.written(node.pid) for node in all_nodes)


def load(arguments, directory, node):
    report = directory / "run.json"
    command = ["java", "-jar", str(nodes.JAR), "bench", "scenario", "offline", "-h", node.host, "-p", str(node.ports.mqtt), "--quiet", "--json", str(report),
               "--pubs", str(arguments.sessions), "--messages", str(arguments.messages), "-q", "1", "-s", str(arguments.size)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {"queued": figure(output, "queued/s"), "lost": json.loads(report.read_text())["faults"]["lost"]}


def figure(output, name):
    for line in output.splitlines():
        if line.startswith(name):
            return float(line[len(name):].strip().replace(",", ""))
    return 0.0
