// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.cluster.RetainedEntries.Entry;
import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.spi.RetainedVersion;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Compares retained messages with other nodes and exchanges the differences, partition by partition in small steps, because forwarded
 * messages use the same loop and transport. A partition is compared with one node at a time. Of two nodes the one with the smaller hash
 * requests: so an empty node requests from any node, and gets each partition once.
 *
 * <p>The requesting node sends its versions. The other one answers with its newer messages, requests those that are older, and sends an
 * end frame. Lost frames show in the next digests.
 */
@OnClusterLoop
final class RetainedExchange {

    /** The number of partitions that are requested at a time. */
    static final int WINDOW = 4;

    private static final int ROWS_PER_TURN = 256;
    private static final long BYTES_PER_TURN = 192 * 1024;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long SHORTEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_DOUBLINGS = 3;
    private static final long FUTILE_WAIT_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final RetainedEntries entries;
    private final LongSupplier nanoTime;
    private final int frameBytes;
    private final BiPredicate<Peer, Frame> send;
    private final Consumer<Runnable> soon;
    private final Map<Peer, Other> others = new LinkedHashMap<>(); // ordered, so that simulations are repeatable
    private final BitSet asked = new BitSet(RetainedEntries.PARTS);
    private boolean awake;
    private long compared;

    /**
     * Creates an exchange without other nodes.
     *
     * @param entries the state of this node
     * @param nanoTime the broker's monotonic clock
     * @param frameBytes the approximate maximum size of a frame
     * @param send sends a frame to one node; false if the transport does not accept it now
     * @param soon runs a task on the loop after other tasks
     */
    RetainedExchange(
            RetainedEntries entries,
            LongSupplier nanoTime,
            int frameBytes,
            BiPredicate<Peer, Frame> send,
            Consumer<Runnable> soon) {
        this.entries = entries;
        this.nanoTime = nanoTime;
        this.frameBytes = frameBytes;
        this.send = send;
        this.soon = soon;
    }

    /** The state of the exchange with one node. */
    private final class Other {

        private final Peer peer;
        private final BitSet due = new BitSet(RetainedEntries.PARTS);
        private final Map<Integer, Open> open = new LinkedHashMap<>();
        private final Deque<Answer> answers = new ArrayDeque<>();
        private final Map<Integer, Try> tries = new HashMap<>();
        private long @Nullable [] theirs;
        private long heardAtNanos;
        private boolean full;

        Other(Peer peer) {
            this.peer = peer;
        }

        private boolean isAsking() {
            return !due.isEmpty() || !open.isEmpty();
        }

        /** Clears the planned requests. */
        private void giveUpDue() {
            asked.andNot(due);
            due.clear();
        }

        private void giveUp() {
            giveUpDue();
            open.keySet().forEach(asked::clear);
            open.clear();
        }

        /** Clears the unanswered and the planned requests. */
        private void giveUpLate(long nowNanos) {
            boolean anything = open.entrySet().removeIf(question -> {
                boolean late = question.getValue().isLate(nowNanos);
                if (late) {
                    asked.clear(question.getKey());
                }
                return late;
            });
            if (anything) {
                giveUpDue();
            }
        }

        /** Answers come in the order of the requests: after an answer for this partition those for later ones are still pending. */
        private void answered(int part, long nowNanos) {
            boolean behind = false;
            for (Map.Entry<Integer, Open> question : open.entrySet()) {
                behind |= question.getKey() == part;
                if (behind) {
                    question.getValue().lastNanos = nowNanos;
                }
            }
        }

        /** Does one step; true if another step can follow at once. */
        private boolean turn() {
            if (full || !ask()) {
                return false;
            }
            int rows = 0;
            long bytes = 0;
            while (!answers.isEmpty() && rows < ROWS_PER_TURN && bytes < BYTES_PER_TURN) {
                Answer answer = answers.element();
                if (answer.sendsQuestion() && !offer(new Frame.RetainedPull(answer.wanted))) {
                    return false;
                }
                answer.wanted = List.of();
                List<RetainedRow> next = new ArrayList<>();
                int end = answer.collect(next, ROWS_PER_TURN - rows);
                if (!next.isEmpty() && !offer(new Frame.RetainedUpdate(next))) {
                    return false;
                }
                answer.at = end;
                rows += next.size();
                bytes += next.stream().mapToLong(RetainedRow::bytes).sum();
                if (answer.at == answer.topics.size()) {
                    if (answer.part >= 0 && !offer(new Frame.RetainedCompared(answer.part, answer.missing))) {
                        return false;
                    }
                    answers.remove();
                }
            }
            return !answers.isEmpty() || mayAsk();
        }

