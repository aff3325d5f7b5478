// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.BrokerModule;
import io.smqtt.config.BridgeTopic;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.session.PacketSink;
import io.smqtt.session.Session;
import io.smqtt.session.SessionRequest;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicFilter;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Opens the session of a bridge before its first connection, and gives it the subscriptions of the configuration: messages wait in it from
 * the start of the broker. Is the connection of the session for that moment, through which nothing is sent.
 */
@OnEventLoop
final class BridgeSession implements PacketSink {

    private static final Logger LOG = LoggerFactory.getLogger(BridgeSession.class);
    private static final long NEVER_EXPIRES = 0xFFFF_FFFFL;

    private final String name;
    private final boolean restricted;
    private final Map<TopicFilter, QoS> wanted = new HashMap<>();

    private BridgeSession(String name, boolean restricted, List<BridgeTopic> topics) {
        this.name = name;
        this.restricted = restricted;
        for (BridgeTopic topic : topics) {
            if (topic.out()) {
                wanted.merge(topic.local(), QoS.of(topic.qos()), (a, b) -> a.compareTo(b) < 0 ? b : a);
            }
        }
    }

    /**
     * The session at the start of the broker.
     *
     * @param wasPresent whether it was there before
     * @param added the filters of its new subscriptions, whose retained messages it has not yet
     */
    record Opened(boolean wasPresent, Set<TopicFilter> added) {

        /** Copies the set. */
        Opened {
            added = Set.copyOf(added);
        }
    }

    /**
     * Opens the session. An error does not stop the broker: it is logged, and the session is opened with the first connection.
     *
     * @param localUser whose access rights count; empty if it may do everything that clients may
     * @return what was there; empty if the session could not be opened
     */
    @AnyThread
    static Mono<Opened> open(
            BrokerModule.Core core, String name, String id, String localUser, List<BridgeTopic> topics) {
        return Mono.create(sink -> {
            List<RoutingLoop> loops = core.router().loops();
            RoutingLoop loop = loops.get(Math.floorMod(id.hashCode(), loops.size()));
            BridgeSession session = new BridgeSession(name, !localUser.isEmpty(), topics);
            Authentication.Accepted accepted = BridgeLink.accepted(localUser);
            ClientIdentity identity = new ClientIdentity(
                    id,
                    accepted.userName(),
                    InetSocketAddress.createUnresolved("bridge", 0),
                    "bridge-" + name,
                    ProtocolVersion.MQTT_5,
                    accepted.roles(),
                    false,
                    accepted.grants());
            loop.executor()
                    .execute(() -> core.sessions()
                            .open(new SessionRequest(
                                    identity, false, NEVER_EXPIRES, null, session, loop, session.replyTo(sink))));
        });
    }

    private SessionRequest.Reply replyTo(MonoSink<Opened> sink) {
        return new SessionRequest.Reply() {
            @Override
            public void opened(Session session, boolean sessionPresent) {
                Set<TopicFilter> added = subscribe(session);
                session.afterCommit(kept -> {
                    session.connectionEnded(BridgeSession.this, false, -1);
                    sink.success(new Opened(sessionPresent, added));
                });
            }

            @Override
            public void refused(ReasonCode reason) {
                LOG.error("bridge {}: messages do not wait before the first connection: {}", name, reason);
                sink.success();
            }
        };
    }

    /** Changes the subscriptions to those of the configuration. */
    private Set<TopicFilter> subscribe(Session session) {
        List<TopicFilter> former = new ArrayList<>();
        session.subscriptions().forEach(subscription -> {
            if (subscription.shareName() == null && !wanted.containsKey(subscription.filter())) {
                former.add(subscription.filter());
            }
        });
        former.forEach(filter -> session.subscriptions().unsubscribe(filter, null));
        Set<TopicFilter> added = new HashSet<>();
        wanted.forEach((filter, qos) -> {
            Subscription present = session.subscriptions().get(filter, null);
            if (present == null) {
                added.add(filter);
            }
            if (present == null || present.maximumQos() != qos) {
                subscribe(
                        session, new Subscription(session, filter, null, qos, true, true, Subscription.NO_IDENTIFIER));
            }
        });
        return added;
    }

    private void subscribe(Session session, Subscription subscription) {
        if (restricted) {
            session.subscriptions().subscribeIfAllowed(subscription);
        } else {
            session.subscriptions().subscribe(subscription);
        }
    }

    // --- the connection

    @Override
    public boolean isWritable() {
        return false;
    }

    @Override
    public int sendMaximum() {
        return 1;
    }

    @Override
    public boolean publish(
            ApplicationMessage message,
            Subscription subscription,
            QoS qos,
            boolean retain,
            int packetId,
            boolean duplicate) {
        throw new IllegalStateException("nothing is sent while the session is opened");
    }

    @Override
    public void pubRel(int packetId) {
        throw new IllegalStateException("nothing is sent while the session is opened");
    }

    @Override
    public void disconnect(ReasonCode reason) {} // there is no connection to close
}
