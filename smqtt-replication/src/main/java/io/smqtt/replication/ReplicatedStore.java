// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.message.ReasonCode;
import io.smqtt.persistence.ReplicaPosition;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.persistence.StoreUnusableException;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.StoreDamagedException;
import io.smqtt.spi.StoreObserver;
import io.smqtt.spi.StoreUnavailableException;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredPage;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jgroups.stack.Protocol;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store on a majority of nodes. Each batch of the committing thread is one entry of a group; "committed" means on stable storage of a
 * majority, and applied here. The members that do not lead have the same rows, and no store over them.
 *
 * <p>The store is opened when this member leads for the first time, and has begun to reign ({@link OwnReign}). When the leadership ends all that waits
 * has failed, and the store takes nothing until this member leads again. That takes no new store, unless another node has reigned meanwhile: then
 * the store is closed, and does not open again in this process.
 *
 * <p>The log and the rows are in the directory of the group ({@link StateFolder}).
 */
final class ReplicatedStore implements BrokerStore {

    private static final Logger LOG = LoggerFactory.getLogger(ReplicatedStore.class);
    private static final long JOIN_MILLIS = 15_000;

    /** Longer than a vote takes, and shorter than clients wait. */
    private static final Duration GRACE = Duration.ofSeconds(5);

    /** The time of a stop in which one batch at least has to be committed; a majority that is there needs far less. */
    private static final Duration PROGRESS_WITHIN = Duration.ofSeconds(5);

    /** The time of a stop for all batches. */
    private static final Duration COMMIT_WITHIN = Duration.ofSeconds(10);

    /** The time for the batches that have failed then to be answered. */
    private static final Duration FAIL_WITHIN = Duration.ofSeconds(2);

    /** The time of a stop for channel, log and rows to be closed, with that before; in sum with the others less than the broker waits. */
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(7);

    private final StoreState state;
    private final RaftGroup group;
    private final Link link;
    private final GroupCommits commits;
    private final OwnReign reign;
    private final CompletableFuture<Void> over = new CompletableFuture<>(); // its reign is over
    private final CompletableFuture<Void> ended = new CompletableFuture<>(); // the store is closed after that, too
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Object serving = new Object(); // not the monitor that threads of the group take
    private volatile @Nullable BrokerStore store; // set once, guarded by serving
    private volatile @Nullable Path former;
    private volatile @Nullable Throwable failure;

    private ReplicatedStore(GroupSettings settings, StoreSettings limits, Link link) {
        this.link = link;
        commits = new GroupCommits(
                (term, content) -> group().propose(term, content),
                (ofReign, number) -> position().has(ofReign, number),
                () -> group().hasMajority(),
                GRACE);
        reign = new OwnReign(
                settings.name(),
                new Reign(settings.self(), new SecureRandom().nextLong()),
                commits,
                (term, content) -> group().propose(term, content),
                () -> position().reign(),
                new Served());
        state = new StoreState(limits, new Used());
        group = RaftGroup.open(settings, state, new Role());
    }

    /**
     * Opens a member of a replicated store. It takes part when its {@link #group()} is in a channel that is connected. Blocks.
     *
     * @param settings the group; its directory is that of the member
     * @param limits limits and memory of the rows
     * @param link the channel
     * @throws io.smqtt.spi.StoreDamagedException if the log or the rows are damaged
     */
    static ReplicatedStore member(GroupSettings settings, StoreSettings limits, Link link) {
        return new ReplicatedStore(settings, limits, link);
    }

    /**
     * Opens a member with a channel of its own, and joins the others. Blocks.
     *
     * @param settings the group; its directory is that of the member
     * @param limits limits and memory of the rows
     * @param reliable the protocols of the channel below the group, see {@link GroupChannel#create}
     * @param cluster the name of the channel
     * @throws io.smqtt.spi.StoreDamagedException if the log or the rows are damaged
     */
    static ReplicatedStore open(GroupSettings settings, StoreSettings limits, List<Protocol> reliable, String cluster)
            throws Exception {
        OwnChannel link = new OwnChannel();
        ReplicatedStore opened = member(settings, limits, link);
        try {
            GroupChannel channel = GroupChannel.create(reliable, settings.self(), List.of(opened.group));
            link.channel = channel;
            channel.connect(cluster, JOIN_MILLIS);
            return opened;
        } catch (Exception e) { // declared by the channel
            opened.close();
            throw e;
        }
    }