        private boolean mayAsk() {
            return !due.isEmpty() && open.size() < WINDOW && answers.size() < WINDOW;
        }

        /** Requests one partition; false if the transport does not accept it. */
        private boolean ask() {
            if (!mayAsk() || theirs == null) {
                return true;
            }
            int part = due.nextSetBit(0);
            if (theirs[part] == entries.hash(part)) { // the difference is resolved
                due.clear(part);
                asked.clear(part);
                return true;
            }
            if (!offer(versions(part))) {
                return false;
            }
            due.clear(part);
            open.put(part, new Open(nanoTime.getAsLong()));
            compared++;
            tries.computeIfAbsent(part, key -> new Try()).begins(entries.hash(part), theirs[part]);
            return true;
        }

        private boolean offer(Frame frame) {
            full = !send.test(peer, frame);
            return !full;
        }
    }

    /** A request without an answer. */
    private static final class Open {

        private final long askedNanos;
        private long lastNanos;

        Open(long nowNanos) {
            askedNanos = nowNanos;
            lastNanos = nowNanos;
        }

        private boolean isLate(long nowNanos) {
            return nowNanos - lastNanos > PATIENCE_NANOS || nowNanos - askedNanos > LONGEST_NANOS;
        }
    }

    /** A record of the comparison of one partition, to check its result. */
    private final class Try {

        private long mine;
        private long theirs;
        private int times;
        private long atNanos;
        private boolean futile;

        private void begins(long nextMine, long nextTheirs) {
            times = times > 0 && mine == nextMine && theirs == nextTheirs ? times + 1 : 1;
            mine = nextMine;
            theirs = nextTheirs;
            atNanos = nanoTime.getAsLong();
            futile = false;
        }

        private boolean isTooSoon(long nextMine, long nextTheirs) {
            if (times == 0 || mine != nextMine || theirs != nextTheirs) {
                return false;
            }
            long wait = futile ? FUTILE_WAIT_NANOS : SHORTEST_WAIT_NANOS << Math.min(times - 1, MOST_DOUBLINGS);
            return nanoTime.getAsLong() - atNanos < wait;
        }
    }

    /** Messages to send to another node. */
    private final class Answer {

        private final int part;
        private final List<String> topics;
        private final int missing;
        private List<String> wanted;
        private int at;

        Answer(int part, List<String> topics, List<String> wanted, int missing) {
            this.part = part;
            this.topics = topics;
            this.wanted = wanted;
            this.missing = missing;
        }

        private boolean sendsQuestion() {
            return !wanted.isEmpty();
        }

        /** Collects the current state of the topics that fit into one frame; returns the end index. */
        private int collect(List<RetainedRow> rows, int most) {
            int bytes = 0;
            int end = at;
            for (; end < topics.size() && rows.size() < most && bytes < frameBytes; end++) {
                Entry entry = entries.get(topics.get(end));
                RetainedRow row = entry == null ? null : entry.row();
                if (row != null) {
                    if (!rows.isEmpty() && bytes + row.bytes() > frameBytes) {
                        return end;
                    }
                    rows.add(row);
                    bytes += row.bytes();
                }
            }
            return end;
        }
    }

    private Other other(Peer peer) {
        Other other = others.computeIfAbsent(peer, Other::new);
        other.heardAtNanos = nanoTime.getAsLong();
        return other;
    }

