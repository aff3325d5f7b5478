// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.persistence.StoreUnusableException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jgroups.Address;
import org.jgroups.View;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the place of a lost node to another one, while the rest of the cluster runs.
 *
 * <p>The leader of the group whose home is that place decides, when all other members of the group are connected to it, and the lost node is not. It stores
 * the decision, then all these members do, and only then is the call answered. So each later leader of the group, which is one of them, or has been brought
 * up to date by one, knows it. All other nodes learn it when they meet one that knows it: the later decision about a place counts ({@link Holding}).
 * Members, votes and logs do not change by it: the new node comes to its place as one that has lost its disk.
 *
 * <p>A node is refused whose place another one holds, and learns why. Its state is used by one thread.
 */
final class PlaceChanges implements ChannelPart, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PlaceChanges.class);

    /** The time in which a leader can be elected, and all members answer. */
    private static final long PATIENCE_MILLIS = 15_000;

    private static final long REPEAT_MILLIS = 250;
    private static final long QUESTION_EVERY = 4;
    private static final int MAXIMUM_QUESTIONS = 64;
    private static final byte[] NODE_KEY = Util.stringToBytes("node");

    private final ReplicaPlan plan;
    private final Places places;
    private final Function<String, @Nullable ReplicatedStore> replicas;
    private final Consumer<String> replaced;
    private final AtomicLong nonces = new AtomicLong(System.nanoTime());
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread made = new Thread(task, "smqtt-places");
        made.setDaemon(true);
        return made;
    });
    private final Verdicts<String> reasons = new Verdicts<>();
    private final Function<Address, String> judge = this::judge;
    private volatile @Nullable NodeLink link;
    private final Map<Address, SortedMap<String, Holding>> known = new HashMap<>();
    private final Map<Long, Question> questions = new HashMap<>();
    private final List<Change> changes = new ArrayList<>();
    private @Nullable View view;
    private long ticks;

    /** A call on this node that waits for its answer. */
    private record Question(String lost, String by, CompletableFuture<String> answer, long endNanos) {}

    /** A decision that other members have to store. */
    private record Change(Address from, long nonce, String place, long endNanos) {}

    /**
     * Creates it for a node.
     *
     * @param replicas the replica of a place on this node; null if it has none
     * @param replaced receives why this node has no part with the others any more; on the thread of this object
     */
    PlaceChanges(
            ReplicaPlan plan,
            Places places,
            Function<String, @Nullable ReplicatedStore> replicas,
            Consumer<String> replaced) {
        this.plan = plan;
        this.places = places;
        this.replicas = replicas;
        this.replaced = replaced;
        thread.scheduleWithFixedDelay(() -> guarded(this::tick), REPEAT_MILLIS, REPEAT_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Why a node cannot hold a place. */
    static String refusal(String place, String holder, String node) {
        return AgreementGuard.OTHER_HOLDER + " " + place + " of cluster.nodes: node " + holder + ", not node " + node
                + ". A node that was replaced stays stopped; smqtt ctl cluster replace gives its place to another one";
    }

    // --- the channel

    @Override
    public void linkedBy(NodeLink way) {
        link = way;
    }

    /** A node shows the decision by which it holds its place, if it has got it, to nodes that were away. */
    @Override
    public void describe(ExtendedUUID address) {
        Holding holding = places.holding(plan.self());
        if (!holding.equals(Holding.first(plan.self())) || !plan.node().equals(plan.self())) {
            boolean isOwn = holding.node().equals(plan.node());
            address.put(
                    NODE_KEY,
                    new ByteWriter(32)
                            .i64(isOwn ? holding.term() : 0)
                            .i64(isOwn ? holding.change() : 0)
                            .text(plan.node())
                            .toByteArray());
        }
    }

    private static Holding shown(String place, byte @Nullable [] bytes) {
        if (bytes == null) {
            return Holding.first(place);
        }
        ByteReader in = new ByteReader(bytes);
        return new Holding(in.i64(), in.i64(), in.text(), place);
    }

    @Override
    public @Nullable String reason(ExtendedUUID node) {
        if (places.areUnchanged() && node.get(NODE_KEY) == null) {
            return null;
        }
        String reason = reasons.of(node, places.version(), judge);
        return reason.isEmpty() ? null : reason;
    }

    private String judge(Address address) {
        ExtendedUUID node = (ExtendedUUID) address;
        String place = GroupMembers.nameOf(node);
        if (place == null) {
            return "";
        }
        Holding known = places.holding(place);
        try {
            Holding shown = shown(place, node.get(NODE_KEY));
            boolean isHolder =
                    shown.isLaterThan(known) || shown.node().equals(known.node()) || isNotNamedYet(place, shown, known);
            return isHolder ? "" : refusal(place, known.node(), shown.node());
        } catch (MalformedBytesException e) {
            return refusal(place, known.node(), "with an address that cannot be decoded");
        }
    }

    /** This node starts for the first time, and has not heard by which decision it holds its place. */
    private boolean isNotNamedYet(String place, Holding shown, Holding known) {
        return place.equals(plan.self())
                && known.equals(Holding.first(place))
                && shown.node().equals(plan.node());
    }

    @Override
    public void viewed(View next) {
        execute(() -> {
            view = next;
            known.keySet().retainAll(next.getMembers());
            tellAll(false);
        });
    }

    private void tellAll(boolean asks) {
        View now = view;
        NodeLink way = link;
        if (now == null || way == null) {
            return;
        }
        for (Address node : now) {
            String reason = way.reason(node);
            if (reason == null) { // this node, too, which changes nothing
                way.send(node, new PlaceMessage.Known(asks, places.all()));
            } else if (reason != null && AgreementGuard.isReplaced(reason)) {
                way.send(node, new PlaceMessage.LeftOut(reason));
            }
        }
    }

    @Override
    public void received(Address from, byte[] bytes) {
        execute(() -> {
            try {
                handle(from, PlaceMessage.decode(bytes));
            } catch (MalformedBytesException e) {
                LOG.debug("a message of {} cannot be decoded: {}", from, e.getMessage());
            }
        });
    }

    private void handle(Address from, PlaceMessage message) {
        if (message instanceof PlaceMessage.Known heard) {
            known.put(from, heard.holdings());
            take(heard.holdings());
            if (heard.asks()) {
                send(from, new PlaceMessage.Known(false, places.all()));
            }
        } else if (message instanceof PlaceMessage.Replace replace) {
            decide(from, replace);
        } else if (message instanceof PlaceMessage.Replaced answer) {
            Question question = questions.remove(answer.nonce());
            if (question != null && answer.text().isEmpty()) {
                question.answer().complete(answer.place());
            } else if (question != null) {
                question.answer().completeExceptionally(new IllegalStateException(answer.text()));
            }
        } else if (message instanceof PlaceMessage.LeftOut leftOut) {
            replaced.accept(leftOut.reason());
        }
    }

    private void send(Address node, PlaceMessage message) {
        NodeLink way = link;
        if (way != null) {
            way.send(node, message);
        }
    }

    private void take(Map<String, Holding> holdings) {
        List<String> changed = places.merge(holdings);
        for (String place : changed) {
            LOG.info("the place {} of cluster.nodes is held by node {} from now on", place, places.nodeOf(place));
        }
        Holding own = places.holding(plan.self());
        if (!own.equals(Holding.first(plan.self())) && !own.node().equals(plan.node())) {
            replaced.accept(refusal(plan.self(), own.node(), plan.node()));
        }
        NodeLink way = link;
        if (!changed.isEmpty() && way != null) {
            way.judgeAgain();
        }
    }

    // --- a change

    /**
     * Gives the place of a node to another one.
     *
     * @param lost the name of the node that holds it
     * @param by the name of the other node
     * @return the place, when all members of its group have stored that; or {@link IllegalArgumentException} if the names are wrong, {@link
     *     IllegalStateException} if it is not possible now
     */
    CompletableFuture<String> replace(String lost, String by) {
        String wrong = wrong(lost, by);
        if (wrong != null) {
            return CompletableFuture.failedFuture(new IllegalArgumentException(wrong));
        }
        CompletableFuture<String> answer = new CompletableFuture<>();
        execute(() -> {
            if (questions.size() >= MAXIMUM_QUESTIONS) {
                answer.completeExceptionally(new IllegalStateException("too many calls wait"));
                return;
            }
            long nonce = nonces.incrementAndGet();
            questions.put(nonce, new Question(lost, by, answer, end()));
            ask(nonce, lost, by);
        });
        return answer;
    }

    private static long end() {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
    }

    /** The place that a call is about: that of the lost node, or the one that it had before the same call came first. */
    private @Nullable String placeOf(String lost, String by) {
        for (String place : plan.addresses().keySet()) {
            Holding holding = places.holding(place);
            boolean isDone = holding.node().equals(by) && holding.former().equals(lost);
            if (holding.node().equals(lost) || isDone) {
                return place;
            }
        }
        return null;
    }

    private List<String> nodes() {
        return plan.addresses().keySet().stream().map(places::nodeOf).toList();
    }

    private @Nullable String wrong(String lost, String by) {
        String place = placeOf(lost, by);
        if (place == null) {
            return lost + " is none of the nodes with replicas: " + String.join(", ", nodes());
        }
        if (!places.nodeOf(place).equals(by) && nodes().contains(by)) {
            return by + " is a node with replicas already: " + String.join(", ", nodes());
        }
        if (!place.equals(by) && plan.addresses().containsKey(by)) {
            return by + " is the name of a place, which node " + places.nodeOf(by) + " holds: choose another name";
        }
        return null;
    }

    private void ask(long nonce, String lost, String by) {
        View now = view;
        NodeLink way = link;
        if (now != null && way != null) {
            for (Address node : now) {
                if (way.reason(node) == null) {
                    way.send(node, new PlaceMessage.Replace(nonce, lost, by)); // to this node, too
                }
            }
        }
    }

    /** Decides, if this node leads the group of the place. */
    private void decide(Address from, PlaceMessage.Replace replace) {
        String lost = replace.lost();
        String place = placeOf(lost, replace.by());
        ReplicatedStore replica = place == null ? null : replicas.apply(place);
        long term = replica == null ? 0 : replica.leaderTerm();
        if (place == null
                || replica == null
                || term == 0
                || changes.stream().anyMatch(change -> change.nonce() == replace.nonce())) {
            return;
        }
        String refused = wrong(lost, replace.by());
        if (refused == null && !places.nodeOf(place).equals(replace.by())) {
            refused = refusedNow(place, lost, replica);
            if (refused == null) {
                Holding before = places.holding(place);
                long number = before.term() == term ? before.change() + 1 : 1;
                SortedMap<String, Holding> next = places.all();
                next.put(place, new Holding(term, number, replace.by(), lost));
                take(next);
            }
        }
        if (refused == null) {
            changes.add(new Change(from, replace.nonce(), place, end()));
            confirm();
            tellAll(true);
        } else {
            send(from, new PlaceMessage.Replaced(replace.nonce(), "", refused));
        }
    }

    private @Nullable String refusedNow(String place, String lost, ReplicatedStore replica) {
        Set<String> present = replica.group().present();
        if (present.contains(place)) {
            return "node " + lost + " is connected: only a node that is lost is replaced. Stop it first, for good";
        }
        Set<String> missing = new HashSet<>(plan.membersOf(place));
        missing.remove(place);
        missing.removeAll(present);
        if (!missing.isEmpty()) {
            return "all other nodes with replicas of " + lost + " must be connected, and "
                    + String.join(
                            ", ", missing.stream().map(places::nodeOf).sorted().toList()) + " is not";
        }
        for (Address node : Objects.requireNonNull(view)) {
            if (!ReplicaVersion.of(node).knowsPlaces()) {
                return "node " + GroupMembers.nameOf(node)
                        + " has a version that does not know of places: update it first";
            }
        }
        return null;
    }

    /** Answers the calls whose decision all members have stored. */
    private void confirm() {
        Iterator<Change> all = changes.iterator();
        while (all.hasNext()) {
            Change change = all.next();
            List<String> missing = missing(change.place());
            if (missing.isEmpty()) {
                send(change.from(), new PlaceMessage.Replaced(change.nonce(), change.place(), ""));
                all.remove();
            } else if (System.nanoTime() - change.endNanos() > 0) {
                String text = "node " + places.nodeOf(change.place()) + " holds the place " + change.place()
                        + ", and this is not stored yet on " + String.join(", ", missing)
                        + ": call again when all are connected";
                send(change.from(), new PlaceMessage.Replaced(change.nonce(), "", text));
                all.remove();
            }
        }
    }

    /** The members of a group, other than the home, that have not stored which node holds its place. */
    private List<String> missing(String place) {
        List<String> missing = new ArrayList<>();
        for (String member : plan.membersOf(place)) {
            if (!member.equals(place) && !member.equals(plan.self())) {
                Address node = GroupMembers.find(view, member);
                SortedMap<String, Holding> theirs = node == null ? null : known.get(node);
                if (theirs == null || !places.holding(place).equals(theirs.get(place))) {
                    missing.add(places.nodeOf(member));
                }
            }
        }
        return missing;
    }

    private void tick() {
        ticks++;
        if (!changes.isEmpty()) {
            confirm();
        }
        if (!changes.isEmpty()) {
            tellAll(true);
        }
        Iterator<Map.Entry<Long, Question>> all = questions.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry<Long, Question> next = all.next();
            Question question = next.getValue();
            if (System.nanoTime() - question.endNanos() > TimeUnit.SECONDS.toNanos(1)) { // the leader answers before
                question.answer()
                        .completeExceptionally(new IllegalStateException("no node leads the group of " + question.lost()
                                + ": a majority of the nodes with its replicas must be connected"));
                all.remove();
            } else if (ticks % QUESTION_EVERY == 0) {
                ask(next.getKey(), question.lost(), question.by());
            }
        }
    }

    // --- the thread

    private void execute(Runnable task) {
        try {
            thread.execute(() -> guarded(task));
        } catch (RejectedExecutionException e) {
            // closed
        }
    }

    private static void guarded(Runnable task) {
        try {
            task.run();
        } catch (StoreUnusableException e) {
            LOG.warn("which node holds which place cannot be stored yet: {}", e.getMessage());
        } catch (RuntimeException e) {
            LOG.error("places of nodes cannot be tended to", e);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
