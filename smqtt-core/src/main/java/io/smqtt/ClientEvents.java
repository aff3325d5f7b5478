// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.ExclusiveSubscription;
import io.smqtt.routing.Matches;
import io.smqtt.routing.Subscription;
import io.smqtt.session.InProcess;
import io.smqtt.session.PacketSink;
import io.smqtt.session.Session;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ConnectRefusal;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import io.smqtt.transport.ListenerStatus;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Publishes what happens to clients: {@code $SYS/brokers/NODE/clients/CLIENTID/EVENT}, and {@code $events/KIND/EVENT} for all clients together. A message
 * is built only if there is a subscriber. All are published on one event loop, so events of one client keep their order.
 */
final class ClientEvents implements CoreFeature, LifecycleObserver {

    /** The name of a node without a cluster. */
    static final String ALONE = "smqtt";

    private static final String CLIENT = "client";
    private static final String CONNACK = "connack";
    private static final String SUBSCRIBED = "subscribed";

    private final EventOutlet outlet = new EventOutlet();
    private volatile @Nullable BrokerParts core;
    private volatile String node = ALONE;

    @Override
    public void start(BrokerParts parts, @Nullable Supplier<ClusterStatus> cluster) {
        if (cluster != null) {
            node = cluster.get().self().nodeId();
        }
        core = parts;
    }

    @Override
    public void stop() {
        core = null;
    }

    @Override
    public void clientConnected(ClientIdentity client, boolean sessionPresent) {
        publish(
                CLIENT,
                CONNACK,
                null,
                running -> connected(running, client, sessionPresent).put("reason_code", "success"));
        publish(CLIENT, "connected", client.clientId(), running -> connected(running, client, sessionPresent));
    }

    @Override
    public void connectRefused(ConnectRefusal refusal) {
        publish(CLIENT, CONNACK, null, running -> refused(running, refusal));
    }

    @Override
    public void clientDisconnected(ClientIdentity client, ReasonCode reason) {
        publish(CLIENT, "disconnected", client.clientId(), running -> {
            long now = System.currentTimeMillis();
            return client(running, client)
                    .put("reason", reason(reason))
                    .put("disconnected_at", now)
                    .put("ts", now);
        });
    }

    @Override
    public void subscribed(String clientId, String filter, boolean isNew) {
        if (!InProcess.isReserved(clientId)) {
            publish("session", SUBSCRIBED, clientId, running -> {
                JsonText options = new JsonText();
                Session session = running.sessions().find(clientId);
                Subscription made = session == null ? null : subscription(session, filter);
                if (made != null) {
                    options.put("qos", made.maximumQos().level())
                            .put("nl", made.noLocal() ? 1 : 0)
                            .put("rap", made.retainAsPublished() ? 1 : 0);
                }
                return filter(session, clientId, filter).put("subopts", options.put("is_new", isNew));
            });
        }
    }

    @Override
    public void unsubscribed(String clientId, String filter) {
        if (!InProcess.isReserved(clientId)) {
            publish(
                    "session",
                    "unsubscribed",
                    clientId,
                    running -> filter(running.sessions().find(clientId), clientId, filter));
        }
    }

    // --- the contents

    private static JsonText connected(BrokerParts running, ClientIdentity client, boolean sessionPresent) {
        Session session = running.sessions().find(client.clientId());
        PacketSink connection = session == null ? null : session.sink();
        JsonText json = client(running, client).put("session_present", sessionPresent);
        if (session != null && connection != null) {
            json.put("keepalive", connection.keepAliveSeconds())
                    .put("clean_start", connection.cleanStart())
                    .put("expiry_interval", session.expirySeconds())
                    .put("connected_at", connection.connectedAtMillis());
        }
        return json.put("connack", 0).put("ts", System.currentTimeMillis());
    }

    private static JsonText client(BrokerParts running, ClientIdentity client) {
        ProtocolVersion version = client.version();
        return network(running, client.clientId(), client.userName(), client.remoteAddress(), client.listener())
                .put("proto_name", version.protocolName())
                .put("proto_ver", version.level());
    }

