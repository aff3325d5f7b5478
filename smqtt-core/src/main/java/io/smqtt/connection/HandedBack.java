// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.netty.util.concurrent.EventExecutor;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acknowledgements that other threads have completed, for one event loop. All that is added before the loop takes it is one task and at most
 * one wake-up. The items are linked to each other, so that adding one allocates nothing.
 */
final class HandedBack implements Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(HandedBack.class);

    /** What is handed back; at most once at a time. */
    abstract static class Item {

        private @Nullable Item next;

        /** Called on the event loop, in the order in which items were added. */
        @OnEventLoop
        abstract void handedBack();
    }

    private final EventExecutor executor;
    private final AtomicReference<@Nullable Item> newest = new AtomicReference<>();

    HandedBack(EventExecutor executor) {
        this.executor = executor;
    }

    /** Hands an item to the event loop. */
    @AnyThread
    void add(Item item) {
        Item before;
        do {
            before = newest.get();
            item.next = before;
        } while (!newest.compareAndSet(before, item));
        if (before == null) {
            executor.execute(this);
        }
    }

    @Override
    public void run() {
        Item item = oldestFirst(newest.getAndSet(null));
        while (item != null) {
            Item next = item.next;
            item.next = null; // it may be added again
            try {
                item.handedBack();
            } catch (RuntimeException e) { // must not affect the others
                LOG.error("an acknowledgement could not be completed", e);
            }
            item = next;
        }
    }

    private static @Nullable Item oldestFirst(@Nullable Item newestFirst) {
        Item oldest = null;
        Item item = newestFirst;
        while (item != null) {
            Item older = item.next;
            item.next = oldest;
            oldest = item;
            item = older;
        }
        return oldest;
    }
}
