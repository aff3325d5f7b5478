// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ConnectionRefusals;
import io.smqtt.thread.AnyThread;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Meters of connections. Tags are names of listeners and limits from the configuration, and constants of the protocol.
 */
@AnyThread
final class ConnectionCounts {

    private static final Set<ReasonCode> BAD_CREDENTIALS =
            Set.of(ReasonCode.BAD_USER_NAME_OR_PASSWORD, ReasonCode.BAD_AUTHENTICATION_METHOD);
    private static final Set<ReasonCode> FORBIDDEN = Set.of(ReasonCode.NOT_AUTHORIZED, ReasonCode.BANNED);

    /** The reason codes of CONNACK (MQTT 5.0, table 3-1). */
    private static final Set<ReasonCode> IN_CONNACK = Set.copyOf(EnumSet.of(
            ReasonCode.UNSPECIFIED_ERROR,
            ReasonCode.MALFORMED_PACKET,
            ReasonCode.PROTOCOL_ERROR,
            ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR,
            ReasonCode.UNSUPPORTED_PROTOCOL_VERSION,
            ReasonCode.CLIENT_IDENTIFIER_NOT_VALID,
            ReasonCode.BAD_USER_NAME_OR_PASSWORD,
            ReasonCode.NOT_AUTHORIZED,
            ReasonCode.SERVER_UNAVAILABLE,
            ReasonCode.SERVER_BUSY,
            ReasonCode.BANNED,
            ReasonCode.BAD_AUTHENTICATION_METHOD,
            ReasonCode.TOPIC_NAME_INVALID,
            ReasonCode.PACKET_TOO_LARGE,
            ReasonCode.QUOTA_EXCEEDED,
            ReasonCode.PAYLOAD_FORMAT_INVALID,
            ReasonCode.RETAIN_NOT_SUPPORTED,
            ReasonCode.QOS_NOT_SUPPORTED,
            ReasonCode.USE_ANOTHER_SERVER,
            ReasonCode.SERVER_MOVED,
            ReasonCode.CONNECTION_RATE_EXCEEDED));

    private final MeterRegistry registry;
    private final Map<String, OfListener> listeners = new ConcurrentHashMap<>();
    private final Map<String, Counter> byTags = new ConcurrentHashMap<>();
    private final Counter authenticated;
    private final Counter badCredentials;
    private final Counter forbidden;
    private final LongAdder online = new LongAdder();
    private final LongAdder accepted = new LongAdder();
    private final LongAdder opened = new LongAdder();

    ConnectionCounts(MeterRegistry registry, Set<String> listeners) {
        this.registry = registry;
        authenticated = authentications("accepted");
        badCredentials = authentications("bad_credentials");
        forbidden = authentications("not_authorized");
        for (String name : listeners) {
            listener(name);
            ConnectionRefusals.ALL.forEach(
                    reason -> refusals(name, reason)); // registered with 0, so that the first refusal is an increase
            IN_CONNACK.forEach(reason -> rejections(name, reason));
        }
    }

    private Counter authentications(String outcome) {
        return Counter.builder("smqtt.authentications")
                .description("authentications at CONNECT, by outcome")
                .tag("outcome", outcome)
                .register(registry);
    }

    private OfListener listener(String name) {
        OfListener known = listeners.get(name);
        return known == null ? listeners.computeIfAbsent(name, key -> new OfListener(key, registry)) : known;
    }

    void opened(String listener) {
        listener(listener).opened.increment();
        opened.increment();
    }

    void closed(String listener, ReasonCode reason) {
        listener(listener).closed.increment();
        String name = Tagged.of(reason);
        byTags.computeIfAbsent(
                        "closed " + listener + ' ' + name,
                        key -> Counter.builder("smqtt.connections.closed")
                                .description("transport connections closed, by reason code")
                                .tags("listener", listener, "reason", name)
                                .register(registry))
                .increment();
    }

    void refused(String listener, String reason) {
        refusals(
                        listener,
                        reason.startsWith("listeners.")
                                ? "listeners.<name>" + reason.substring(reason.lastIndexOf('.'))
                                : reason)
                .increment();
    }

    private Counter refusals(String listener, String reason) {
        return byTags.computeIfAbsent(
                "refused " + listener + ' ' + reason,
                key -> Counter.builder("smqtt.connections.refused")
                        .description(
                                "connections refused before their CONNECT was complete, by the key of the limit or the "
                                        + "kind of error")
                        .tags("listener", listener, "reason", reason)
                        .register(registry));
    }

