// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Will;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Publishes wills of clients that are authorized, and notifies the observer of wills in force. */
@AnyThread
final class WillPublisher {

    private final SessionResources resources;
    private final RetainedKeeper retained;
    private volatile @Nullable WillWatch watch;
    private volatile long recoveredWillsWaitSeconds;

    WillPublisher(SessionResources resources, RetainedKeeper retained) {
        this.resources = resources;
        this.retained = retained;
    }

    // --- the wills in force

    void watch(WillWatch observer) {
        watch = observer;
    }

    /** The minimum delay of wills that are found in the store: other nodes may have published them. */
    long recoveredWillsWaitSeconds() {
        return recoveredWillsWaitSeconds;
    }

    void recoveredWillsWaitSeconds(long seconds) {
        recoveredWillsWaitSeconds = seconds;
    }

    /** Notifies the observer of a will in force; null if there is none. */
    void inForce(ClientIdentity client, @Nullable Will will, long expirySeconds) {
        WillWatch observer = watch;
        if (observer != null && will != null) {
            observer.inForce(client.clientId(), client.userName(), will, expirySeconds);
        }
    }

    /** Notifies the observer that a will was published or must not be; null if there was none. */
    void gone(String clientId, @Nullable Will will) {
        WillWatch observer = watch;
        if (observer != null && will != null) {
            observer.gone(clientId);
        }
    }

    // --- publishing

    /**
     * Publishes the will of a session.
     *
     * @param loop the session's event loop
     * @param stored whether the will is kept in the store until its message is committed
     * @param settled called on any thread when a stored will is committed by all receivers, or must not be published; not
     *     called if it could not be kept
     */
    @OnEventLoop
    void publish(RoutingLoop loop, ClientIdentity client, Will will, boolean stored, Runnable settled) {
        ApplicationMessage message =
                will.message().accepted(loop.nextMessageId(), resources.ticker().nanoTime(), client.clientId());
        decide(client, message).subscribe(decision -> {
            if (decision == AccessDecision.ALLOW) {
                loop.executor().execute(() -> route(loop, client.clientId(), message, ticket(loop, stored, settled)));
            } else {
                settled.run();
            }
        });
    }

    private RouteTicket ticket(RoutingLoop loop, boolean stored, Runnable settled) {
        Stores stores = resources.stores();
        return stores == null || !stored
                ? RouteTicket.NONE
                : new WillTicket(settled, stores.waits(), stores.of(loop).isStable());
    }

    /** Publishes the will of a client of another node. */
    void publishInherited(ClientIdentity client, Will will) {
        ApplicationMessage message = will.message();
        long nowNanos = resources.ticker().nanoTime();
        List<RoutingLoop> loops = resources.router().loops();
        RoutingLoop loop = loops.get(Math.floorMod(client.clientId().hashCode(), loops.size()));
        decide(client, message).subscribe(decision -> {
            if (decision == AccessDecision.ALLOW) {
                loop.executor().execute(() -> {
                    ApplicationMessage accepted = message.accepted(loop.nextMessageId(), nowNanos, client.clientId());
                    route(loop, client.clientId(), accepted, RouteTicket.NONE);
                });
            }
        });
    }

    private Mono<AccessDecision> decide(ClientIdentity client, ApplicationMessage message) {
        String topic = message.topic().value();
        return AccessChecks.decide(
                resources.authorizer(), client, AccessAction.PUBLISH, topic, message.qos(), message.retain());
    }

    @OnEventLoop
    private void route(RoutingLoop loop, String clientId, ApplicationMessage message, RouteTicket ticket) {
        if (message.retain()) { // [MQTT-3.1.2-15]
            retained.retain(loop, message, ticket);
        }
        resources.observer().willPublished(clientId);
        resources.router().route(loop, message, ticket);
        ticket.release(true);
    }
}
