// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.config.StorageConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.session.HeldTicket;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.MonoSink;

/**
 * Messages that the application publishes together: one task for each event loop, and one ticket for all of them, which completes when all
 * messages are as safe as the storage mode promises.
 */
final class PublishBatch extends HeldTicket {

    private final BrokerParts parts;
    private final MonoSink<Void> sink;
    private final StorageConfig.Sync sync;

    /**
     * Creates a batch that is held until its messages were routed.
     *
     * @param parts the parts of the broker
     * @param sink receives the outcome
     */
    PublishBatch(BrokerParts parts, MonoSink<Void> sink) {
        super(1);
        this.parts = parts;
        this.sink = sink;
        this.sync = parts.config().storage().sync();
    }

    /** Routes messages on the event loops of their topics. */
    @AnyThread
    void publish(List<ApplicationMessage> messages) {
        List<RoutingLoop> loops = parts.router().loops();
        List<List<ApplicationMessage>> byLoop = new ArrayList<>(loops.size());
        loops.forEach(loop -> byLoop.add(new ArrayList<>()));
        for (ApplicationMessage message : messages) {
            byLoop.get(Math.floorMod(message.topic().hashCode(), loops.size())).add(message);
        }
        for (int i = 0; i < loops.size(); i++) {
            List<ApplicationMessage> own = byLoop.get(i);
            if (!own.isEmpty()) {
                RoutingLoop loop = loops.get(i);
                hold();
                loop.executor().execute(() -> route(loop, own));
            }
        }
        release(true);
    }

    private void route(RoutingLoop loop, List<ApplicationMessage> messages) {
        boolean routed = false;
        try {
            for (ApplicationMessage message : messages) {
                route(
                        loop,
                        message.accepted(loop.nextMessageId(), parts.ticker().nanoTime(), null));
            }
            routed = true;
        } finally {
            release(routed);
        }
    }

    private void route(RoutingLoop loop, ApplicationMessage message) {
        if (message.retain()) {
            parts.retained().retain(loop, message, this);
        }
        RouteTicket ticket = message.qos() == QoS.AT_MOST_ONCE ? RouteTicket.NONE : this;
        parts.router().route(loop, message, ticket);
    }

    @Override
    public boolean isOfApplication() {
        return true;
    }

    @Override
    public boolean waitsForStore() {
        return sync != StorageConfig.Sync.NONE;
    }

    @Override
    public boolean wantsStable() {
        return sync == StorageConfig.Sync.SYNC;
    }

    @Override
    protected void released(boolean success) {
        if (success) {
            sink.success();
        } else {
            sink.error(new IllegalStateException("a message could not be stored"));
        }
    }
}
