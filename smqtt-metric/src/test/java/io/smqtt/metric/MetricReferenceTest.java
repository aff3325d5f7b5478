// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ConnectRefusal;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Keeps docs/metrics.md equal to the registered meters. With -Dsmqtt.docs.write=true it writes the file. */
class MetricReferenceTest {

    private static final Path DOCUMENT = Path.of("..", "docs", "metrics.md");

    private static final String HEAD = """
            # Metrics

            Generated from the registered meters: do not edit. To write it again run
            `mvn -pl smqtt-metric -am test -Dtest=MetricReferenceTest -Dsurefire.failIfNoSpecifiedTests=false -Dsmqtt.docs.write=true`.

            `GET /metrics` on the management port (`management.*` in [configuration.md](configuration.md)) answers in Prometheus' text
            format: dots are underscores, units are suffixes, counters end in `_total`. The virtual machine, the process and Netty's buffers
            are there too, as Micrometer names them (`jvm.*`, `process.*`, `system.*`, `netty.*`). No tag holds what a client chooses.

            `matched` = `delivered` + `dropped` + `elsewhere` + `pending`, and `pending` is what waits in the queues of sessions, and for other nodes,
            when nothing is on its way ([over all nodes](#the-account-over-all-nodes)). Messages of `$SYS` that a subscriber gets are counted like those of any publisher. A client that is disconnected because it reads
            too slowly is counted in `smqtt.clients.slow`, and in `smqtt.connections.closed` with `quota_exceeded` like others; QoS 0 messages that it
            missed are dropped with `slow_consumer`. `smqtt.traffic.*` are the bytes of MQTT, without TLS and WebSocket around them.

            `/health/live` fails (503) when an event loop has run nothing for 30 seconds. `/health/ready` fails until all listeners are bound,
            while the store refuses operations or has been at one commit for ten seconds (`hanging`), while a node of a cluster has not joined or sees fewer nodes than `cluster.min-members`,
            and from the moment on when the broker is told to stop. `smqtt.cluster.*` is there in a cluster only; `/cluster` shows its
            nodes one by one ([clustering.md](clustering.md)).

            ## The account over all nodes

            Each node of a cluster has an account of its own, which balances for itself, and so does the sum of those of all nodes. Another node is one
            subscriber: a message that goes there is `received` and `matched` by both, and `delivered` by the first when the other has taken it
            over. With the sources of `matched` and the reasons of `elsewhere` written out:

            ```
            publish + retained + redispatch + recovered + moved + repeated
                = delivered + dropped + pending + elsewhere: moved + duplicate + unconfirmed + sent_before
            ```

            | | is counted when |
            |---|---|
            | `elsewhere`: `moved` | a session leaves for another node: what waited in it |
            | `matched`: `moved` | it arrives there: what came with it, and of a stored session what the client was sent and did not acknowledge as well |
            | `elsewhere`: `sent_before` | such a message, or one of before a restart, is about to be sent again: it was delivered then |
            | `elsewhere`: `duplicate` | a message came to a session by two nodes, because it moved at that time or was claimed on both sides of a cut; it is delivered once |
            | `elsewhere`: `unconfirmed`, `matched`: `repeated` | a node is lost before it said that it has a message for a member of a shared group, and another member gets it: as many of both |
            | `matched`: `repeated` alone | a member of a group could not keep a message, which goes back to where it came from and on from there; or a session that was claimed on both sides of a cut had sent it to its client already |

            So copies can be seen: they are `repeated` and, over all nodes when nothing is on its way, what `matched`: `moved` has more than `elsewhere`: `moved`, which is
            what the clients were sent before, or a move that was broken off, so that both nodes have the session until they meet. What a node that is gone has counted is
            gone with it; after a restart it begins with what it finds in its store, `recovered`. `AccountsUnderFaultsTest` shows that the accounts balance for
            one, two and three nodes, with clients that move, shared groups, cuts, kills, and stores that fail.

            ## Who may ask

            Health is open to everybody who reaches the port, also to who shows a wrong token, and tells one word to who may not see more. With `management.token-file`, which
            any other address than loopback needs, all else wants its token: `Authorization: Bearer ...`. Without that key, on loopback, anybody
            on this machine sees `/metrics` and `/cluster` (asked for by address or as `localhost`: a web page cannot make a browser read them), and
            all that shows or ends sessions wants the token that the broker makes at its first start, in the file `management.token` of the data
            directory, for its own user alone. With `storage.kind: memory` there is no data directory, and so no control without `token-file`.
            SIGHUP reads the token again. With `management.tls` the port speaks HTTPS ([security](security.md#the-management-port)).

            The port takes 64 connections that have shown the token with their last request, and 64 others; requests for health count among the others, with
            the token too. So nobody keeps a probe out, and no probe a program with the token. For one more the one is closed that has been idle longest among its own; where none
            is idle, the one of the others that has been asking longest, and a request with the token is answered 503 (`Retry-After: 1`).
            `smqtt.management.*` counts both. A connection has ten seconds for its first request, and a body ten more (408 after that); one that is silent for 75 seconds
            is closed. What is no request is answered 400, 414 or 431 and logged once a minute.

            ## Topics of the broker

            Every `management.sys-interval` (10 s by default, at least 100 ms; 0 for none) the broker writes the topics that mosquitto has, retained, each when its value has changed.
            Without an ACL file every client reads them, as with mosquitto; with one it takes a rule, or the role `admin` ([security](security.md#the-brokers-own-topics)). All of
            mosquitto 2.0's are there; a test holds both lists, and what both count for the same clients, against each other. `<n>` is `1min`, `5min` or `15min`:
            per minute, as a moving average over that time.

            | below `$SYS/broker/` | value |
            |---|---|
            | `version`, `uptime` | of the program; `123 seconds` |
            | `clients/connected`, `clients/active` (old name) | clients that are connected |
            | `clients/disconnected`, `clients/inactive` (old name) | sessions whose client is away |
            | `clients/total`, `clients/maximum` | both together; most that were connected at the same time |
            | `clients/expired` | sessions whose expiry interval ran out |
            | `messages/received`, `messages/sent` | packets of every kind from and to clients |
            | `bytes/received`, `bytes/sent` | their bytes, without TLS and WebSocket around them |
            | `publish/messages/received`, `publish/messages/sent`, `publish/messages/dropped` | messages: accepted from publishers, written to subscribers, lost on the way there |
            | `publish/bytes/received`, `publish/bytes/sent` | payload of these |
            | `messages/inflight` | sent to subscribers and not acknowledged (mosquitto 1 had it, 2 has not) |
            | `store/messages/count`, `messages/stored` (old name) | retained messages and those in the queues of sessions |
            | `store/messages/bytes` | what these hold, topics and properties included. mosquitto counts a message once that waits in several queues, and its payload only |
            | `retained messages/count` | retained messages, the broker's own included |
            | `subscriptions/count`, `shared_subscriptions/count` | subscriptions of this node's clients; mosquitto counts the members of shared ones, this broker the groups |
            | `load/messages/received/<n>`, `load/messages/sent/<n>`, `load/bytes/received/<n>`, `load/bytes/sent/<n>` | packets and bytes |
            | `load/publish/received/<n>`, `load/publish/sent/<n>`, `load/publish/dropped/<n>` | messages |
            | `load/connections/<n>`, `load/sockets/<n>` | clients that were accepted; connections that were opened |
            | `heap/current`, `heap/maximum` | bytes of the heap in use; what it may grow to. mosquitto: the most it was |

            ## Sending them

            Beside `/metrics` the broker sends the same meters away where the configuration says so, and once more when it stops:

            ```yaml
            management:
              otlp:
                url: http://127.0.0.1:4318/v1/metrics
              influx:
                url: http://127.0.0.1:8086
                database: mqtt
            ```

            `management.otlp` is OTLP by HTTP and protobuf, for an OpenTelemetry collector or whatever understands it; `headers` carry its key. The
            resource has `service.name` (`smqtt`, or what `OTEL_SERVICE_NAME` says), `service.instance.id` (the node's name in a cluster, else the host's) and
            what `OTEL_RESOURCE_ATTRIBUTES` adds. `management.influx` is InfluxDB's line protocol, version 2 with `org`, `bucket` and `token`, else version 1 with
            `database`; the tag `instance` tells brokers apart. Secrets belong into files: `SMQTT_MANAGEMENT__INFLUX__TOKEN_FILE`,
            `SMQTT_MANAGEMENT__INFLUX__PASSWORD_FILE`, `SMQTT_MANAGEMENT__OTLP__HEADERS_FILE`. Each has a thread of its own, gives up after one second
            without a connection and three without an answer, and then logs a warning, once a minute while it lasts, and a line when they are taken again; the broker goes on, and a stop takes four seconds longer at most.

            ## Traces

            Off unless there is a place to send them to, and then nothing is on the way of a message and no class of a tracer is loaded:

            ```yaml
            management:
              tracing:
                url: http://127.0.0.1:4318/v1/traces
                share: 0.01
            ```

            A published message then is two spans: `receive`, from its receipt until it is routed, whose parent is the one that the publisher names in the
            user properties of MQTT 5.0 (`traceparent` and `tracestate` of W3C), and its child `route`, whose context subscribers get in the place of the
            publisher's; all other user properties stay as they are and where they are. Of messages with a `traceparent` their own flag decides whether
            they are traced, so a publisher can have all of its messages traced
            ([a risk](security.md#what-the-broker-protects-and-what-you-must-protect)); of the others `share` is, one in a hundred by default. Subscribers of MQTT
            3.1.1 have no user properties and get none. The added bytes count against a subscriber's maximum packet size. Wills, status topics and what the
            application publishes itself are not traced; in a cluster the node that a message was published to traces it, and subscribers of the other
            nodes get its context.

            They are sent by OTLP (HTTP, protobuf), every second and once more at a stop, with the resource attributes of the metrics; `headers` carry a key,
            also from a file: `SMQTT_MANAGEMENT__TRACING__HEADERS_FILE`. At most 2,048 spans wait; what is above is lost, and so is what nobody takes within
            three seconds. A warning says so at most once a minute, with the number of both and the reason; the broker goes on, and a stop takes four seconds
            longer at most. Of a topic 1,024 characters are told. What OpenTelemetry's libraries themselves warn of is in the log of the program; where the
            broker is embedded it stays in the JDK's. What traces cost: [benchmarks](benchmarks.md#what-traces-cost).

            An application that embeds the broker can make it a part of its own traces: `MessageTracing.of(observationRegistry, share)` is given to the
            builder as the last `interceptor`, and its `observer()` as an observer ([embedding](embedding.md)); what it puts into the messages is then
            the business of the registry's tracer. `TraceModule` does for it what the block above does for the program.

            ## Looking at them

            `bin/smqtt top` shows clients, rates, drops by reason, times, event loops, store and cluster in a terminal, every two seconds. It asks
            the broker of the configuration (`--config`, `--set`), or the one of `--url` with `--token-file` and, for HTTPS, `--ca`; `--count 1` prints once and ends.
            Dashboards for Grafana and rules for Prometheus: [deploy](../deploy/README.md). What the meters cost: [benchmarks](benchmarks.md#what-metrics-cost).

            ## Meters

            | meter | type | tags | unit | meaning |
            |---|---|---|---|---|
            """;

