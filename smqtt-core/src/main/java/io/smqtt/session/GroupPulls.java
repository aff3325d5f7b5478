// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.RoutingLoop;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Pull requests for messages of a shared group, in the order of arrival. A member's request is kept until a message waits. */
@OnEventLoop
final class GroupPulls {

    private static final String NO_SESSION = "";

    /** The maximum size of one batch. */
    private static final int BATCH_BYTES = 256 * 1024;

    private final Source queue;
    private final Map<Object, Pull> pulls = new LinkedHashMap<>();

    /** The queue that requests are served from. */
    interface Source {

        /** The event loop of the queue. */
        @AnyThread
        RoutingLoop owner();

        /** Whether a message is loaded; if not, starts to read from the store, and requests are served after that. */
        boolean hasNext();

        /** Whether a page is being read. */
        boolean isReading();

        /** Removes and returns the first messages that have not expired, up to a number of messages and bytes. */
        List<GroupMessage> take(int most, long mostBytes);
    }

    /** A receiver of messages. */
    interface Taker {

        /** Whether it can use messages now. Any thread. */
        boolean isThere();

        /** Takes messages. On the queue's event loop. */
        void take(List<GroupMessage> batch);
    }

    private record Pull(Taker taker, int messages, long bytes) {
        private Pull {
            assert messages > 0 && bytes > 0 : "a request for nothing would be served for ever";
        }
    }

    GroupPulls(Source queue) {
        this.queue = queue;
    }

    private void execute(Runnable task) {
        queue.owner().executor().execute(task);
    }

    /** Requests a number of messages for a member, which receives them as soon as they wait. */
    @AnyThread
    void pull(Taker member, int messages) {
        execute(() -> {
            pulls.put(member, new Pull(member, messages, BATCH_BYTES));
            serve();
        });
    }

    /** Cancels the request of a member that has disconnected or will ask again. */
    @AnyThread
    void cancel(Taker member) {
        execute(() -> pulls.remove(member));
    }

    /**
     * Requests messages that wait now for another node, up to a number of messages and bytes.
     *
     * @param node the node; a new request replaces its previous one
     */
    @AnyThread
    void pull(String node, Taker taker, int messages, long bytes) {
        execute(() -> {
            pulls.put(node, new Pull(taker, messages, bytes));
            serve();
            if (!queue.isReading()) {
                pulls.remove(node);
            }
        });
    }

    /** Hands all waiting messages to members that do not pull. */
    void handOut(Taker taker) {
        pull(NO_SESSION, taker, Integer.MAX_VALUE, Long.MAX_VALUE);
    }

    /** Serves the pending requests. */
    void serve() {
        while (!pulls.isEmpty() && queue.hasNext()) {
            Map.Entry<Object, Pull> oldest = pulls.entrySet().iterator().next();
            Pull pull = oldest.getValue();
            boolean there = pull.taker.isThere();
            List<GroupMessage> batch = there ? queue.take(pull.messages, pull.bytes) : List.of();
            if (!there || !batch.isEmpty()) { // otherwise all had expired
                pulls.remove(oldest.getKey());
            }
            if (!batch.isEmpty()) {
                pull.taker.take(batch);
            }
        }
    }

    void clear() {
        pulls.clear();
    }
}
