# SPDX-License-Identifier: Apache-2.0
"""Measures what it costs that publisher and subscriber are on different nodes, and prints a table.

Two nodes of a cluster on this machine, each pair of a publisher and a subscriber once on the same node and once on two: processor time of
both nodes per delivered message, messages per second, latency at a paced rate. Each case is run twice on the same nodes and the second run
counts, so that the virtual machines are warm; what their compilers take is not counted. Loaded by `smqtt bench` on the same machine.
"""
import json
import pathlib
import subprocess
import tempfile

import nodes

# Publishers and subscribers take the hosts in turns.
PLACES = {
    "same node": ["127.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.2"],
    "across": ["127.0.0.1", "127.0.0.2", "127.0.0.2", "127.0.0.1"],
}


def flags(parser):
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--warm-up", type=int, default=12, help="seconds of the first run of each case")
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--rates", default="0,5000", help="messages per second of all publishers; 0: as fast as it goes")
    parser.add_argument("--qos", default="0,1")
    parser.add_argument("--places", default=",".join(PLACES))
    parser.add_argument("--secret", action="store_true", help="with a secret: every frame encrypted")
    parser.add_argument("--java", default="", help="flags for the nodes' virtual machines")
    parser.add_argument("--jar", default=str(nodes.JAR), help="the nodes' program, to compare with another build")
    parser.add_argument("--pids", action="store_true", help="print the processes, for a profiler")


def run(arguments):
    more = "  secret: 0123456789abcdef-0123456789" if arguments.secret else ""
    ports = nodes.Ports()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        both = []
        try:
            for index in range(2):
                both.append(nodes.Node(directory, index, ports, 2, arguments.jar, java=arguments.java.split(), more=more).await_start())
            both[0].await_peer(both[1])
            both[1].await_peer(both[0])
            if arguments.pids:
                print("nodes", *[node.pid for node in both], flush=True)
            print(f"{'case':34} {'delivered/s':>12} {'forwarded/s':>12} {'CPU us each':>12} {'p50 ms':>8} {'p99 ms':>8} {'lost':>6}", flush=True)
            for rate in arguments.rates.split(","):
                for qos in arguments.qos.split(","):
                    for place in arguments.places.split(","):
                        case(arguments, directory, both, rate, qos, place)
        finally:
            for node in both:
                node.stop()


def case(arguments, directory, both, rate, qos, place):
    options = ["--pubs", str(arguments.pairs), "-q", qos, "-s", str(arguments.size)]
    if rate != "0":
        options += ["--rate", rate]
    load(directory, both, place, [*options, "--duration", f"{arguments.warm_up}s"])
    used, forwarded = cpu(both), forwards(both)
    result = load(directory, both, place, [*options, "--warm-up", "0s", "--duration", f"{arguments.seconds}s"])
    used, forwarded = cpu(both) - used, forwards(both) - forwarded
    delivered, latency = result["delivered"], result["latency_us"]
    print(f"{f'QoS {qos}, ' + ('saturated' if rate == '0' else rate + '/s') + ', ' + place:34} "
          f"{delivered['per_second']:12.0f} {forwarded / result['measured_seconds']:12.0f} "
          f"{used * 1e6 / max(1, delivered['total']):12.2f} "
          f"{latency['p50'] / 1e3:8.2f} {latency['p99'] / 1e3:8.2f} {result['faults']['lost']:6.0f}", flush=True)


def cpu(both):
    return sum(nodes.cpu_seconds(node.pid) for node in both)


def forwards(both):
    return sum(node.traffic()["forwarded-messages"] for node in both)


def load(directory, both, place, options):
    report = directory / "run.json"
    command = ["java", "-jar", str(nodes.JAR), "bench", "scenario", "symmetric", "-h", ",".join(PLACES[place]),
               "-p", str(both[0].ports.mqtt), "--quiet", "--json", str(report), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads(report.read_text())
