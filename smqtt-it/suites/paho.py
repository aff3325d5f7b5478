# SPDX-License-Identifier: Apache-2.0
"""Runs a module of Eclipse Paho's interoperability tests against a broker that runs.

usage: paho.py CHECKOUT client_test|client_test5 PORT [Test.test_name ...]

The modules take what they need from globals that only their main programs set, for port 1883. The topics of client_test5 get its prefix.
"""

import importlib
import logging
import pathlib
import socket
import sys
import unittest


def warm_up(port):
    """Connects once with patience: the suite's clients have half a second, which the first connections of a JVM may need."""
    for version in (4, 5):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            properties = b"" if version == 4 else b"\0"
            body = b"\0\4MQTT" + bytes([version]) + b"\2\0\0" + properties + b"\0\4warm"
            client.sendall(bytes([0x10, len(body)]) + body)
            if client.recv(1) != b"\x20":
                sys.exit("paho: the broker does not answer")


def main(checkout, name, port, only):
    warm_up(port)
    sys.path.insert(0, str(pathlib.Path(checkout, "interoperability")))
    tests = importlib.import_module(name)
    prefix = "client_test5/" if name == "client_test5" else ""
    tests.host, tests.port, tests.topic_prefix = "127.0.0.1", port, prefix
    tests.topics = [prefix + topic for topic in ("TopicA", "TopicA/B", "Topic/C", "TopicA/C", "/TopicA")]
    tests.wildtopics = [prefix + topic for topic in ("TopicA/+", "+/C", "#", "/#", "/+", "+/+", "TopicA/#")]
    tests.nosubscribe_topics = ("test/nosubscribe",)
    tests.setData = lambda: None  # has the topics without their prefix
    logging.getLogger().setLevel(logging.ERROR)
    unittest.main(module=tests, argv=[name, *only], verbosity=2)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
