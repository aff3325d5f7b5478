// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.config.StorageConfig;
import io.smqtt.routing.Subscriber;
import io.smqtt.session.HeldTicket;
import io.smqtt.spi.DropReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.MonoSink;

/**
 * Completes the application's publish when the message is as safe as the storage mode promises, and counts its deliveries. Any
 * thread, except for methods that name the publisher's event loop.
 */
final class PublishTicket extends HeldTicket {

    private final MonoSink<PublishResult> sink;
    private final StorageConfig.Sync sync;
    private final AtomicInteger queued = new AtomicInteger();
    private final Map<DropReason, Integer> dropped = new ConcurrentHashMap<>(0);

    // on the publisher's event loop, before its hold is released
    private final List<String> nodes = new ArrayList<>(0);
    private int matches;
    private boolean retained;

    /**
     * Creates a ticket that is held until the message was routed.
     *
     * @param sink receives the result
     * @param sync the storage mode
     */
    PublishTicket(MonoSink<PublishResult> sink, StorageConfig.Sync sync) {
        super(1);
        this.sink = sink;
        this.sync = sync;
    }

    /** Adds a subscriber that gets the message. On the publisher's event loop. */
    void taker(Subscriber subscriber) {
        String node = subscriber.relaysTo();
        if (node != null && !nodes.contains(node)) {
            nodes.add(node);
        }
    }

    /** Completes routing. On the publisher's event loop. */
    void routed(int subscribers, boolean kept) {
        matches = subscribers;
        retained = kept;
        release(true);
    }

    @Override
    public void queued() {
        queued.incrementAndGet();
    }

    @Override
    public void dropped(DropReason reason) {
        dropped.merge(reason, 1, Integer::sum);
    }

    /** Number of counted subscribers that did not get the message; a group without a member is not among them. */
    private int droppedMatches() {
        int count = 0;
        for (Map.Entry<DropReason, Integer> entry : dropped.entrySet()) {
            count += entry.getKey() == DropReason.NO_SHARED_MEMBER ? 0 : entry.getValue();
        }
        return count;
    }

    @Override
    public boolean isOfApplication() {
        return true;
    }

    @Override
    protected void released(boolean success) {
        if (success) {
            sink.success(new PublishResult(matches - droppedMatches(), retained, queued.get(), dropped, nodes));
        } else {
            sink.error(new IllegalStateException("the message could not be stored"));
        }
    }

    @Override
    public boolean waitsForStore() {
        return sync != StorageConfig.Sync.NONE;
    }

    @Override
    public boolean wantsStable() {
        return sync == StorageConfig.Sync.SYNC;
    }
}