    /** Sets the directory of a store with one replica whose rows this one takes over before it is opened for the first time. */
    void takeOver(Path directory) {
        former = directory;
    }

    private ReplicaPosition position() {
        return state.position();
    }

    /** The group of this member. */
    RaftGroup group() {
        return group;
    }

    /**
     * Waits until this member leads and reigns, and opens the store then. Blocks.
     *
     * @return whether it does
     * @throws IllegalStateException if this member has failed
     */
    boolean awaitLeading(Duration patience) throws InterruptedException {
        boolean serves = false;
        reign.want();
        try {
            serves = awaitOpen(patience) && serve();
            return serves;
        } finally {
            if (!serves) {
                reign.wantNot();
            }
        }
    }

    private synchronized boolean awaitOpen(Duration patience) throws InterruptedException {
        long endNanos = System.nanoTime() + patience.toNanos();
        while (!commits.isOpen()) {
            requireUsable();
            long leftMillis = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
            if (leftMillis <= 0) {
                return false;
            }
            wait(leftMillis);
        }
        return true;
    }

    /**
     * Checks that this member is in use.
     *
     * @throws StoreUnusableException if its disk has failed
     * @throws StoreDamagedException if its log or its rows are damaged
     * @throws StoreUnavailableException if its reign is over
     * @throws IllegalStateException if it has failed for another reason
     */
    void requireUsable() {
        String over = reign.ended();
        if (over != null) {
            throw new StoreUnavailableException(over, null);
        }
        Throwable cause = failure;
        if (cause instanceof StoreUnusableException || cause instanceof StoreDamagedException) {
            throw (RuntimeException) cause;
        }
        if (cause != null) {
            throw new IllegalStateException("this member of the store has failed", cause);
        }
    }

    /** Why this member does not serve its store any more, while its log and its rows are in use; null if it does, or never has. */
    @Nullable
    String notServed() {
        return reign.ended();
    }

    /** Sets what is called when this member does not serve its store any more; at once if that is so already. Must not block. */
    void whenNotServed(Runnable task) {
        over.thenRun(task);
    }

    /** Why the log or the rows of this member cannot be used any more; null while they are in use. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /** Returns false if the leadership has ended meanwhile. */
    private boolean serve() {
        synchronized (serving) {
            if (store == null) {
                requireUsable();
                try {
                    Path taken = former;
                    if (taken != null) {
                        state.rows().takeOver(taken, commits);
                        former = null;
                    }
                    store = state.rows().lead(commits);
                } catch (StoreUnusableException e) {
                    if (commits.isOpen()) {
                        throw e;
                    }
                    return false;
                }
            }
            return true;
        }
    }

    /** The figures of the group. */
    GroupFigures figures() {
        return group.figures();
    }

    private BrokerStore store() {
        BrokerStore open = store;
        if (open == null) {
            throw new IllegalStateException("this member of the store does not lead");
        }
        return open;
    }

    @Override
    public void observe(StoreObserver observer) {
        store().observe(observer);
    }

    @Override
    public StoreWriter writer(Executor loop, CommitListener listener) {
        return store().writer(loop, listener);
    }

    @Override
    public void recover(RecoveryVisitor visitor) {
        store().recover(visitor);
    }

    @Override
    public void read(
            long session, long fromSequence, int maxMessages, int maxBytes, Executor loop, Consumer<StoredPage> reply) {
        store().read(session, fromSequence, maxMessages, maxBytes, loop, reply);
    }

    @Override
    public void find(long session, Executor loop, Consumer<FoundSession> found, Consumer<@Nullable Throwable> missing) {
        store().find(session, loop, found, missing);
    }

    @Override
    public long newSession() {
        return store().newSession();
    }

    @Override
    public long clockMillis() {
        return store().clockMillis();
    }

    @Override
    public ReasonCode refusal() {
        return commits.isOpen() && !commits.isFailing() ? ReasonCode.QUOTA_EXCEEDED : ReasonCode.SERVER_UNAVAILABLE;
    }

    /** While this member could lead again in a moment, clients wait for that. */
    @Override
    public boolean isCutOff() {
        return !commits.isOpen() && (commits.hasEnded() || !group.hasMajority());
    }

