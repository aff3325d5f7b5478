// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that serve the sessions of failed nodes, and what becomes of messages that are parked for these. A node that has adopted sessions goes through
 * the steps of {@link Frame.ServeStep}, each with all other nodes. Nothing is lost between two steps, because a message is parked until the routes of
 * the serving node are known, and again before they end. In between it may go both ways; sessions take a message of QoS 2 once.
 */
@OnClusterLoop
final class HomeServers {

    private static final Duration LONGEST_ANNOUNCEMENT = Duration.ofSeconds(1);

    private final ClientWire wire;
    private final LocalPart local;
    private final Function<String, @Nullable PeerOutbox> outboxes;
    private final Consumer<Consumer<Boolean>> whenKnown;
    private final Consumer<Runnable> fence;
    private final Wills wills;
    private final long retryNanos;
    private Consumer<String> announce = home -> {};
    private Consumer<String> settled = home -> {};
    private Consumer<String> sentOn = home -> {};
    private BiConsumer<String, Long> servedElsewhere = (server, reign) -> {};
    private final Map<String, Own> own = new HashMap<>();
    private final Map<String, Heard> heard = new HashMap<>();

    /** The nodes whose sessions a node that is away had served: what is parked for it may be for them, too. */
    private final Map<String, Set<String>> servedBefore = new HashMap<>();

    /** Sessions that this node serves. */
    private static final class Own {

        private final String home;
        private final long reign;
        private final Set<String> missing = new HashSet<>();
        private Frame.ServeStep step = Frame.ServeStep.SEND_ON;
        private Runnable then = () -> {};
        private long saidAtNanos;

        Own(String home, long reign) {
            this.home = home;
            this.reign = reign;
        }
    }

    /** Sessions that another node serves. */
    private static final class Heard {

        private final NodeIdentity server;
        private final long reign;
        private final Frame.ServeStep step;
        private boolean done;

        Heard(NodeIdentity server, long reign, Frame.ServeStep step) {
            this.server = server;
            this.reign = reign;
            this.step = step;
        }
    }

    /**
     * Creates it without nodes.
     *
     * @param outboxes the queue of messages for a node; null if it is not known
     * @param whenKnown reports whether all nodes know the routes of this node; false if they have not answered in time
     * @param fence runs a task when everything that was routed up to now has arrived here
     */
    HomeServers(
            ClientWire wire,
            LocalPart local,
            Function<String, @Nullable PeerOutbox> outboxes,
            Consumer<Consumer<Boolean>> whenKnown,
            Consumer<Runnable> fence,
            Wills wills,
            Duration retry) {
        this.wire = wire;
        this.local = local;
        this.outboxes = outboxes;
        this.whenKnown = whenKnown;
        this.fence = fence;
        this.wills = wills;
        this.retryNanos = retry.toNanos();
    }

    static Duration longestAnnouncement() {
        return LONGEST_ANNOUNCEMENT;
    }

    /**
     * Connects it with the sessions of this node. Before the start.
     *
     * @param announces announces the filters of the sessions of a node
     * @param settles called when these sessions may move
     */
    void serve(Consumer<String> announces, Consumer<String> settles) {
        announce = announces;
        settled = settles;
    }

    /**
     * Sets further reactions to the steps. Before the start.
     *
     * @param sendsOn called when the sessions of a node that this one serves have what this one had parked for them
     * @param loses called when another node, with this reign, serves the sessions of this one
     */
    void observe(Consumer<String> sendsOn, BiConsumer<String, Long> loses) {
        sentOn = sendsOn;
        servedElsewhere = loses;
    }

    // --- this node serves

    /** This node has adopted the sessions of another one. */
    void adopted(String home, long reign) {
        Own serving = new Own(home, reign);
        own.put(home, serving);
        heard.remove(home);
        wills.servedBy(home, wire.self().nodeId());
        begin(serving, Frame.ServeStep.SEND_ON, () -> {
            announce.accept(home);
            announced(serving);
        });
    }

    private void announced(Own serving) {
        whenKnown.accept(all -> {
            if (!isCurrent(serving, Frame.ServeStep.SEND_ON)) {
                return;
            }
            if (all) {
                begin(serving, Frame.ServeStep.PARK_NOTHING, () -> settled.accept(serving.home));
            } else {
                announced(serving);
            }
        });
    }

    private boolean isCurrent(Own serving, Frame.ServeStep step) {
        return own.get(serving.home) == serving && serving.step == step;
    }

    /** This node is about to forget the sessions of another one; the task runs when nothing comes for them any more. */
    void ending(String home, Runnable done) {
        Own serving = own.get(home);
        if (serving == null) {
            done.run();
            return;
        }
        begin(
                serving,
                Frame.ServeStep.PARK_AGAIN,
                () -> fence.accept(() -> {
                    own.remove(home, serving);
                    done.run();
                }));
    }

    private void begin(Own serving, Frame.ServeStep step, Runnable then) {
        serving.step = step;
        serving.then = then;
        serving.missing.clear();
        serving.missing.addAll(wire.others());
        String self = wire.self().nodeId();
        serving.missing.add(self);
        say(serving);
        if (step == Frame.ServeStep.SEND_ON) {
            local.afterRouted(
                    () -> wire.execute(() -> sendOn(serving))); // all that is not held back by the sessions is parked
        } else {
            take(serving.home, step, new Itself(), true, () -> answered(serving, self, step));
        }
    }

