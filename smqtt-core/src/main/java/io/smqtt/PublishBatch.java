// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.config.StorageConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.session.HeldTicket;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.MonoSink;

/**
 * Messages that the application publishes together: one task for each event loop. Each message has a ticket of its own as soon as something holds
 * it, so that the failure of one is not that of the others; the batch completes when all messages are as safe as the storage mode promises.
 */
final class PublishBatch extends HeldTicket {

    private static final String REASON = "a message could not be stored";

    private final BrokerParts parts;
    private final MonoSink<Void> sink;
    private final StorageConfig.Sync sync;
    private final Set<Integer> failed = new ConcurrentSkipListSet<>();

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
        int[] loopOf = new int[messages.size()];
        int[] counts = new int[loops.size()];
        for (int i = 0; i < loopOf.length; i++) {
            loopOf[i] = Math.floorMod(messages.get(i).topic().hashCode(), loops.size());
            counts[loopOf[i]]++;
        }
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] > 0) {
                RoutingLoop loop = loops.get(i);
                int[] own = indexesOf(i, loopOf, counts[i]);
                hold();
                loop.executor().execute(() -> route(loop, messages, own));
            }
        }
        release(true);
    }

    private static int[] indexesOf(int loop, int[] loopOf, int count) {
        int[] indexes = new int[count];
        int found = 0;
        for (int i = 0; found < count; i++) {
            if (loopOf[i] == loop) {
                indexes[found++] = i;
            }
        }
        return indexes;
    }

    @OnEventLoop
    private void route(RoutingLoop loop, List<ApplicationMessage> messages, int[] own) {
        int routed = 0;
        Offer offer = new Offer();
        long now = parts.ticker().nanoTime();
        try {
            for (int index : own) {
                offer.of(index);
                route(loop, messages.get(index).accepted(loop.nextMessageId(), now, null), offer);
                offer.routed();
                routed++;
            }
        } finally {
            if (routed < own.length) {
                offer.routed();
                for (int i = routed; i < own.length; i++) {
                    failed.add(own[i]);
                }
            }
            release(true);
        }
    }

    private void route(RoutingLoop loop, ApplicationMessage message, Offer offer) {
        if (message.retain()) {
            parts.retained().retain(loop, message, offer);
        }
        parts.router().route(loop, message, message.qos() == QoS.AT_MOST_ONCE ? RouteTicket.NONE : offer);
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
        if (failed.isEmpty()) {
            sink.success();
        } else {
            sink.error(new PublishFailedException(List.copyOf(failed), REASON));
        }
    }

    /** The ticket of the message that one event loop routes. It becomes one of its own when the message is held. Reused for each message. */
    @OnEventLoop
    private final class Offer implements RouteTicket {

        private int index;
        private @Nullable One ticket;

        void of(int next) {
            index = next;
            ticket = null;
        }

        /** Completes routing. */
        void routed() {
            One claimed = ticket;
            if (claimed != null) {
                ticket = null;
                claimed.release(true);
            }
        }

        @Override
        public One claim() {
            One claimed = ticket;
            if (claimed == null) {
                PublishBatch.this.hold();
                claimed = new One(index);
                ticket = claimed;
            }
            return claimed;
        }

        @Override
        public void hold() {
            claim().hold();
        }

        @Override
        public void release(boolean success) {
            claim().release(success);
        }

        @Override
        public boolean isOfApplication() {
            return true;
        }

        @Override
        public boolean waitsForStore() {
            return PublishBatch.this.waitsForStore();
        }

        @Override
        public boolean wantsStable() {
            return PublishBatch.this.wantsStable();
        }
    }

    /** The ticket of one message, held until it was routed. */
    private final class One extends HeldTicket {

        private final int index;

        One(int index) {
            super(1);
            this.index = index;
        }

        @Override
        public boolean isOfApplication() {
            return true;
        }

        @Override
        public boolean waitsForStore() {
            return PublishBatch.this.waitsForStore();
        }

        @Override
        public boolean wantsStable() {
            return PublishBatch.this.wantsStable();
        }

        @Override
        protected void released(boolean success) {
            if (!success) {
                failed.add(index);
            }
            PublishBatch.this.release(true);
        }
    }
}