    @Override
    public boolean isHealthy() {
        return commits.isOpen() && store().isHealthy();
    }

    /** Commits all submitted operations, and closes the store. The group stays in use. */
    private void endServing() {
        synchronized (serving) { // not while it is being opened
            state.endLead();
        }
    }

    /**
     * Ends the store, and closes its channel if it has one of its own, the log and the rows. A shared channel is closed before. Batches that are not
     * committed in time fail, and the log has their bytes; what a disk that hangs does not close in time is left to the end of the process.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        TimedClose ending = TimedClose.begin("smqtt-replica-end", this::endServing);
        boolean isOver = hasEnded(ending, PROGRESS_WITHIN);
        if (!isOver) {
            long waiting = state.waitingBytes();
            String cause = group.hasMajority()
                    ? "it does not commit them fast enough"
                    : "it reaches no majority of its replicas";
            commits.end("the store is closed");
            if (waiting > 0) {
                LOG.warn(
                        "the store {} is closed before all was committed, because {}: up to {} bytes of operations are not committed",
                        figures().group(),
                        cause,
                        waiting);
            }
        }
        boolean isLeft = isOver || hasEnded(ending, FAIL_WITHIN);
        TimedClose closing = TimedClose.begin("smqtt-replica-close", () -> {
            try {
                link.close();
            } finally {
                group.close();
            }
        });
        if (!closing.await(CLOSE_WITHIN) || !isLeft) {
            LOG.error(
                    "the replica of {} was not closed in time, because its disk does not answer; what a majority has committed is on other disks",
                    figures().group());
        }
    }

    /** Waits for the end of the store: as long as batches are committed, and within a limit. A failure of it must not keep the rest open. */
    private boolean hasEnded(TimedClose ending, Duration progress) {
        long endNanos = System.nanoTime() + COMMIT_WITHIN.toNanos();
        long leftNanos = COMMIT_WITHIN.toNanos();
        long before = -1;
        try {
            while (leftNanos > 0 && before != commits.committed()) {
                before = commits.committed();
                if (ending.await(Duration.ofNanos(Math.min(leftNanos, progress.toNanos())))) {
                    return true;
                }
                leftNanos = endNanos - System.nanoTime();
            }
            return false;
        } catch (RuntimeException | Error e) {
            LOG.error("the store {} did not end as it should", figures().group(), e);
            return true;
        }
    }

    /** Whether this member leads, and its store takes batches. */
    boolean leads() {
        return commits.isOpen();
    }

    /** The channel of a member. */
    interface Link {

        /** Leaves the channel at once, because the log or the rows of the member cannot be used. Called on a thread of the group. */
        void leave();

        /** Closes the channel, if it ends with this member: before its log and rows, and after its store. Blocks. */
        void close() throws IOException;
    }

    /** The channel of one member alone. */
    private static final class OwnChannel implements Link {

        private volatile @Nullable GroupChannel channel;

        @Override
        public void leave() {
            GroupChannel open = channel;
            if (open != null) {
                open.leave();
            }
        }

        @Override
        public void close() throws IOException {
            GroupChannel open = channel;
            if (open != null) {
                open.close();
            }
        }
    }

    /** Called by a thread of the group. */
    private final class Role implements RaftGroup.Listener {

        @Override
        public void leading(long term) {
            reign.leads(term);
        }

        @Override
        public void following() {
            reign.follows();
        }

        @Override
        public void failed(Throwable cause) {
            reign.follows();
            synchronized (ReplicatedStore.this) {
                failure = cause;
                ReplicatedStore.this.notifyAll();
            }
            link.leave();
        }
    }

    /** Called by threads of the group. */
    private final class Served implements OwnReign.Listener {

        @Override
        public void opened() {
            synchronized (ReplicatedStore.this) {
                ReplicatedStore.this.notifyAll();
            }
        }

        @Override
        public void ended() {
            opened();
            over.complete(null);
            TimedClose.begin("smqtt-replica-end", () -> {
                try {
                    endServing();
                } finally {
                    ended.complete(null);
                }
            });
        }
    }

    /** Called by threads of the group. */
    private final class Used implements StoreState.Reigns {

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
            reign.end("other nodes have more of it than this one, which gets a checkpoint");
            return ended;
        }
    }
}
