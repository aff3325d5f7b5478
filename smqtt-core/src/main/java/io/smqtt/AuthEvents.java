// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.connection.ConnectionLoop;
import io.smqtt.connection.DecisionListener;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.session.InProcess;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicName;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the decisions of authentication and authorization: the topics {@code $events/auth/…}. Event loops report them only while one of the topics has a
 * subscriber.
 */
@AnyThread
final class AuthEvents implements CoreFeature, LifecycleObserver, DecisionListener {

    private static final TopicName AUTHENTICATION = TopicName.of("$events/auth/check_authn_complete");
    private static final TopicName AUTHORIZATION = TopicName.of("$events/auth/check_authz_complete");

    private final Collection<ConnectionLoop> loops;
    private final EventOutlet outlet = new EventOutlet();
    private final AwaitedTopics topics = new AwaitedTopics(List.of(AUTHENTICATION, AUTHORIZATION), this::await);
    private volatile @Nullable BrokerParts core;
    private volatile Set<TopicName> wanted = Set.of();
    private volatile String node = ClientEvents.ALONE;

    /**
     * Creates it.
     *
     * @param loops all event loops of connections; read when it has started
     */
    AuthEvents(Collection<ConnectionLoop> loops) {
        this.loops = loops;
    }

    @Override
    public void start(BrokerParts parts, @Nullable Supplier<ClusterStatus> cluster) {
        if (cluster != null) {
            node = cluster.get().self().nodeId();
        }
        core = parts;
        topics.start(parts);
    }

    @Override
    public void stop() {
        topics.stop();
    }

    @Override
    public void subscribed(String clientId, String filter, boolean isNew) {
        topics.subscribed(filter, isNew);
    }

    /** Begins to listen with the first subscriber, and ends it without one. */
    private void await(Set<TopicName> awaited) {
        boolean changes = awaited.isEmpty() != wanted.isEmpty();
        wanted = awaited;
        if (changes) {
            DecisionListener listener = awaited.isEmpty() ? null : this;
            try {
                loops.forEach(loop -> loop.executor().execute(() -> loop.decisions(listener)));
            } catch (RejectedExecutionException e) {
                return; // the broker has stopped
            }
        }
    }

    @Override
    public void authenticated(
            String clientId,
            @Nullable String userName,
            InetSocketAddress address,
            String listener,
            Authentication answer) {
        BrokerParts running = core;
        if (running == null || !wanted.contains(AUTHENTICATION)) {
            return;
        }
        long now = System.currentTimeMillis();
        outlet.publish(running, AUTHENTICATION, () -> {
            JsonText json = ClientEvents.network(running, clientId, userName, address, listener);
            if (answer instanceof Authentication.Accepted accepted) {
                json.put("reason_code", "success")
                        .put("is_anonymous", userName == null)
                        .put("is_superuser", accepted.grants().superuser());
            } else if (answer instanceof Authentication.Refused refused) {
                json.put("reason_code", ClientEvents.reason(refused.reason())).put("reason", refused.reasonString());
            } else {
                json.put("reason_code", ClientEvents.reason(ReasonCode.NOT_AUTHORIZED));
            }
            return finished(json, "client.check_authn_complete", now);
        });
    }

    @Override
    public void authorized(
            ClientIdentity client,
            AccessAction action,
            String topic,
            QoS qos,
            boolean retain,
            AccessDecision decision,
            boolean cached) {
        BrokerParts running = core;
        if (running == null || !wanted.contains(AUTHORIZATION) || InProcess.isReserved(client.clientId())) {
            return;
        }
        long now = System.currentTimeMillis();
        outlet.publish(
                running,
                AUTHORIZATION,
                () -> finished(
                        new JsonText()
                                .put("clientid", client.clientId())
                                .put("username", client.userName())
                                .put("peerhost", ClientEvents.ip(client.remoteAddress()))
                                .put("action", action.name().toLowerCase(Locale.ROOT))
                                .put("topic", topic)
                                .put("qos", qos.level())
                                .put("retain", retain)
                                .put("result", decision.isAllowed() ? "allow" : "deny")
                                .put("reason", decision.reasonString())
                                .put("authz_source", source(client, cached)),
                        "client.check_authz_complete",
                        now));
    }

    private static String source(ClientIdentity client, boolean cached) {
        if (cached) {
            return "cache";
        }
        return client.grants().superuser() ? "superuser" : "rules";
    }

    private String finished(JsonText json, String event, long now) {
        return json.put("event", event)
                .put("node", node)
                .put("ts", now)
                .put("timestamp", now)
                .toString();
    }
}
