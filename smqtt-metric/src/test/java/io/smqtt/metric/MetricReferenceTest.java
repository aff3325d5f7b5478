// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ConnectRefusal;
import io.smqtt.spi.SampleCluster;
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

            - **Scrape**: `GET /metrics` on the management port ([below](#scrape)).
            - **Push**: OTLP or InfluxDB ([below](#push)).
            - **Read in MQTT**: topics below `$SYS` ([below](#topics-below-sys)).
            - **Read in a terminal**: `bin/smqtt top` ([below](#terminal-and-dashboards)).
            - **Traces**: one trace per message ([below](#traces)).
            - **Reference**: [all meters](#meters).

            ## Scrape

            `GET /metrics` on the management port (`management.*` in [configuration.md](configuration.md)) answers in the text format of Prometheus:

            - Dots become underscores, units are suffixes, counters end in `_total`.
            - The JVM, the process and Netty's buffers are included, with Micrometer's names (`jvm.*`, `process.*`, `system.*`, `netty.*`).
            - No tag has a value that a client chooses.

            ## Health

            | path | answers 503 |
            |---|---|
            | `/health/live` | when an event loop has run nothing for 30 seconds; when a replica has ended because of its disk, that takes writes again, and the replicas cannot be opened while the broker runs; when another node has served the store of this one |
            | `/health/ready` | until all listeners are bound; while the store refuses operations, or a commit takes ten seconds or longer (`hanging`); while a node of a cluster has not joined, or sees fewer nodes than `cluster.min-members`, front nodes not counted; while a front node reaches no node that takes its clients with stored sessions; while a node with `storage.replicas` above 1 reaches no majority of its replicas; from the beginning of a stop |

            `/health/ready` shows each backend of `access.chain` as `up` or `down`. A backend that is down is a detail: it does not make the node unready, because the other nodes have the same backends. Each bridge is shown as `connected`,
            `connecting`, `disconnected`, `standby` or `stopped`, and does not make the node unready either. Each action of a [rule](rules.md) is `up`, or `down` while its sink fails; a detail, too. So is each [source](rules.md#sources): `running`, `paused`, `failing`, `standby` or `stopped`.
            `overload` is a detail, too: `none`, or the level with its cause ([overload](tuning.md#overload)).

            `smqtt.cluster.*` exists in a cluster only, `smqtt.replica.*` with `storage.replicas` above 1. `/cluster` shows each node ([clustering.md](clustering.md)).

            ## Alarms

            An alarm is a condition that an operator should know of. The broker checks the conditions every five seconds. An alarm ends when its condition was absent for 30 seconds.

            | alarm | severity | condition |
            |---|---|---|
            | `disk_low` | warning | less than `management.alarms.min-free-disk-bytes` (1 GiB) are free in the file system of the store |
            | `store_unhealthy` | critical | the store refuses operations, or has been at one commit for ten seconds |
            | `overload` | warning, from level 2 critical | the level of [overload](tuning.md#overload) is above 0, or an event loop was more than one second behind within the last 15 to 30 seconds |
            | `heap_high` | warning | after a collection more than 90 % of the heap for old objects are in use |
            | `limit_near/<key>` | warning | 80 % (`management.alarms.limit-percent`) of a limit are in use: `max-connections`, `max-sessions`, `max-total-session-bytes`, `max-total-queued-bytes`, `max-retained-messages`, `max-retained-bytes`, and `max-bytes` of the store |
            | `peer_gone/<node>` | warning | a node of the cluster cannot be reached; not a front node, which holds nothing |
            | `bridge_down/<name>` | critical | the bridge `<name>` has lost its connection, or an attempt to connect has failed; not one that an operator has stopped |
            | `backend_down/<name>` | critical | the backend `<name>` of `access.chain` fails: it is not asked, except for one request every few seconds |
            | `no_majority` | critical | with `storage.replicas` above 1: this node commits nothing that its clients store, because it reaches no majority of its replicas or does not lead them |
            | `replica_failed/<node>` | critical | with `storage.replicas` above 1: the replica of that node's store on this node has ended, for example because its disk is full, or another node has served the store of this one. It ends when the disk takes writes again and the replicas are open; if `/health/live` fails, the node has to be started again |
            | `too_few_members` | critical | fewer nodes than `cluster.min-members` can be reached, front nodes not counted |
            | `no_keeper` | critical | a front node reaches no node that takes its clients with stored sessions |
            | `certificate_expires/<block>` | warning, then critical | a certificate of `<block>.tls.certificate` expires within 14 days (`management.alarms.certificate-expiry`), or has expired. The files are read once an hour |

            Where alarms are shown:

            - **Log**: a warning when an alarm begins, a line when it ends.
            - **`$SYS/broker/alarms/<alarm>`**: a retained message when it begins, and when it ends. The broker keeps the last 100 that have ended.

              ```
              {"name":"limit_near/max-sessions","severity":"warning","message":"4 of limits.max-sessions 5 are in use","node":"n1","since":"2026-11-23T16:20:05.113Z","until":null}
              ```

            - **Webhook**: the same JSON as POST to `management.alarms.webhook`, with `webhook-token` as bearer token. An answer other than 2xx is repeated after 1 s, then less often, up to every minute. Alarms are sent in order;
              at most 200 wait, beyond that the oldest is dropped and logged. What waits when the broker stops is lost.
            - **Metric**: `smqtt.alarms.active`, by severity.

            ## Access

            Health can be read by every client that reaches the port, also with a wrong token. Without the right to see more, a client gets one word.

            | | other paths |
            |---|---|
            | with `management.token-file`, which is required for any address but loopback | the token of that file: `Authorization: Bearer ...` |
            | without it, on loopback | every local user can read `/metrics` and `/cluster`. The request must name an address or `localhost`, so that a web page cannot make a browser read them. Everything that shows or ends sessions needs the token in the file `management.token` of the data directory. The broker creates that file at its first start, readable for its own user only |

            - With `storage.kind: memory` there is no data directory, and so no control without `token-file`.
            - SIGHUP reloads the token.
            - With `management.tls` the port uses HTTPS ([security](security.md#the-management-port)).

            ### Limits of the management port

            - The port accepts 384 connections whose last request had the token, and 128 others. Health requests count among the others, even with the token. So a flood of connections does not block probes, and probes do not block a program with the token.
            - When a class is full, a new connection replaces the connection of its class that has been idle longest. If none is idle, it replaces the one of the others whose request has taken longest; a request with the
              token is answered with 503 (`Retry-After: 1`).
            - `smqtt.management.*` counts both.
            - A connection has ten seconds for its first request, and ten more for a body (then 408). A connection that is idle for 75 seconds is closed.
            - Invalid requests are answered with 400, 414 or 431, and logged once a minute.

            ## Push

            The broker can also send the same meters. It sends them at an interval, and once more when it stops:

            ```yaml
            management:
              otlp:
                url: http://127.0.0.1:4318/v1/metrics
              influx:
                url: http://127.0.0.1:8086
                database: mqtt
            ```

            - **`management.otlp`**: OTLP by HTTP and protobuf, for an OpenTelemetry collector or any program that understands it. `headers` can have its key. The resource has `service.name` (`smqtt`, or
              `OTEL_SERVICE_NAME`), `service.instance.id` (the node id in a cluster, otherwise the host name), and the attributes of `OTEL_RESOURCE_ATTRIBUTES`.
            - **`management.influx`**: InfluxDB's line protocol; version 2 with `org`, `bucket` and `token`, otherwise version 1 with `database`. The tag `instance` identifies the broker.
            - **Secrets** belong in files: `SMQTT_MANAGEMENT__INFLUX__TOKEN_FILE`, `SMQTT_MANAGEMENT__INFLUX__PASSWORD_FILE`, `SMQTT_MANAGEMENT__OTLP__HEADERS_FILE`.
            - **Failures**: each receiver has its own thread. It gives up after one second without a connection, or three without an answer. The log has a warning once a minute during the failure, and a line when it is
              over. The broker is not affected. A stop takes at most four seconds longer.

            ## Terminal and dashboards

            - `bin/smqtt top` shows clients, rates, drops by reason, times, event loops, store and cluster in a terminal, every two seconds. It asks the broker of the configuration (`--config`, `--set`), or
              another one: `--url` with `--token-file` and, for HTTPS, `--ca`. `--count 1` prints once and ends.
            - Dashboards for Grafana and rules for Prometheus: [deploy](../deploy/README.md).
            - The cost of the meters: [benchmarks](benchmarks.md#what-metrics-cost).

            ## How messages are counted

            On one node this always holds:

            `matched` = `delivered` + `dropped` + `elsewhere` + `pending`

            - `pending` are the messages in the queues of sessions, and those for other nodes, when no message is in flight ([over all nodes](#the-account-over-all-nodes)).
            - `$SYS` messages that a subscriber gets are counted like all others.
            - A client that is disconnected because it reads too slowly is counted in `smqtt.clients.slow`, and also in `smqtt.connections.closed` with `quota_exceeded`. The QoS 0 messages that it missed are
              dropped with `slow_consumer`.
            - `smqtt.traffic.*` are the bytes of MQTT, without TLS and WebSocket.

            ### The account over all nodes

            Each node of a cluster has its own account. Each account balances, and so does their sum. To a node, another node is one subscriber: a message that is forwarded is `received` and `matched` on both nodes, and
            `delivered` on the first when the second has accepted it. With the sources of `matched` and the reasons of `elsewhere`:

            ```
            publish + retained + redispatch + recovered + moved + repeated
                = delivered + dropped + pending + elsewhere: moved + duplicate + unconfirmed + sent_before
            ```

            | | is counted when |
            |---|---|
            | `elsewhere`: `moved` | a session moves to another node: its queued messages |
            | `matched`: `moved` | the session arrives there: the messages that came with it, and for a stored session also the messages that were sent to the client and not acknowledged |
            | `elsewhere`: `sent_before` | such a message, or one from before a restart, is about to be sent again: it was counted as delivered the first time |
            | `elsewhere`: `duplicate` | a session got a message from two nodes, because the session moved at that time or was claimed on both sides of a network partition; or from one node again, after a crash of its own node; the message is delivered once |
            | `elsewhere`: `unconfirmed`, `matched`: `repeated` | a node fails before it has confirmed a message for a member of a shared group, and another member gets the message: as many of both |
            | `matched`: `repeated` alone | a member of a group could not keep a message, which returns to its origin and is routed again; or a session that was claimed on both sides of a partition had already sent it to its client |

            - **Duplicates** are visible: they are `repeated` and, over all nodes when no message is in flight, the amount by which `matched`: `moved` exceeds `elsewhere`: `moved`. That difference is the messages that clients were sent
              before, or comes from an interrupted move, after which both nodes have the session until they meet.
            - **Failed nodes**: the counts of a failed node are lost. After a restart it begins with the messages in its store, `recovered`.
            - **Test**: `AccountsUnderFaultsTest` shows that the accounts balance for one, two and three nodes, with clients that move, shared groups, partitions, kills, and stores that fail.

            ## Topics below $SYS

            The broker publishes the same topics as mosquitto, retained, every `management.sys-interval` (10 s by default, at least 100 ms; or `never`). A topic is published when its value has changed.

            - Without an ACL file every client can read them, as with mosquitto. With one, a client needs a rule or the role `admin` ([security](security.md#the-brokers-own-topics)).
            - All topics of mosquitto 2.0 exist. A test compares both lists, and the values of both brokers for the same clients.
            - `<n>` is `1min`, `5min` or `15min`: the value per minute, as a moving average over that time.

            | below `$SYS/broker/` | value |
            |---|---|
            | `version`, `uptime` | of the program; `123 seconds` |
            | `clients/connected`, `clients/active` (old name) | connected clients |
            | `clients/disconnected`, `clients/inactive` (old name) | sessions whose client is offline |
            | `clients/total`, `clients/maximum` | the sum of both; the maximum number connected at the same time |
            | `clients/expired` | sessions that expired |
            | `messages/received`, `messages/sent` | packets of every kind from and to clients |
            | `bytes/received`, `bytes/sent` | their bytes, without TLS and WebSocket |
            | `publish/messages/received`, `publish/messages/sent`, `publish/messages/dropped` | messages accepted from publishers, written to subscribers, dropped |
            | `publish/bytes/received`, `publish/bytes/sent` | payload bytes of these |
            | `messages/inflight` | messages sent to subscribers and not acknowledged (in mosquitto 1, not in mosquitto 2) |
            | `store/messages/count`, `messages/stored` (old name) | retained messages and those in the queues of sessions |
            | `store/messages/bytes` | bytes of these, topics and properties included. mosquitto counts a message in several queues once, and its payload only |
            | `retained messages/count` | retained messages, the broker's own included |
            | `overload` (not in mosquitto) | the level of [overload](tuning.md#overload), 0 to 3 |
            | `alarms/...` (not in mosquitto) | [alarms](#alarms) |
            | `alarms/parked` (not in mosquitto) | published at once, not at the interval, when messages for an absent node of the cluster were dropped: `{"node":"n3","reason":"forgotten","messages":285,"parked":0}`. `reason` is `limit`, `forgotten` or `unreadable`; `messages` counts since the last one for this node and reason, at most one a minute; `parked` is what is left for the node |
            | `subscriptions/count`, `shared_subscriptions/count` | subscriptions of this node's clients. For shared subscriptions mosquitto counts the members, smqtt counts the groups |
            | `load/messages/received/<n>`, `load/messages/sent/<n>`, `load/bytes/received/<n>`, `load/bytes/sent/<n>` | packets and bytes |
            | `load/publish/received/<n>`, `load/publish/sent/<n>`, `load/publish/dropped/<n>` | messages |
            | `load/connections/<n>`, `load/sockets/<n>` | accepted clients; opened connections |
            | `heap/current`, `heap/maximum` | bytes of the heap in use; its maximum size. mosquitto: the maximum that was in use |

            ## Traces

            Traces are off by default. Then the message path does nothing for them, and no class of a tracer is loaded. To switch them on, set a receiver:

            ```yaml
            management:
              tracing:
                url: http://127.0.0.1:4318/v1/traces
                share: 0.01
            ```

            - **Spans.** A published message makes two spans. `receive` lasts from its receipt until it is routed; its parent is the span in the publisher's user properties of MQTT 5.0 (`traceparent` and
              `tracestate` of W3C). Its child `route` is the context that subscribers get instead of the publisher's. All other user properties keep their values and order.
            - **Sampling.** For messages with a `traceparent` its own flag decides, so a publisher can have all its messages traced
              ([a risk](security.md#what-the-broker-protects-and-what-you-must-protect)). Of the others, `share` is traced, by default one in a hundred.
            - **Subscribers.** Subscribers with MQTT 3.1.1 get no context, because they have no user properties. The added bytes count towards a subscriber's Maximum Packet Size.
            - **Not traced**: wills, `$SYS` topics and messages that the application publishes itself.
            - **Cluster**: the node to which a message was published traces it. Subscribers on other nodes get its context.
            - **Export.** Spans are sent by OTLP (HTTP, protobuf), every second and once more at a stop, with the resource attributes of the metrics. `headers` can have a key, also from a file:
              `SMQTT_MANAGEMENT__TRACING__HEADERS_FILE`.
            - **Limits.** At most 2,048 spans wait. Further spans are dropped, and so are spans that the receiver does not accept within three seconds. A warning has the number of both and the reason, at most once a
              minute. The broker is not affected. A stop takes at most four seconds longer.
            - **Topics** are truncated to 1,024 characters.
            - **Logging.** Warnings of OpenTelemetry's libraries are in the log of the program. In an embedded broker they stay in the log of the JDK.
            - **Cost**: [benchmarks](benchmarks.md#what-traces-cost).

            ### Traces of an application with an embedded broker

            Give the builder `MessageTracing.of(observationRegistry, share)` as the last `interceptor`, and its `observer()` as an observer ([embedding](embedding.md)). The tracer of the registry then decides what is
            added to the messages. `TraceModule` does for an embedded broker what the configuration above does for the program.

            ## Meters

            | meter | type | tags | unit | meaning |
            |---|---|---|---|---|
            """;

    private static final String FOOT = """

            ## About this page

            Generated from the registered meters: do not edit. The text above the table is in `MetricReferenceTest`. To generate this page again, run
            `mvn -pl smqtt-metric -am test -Dtest=MetricReferenceTest -Dsurefire.failIfNoSpecifiedTests=false -Dsmqtt.docs.write=true`.
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
        try (ObservedBroker broker = ObservedBroker.in(SampleCluster.three(), SampleBridges.one())) {
            broker.module.observer().connectionClosed("tcp", ReasonCode.SUCCESS);
            broker.module.observer().connectionRefused("tcp", "limits.max-connections");
            broker.module.observer().backendWorking("people", true);
            broker.module.observer().payloadValidated("sensors", "passed");
            new RuleMeters(broker.module.registry(), List::of).add("hot", "alarm");
            new SourceMeters(broker.module.registry(), new SampleSources()::status).add("orders");
            ReplicaMeters.bindTo(broker.module.registry(), new SampleReplicas());
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
            return HEAD + String.join("", rows.values()) + FOOT;
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
