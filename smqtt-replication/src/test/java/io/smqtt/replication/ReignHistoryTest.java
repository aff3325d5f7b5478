// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.persistence.ReplicaPosition;
import io.smqtt.persistence.StoreSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of three nodes that lead in turn, each with the rows, the reign and the way of batches that the product has, and a log in memory in
 * place of the engine. That loses proposals, commits them without an answer, and commits some late, in another leadership, which the engine
 * would not do. Nodes restart without what they have not stored, and get checkpoints.
 *
 * <p>{@code -Dsmqtt.seeds=N} for more histories, {@code -Dsmqtt.seed=S} for the first one.
 */
class ReignHistoryTest {

    private static final int STEPS = 60;
    private static final int DEEPEST = 4;

    @TempDir
    private Path folder;

    private final List<byte[]> log = new ArrayList<>();
    private final List<byte[]> late = new ArrayList<>();
    private final List<Node> nodes = new ArrayList<>();
    private final Map<Long, Boolean> taken = new TreeMap<>();
    private final Set<Long> acknowledged = new LinkedHashSet<>();
    private final Map<String, Integer> counts = new HashMap<>();
    private Random random = new Random();
    private Node leader;
    private long term;
    private long runs;
    private long batches;
    private int depth;

    @Test
    void aBatchIsTakenInItsReignAndOnce() throws Exception {
        long first = Long.getLong("smqtt.seed", 1);
        for (long seed = first; seed < first + Long.getLong("smqtt.seeds", 12); seed++) {
            try {
                run(seed);
            } catch (Exception | Error e) {
                throw new AssertionError("seed " + seed, e);
            } finally {
                nodes.forEach(node -> node.state.close());
            }
        }
        assertThat(counts)
                .containsKeys("acknowledged", "failed", "left out", "continued", "ended", "checkpoint", "restart");
    }

    private void run(long seed) throws Exception {
        random = new Random(seed);
        log.clear();
        late.clear();
        taken.clear();
        acknowledged.clear();
        nodes.clear();
        leader = null;
        for (String name : List.of("a", "b", "c")) {
            nodes.add(new Node(name, folder.resolve(seed + name)));
        }
        for (int step = 0; step < STEPS; step++) {
            step();
        }
        nodes.forEach(Node::catchUp);
        check();
    }

    private void step() throws Exception {
        Node any = nodes.get(random.nextInt(nodes.size()));
        switch (random.nextInt(10)) {
            case 0 -> lead(any);
            case 1 -> any.restart();
            case 2 -> any.getCheckpoint();
            case 3 -> any.catchUp();
            case 4 -> commitLate();
            default -> commitByAny(any);
        }
    }

    private void commitByAny(Node any) throws Exception {
        Node now = leader;
        if (now == null) {
            lead(any);
        } else if (now.reign.ended() != null) {
            now.restart();
        }
        commit();
    }

    private void count(String what) {
        counts.merge(what, 1, Integer::sum);
    }

    private void lead(Node next) {
        noneLeads();
        term++;
        leader = next;
        next.catchUp();
        next.reign.want();
        next.reign.leads(term);
    }

    private void noneLeads() {
        Node before = leader;
        leader = null;
        if (before != null) {
            before.reign.follows();
        }
    }

    private void commit() {
        Node node = leader;
        if (node == null || node.isCommitting || !node.commits.isOpen()) {
            return;
        }
        long id = ++batches;
        node.isCommitting = true;
        try {
            node.commits.commit(Notes.batch("last", String.valueOf(id)));
            acknowledged.add(id);
            count("acknowledged");
        } catch (IOException e) {
            count("failed");
        } finally {
            node.isCommitting = false;
        }
    }

    private void commitLate() {
        if (!late.isEmpty()) {
            log.add(late.remove(random.nextInt(late.size())));
        }
    }

    private CompletableFuture<Long> propose(Node node, long in, byte[] content) {
        if (node != leader || in != term) {
            return lost();
        }
        int outcome = random.nextInt(6);
        if (outcome > 2) {
            log.add(content);
            node.catchUp();
            return CompletableFuture.completedFuture((long) log.size());
        }
        if (outcome == 0) {
            log.add(content);
        } else if (outcome == 1) {
            late.add(content);
        }
        noneLeads();
        meanwhile();
        return lost();
    }

    /** What happens before the one who has proposed learns that it does not lead any more. */
    private void meanwhile() {
        if (depth >= DEEPEST) {
            return;
        }
        depth++;
        for (int i = random.nextInt(4); i > 0; i--) {
            switch (random.nextInt(3)) {
                case 0 -> commitLate();
                case 1 -> commit();
                default -> lead(nodes.get(random.nextInt(nodes.size())));
            }
        }
        depth--;
    }

