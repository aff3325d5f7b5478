// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteScope;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscriber;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A message that was parked on this node for another one, whose sessions are on this node now. */
@AnyThread
final class SentOn implements RouteTicket, RouteScope {

    private final Set<String> homes;
    private final boolean exactlyOnce;
    private final Consumer<Boolean> done;
    private final AtomicInteger holds = new AtomicInteger(1);
    private volatile boolean failed;

    /**
     * Creates it.
     *
     * @param homes the nodes whose sessions are to get it, see {@link Homes}
     * @param done receives whether it was accepted
     */
    SentOn(ApplicationMessage message, String homes, Consumer<Boolean> done) {
        this.homes = Homes.nodes(homes);
        this.exactlyOnce = message.qos() == QoS.EXACTLY_ONCE;
        this.done = done;
    }

    @Override
    public boolean test(Subscriber subscriber) {
        String home = Homes.of(subscriber);
        return home != null && homes.contains(home) && InboundMessage.isFor(subscriber);
    }

    @Override
    public boolean unshared() {
        return true;
    }

    @Override
    public List<SharedFilter> groups() {
        return List.of();
    }

    @Override
    public void refused(SharedFilter group) {
        // it has none
    }

    @Override
    public void hold() {
        holds.incrementAndGet();
    }

    @Override
    public void release(boolean success) {
        if (!success) {
            failed = true;
        }
        if (holds.decrementAndGet() == 0) {
            done.accept(!failed);
        }
    }

    @Override
    public boolean mayBeSlowed() {
        return false;
    }

    @Override
    public boolean mayComeAgain() {
        return exactlyOnce;
    }

    @Override
    public boolean mayHaveCome() {
        return exactlyOnce;
    }

    @Override
    public boolean comesFirst() {
        return true;
    }

    @Override
    public boolean wantsStable() {
        return true;
    }
}