    void sessionRefused(String limit) {
        byTags.computeIfAbsent(
                        "session refused " + limit,
                        key -> Counter.builder("smqtt.sessions.refused")
                                .description("clients, filters and stored sessions refused by a limit of session"
                                        + " memory, by the key of the limit")
                                .tags("limit", limit)
                                .register(registry))
                .increment();
    }

    void tooSlow(String listener) {
        listener(listener).tooSlow.increment();
    }

    private Counter rejections(String listener, ReasonCode reason) {
        String name = Tagged.of(reason);
        return byTags.computeIfAbsent(
                "rejected " + listener + ' ' + name,
                key -> Counter.builder("smqtt.clients.rejected")
                        .description("clients refused at CONNECT, by the reason code of CONNACK")
                        .tags("listener", listener, "reason", name)
                        .register(registry));
    }

    void rejected(String listener, ReasonCode reason) {
        rejections(listener, reason).increment();
        if (BAD_CREDENTIALS.contains(reason)) {
            badCredentials.increment();
        } else if (FORBIDDEN.contains(reason)) {
            forbidden.increment();
        }
    }

    void connected(ClientIdentity client, boolean sessionPresent) {
        OfListener listener = listener(client.listener());
        OfProtocol protocol = listener.of(client.version());
        protocol.online.increment();
        (sessionPresent ? protocol.resumed : protocol.fresh).increment();
        authenticated.increment();
        online.increment();
        accepted.increment();
    }

    void disconnected(ClientIdentity client) {
        listener(client.listener()).of(client.version()).online.decrement();
        online.decrement();
    }

    /** Clients that are connected now. */
    long online() {
        return online.sum();
    }

    /** Clients that were ever accepted. */
    long accepted() {
        return accepted.sum();
    }

    /** Transport connections that are open now. */
    long open() {
        return listeners.values().stream()
                .mapToLong(listener -> (long) listener.active())
                .sum();
    }

    /** Transport connections that were ever opened. */
    long opened() {
        return opened.sum();
    }

    /** The counters of one listener. */
    private static final class OfListener {

        private final LongAdder opened = new LongAdder();
        private final LongAdder closed = new LongAdder();
        private final LongAdder tooSlow = new LongAdder();
        private final Map<ProtocolVersion, OfProtocol> protocols = new EnumMap<>(ProtocolVersion.class);

        OfListener(String name, MeterRegistry registry) {
            for (ProtocolVersion version : ProtocolVersion.values()) {
                protocols.put(
                        version, new OfProtocol(Tags.of("listener", name, "protocol", protocol(version)), registry));
            }
            FunctionCounter.builder("smqtt.connections.opened", opened, LongAdder::sum)
                    .description("transport connections accepted")
                    .tag("listener", name)
                    .register(registry);
            FunctionCounter.builder("smqtt.clients.slow", tooSlow, LongAdder::sum)
                    .description("clients disconnected because they read too slowly")
                    .tag("listener", name)
                    .register(registry);
            Gauge.builder("smqtt.connections.active", this, OfListener::active)
                    .description("open transport connections")
                    .tag("listener", name)
                    .register(registry);
        }

        private double active() {
            long ended = closed.sum();
            return Math.max(0, opened.sum() - ended);
        }

        OfProtocol of(ProtocolVersion version) {
            OfProtocol known = protocols.get(version);
            if (known == null) {
                throw new IllegalArgumentException("unknown version");
            }
            return known;
        }

        private static String protocol(ProtocolVersion version) {
            return switch (version.level()) {
                case 3 -> "3.1";
                case 4 -> "3.1.1";
                default -> "5.0";
            };
        }
    }

    /** The counters of one listener and protocol version. */
    private static final class OfProtocol {

        private final LongAdder online = new LongAdder();
        private final Counter fresh;
        private final Counter resumed;

        OfProtocol(Tags tags, MeterRegistry registry) {
            Gauge.builder("smqtt.clients.online", online, LongAdder::sum)
                    .description("connected clients")
                    .tags(tags)
                    .register(registry);
            fresh = accepted(tags.and("session", "new"), registry);
            resumed = accepted(tags.and("session", "resumed"), registry);
        }

        private static Counter accepted(Tags tags, MeterRegistry registry) {
            return Counter.builder("smqtt.clients.accepted")
                    .description("clients whose CONNECT was accepted")
                    .tags(tags)
                    .register(registry);
        }
    }
}
