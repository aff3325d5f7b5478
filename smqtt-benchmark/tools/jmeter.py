# SPDX-License-Identifier: Apache-2.0
"""JMeter, from Maven, with EMQX's plugin mqtt-jmeter: publishers and subscribers one to one. MQTT_JMETER names the jar of the plugin.

The plan has 100 pairs; each publisher connects, publishes 100 messages, one each 100 ms, and disconnects. A sample of a subscriber is 10 messages.
"""
import csv
import os
import pathlib
import shutil
import statistics
import subprocess
import zipfile

import broker as brokers
import page
import runs

HERE = pathlib.Path(__file__).resolve().parent / "jmeter"
HOME = runs.ROOT / "smqtt-benchmark/target/jmeter"
PAIRS, MESSAGES, BATCH, GAP_MILLIS = 100, 100, 10, 100
CASES = [{"key": f"q{qos}", "title": f"{PAIRS} pairs, {MESSAGES} messages of 256 B each, QoS {qos}", "qos": qos} for qos in range(3)]


def plugin():
    return pathlib.Path(os.environ.get("MQTT_JMETER", ""))


def missing():
    if not plugin().is_file():
        return "MQTT_JMETER does not name the jar of mqtt-jmeter"
    if not (HOME / "bin/ApacheJMeter.jar").exists():
        return install()
    return None


def install():
    """JMeter's folders, as its distribution has them."""
    shutil.rmtree(HOME, ignore_errors=True)
    done = subprocess.run(["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), "dependency:copy-dependencies", f"-DoutputDirectory={HOME / 'lib'}"])
    if done.returncode:
        return "Maven could not bring JMeter"
    with zipfile.ZipFile(next((HOME / "lib").glob("ApacheJMeter_config-*.jar"))) as config:
        config.extractall(HOME, [name for name in config.namelist() if name.startswith("bin/")])
    (HOME / "lib/ext").mkdir()
    for jar in (HOME / "lib").glob("ApacheJMeter_*.jar"):
        jar.rename(HOME / "lib/ext" / jar.name)
    next((HOME / "lib").glob("ApacheJMeter-*.jar")).rename(HOME / "bin/ApacheJMeter.jar")
    return None


def run():
    shutil.copy(plugin(), HOME / "lib/ext/mqtt-jmeter.jar")
    brokers.run("tools-jmeter", CASES, measured)


def measured(case):
    with brokers.Broker() as broker:
        return broker.counted(lambda: plan(broker, case))


def plan(broker, case):
    result = HOME / "result.csv"
    result.unlink(missing_ok=True)
    properties = {"host": broker.host, "port": broker.tcp, "qos": case["qos"], "pairs": PAIRS, "messages": MESSAGES, "batch": BATCH,
                  "batches": MESSAGES // BATCH, "gap": GAP_MILLIS, "jmeter.save.saveservice.output_format": "csv"}
    command = [*brokers.pinned("tool", "java", "-Xmx1g", "-jar", HOME / "bin/ApacheJMeter.jar", "-n", "-t", HERE / "plan.jmx", "-l", result,
                               "-j", HOME / "jmeter.log"), *(f"-J{name}={value}" for name, value in properties.items())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=170, cwd=HOME)
    broker.settled()
    return summary(result) if result.exists() else "no result: " + done.stdout[-300:] + done.stderr[-300:]


def summary(result):
    """Samples by name: count, errors, mean and 99th percentile of their milliseconds."""
    samples = {}
    with open(result, newline="", encoding="utf-8") as lines:
        for sample in csv.DictReader(lines):
            samples.setdefault(sample["label"], []).append((int(sample["elapsed"]), sample["success"] == "true"))
    parts = []
    for name, found in samples.items():
        times = sorted(elapsed for elapsed, _ in found)
        errors = sum(not good for _, good in found)
        parts.append(f"{name}: {len(found):,}, {errors} failed, mean {statistics.mean(times):.1f} ms, p99 {times[int(len(times) * 0.99)]} ms")
    return "; ".join(parts)


def report():
    found = page.saved("tools-jmeter")
    rows = [brokers.row(case["title"], found["cases"][case["key"]]["said"], found["cases"][case["key"]]) for case in CASES if case["key"] in found["cases"]]
    page.write("tools-jmeter", [page.facts(found), "", "```", "MQTT_JMETER=… smqtt-benchmark/bin/tools jmeter", "```", "", *page.table(brokers.HEAD, rows)],
               by="tools jmeter")
