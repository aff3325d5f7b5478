// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.broker;

import io.smqtt.admin.ClientRow;
import io.smqtt.admin.SubscriptionInfo;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.ClientIdentity;
import java.net.InetAddress;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fields of sessions and subscriptions, named as in other brokers' APIs. The API and the actuator endpoint show them. Values are texts,
 * numbers, booleans and null.
 */
public final class ClientFields {

    private ClientFields() {}

    /**
     * Returns the fields of a session.
     *
     * @param row the session
     * @param node the name of its node
     * @param limits the limits of that node
     * @return the fields, in their order; may be changed
     */
    public static Map<String, @Nullable Object> of(ClientRow row, String node, LimitsConfig limits) {
        ClientIdentity identity = row.info().identity();
        InetAddress address = identity.remoteAddress().getAddress();
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("node", node);
        all.put("clientid", identity.clientId());
        all.put("username", identity.userName());
        all.put("connected", row.info().connected());
        all.put("ip_address", address == null ? "" : address.getHostAddress());
        all.put("port", address == null ? 0 : identity.remoteAddress().getPort());
        all.put("listener", identity.listener());
        all.put("front", row.front());
        all.put("proto_name", identity.version() == ProtocolVersion.MQTT_3_1 ? "MQIsdp" : "MQTT");
        all.put("proto_ver", version(identity.version()));
        all.put("is_bridge", identity.bridge());
        all.put("clean_start", row.cleanStart());
        all.put("keepalive", row.keepAliveSeconds());
        all.put("expiry_interval", row.expirySeconds());
        Long connectedAt = row.connectedAtMillis();
        all.put(
                "connected_at",
                connectedAt == null ? null : Instant.ofEpochMilli(connectedAt).toString());
        all.put("durable", row.stored());
        all.put("subscriptions_cnt", row.info().subscriptions());
        all.put("subscriptions_max", limits.maxSubscriptionsPerClient());
        all.put("inflight_cnt", row.info().inFlight());
        all.put("inflight_max", row.sendMaximum());
        all.put("mqueue_len", row.info().queued());
        all.put("mqueue_max", limits.maxQueuedMessages());
        all.put("mqueue_bytes", row.queuedBytes());
        all.put("mqueue_dropped", row.dropped());
        return all;
    }

    /** The protocol level of CONNECT. */
    static int version(ProtocolVersion version) {
        return switch (version) {
            case MQTT_3_1 -> 3;
            case MQTT_3_1_1 -> 4;
            case MQTT_5 -> 5;
        };
    }

    /**
     * Returns the fields of a subscription.
     *
     * @param subscription the subscription
     * @param node the name of its node
     * @return the fields, in their order; may be changed
     */
    public static Map<String, @Nullable Object> of(SubscriptionInfo subscription, String node) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("node", node);
        all.put("clientid", subscription.subscriber());
        all.put("topic", subscription.clientFilter());
        all.put("qos", subscription.maximumQos().level());
        all.put("nl", subscription.noLocal() ? 1 : 0);
        all.put("rap", subscription.retainAsPublished() ? 1 : 0);
        return all;
    }
}