    private static CompletableFuture<Long> lost() {
        return CompletableFuture.failedFuture(new NotLeadingException("the leadership has ended"));
    }

    private void check() {
        List<Long> applied = new ArrayList<>();
        long reign = 0;
        for (long index = 1; index <= log.size(); index++) {
            StoreEntry entry = decode(log.get((int) index - 1));
            if (entry instanceof StoreEntry.Begin) {
                reign = index;
            } else if (entry instanceof StoreEntry.Batch batch && Boolean.TRUE.equals(taken.get(index))) {
                assertThat(batch.reign()).isEqualTo(reign);
                applied.add(idOf(batch));
            } else {
                count("left out");
            }
        }
        assertThat(applied).doesNotHaveDuplicates();
        List<Long> known = new ArrayList<>(applied);
        known.retainAll(acknowledged);
        assertThat(known).containsExactlyElementsOf(acknowledged);
        Map<String, String> expected =
                applied.isEmpty() ? Map.of() : Map.of("last", String.valueOf(applied.get(applied.size() - 1)));
        for (Node node : nodes) {
            assertThat(Notes.in(node.state.rows())).as("rows of %s", node.name).isEqualTo(expected);
        }
    }

    private static StoreEntry decode(byte[] content) {
        return StoreEntry.decode(content, 0, content.length);
    }

    /** The rows end with the value of the note. */
    private long idOf(StoreEntry.Batch batch) {
        for (long id = batches; id > 0; id--) {
            byte[] rows = Notes.batch("last", String.valueOf(id));
            if (Arrays.equals(rows, 0, rows.length, batch.source(), batch.offset(), batch.offset() + batch.length())) {
                return id;
            }
        }
        throw new AssertionError("a batch of no node");
    }

    /** A node, from one start to the next. */
    private final class Node implements StoreState.Reigns {

        private final String name;
        private final Path directory;
        private Path rows;
        private Path stored; // what a crash would leave; null before the first time
        private StoreState state;
        private GroupCommits commits;
        private OwnReign reign;
        private boolean isCommitting;

        Node(String name, Path directory) {
            this.name = name;
            this.directory = directory;
            rows = directory.resolve("rows");
            start();
        }

        private void start() {
            state = new StoreState(StoreSettings.defaults(), this);
            Supplier<ReplicaPosition> position = state::position;
            commits = new GroupCommits(
                    (in, content) -> propose(this, in, content),
                    (ofReign, number) -> position.get().has(ofReign, number),
                    () -> true,
                    Duration.ZERO);
            reign = new OwnReign(
                    "g",
                    new Reign(name, ++runs),
                    commits,
                    (in, content) -> propose(this, in, content),
                    () -> position.get().reign(),
                    new Listening());
            state.open(rows);
        }

        void restart() throws Exception {
            if (leader == this) {
                noneLeads();
            }
            Path now = directory.resolve("stored" + ++runs);
            state.checkpoint(now);
            state.close();
            rows = stored == null || random.nextBoolean() ? now : stored;
            stored = rows == now ? now : null;
            start();
            count("restart");
        }

        void getCheckpoint() throws Exception {
            Node from = leader;
            if (from == null || from == this || from.state.applied() <= state.applied()) {
                return;
            }
            Path copy = directory.resolve("copy" + ++runs);
            from.state.checkpoint(copy);
            state.close();
            rows = copy;
            stored = null;
            state.open(copy);
            count("checkpoint");
        }

        void catchUp() {
            for (long index = state.applied() + 1; index <= log.size(); index++) {
                byte[] entry = log.get((int) index - 1);
                state.apply(index, entry, 0, entry.length);
                boolean isTaken = state.applied() == index;
                Boolean before = taken.putIfAbsent(index, isTaken);
                assertThat(before == null || before == isTaken)
                        .as("entry %d on %s", index, name)
                        .isTrue();
            }
        }

        @Override
        public void applied(long entry, Reign begun) {
            reign.applied(entry, begun);
        }

        @Override
        public void found(long entry) {
            reign.found(entry);
        }

        @Override
        public CompletableFuture<Void> replaced() {
            throw new IllegalStateException("there is no store over these rows");
        }
    }

    private final class Listening implements OwnReign.Listener {

        private boolean hasBegun;

        @Override
        public void opened() {
            count(hasBegun ? "continued" : "begun");
            hasBegun = true;
        }

        @Override
        public void ended() {
            count("ended");
        }
    }
}
