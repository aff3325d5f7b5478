// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.routing.Matches;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Routes the messages of other nodes on one event loop. Messages that were parked for this node come faster than clients take them: these
 * are routed only while the queues of the connected sessions that get them are less than half full. The other node keeps the rest, because
 * what waits here is not acknowledged. Messages of one node stay in order.
 */
@OnEventLoop
final class PacedRouting {

    /** Paced messages that are routed before the other event loops are waited for, so that their queues are known. */
    private static final int PASS = 64;

    private static final long POLL_MILLIS = 5;

    /** The time after which a session whose queue does not get shorter no longer delays others. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final RoutingLoop loop;
    private final Router router;
    private final Consumer<InboundMessage> route;
    private final Consumer<Runnable> afterRouted;
    private final Matches matches = new Matches();
    private final Map<PeerInbox, Line> lines = new HashMap<>();
    private final Set<Subscriber> stuck = new HashSet<>();

    /**
     * Creates it without waiting messages.
     *
     * @param loop the event loop
     * @param router finds the subscribers of a message
     * @param route routes one message now
     * @param afterRouted runs a task, on any thread, when what was routed has arrived on all event loops
     */
    PacedRouting(RoutingLoop loop, Router router, Consumer<InboundMessage> route, Consumer<Runnable> afterRouted) {
        this.loop = loop;
        this.router = router;
        this.route = route;
        this.afterRouted = afterRouted;
    }

    /**
     * Routes messages of one node, or keeps them until there is room.
     *
     * @param messages in their order
     * @return false if they do not have to wait: the caller routes them
     */
    boolean takes(List<InboundMessage> messages) {
        PeerInbox from = messages.get(0).inbox();
        Line line = lines.get(from);
        if (line == null) {
            if (messages.stream().noneMatch(InboundMessage::isPaced)) {
                return false;
            }
            line = new Line(from);
            lines.put(from, line);
            line.waiting.addAll(messages);
            line.run();
        } else {
            line.waiting.addAll(messages);
        }
        return true;
    }

    /** Whether all connected subscribers of a message have room for it. */
    private boolean isRoomFor(ForwardedMessage forwarded, boolean waitedLong) {
        if (!forwarded.toAll()) {
            return true; // a group without room refuses it
        }
        router.index().match(forwarded.message().topic(), matches);
        boolean room = true;
        for (int i = 0; i < matches.size(); i++) {
            Subscriber subscriber = matches.get(i).subscriber();
            if (InboundMessage.isFor(subscriber) && subscriber.isOnline() && !subscriber.hasRoom()) {
                if (waitedLong) {
                    stuck.add(subscriber);
                }
                room &= stuck.contains(subscriber);
            } else if (!stuck.isEmpty()) {
                stuck.remove(subscriber);
            }
        }
        matches.clear();
        return room;
    }

    /** The messages of one node that wait, in their order. */
    private final class Line {

        private final PeerInbox from;
        private final ArrayDeque<InboundMessage> waiting = new ArrayDeque<>();
        private boolean delayed;
        private long delayedSinceNanos;

        Line(PeerInbox from) {
            this.from = from;
        }

        void run() {
            int paced = 0;
            for (InboundMessage next = waiting.peek(); next != null; next = waiting.peek()) {
                if (next.isPaced() && paced++ == PASS) {
                    continueWhenRouted();
                    return;
                }
                if (next.isPaced() && !isRoomFor(next.forwarded(), isDelayedForLong())) {
                    if (!delayed) {
                        delayed = true;
                        delayedSinceNanos = System.nanoTime();
                    }
                    continueLater();
                    return;
                }
                delayed = false;
                waiting.remove();
                route.accept(next);
            }
            lines.remove(from);
            if (lines.isEmpty()) {
                stuck.clear();
            }
        }

        private boolean isDelayedForLong() {
            return delayed && System.nanoTime() - delayedSinceNanos > PATIENCE_NANOS;
        }

        private void continueWhenRouted() {
            afterRouted.accept(() -> {
                try {
                    loop.executor().execute(this::run);
                } catch (RejectedExecutionException e) {
                    refuseAll(); // the broker ends
                }
            });
        }

        private void continueLater() {
            try {
                loop.executor().schedule(this::run, POLL_MILLIS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                refuseAll(); // the broker ends
            }
        }

        private void refuseAll() {
            waiting.forEach(message -> message.release(false));
            waiting.clear();
            lines.remove(from);
        }
    }
}
