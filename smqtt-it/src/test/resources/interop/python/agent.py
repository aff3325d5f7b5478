# SPDX-License-Identifier: Apache-2.0
"""Obeys one JSON command per line with paho-mqtt; see ForeignLibrary.java for the commands."""
import json
import ssl
import sys
import threading

import paho.mqtt.client as mqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

PATIENCE = 15
OUT = threading.Lock()


def say(line):
    with OUT:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def properties_of(message, packet_type):
    p = Properties(packet_type)
    pairs = [tuple(pair.split("=", 1)) for pair in message.get("userProperties", [])]
    if pairs:
        p.UserProperty = pairs
    for key, name in (("responseTopic", "ResponseTopic"), ("expiry", "MessageExpiryInterval"),
                      ("contentType", "ContentType"), ("payloadFormat", "PayloadFormatIndicator")):
        if message.get(key) is not None:
            setattr(p, name, message[key])
    if message.get("correlation") is not None:
        p.CorrelationData = bytes.fromhex(message["correlation"])
    return p


def received(m):
    message = {"topic": m.topic, "payload": m.payload.decode(), "qos": m.qos, "retain": bool(m.retain)}
    p = m.properties
    if p is not None:
        message["userProperties"] = ["=".join(pair) for pair in getattr(p, "UserProperty", [])]
        for key, name in (("responseTopic", "ResponseTopic"), ("expiry", "MessageExpiryInterval"),
                          ("contentType", "ContentType"), ("payloadFormat", "PayloadFormatIndicator")):
            if hasattr(p, name):
                message[key] = getattr(p, name)
        if hasattr(p, "CorrelationData"):
            message["correlation"] = p.CorrelationData.hex()
    return message


class Link:
    def __init__(self, r):
        self.five = r["version"] == 5
        self.answers, self.changed = {}, threading.Condition()
        options = {} if self.five else {"clean_session": r["cleanStart"]}
        self.client = c = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=r["clientId"], protocol=r["version"],
                                      transport="websockets" if r["transport"] in ("ws", "wss") else "tcp",
                                      reconnect_on_failure=False, **options)
        if r["transport"] in ("ws", "wss"):
            c.ws_set_options(path=r["path"])
        if r["transport"] in ("tls", "wss"):
            c.tls_set_context(ssl.create_default_context(cafile=r["ca"]))
        will = r.get("will")
        if will:
            c.will_set(will["topic"], will["payload"], will["qos"], will["retain"],
                       properties_of(will, PacketTypes.WILLMESSAGE) if self.five else None)
        c.on_message = lambda _c, _u, m: say({"link": r["link"], "message": received(m)})
        c.on_connect = lambda _c, _u, flags, code, _p: self.answer("connect", (flags.session_present, code))
        c.on_subscribe = lambda _c, _u, mid, codes, _p: self.answer(("s", mid), [x.value for x in codes])
        c.on_unsubscribe = lambda _c, _u, mid, codes, _p: self.answer(("u", mid), [x.value for x in codes])
        c.on_publish = lambda _c, _u, mid, code, _p: self.answer(("p", mid), code.value)
        c.on_disconnect = lambda _c, _u, _f, code, _p: self.answer("disconnect", str(code))
        self.connect(r)

    def connect(self, r):
        more = {}
        if self.five:
            p = Properties(PacketTypes.CONNECT)
            p.SessionExpiryInterval = r["sessionExpiry"]
            more = {"clean_start": r["cleanStart"], "properties": p}
        self.client.connect(r["host"], r["port"], 60, **more)
        self.client.loop_start()
        self.present, code = self.wait("connect")
        if code.is_failure:
            raise RuntimeError(f"refused: {code}")

    def answer(self, key, value):
        with self.changed:
            self.answers[key] = value
            self.changed.notify_all()

    def wait(self, key):
        with self.changed:
            if not self.changed.wait_for(lambda: key in self.answers, PATIENCE):
                raise RuntimeError(f"no answer to {key}")
            return self.answers.pop(key)

    def subscribe(self, r):
        _, mid = self.client.subscribe(list(zip(r["filters"], r["qos"])) if not self.five else
                                       [(f, SubscribeOptions(qos=q)) for f, q in zip(r["filters"], r["qos"])])
        return {"codes": self.wait(("s", mid))}

    def unsubscribe(self, r):
        _, mid = self.client.unsubscribe(r["filter"])
        return {"codes": self.wait(("u", mid))}

    def publish(self, r):
        m = r["message"]
        info = self.client.publish(m["topic"], m["payload"], m["qos"], m["retain"],
                                   properties_of(m, PacketTypes.PUBLISH) if self.five else None)
        return {"code": self.wait(("p", info.mid))}

    def disconnect(self, r):
        p = None
        if "sessionExpiry" in r:
            p = Properties(PacketTypes.DISCONNECT)
            p.SessionExpiryInterval = r["sessionExpiry"]
        self.client.disconnect(properties=p)
        self.wait("disconnect")
        self.client.loop_stop()
        return {}

    def cut(self, _r):
        self.client.loop_stop()
        self.client.socket().close()
        return {}


def main():
    links = {}
    say({"ready": True})
    for line in sys.stdin:
        r = json.loads(line)
        try:
            if r["op"] == "connect":
                links[r["link"]] = Link(r)
                result = {"sessionPresent": bool(links[r["link"]].present)}
            else:
                result = getattr(links[r["link"]], r["op"])(r)
            say({"id": r["id"], **result})
        except Exception as e:  # the test reports it
            say({"id": r["id"], "error": f"{type(e).__name__}: {e}"})


main()
