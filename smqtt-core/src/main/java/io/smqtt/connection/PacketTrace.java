// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.codec.AuthPacket;
import io.smqtt.codec.ConnAck;
import io.smqtt.codec.ConnectPacket;
import io.smqtt.codec.DisconnectPacket;
import io.smqtt.codec.PublishPacket;
import io.smqtt.codec.SubscribePacket;
import io.smqtt.codec.UnsubscribePacket;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.Will;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicName;
import io.smqtt.trace.RunningTraces;
import io.smqtt.trace.TraceDetails;
import io.smqtt.trace.TraceEvent;
import io.smqtt.trace.TraceEvent.Kind;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reports the packets of a connection to the traces. Every method returns at once if no trace runs; callers on the message path check that
 * themselves. No method reports a password or authentication data.
 */
@OnEventLoop
final class PacketTrace {

    private static final byte[] NO_PAYLOAD = {};
    private static final String PACKET_ID = "packet_id";

    private PacketTrace() {}

    static void connect(TracedConnection connection, ConnectPacket packet) {
        RunningTraces traces = connection.traces();
        InetSocketAddress from = connection.link().remoteAddress();
        if (traces == null || !traces.include(packet.clientId(), from, null, List.of())) {
            return;
        }
        TraceDetails details = new TraceDetails()
                .with("listener", connection.link().listener())
                .with("protocol", packet.version())
                .with("clean_start", packet.cleanStart())
                .with("keep_alive", packet.keepAliveSeconds())
                .with("session_expiry", packet.sessionExpirySeconds())
                .with("receive_maximum", packet.receiveMaximum())
                .with("password", packet.password() == null ? "none" : "given")
                .with("authentication_method", packet.authenticationMethod());
        Will will = packet.will();
        if (will != null) {
            details.with("will_topic", will.message().topic().value())
                    .with("will_qos", will.message().qos().level())
                    .with("will_retain", will.message().retain())
                    .with("will_delay", will.delaySeconds());
        }
        traces.report(
                new TraceEvent(
                        System.currentTimeMillis(),
                        Kind.CONNECT_RECEIVED,
                        packet.clientId(),
                        packet.userName(),
                        from,
                        null,
                        0,
                        NO_PAYLOAD,
                        details.toMap()),
                List.of());
    }

    static void connAck(TracedConnection connection, ConnAck packet) {
        report(
                connection,
                Kind.CONNACK_SENT,
                List.of(),
                () -> new TraceDetails()
                        .reason(packet.reason())
                        .with("session_present", packet.sessionPresent())
                        .with("assigned_client_id", packet.assignedClientId())
                        .with("reason_string", packet.reasonString()));
    }

    static void publishReceived(TracedConnection connection, PublishPacket packet, ApplicationMessage message) {
        publish(
                connection,
                Kind.PUBLISH_RECEIVED,
                message,
                details(packet.packetId(), packet.qos(), packet.retain(), packet.duplicate())
                        .with("topic_alias", packet.topicAlias() == 0 ? null : Integer.toString(packet.topicAlias())));
    }

    /** Reports a QoS 2 message that was routed before. */
    static void repeated(TracedConnection connection, PublishPacket packet, TopicName topic) {
        RunningTraces traces = connection.traces();
        if (traces != null) {
            ApplicationMessage message =
                    ApplicationMessage.builder(topic.value()).build();
            publish(
                    connection,
                    Kind.PUBLISH_RECEIVED,
                    message,
                    details(packet.packetId(), packet.qos(), packet.retain(), packet.duplicate())
                            .with("repeated", true));
        }
    }

    static void publishSent(
            TracedConnection connection,
            ApplicationMessage message,
            QoS qos,
            boolean retain,
            int packetId,
            boolean duplicate) {
        publish(
                connection,
                Kind.PUBLISH_SENT,
                message,
                details(packetId, qos, retain, duplicate).with("publisher", message.publisherId()));
    }

    private static void publish(
            TracedConnection connection, Kind kind, ApplicationMessage message, TraceDetails details) {
        RunningTraces traces = connection.traces();
        if (traces != null) {
            ClientIdentity client = connection.clientOrNull();
            traces.report(kind, client == null ? null : client.clientId(), client, message, details);
        }
    }

    private static TraceDetails details(int packetId, QoS qos, boolean retain, boolean duplicate) {
        TraceDetails details = new TraceDetails();
        if (packetId != 0) {
            details.with(PACKET_ID, packetId);
        }
        return details.with("qos", qos.level()).with("retain", retain).with("dup", duplicate);
    }