    @Test
    void documentSaysWhatIsRegistered() throws IOException {
        String expected = document();
        if (Boolean.getBoolean("smqtt.docs.write")) {
            Files.writeString(DOCUMENT, expected);
        }

        assertThat(DOCUMENT).hasContent(expected);
    }

    private static String document() {
        try (ObservedBroker broker = ObservedBroker.in(ClusterStatusTest.three())) {
            broker.module.observer().connectionClosed("tcp", ReasonCode.SUCCESS);
            broker.module.observer().connectionRefused("tcp", "limits.max-connections");
            broker.module.observer().sessionRefused("limits.max-session-bytes");
            broker.module
                    .observer()
                    .connectRefused(new ConnectRefusal(
                            "tcp", new InetSocketAddress("127.0.0.1", 1), null, null, ReasonCode.SERVER_BUSY));
            Map<String, String> rows = new TreeMap<>();
            for (Meter meter : broker.module.registry().getMeters()) {
                Meter.Id id = meter.getId();
                if (id.getName().startsWith("smqtt.")
                        && !(id.getName().startsWith("smqtt.store.commit.") && id.getTag("le") != null)) {
                    rows.put(id.getName(), row(id));
                }
            }
            return HEAD + String.join("", rows.values());
        }
    }

    private static String row(Meter.Id id) {
        assertThat(id.getDescription()).as(id.getName()).isNotBlank();
        List<String> tags = id.getTags().stream().map(Tag::getKey).sorted().collect(Collectors.toList());
        return "| `%s` | %s | %s | %s | %s |\n"
                .formatted(
                        id.getName(),
                        id.getType().name().toLowerCase(Locale.ROOT),
                        tags.isEmpty() ? "" : "`" + String.join("`, `", tags) + "`",
                        Objects.requireNonNullElse(id.getBaseUnit(), ""),
                        id.getDescription());
    }
}
