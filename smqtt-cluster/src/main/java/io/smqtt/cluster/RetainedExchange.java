// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.cluster.RetainedEntries.Entry;
import io.smqtt.spi.ClusterTransport.Peer;
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
 * Compares retained messages with other nodes and exchanges what differs, part by part and a little at a time, because
 * other nodes' messages wait on the same loop and behind the same transport. A part is compared with one node at a time,
 * and of two nodes the one whose hash of it is the smaller number asks: so one that knows nothing does, whom it likes, and
 * gets it once.
 *
 * <p>Whoever asks sends its versions; the other one answers with its messages that are newer, asks for those that are
 * not, and says when that was all. What is lost on the way shows in the next digests.
 */
@OnClusterLoop
final class RetainedExchange {

    /** Parts that are asked for at a time. */
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
    private final Map<Peer, Other> others = new LinkedHashMap<>(); // so that a simulation can be repeated
    private final BitSet asked = new BitSet(RetainedEntries.PARTS);
    private boolean awake;
    private long compared;

    /**
     * Creates an exchange with nobody.
     *
     * @param entries what is known here
     * @param nanoTime the broker's monotonic clock
     * @param frameBytes about how long a frame may become
     * @param send sends a frame to one; false if the transport does not take it now
     * @param soon runs something on the loop after others had their turn
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

        /** Forgets what was to be asked. */
        private void giveUpDue() {
            asked.andNot(due);
            due.clear();
        }

        private void giveUp() {
            giveUpDue();
            open.keySet().forEach(asked::clear);
            open.clear();
        }

        /** Forgets what was asked in vain, and what was to be asked. */
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

        /** Answers come in the order of the questions: one for this part means that those for later ones are still to come. */
        private void answered(int part, long nowNanos) {
            boolean behind = false;
            for (Map.Entry<Integer, Open> question : open.entrySet()) {
                behind |= question.getKey() == part;
                if (behind) {
                    question.getValue().lastNanos = nowNanos;
                }
            }
        }

        /** Does a little; true if there is more to do that need not wait for anything. */
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

        /** Asks for one part; false if the transport does not take it. */
        private boolean ask() {
            if (!mayAsk() || theirs == null) {
                return true;
            }
            int part = due.nextSetBit(0);
            if (theirs[part] == entries.hash(part)) { // it has come another way
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

    /** A question that is not answered yet. */
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

    /** A record of one comparison of a part, to see whether it was of use. */
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

    /** Messages that another node is to get. */
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

        /** Collects what fits into one frame, as it is now; gives where that ends. */
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

    /** Another node says what its messages come to. What is just on its way is no difference: after the first time, it says it twice. */
    void digest(Peer from, long[] theirs) {
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
            if (counts && mineToAsk && !asked.get(part) && (last == null || !last.isTooSoon(mine, theirs[part]))) {
                asked.set(part);
                other.due.set(part);
            }
        }
        wake();
    }

    /** Another node asks what is newer here than what it has. */
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

    /** Another node asks for messages. */
    void pull(Peer from, List<String> topics) {
        other(from).answers.add(new Answer(-1, topics, List.of(), 0));
        wake();
    }

    /** Another node has answered all of a question. */
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

    /** Another node tells of a topic, maybe as an answer. */
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

    /** Tries again where the transport was full, and gives up who does not answer. Called now and then. */
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

    /** A node cannot be reached any more. */
    void gone(Peer peer) {
        Other other = others.remove(peer);
        if (other != null) {
            other.giveUp();
        }
    }

    /** Parts that this node is still to compare. While it does, what it has is not worth comparing with by others. */
    int due() {
        return asked.cardinality();
    }

    /** Parts that this node has asked others for, because they differed. */
    long compared() {
        return compared;
    }
}