    static void acknowledgement(TracedConnection connection, Kind kind, int packetId, ReasonCode reason) {
        report(
                connection,
                kind,
                List.of(),
                () -> new TraceDetails().with(PACKET_ID, packetId).reason(reason));
    }

    static void subscribe(TracedConnection connection, SubscribePacket packet) {
        if (connection.traces() != null) {
            List<String> filters = packet.requests().stream()
                    .map(SubscribePacket.Request::filter)
                    .toList();
            report(
                    connection,
                    Kind.SUBSCRIBE_RECEIVED,
                    filters,
                    () -> new TraceDetails()
                            .with(PACKET_ID, packet.packetId())
                            .with("filters", filters)
                            .with(
                                    "qos",
                                    packet.requests().stream()
                                            .map(request -> request.maximumQos().level())
                                            .toList()));
        }
    }

    static void unsubscribe(TracedConnection connection, UnsubscribePacket packet) {
        report(
                connection,
                Kind.UNSUBSCRIBE_RECEIVED,
                packet.filters(),
                () -> new TraceDetails().with(PACKET_ID, packet.packetId()).with("filters", packet.filters()));
    }

    /** Reports a SUBACK or UNSUBACK. */
    static void answers(TracedConnection connection, Kind kind, int packetId, List<ReasonCode> reasons) {
        report(
                connection,
                kind,
                List.of(),
                () -> new TraceDetails()
                        .with(PACKET_ID, packetId)
                        .with(
                                "reason_codes",
                                reasons.stream().map(ReasonCode::value).toList())
                        .with(
                                "reasons",
                                reasons.stream()
                                        .map(reason -> reason.name().toLowerCase(Locale.ROOT))
                                        .toList()));
    }

    /** Reports a packet that has no content. */
    static void plain(TracedConnection connection, Kind kind) {
        report(connection, kind, List.of(), TraceDetails::new);
    }

    static void auth(TracedConnection connection, Kind kind, AuthPacket packet) {
        report(
                connection,
                kind,
                List.of(),
                () -> new TraceDetails().reason(packet.reason()).with("authentication_method", packet.method()));
    }

    static void disconnectReceived(TracedConnection connection, DisconnectPacket packet) {
        report(connection, Kind.DISCONNECT_RECEIVED, List.of(), () -> {
            TraceDetails details = new TraceDetails().reason(packet.reason());
            return packet.sessionExpirySeconds() == DisconnectPacket.UNCHANGED
                    ? details
                    : details.with("session_expiry", packet.sessionExpirySeconds());
        });
    }

    /** Reports the reason of a DISCONNECT. Before MQTT 5.0 there is no such packet for the client. */
    static void disconnectSent(TracedConnection connection, ReasonCode reason, @Nullable String text) {
        if (connection.isV5()) {
            report(
                    connection,
                    Kind.DISCONNECT_SENT,
                    List.of(),
                    () -> new TraceDetails().reason(reason).with("reason_string", text));
        }
    }

    /** Reports the end of a connection, or its refusal. */
    static void ended(TracedConnection connection, Kind kind, String reason) {
        report(connection, kind, List.of(), () -> new TraceDetails().with("reason", reason));
    }

    /** Reports an action that the access rules deny. */
    static void denied(TracedConnection connection, String action, String topic, @Nullable String reason) {
        report(
                connection,
                Kind.DENIED,
                List.of(topic),
                () -> new TraceDetails()
                        .with("action", action)
                        .with("topic", topic)
                        .with("reason", reason));
    }

    private static void report(
            TracedConnection connection, Kind kind, List<String> filters, Supplier<TraceDetails> details) {
        RunningTraces traces = connection.traces();
        if (traces == null) {
            return;
        }
        ClientIdentity client = connection.clientOrNull();
        ConnectPacket packet = connection.connect();
        String clientId = client != null ? client.clientId() : packet == null ? null : packet.clientId();
        String userName = client != null ? client.userName() : packet == null ? null : packet.userName();
        InetSocketAddress from = connection.link().remoteAddress();
        if (traces.include(clientId, from, null, filters)) {
            traces.report(
                    new TraceEvent(
                            System.currentTimeMillis(),
                            kind,
                            clientId,
                            userName,
                            from,
                            null,
                            0,
                            NO_PAYLOAD,
                            details.get().toMap()),
                    filters);
        }
    }
}
