// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Those who have room for messages of a shared group, in the order of asking. Members are remembered until something waits. */
@OnEventLoop
final class GroupPulls {

    private static final String NO_SESSION = "";

    /** What a member is given at a time. */
    private static final int BATCH_BYTES = 256 * 1024;

    private final GroupQueue queue;
    private final Map<Object, Pull> pulls = new LinkedHashMap<>();

    /** Somebody who can take messages. */
    interface Taker {

        /** Whether messages would be of use now. Any thread. */
        boolean isThere();

        /** Is given messages. On the queue's event loop. */
        void take(List<GroupMessage> batch);
    }

    private record Pull(Taker taker, int messages, long bytes) {}

    GroupPulls(GroupQueue queue) {
        this.queue = queue;
    }

    private void execute(Runnable task) {
        queue.owner().executor().execute(task);
    }

    /** A member has room for so many messages: it is given some as soon as they wait. */
    @AnyThread
    void pull(Session member, int messages) {
        Taker taker = new Taker() {
            @Override
            public boolean isThere() {
                return member.isOnline();
            }

            @Override
            public void take(List<GroupMessage> batch) {
                member.execute(() -> member.member().offered(queue, batch));
            }
        };
        execute(() -> {
            pulls.put(member, new Pull(taker, messages, BATCH_BYTES));
            serve();
        });
    }

    /** A member is gone, or will ask again. */
    @AnyThread
    void cancel(Session member) {
        execute(() -> pulls.remove(member));
    }

    /**
     * Another node takes what waits now, so many messages and bytes at most.
     *
     * @param node of requests of the same node the last one counts
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

    /** Members that do not pull take what waits now. */
    void handOut(Taker taker, int messages, long bytes) {
        pull(NO_SESSION, taker, messages, bytes);
    }

    /** Gives what waits to those who have asked. */
    void serve() {
        while (!pulls.isEmpty() && queue.hasNext()) {
            Map.Entry<Object, Pull> oldest = pulls.entrySet().iterator().next();
            Pull pull = oldest.getValue();
            boolean there = pull.taker.isThere();
            List<GroupMessage> batch = there ? queue.take(pull.messages, pull.bytes) : List.of();
            if (!there || !batch.isEmpty()) { // or else all had expired
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
