// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.SharedGroup;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The queues of shared groups in an adopted store. Their messages move to the queues of the same groups on this node, a page at a time, while a member is
 * connected on any node and the queue here is empty; from there members pull them. The rest stays in the adopted store.
 */
@AnyThread
final class AdoptedGroups {

    private static final long PAUSE_MILLIS = 250;

    private final SessionResources resources;
    private final GroupQueues groups;
    private final Stores stores;
    private final List<List<GroupMove>> byLoop = new ArrayList<>();
    private volatile boolean ending;

    /**
     * Creates it without queues.
     *
     * @param groups the queues of this node
     * @param stores the adopted store
     */
    AdoptedGroups(SessionResources resources, GroupQueues groups, Stores stores) {
        this.resources = resources;
        this.groups = groups;
        this.stores = stores;
        resources.router().loops().forEach(loop -> byLoop.add(new ArrayList<>()));
    }

    /** Adds a queue. Before {@link #begin}. */
    void add(SharedFilter name, long number) {
        RoutingLoop loop = groups.ownerOf(name);
        byLoop.get(loop.index()).add(new GroupMove(resources, stores, loop, name, number));
    }

    void begin() {
        resources.router().loops().forEach(loop -> loop.executor().execute(() -> look(loop)));
    }

    @OnEventLoop
    private void look(RoutingLoop loop) {
        List<GroupMove> moves = byLoop.get(loop.index());
        moves.removeIf(GroupMove::isOver);
        if (moves.isEmpty() || ending) {
            return;
        }
        for (GroupMove move : moves) {
            SharedGroup group = groups.group(move.name());
            if (group != null && group.hasOnlineMember(member -> true)) {
                move.next(groups.of(group));
            }
        }
        loop.executor().schedule(() -> look(loop), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }

    /**
     * Nothing moves any more. Called once.
     *
     * @return completes when no message is in flight
     */
    CompletableFuture<Void> end() {
        ending = true;
        CompletableFuture<Void> ended = new CompletableFuture<>();
        AtomicInteger missing = new AtomicInteger(byLoop.size());
        Runnable stopped = () -> {
            if (missing.decrementAndGet() == 0) {
                ended.complete(null);
            }
        };
        resources
                .router()
                .loops()
                .forEach(loop -> loop.executor().execute(() -> stop(byLoop.get(loop.index()), stopped)));
        return ended;
    }

    @OnEventLoop
    private static void stop(List<GroupMove> moves, Runnable then) {
        AtomicInteger missing = new AtomicInteger(moves.size() + 1);
        Runnable one = () -> {
            if (missing.decrementAndGet() == 0) {
                then.run();
            }
        };
        moves.forEach(move -> move.stop(one));
        one.run();
    }
}