    private void sendOn(Own serving) {
        if (!isCurrent(serving, Frame.ServeStep.SEND_ON)) {
            return;
        }
        take(serving.home, serving.step, new Itself(), false, () -> {
            sentOn.accept(serving.home);
            answered(serving, wire.self().nodeId(), Frame.ServeStep.SEND_ON);
        });
    }

    private void say(Own serving) {
        serving.saidAtNanos = wire.nanoTime();
        for (String node : serving.missing) {
            if (!node.equals(wire.self().nodeId())) {
                wire.send(node, new Frame.Serves(serving.home, serving.reign, serving.step));
            }
        }
    }

    private void answered(Own serving, String node, Frame.ServeStep step) {
        if (isCurrent(serving, step) && serving.missing.remove(node) && serving.missing.isEmpty()) {
            Runnable then = serving.then;
            serving.then = () -> {};
            then.run();
        }
    }

    // --- frames

    void accept(NodeIdentity from, Frame.Served answer) {
        Own serving = own.get(answer.home());
        if (serving != null && serving.reign == answer.reign()) {
            answered(serving, from.nodeId(), answer.step());
        }
    }

    void accept(NodeIdentity from, Frame.Serves serves) {
        if (serves.home().equals(wire.self().nodeId())) {
            servedElsewhere.accept(from.nodeId(), serves.reign());
        }
        Heard known = heard.get(serves.home());
        if (known != null && known.reign > serves.reign()) {
            return; // of a node that does not know yet that another one serves
        }
        boolean isSame = known != null && known.reign == serves.reign() && known.server.equals(from);
        if (known != null && isSame && known.step.compareTo(serves.step()) >= 0) {
            if (known.done) {
                answer(from, serves);
            }
            return;
        }
        PeerOutbox server = outboxes.apply(from.nodeId());
        if (server == null) {
            return; // it is said again
        }
        Heard next = new Heard(from, serves.reign(), serves.step());
        heard.put(serves.home(), next);
        if (serves.step() != Frame.ServeStep.PARK_AGAIN) {
            wills.servedBy(serves.home(), from.nodeId());
        }
        take(serves.home(), serves.step(), server, isSame, () -> {
            next.done = true;
            answer(from, serves);
        });
    }

    private void answer(NodeIdentity to, Frame.Serves serves) {
        wire.send(to.nodeId(), new Frame.Served(serves.home(), serves.reign(), serves.step()));
    }

    /**
     * Does a step with the messages for a node.
     *
     * @param begun whether the step before it was done: only then nothing has to be parked any more
     */
    private void take(String home, Frame.ServeStep step, Heir heir, boolean begun, Runnable done) {
        PeerOutbox messages = outboxes.apply(home);
        if (messages == null) {
            done.run();
            return;
        }
        Set<String> nodes = new TreeSet<>(servedBefore.getOrDefault(home, Set.of()));
        nodes.add(home);
        String homes = Homes.of(nodes);
        switch (step) {
            case SEND_ON -> messages.passOnTo(heir, homes, true, () -> heir.afterDrained(done));
            case PARK_NOTHING ->
                local.afterRouted(() ->
                        wire.execute(() -> messages.passOnTo(heir, homes, !begun, () -> heir.afterDrained(done))));
            case PARK_AGAIN -> {
                messages.passOnNothing();
                done.run();
            }
        }
    }

    /** This node as the one that serves. */
    private final class Itself implements Heir {

        @Override
        public void take(ApplicationMessage message, String homes, Consumer<Boolean> taken) {
            local.sentOn(message, homes, accepted -> wire.execute(() -> taken.accept(accepted)));
        }

        @Override
        public void afterDrained(Runnable task) {
            task.run(); // each message that was given to it was accepted
        }
    }

    // --- the view

    /** A node is reachable: it gets the step that is under way, or was the last one. */
    void up(String nodeId) {
        servedBefore.remove(nodeId);
        for (Own serving : own.values()) {
            serving.missing.add(nodeId); // until it has answered
            wire.send(nodeId, new Frame.Serves(serving.home, serving.reign, serving.step));
        }
    }

    /** A node has failed: messages for the sessions that it has served are parked again for their node. */
    void down(String nodeId) {
        for (Map.Entry<String, Heard> next : List.copyOf(heard.entrySet())) {
            if (next.getValue().server.nodeId().equals(nodeId) && !own.containsKey(next.getKey())) {
                heard.remove(next.getKey());
                servedBefore.computeIfAbsent(nodeId, node -> new TreeSet<>()).add(next.getKey());
                PeerOutbox messages = outboxes.apply(next.getKey());
                if (messages != null) {
                    messages.passOnNothing();
                }
            }
        }
        for (Own serving : List.copyOf(own.values())) {
            answered(serving, nodeId, serving.step);
        }
    }

    void tick(long nowNanos) {
        for (Own serving : own.values()) {
            if (!serving.missing.isEmpty() && nowNanos - serving.saidAtNanos >= retryNanos) {
                say(serving);
            }
        }
    }
}