    /**
     * A digest of another node. A change in flight is not a difference, so a difference must be in two digests.
     *
     * @param missed parts that this node requests if they differ, because it may have missed changes; null without such parts
     */
    void digest(Peer from, long[] theirs, @Nullable BitSet missed) {
        if (theirs.length != RetainedEntries.PARTS) {
            return;
        }
        Other other = other(from);
        long[] before = other.theirs;
        other.theirs = theirs;
        for (int part = 0; part < RetainedEntries.PARTS; part++) {
            long mine = entries.hash(part);
            if (mine == theirs[part]) {
                other.tries.remove(part);
                continue;
            }
            boolean counts = before == null || theirs[part] == before[part];
            boolean mineToAsk = Long.compareUnsigned(mine, theirs[part]) < 0;
            Try last = other.tries.get(part);
            boolean wanted = counts && mineToAsk && (last == null || !last.isTooSoon(mine, theirs[part]));
            if ((wanted || (missed != null && missed.get(part))) && !asked.get(part)) {
                asked.set(part);
                other.due.set(part);
            }
        }
        wake();
    }

    /** Another node requests newer messages than its versions. */
    void versions(Peer from, Frame.RetainedVersions theirs) {
        Map<String, RetainedVersion> versions = new HashMap<>();
        for (int i = 0; i < theirs.topics().size(); i++) {
            versions.put(theirs.topics().get(i), theirs.versions().get(i));
        }
        List<String> wanted = new ArrayList<>();
        versions.forEach((topic, version) -> {
            Entry mine = entries.get(topic);
            if (mine == null || version.isAfter(mine.version())) {
                wanted.add(topic);
            }
        });
        List<String> newer = new ArrayList<>();
        int missing = 0;
        for (Entry mine : entries.part(theirs.part())) {
            RetainedVersion known = versions.get(mine.topic());
            if (known == null || mine.version().isAfter(known)) {
                newer.add(mine.topic());
                missing += mine.isRefused() ? 1 : 0;
            }
        }
        Other other = other(from);
        other.answers.removeIf(answer -> answer.part == theirs.part());
        other.answers.add(new Answer(theirs.part(), newer, wanted, missing));
        wake();
    }

    /** Another node requests messages. */
    void pull(Peer from, List<String> topics) {
        other(from).answers.add(new Answer(-1, topics, List.of(), 0));
        wake();
    }

    /** Another node has completed an answer. */
    void compared(Peer from, Frame.RetainedCompared answer) {
        Other other = other(from);
        if (other.open.containsKey(answer.part())) {
            other.answered(answer.part(), nanoTime.getAsLong());
            other.open.remove(answer.part());
            asked.clear(answer.part());
            Try last = other.tries.get(answer.part());
            if (last != null) {
                last.futile = answer.missing() > 0;
                last.mine = last.futile ? entries.hash(answer.part()) : last.mine;
            }
        }
        wake();
    }

    /** A row of another node, possibly an answer. */
    void heard(Peer from, String topic) {
        other(from).answered(RetainedEntries.partOf(topic), nanoTime.getAsLong());
    }

    private Frame versions(int part) {
        List<String> topics = new ArrayList<>();
        List<RetainedVersion> versions = new ArrayList<>();
        for (Entry entry : entries.part(part)) {
            topics.add(entry.topic());
            versions.add(entry.version());
        }
        return new Frame.RetainedVersions(part, topics, versions);
    }

    private void wake() {
        if (!awake) {
            awake = true;
            soon.accept(this::turn);
        }
    }

    private void turn() {
        awake = false;
        boolean more = false;
        for (Other other : others.values()) {
            more |= other.turn();
        }
        if (more) {
            wake();
        }
    }

    /** Retries where the transport was full, and drops requests that time out. Called periodically. */
    void tick(long nowNanos) {
        others.values().removeIf(other -> {
            other.giveUpLate(nowNanos);
            return nowNanos - other.heardAtNanos > IDLE_NANOS && !other.isAsking() && other.answers.isEmpty();
        });
        for (Other other : others.values()) {
            other.full = false;
        }
        if (!others.isEmpty()) {
            wake();
        }
    }

    /** A node has become unreachable. */
    void gone(Peer peer) {
        Other other = others.remove(peer);
        if (other != null) {
            other.giveUp();
        }
    }

    /** The number of partitions that this node must still compare. Until then other nodes should not compare with it. */
    int due() {
        return asked.cardinality();
    }

    /** The number of partitions that this node has requested because they differed. */
    long compared() {
        return compared;
    }
}
