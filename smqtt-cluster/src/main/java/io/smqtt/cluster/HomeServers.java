// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.session.NodeQueues;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

    /** More nodes that are not known here are not introduced. */
    private static final int MOST_INTRODUCED = 64;

    private final ClientWire wire;
    private final LocalPart local;
    private final Function<String, @Nullable PeerOutbox> outboxes;
    private final Consumer<Consumer<Boolean>> whenKnown;
    private final Consumer<Runnable> fence;
    private final Wills wills;
    private final long retryNanos;
    private BiConsumer<String, Runnable> announce = (home, done) -> done.run();
    private Consumer<String> ended = home -> {};
    private Consumer<String> settled = home -> {};
    private Consumer<String> sentOn = home -> {};
    private BiConsumer<String, Long> servedElsewhere = (server, reign) -> {};
    private final Map<String, Own> own = new HashMap<>();
    private final Map<String, Heard> heard = new HashMap<>();
    private final Heir itself = new Itself();
    private final AdoptedParks parks;
    private final KeptElsewhere kept;
    private int introduced;

    /** Sessions that this node serves. */
    private static final class Own {

        private final String home;
        private final long reign;
        private final List<String> leftOut;
        private final Set<String> missing = new HashSet<>();

        /** Nodes that came after the step before the last one: they do both, one after the other. */
        private final Set<String> late = new HashSet<>();

        private boolean homeWasUp;
        private Frame.ServeStep step = Frame.ServeStep.SEND_ON;
        private Runnable then = () -> {};
        private long saidAtNanos;

        Own(String home, long reign, List<String> leftOut) {
            this.home = home;
            this.reign = reign;
            this.leftOut = leftOut;
        }
    }

    /** Sessions that another node serves. */
    private static final class Heard {

        private final NodeIdentity server;
        private final long reign;
        private final Frame.ServeStep step;
        private final PeerOutbox messages;
        private ServedHomes.@Nullable Served served;
        private boolean done;
        private boolean homeWasUp;

        Heard(NodeIdentity server, Frame.Serves serves, PeerOutbox messages) {
            this.server = server;
            this.reign = serves.reign();
            this.step = serves.step();
            this.messages = messages;
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
        AdoptedParks.Receiver itsOwn = new OwnInbox(local, wire::execute);
        this.parks = new AdoptedParks(node -> node.equals(wire.self().nodeId()) ? itsOwn : parkOf(node), wire::execute);
        this.kept = new KeptElsewhere(wire, (home, node) -> own.containsKey(home) && !parks.has(home, node), outboxes);
    }

    static Duration longestAnnouncement() {
        return LONGEST_ANNOUNCEMENT;
    }

    /**
     * Connects it with the sessions of this node. Before the start.
     *
     * @param announces announces the filters of the sessions of a node, and runs a task then
     * @param ends called when no more filters of these sessions come
     * @param settles called when these sessions may move
     */
    void serve(BiConsumer<String, Runnable> announces, Consumer<String> ends, Consumer<String> settles) {
        announce = announces;
        ended = ends;
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

    /** The messages that other nodes may have kept for sessions of this one. */
    KeptElsewhere kept() {
        return kept;
    }

    // --- this node serves

    /** This node has adopted the sessions of another one; see {@link io.smqtt.session.AdoptionWatch#adopted}. */
    void adopted(String home, long reign, List<String> leftOut, @Nullable NodeQueues parked) {
        introduce(home);
        Own serving = new Own(home, reign, leftOut);
        own.put(home, serving);
        forget(home);
        wills.servedBy(home, wire.self().nodeId());
        begin(serving, Frame.ServeStep.SEND_ON, () -> announce.accept(home, () -> announced(serving)));
        if (parked != null) {
            parks.adopted(home, parked);
        }
    }

    /** The park for a node, for messages that another one had parked for it. */
    private AdoptedParks.@Nullable Receiver parkOf(String node) {
        introduce(node);
        PeerOutbox messages = outboxes.apply(node);
        return messages == null ? null : messages::inherit;
    }

    private void announced(Own serving) {
        if (!isCurrent(serving, Frame.ServeStep.SEND_ON)) {
            return;
        }
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

    /** A node that was away since the start of this one is not known here, and neither are its routes. From now on messages are parked for it. */
    private void introduce(String home) {
        if (introduced < MOST_INTRODUCED && !home.equals(wire.self().nodeId()) && outboxes.apply(home) == null) {
            introduced++;
            wire.introduce(home);
        }
    }

    private boolean isCurrent(Own serving, Frame.ServeStep step) {
        return own.get(serving.home) == serving && serving.step == step;
    }

    /** The nodes whose sessions this one serves, for the messages of another one. */
    AdoptedHomes adoptedFor(String node) {
        return new AdoptedHomes() {
            @Override
            public boolean serves(String home) {
                return own.containsKey(home);
            }

            @Override
            public Set<String> unknown() {
                return unknownTo(node);
            }
        };
    }

    private Set<String> unknownTo(String node) {
        if (own.isEmpty()) {
            return Set.of();
        }
        Set<String> homes = new HashSet<>();
        for (Own serving : own.values()) {
            if (serving.late.contains(node)) {
                homes.add(serving.home);
            }
        }
        return homes;
    }

    /** This node is about to forget the sessions of another one; the task runs when nothing comes for them any more. */
    void ending(String home, Runnable done) {
        Own serving = own.get(home);
        if (serving == null) {
            done.run();
            return;
        }
        ended.accept(home);
        parks.ended(home);
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
        serving.late.clear();
        serving.missing.addAll(wire.others());
        String self = wire.self().nodeId();
        serving.missing.add(self);
        say(serving);
        if (isOver(serving)) {
            answered(serving, self, step);
        } else if (step == Frame.ServeStep.SEND_ON) {
            local.afterRouted(
                    () -> wire.execute(() -> sendOn(serving))); // all that is not held back by the sessions is parked
        } else {
            take(serving, true, () -> answered(serving, self, step));
        }
    }

    /** Whether another node serves the sessions by a later reign: messages go to that one. */
    private boolean isOver(Own serving) {
        Heard known = heard.get(serving.home);
        return known != null && known.reign > serving.reign;
    }

    private void sendOn(Own serving) {
        if (!isCurrent(serving, Frame.ServeStep.SEND_ON) || isOver(serving)) {
            return;
        }
        take(serving, false, () -> {
            sentOn.accept(serving.home);
            answered(serving, wire.self().nodeId(), Frame.ServeStep.SEND_ON);
        });
    }

    private void take(Own serving, boolean begun, Runnable done) {
        take(serving.home, serving.step, itself, new LeftOut(serving.leftOut), begun ? () -> {} : null, done);
    }

    private void say(Own serving) {
        serving.saidAtNanos = wire.nanoTime();
        for (String node : List.copyOf(serving.missing)) {
            if (wire.ignoresServers(node)) { // it parks, and sends to the routes of this node, too
                answered(serving, node, serving.step);
            } else if (!node.equals(wire.self().nodeId())) {
                say(serving, node, serving.step);
            }
        }
        serving.late.removeIf(wire::ignoresServers);
        serving.late.forEach(node -> say(serving, node, Frame.ServeStep.SEND_ON));
    }

    private void say(Own serving, String node, Frame.ServeStep step) {
        wire.send(node, new Frame.Serves(serving.home, serving.reign, step, serving.leftOut));
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
            if (answer.step() == Frame.ServeStep.SEND_ON && serving.late.contains(from.nodeId())) {
                whenKnown.accept(all -> nextOfLate(serving, from.nodeId(), all));
            }
        }
    }

    /** A node that came late does the first step, and all nodes know the routes of this one, or not yet. */
    private void nextOfLate(Own serving, String node, boolean known) {
        if (known && isCurrent(serving, Frame.ServeStep.PARK_NOTHING) && serving.late.remove(node)) {
            serving.missing.add(node);
            say(serving, node, Frame.ServeStep.PARK_NOTHING);
        }
    }

    void accept(NodeIdentity from, Frame.Serves serves) {
        if (serves.home().equals(wire.self().nodeId())) {
            servedElsewhere.accept(from.nodeId(), serves.reign());
        }
        Heard known = heard.get(serves.home());
        Own mine = own.get(serves.home());
        if ((known != null && known.reign > serves.reign()) || (mine != null && mine.reign > serves.reign())) {
            if (serves.step() == Frame.ServeStep.PARK_AGAIN) {
                answer(from, serves); // nothing goes to that node any more
            }
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
        introduce(serves.home());
        Heard next = new Heard(from, serves, server);
        if (serves.step() != Frame.ServeStep.PARK_AGAIN) {
            wills.servedBy(serves.home(), from.nodeId());
        }
        forget(serves.home()); // after that: there is always one
        heard.put(serves.home(), next);
        Runnable named = () -> named(next, serves.home());
        Runnable done = () -> {
            next.done = true;
            answer(from, serves);
        };
        if (serves.step() != Frame.ServeStep.PARK_AGAIN && outboxes.apply(serves.home()) == null) {
            named.run(); // nothing can be parked for it
            local.afterRouted(() -> wire.execute(() -> server.afterDrained(done)));
        } else {
            take(serves.home(), serves.step(), server, new LeftOut(serves.leftOut()), isSame ? named : null, done);
        }
    }

    /** From now on what goes to a server goes there for the sessions of a node, too. */
    private void named(Heard by, String home) {
        if (heard.get(home) != by || by.served != null) {
            return;
        }
        PeerOutbox messages = outboxes.apply(home);
        ServedHomes.Served served = new ServedHomes.Served(home, messages, () -> {
            if (heard.get(home) == by) { // it has given the sessions back, and this node has not heard of it
                forget(home);
                if (messages != null) {
                    messages.passOnNothing();
                }
            }
        });
        by.served = served;
        by.messages.served().add(served);
    }

    /** A server does not serve the sessions of a node any more, as far as new messages are concerned. */
    private void forget(String home) {
        Heard known = heard.remove(home);
        ServedHomes.Served served = known == null ? null : known.served;
        if (known != null && served != null) { // what was routed before is in the queue of the server then
            local.afterRouted(() -> wire.execute(() ->
                    known.messages.afterDrained(() -> known.messages.served().remove(served))));
        }
    }

    private void answer(NodeIdentity to, Frame.Serves serves) {
        wire.send(to.nodeId(), new Frame.Served(serves.home(), serves.reign(), serves.step()));
    }

    /**
     * Does a step with the messages for a node.
     *
     * @param named names the node in messages to its server from now on; null if the step before this one was not done: then messages are parked
     */
    private void take(
            String home, Frame.ServeStep step, Heir heir, LeftOut without, @Nullable Runnable named, Runnable done) {
        PeerOutbox messages = outboxes.apply(home);
        if (messages == null) {
            done.run();
            return;
        }
        switch (step) {
            case SEND_ON -> messages.passOnTo(heir, home, without, null, done);
            case PARK_NOTHING ->
                local.afterRouted(() -> wire.execute(() -> messages.passOnTo(heir, home, without, named, () -> {
                    local.afterRouted(() -> wire.execute(() -> messages.parkNothing(heir)));
                    done.run();
                })));
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
        public boolean hold(Object holder) {
            return true; // its sessions take what is published here, and have held it back before
        }

        @Override
        public void letGo(Object holder) {
            // nothing waits
        }
    }

    // --- the view

    /** A node is reachable: it gets the step that is under way, or was the last one. */
    void up(String nodeId) {
        kept.up(nodeId);
        Own ofHome = own.get(nodeId);
        if (ofHome != null) {
            ofHome.homeWasUp = true;
        }
        Heard ofServer = heard.get(nodeId);
        if (ofServer != null) {
            ofServer.homeWasUp = true;
        }
        for (Own serving : own.values()) {
            if (serving.step == Frame.ServeStep.PARK_NOTHING) {
                isLate(serving, nodeId);
            } else {
                serving.missing.add(nodeId); // until it has answered
                say(serving, nodeId, serving.step);
            }
        }
    }

    /** A node parks messages until it knows the routes of this one. */
    private void isLate(Own serving, String node) {
        serving.late.add(node);
        say(serving, node, Frame.ServeStep.SEND_ON);
    }

    /** A node has failed: messages for the sessions that it has served are parked again for their node. */
    void down(String nodeId) {
        for (Map.Entry<String, Heard> next : List.copyOf(heard.entrySet())) {
            boolean isServer = next.getValue().server.nodeId().equals(nodeId);
            boolean isHome =
                    next.getKey().equals(nodeId) && next.getValue().homeWasUp; // its server may have given it back
            if (isServer || isHome) {
                forget(next.getKey());
                PeerOutbox messages = outboxes.apply(next.getKey());
                if (messages != null) {
                    messages.passOnNothing();
                }
            }
        }
        for (Own serving : List.copyOf(own.values())) {
            serving.late.remove(nodeId);
            answered(serving, nodeId, serving.step);
        }
        Own ofHome = own.get(nodeId);
        if (ofHome != null && ofHome.homeWasUp && ofHome.step == Frame.ServeStep.PARK_NOTHING) { // others park again
            ofHome.homeWasUp = false;
            wire.others().forEach(node -> isLate(ofHome, node));
        }
    }

    void tick(long nowNanos) {
        parks.tick();
        kept.tick(nowNanos);
        for (Own serving : own.values()) {
            boolean isDue = !serving.missing.isEmpty() || !serving.late.isEmpty();
            if (isDue && nowNanos - serving.saidAtNanos >= retryNanos) {
                say(serving);
            }
        }
    }
}