    private static JsonText refused(BrokerParts running, ConnectRefusal refusal) {
        return network(running, refusal.clientId(), refusal.userName(), refusal.remoteAddress(), refusal.listener())
                .put("reason_code", reason(refusal.reason()))
                .put("ts", System.currentTimeMillis());
    }

    /** The identity and the address of a client. */
    static JsonText network(
            BrokerParts running,
            @Nullable String clientId,
            @Nullable String userName,
            InetSocketAddress address,
            String listener) {
        String ip = ip(address);
        return new JsonText()
                .put("clientid", clientId)
                .put("username", userName)
                .put("ipaddress", ip)
                .put("peername", ip + ':' + address.getPort())
                .put("sockport", port(running, listener));
    }

    static String ip(InetSocketAddress address) {
        return address.getAddress() == null
                ? address.getHostString()
                : address.getAddress().getHostAddress();
    }

    private static int port(BrokerParts running, String listener) {
        return running.listeners().status().stream()
                .filter(one -> one.name().equals(listener))
                .mapToInt(ListenerStatus::port)
                .findFirst()
                .orElse(0);
    }

    /** The name of a reason in events. */
    static String reason(ReasonCode reason) {
        return switch (reason) {
            case SUCCESS -> "normal";
            case SESSION_TAKEN_OVER -> "takenover";
            default -> reason.name().toLowerCase(Locale.ROOT);
        };
    }

    private static JsonText filter(@Nullable Session session, String clientId, String filter) {
        return new JsonText()
                .put("clientid", clientId)
                .put("username", session == null ? null : session.client().userName())
                .put("topic", filter)
                .put("protocol", "mqtt")
                .put("ts", System.currentTimeMillis());
    }

    private static @Nullable Subscription subscription(Session session, String filter) {
        try {
            SharedFilter shared = SharedFilter.isShared(filter) ? SharedFilter.of(filter) : null;
            if (shared != null) {
                return session.subscriptions().get(shared.filter(), shared.shareName());
            }
            Subscription found = session.subscriptions().get(TopicFilter.of(filter), null);
            return found == null && filter.startsWith(ExclusiveSubscription.PREFIX)
                    ? session.subscriptions()
                            .get(TopicFilter.of(filter.substring(ExclusiveSubscription.PREFIX.length())), null)
                    : found;
        } catch (InvalidTopicException e) {
            return null;
        }
    }

    // --- publishing

    /** Makes the contents of an event. */
    private interface Contents {
        JsonText of(BrokerParts running);
    }

    /** Publishes an event; without a client identifier only to the topic of all clients. */
    private void publish(String kind, String event, @Nullable String clientId, Contents contents) {
        BrokerParts running = core;
        if (running == null) {
            return;
        }
        TopicName all = TopicName.of("$events/" + kind + '/' + event);
        TopicName own = clientId == null ? null : own(clientId, event);
        Matches matches = new Matches();
        boolean toAll = EventOutlet.isAwaited(running, all, matches);
        boolean toOwn = own != null && EventOutlet.isAwaited(running, own, matches);
        if (!toAll && !toOwn) {
            return;
        }
        String payload = contents.of(running)
                .put("event", kind + '.' + event)
                .put("node", node)
                .put("timestamp", System.currentTimeMillis())
                .toString();
        if (own != null && toOwn) {
            outlet.publish(running, own, () -> payload);
        }
        if (toAll) {
            outlet.publish(running, all, () -> payload);
        }
    }

    /** The topic of one client; null for a client identifier that is not a level of a topic. */
    private @Nullable TopicName own(String clientId, String event) {
        if (clientId.indexOf('/') >= 0) {
            return null;
        }
        try {
            return TopicName.of("$SYS/brokers/" + node + "/clients/" + clientId + '/' + event);
        } catch (InvalidTopicException e) { // a wildcard, or too long
            return null;
        }
    }
}
