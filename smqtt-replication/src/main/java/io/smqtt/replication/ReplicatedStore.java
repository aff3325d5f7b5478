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
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
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
    private final GroupSettings settings;
    private volatile RaftGroup group; // replaced when a disk takes writes again
    private final ReplicaLink link;
    private final String self;
    private final @Nullable String home;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Object serving = new Object(); // not the monitor that threads of the group take
    private volatile StoreService service; // replaced on the group's thread
    private volatile Supplier<CompletableFuture<Void>> givingBack = () -> CompletableFuture.completedFuture(null);
    private volatile long ledTerm; // written by the group's thread
    private volatile @Nullable Path former;
    private volatile boolean adopts;
    private volatile @Nullable Throwable failure;

    private ReplicatedStore(GroupSettings settings, StoreSettings limits, ReplicaLink link) {
        this.link = link;
        this.settings = settings;
        self = settings.self();
        home = settings.home();
        service = newService(settings.name());
        state = new StoreState(limits, new Used());
        group = RaftGroup.open(settings, state, new Role());
    }

    private StoreService newService(String name) {
        GroupCommits commits = new GroupCommits(
                (term, content) -> group().propose(term, content),
                (ofReign, number) -> position().has(ofReign, number),
                () -> group().hasMajority(),
                GRACE);
        Served served = new Served();
        OwnReign reign = new OwnReign(
                name,
                new Reign(self, new SecureRandom().nextLong()),
                commits,
                (term, content) -> group().propose(term, content),
                () -> position().reign(),
                served,
                !isOfAnother());
        StoreService made = new StoreService(commits, reign);
        served.service = made;
        return made;
    }

    /** Whether the store is that of another node: then it can be served again after its reign. */
    private boolean isOfAnother() {
        return home != null && !home.equals(self);
    }

    /**
     * Opens a member of a replicated store. It takes part when its {@link #group()} is in a channel that is connected. Blocks.
     *
     * @param settings the group; its directory is that of the member
     * @param limits limits and memory of the rows
     * @param link the channel
     * @throws io.smqtt.spi.StoreDamagedException if the log or the rows are damaged
     */
    static ReplicatedStore member(GroupSettings settings, StoreSettings limits, ReplicaLink link) {
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
            link.use(channel);
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

    /** The rows of this member. */
    StoreState state() {
        return state;
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
        StoreService now = service;
        now.reign().want();
        try {
            serves = awaitOpen(now, patience) && serve(now);
            return serves;
        } finally {
            if (!serves) {
                now.reign().wantNot();
            }
        }
    }

    private synchronized boolean awaitOpen(StoreService now, Duration patience) throws InterruptedException {
        long endNanos = System.nanoTime() + patience.toNanos();
        while (!now.commits().isOpen()) {
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
        String over = service.reign().ended();
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

    /** The reign of this member: if it has ended, the member does not serve its store any more, while its log and its rows are in use. */
    OwnReign reign() {
        return service.reign();
    }

    /** Sets what is called when this member does not serve its store any more; at once if that is so already. Must not block. */
    void whenNotServed(Runnable task) {
        service.over().thenRun(task);
    }

    // --- the store of another node

    /** Nodes adopt each other's stores: this one leaves the leadership to others when its reign is over, and proves that it serves a session before that moves. */
    void adopts() {
        adopts = true;
    }

    /** Sets what is called when the home asks for the leadership; its result completes when this member serves nothing. On a thread of the group. */
    void giveBackBy(Supplier<CompletableFuture<Void>> task) {
        givingBack = task;
    }

    /** The store over the rows, while this member serves it; otherwise null. */
    @Nullable
    BrokerStore served() {
        return service.store();
    }

    /** Whether this member leads the group, and has applied all that was committed before. */
    boolean isLeader() {
        return ledTerm != 0;
    }

    /** The term in which this member leads the group; 0 if it does not. */
    long leaderTerm() {
        return ledTerm;
    }

    /** The number of the last reign that was applied here. */
    long reignNumber() {
        return position().reign();
    }

    /** Whether any node has served the store yet. Until then it has no sessions. */
    boolean hasBeenServed() {
        return position().reign() != 0;
    }

    /** The node that has begun the last reign that is known here; null if it is not known. */
    @Nullable
    String server() {
        return state.server();
    }

    /** Whether this run of this node has begun the last reign that is known here, and it has not ended. */
    boolean reigns() {
        StoreService now = service;
        return now.store() != null && now.reign().ended() == null;
    }

    /**
     * Ends the service of another node's store: what was submitted is committed, or has failed, and the store is closed. The member can serve again after
     * that. Blocks, at most three times the limit.
     */
    void giveUp(Duration within) {
        StoreService past = service;
        TimedClose ending = TimedClose.begin("smqtt-replica-end", this::endServing);
        if (!ending.await(within)) {
            past.commits().end("the store is given up");
            ending.await(within);
        }
        past.reign().giveBack();
        CompletableFuture<Void> replaced = new CompletableFuture<>();
        group.onThread(() -> {
            StoreService next = newService(group.name());
            service = next;
            if (ledTerm != 0) {
                next.reign().leads(ledTerm);
            }
            past.closed().complete(null);
            replaced.complete(null);
        });
        try {
            replaced.get(within.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.debug("the group {} has ended", group.name(), e);
        }
    }

    /**
     * Opens the log again, and the rows unless there is a store over them, which stays in use: for it, a leadership has ended. The channel is closed, and
     * another one gets the new {@link #group()}. Blocks.
     *
     * @return false if the store over the rows cannot be used any more
     * @throws StoreUnusableException if the disk takes no writes yet
     * @throws StoreDamagedException if the log or the rows are damaged
     */
    boolean reopen() throws IOException {
        group.retire();
        ledTerm = 0;
        service.reign().follows();
        synchronized (serving) { // not while it is being opened or closed
            if (!state.isLed()) {
                state.close();
            } else if (isOfAnother() || !state.takesWrites()) {
                return false;
            }
            group = RaftGroup.open(settings, state, new Role());
        }
        failure = null;
        return true;
    }

    /** Why the log or the rows of this member cannot be used any more; null while they are in use. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /** Returns false if the leadership has ended meanwhile. */
    private boolean serve(StoreService now) {
        synchronized (serving) {
            if (now.store() == null) {
                requireUsable();
                try {
                    Path taken = former;
                    if (taken != null) {
                        state.rows().takeOver(taken, now.commits());
                        former = null;
                    }
                    now.opened(state.rows().lead(now.commits()));
                } catch (StoreUnusableException e) {
                    if (now.commits().isOpen()) {
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
        BrokerStore open = service.store();
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
        GroupCommits commits = service.commits();
        return commits.isOpen() && !commits.isFailing() ? ReasonCode.QUOTA_EXCEEDED : ReasonCode.SERVER_UNAVAILABLE;
    }

    /** While this member could lead again in a moment, clients wait for that. */
    @Override
    public boolean isCutOff() {
        GroupCommits commits = service.commits();
        return !commits.isOpen() && (commits.hasEnded() || !group.hasMajority());
    }

    @Override
    public boolean isHealthy() {
        return service.commits().isOpen() && store().isHealthy();
    }

    @Override
    public boolean mayBeServedElsewhere() {
        return adopts;
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
            service.commits().end("the store is closed");
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
            while (leftNanos > 0 && before != service.commits().committed()) {
                before = service.commits().committed();
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
        return service.commits().isOpen();
    }

    /** Called by a thread of the group. */
    private final class Role implements RaftGroup.Listener {

        @Override
        public void leading(long term) {
            ledTerm = term;
            service.reign().leads(term);
        }

        @Override
        public void following() {
            ledTerm = 0;
            service.reign().follows();
        }

        @Override
        public boolean mayServe() {
            return !adopts || isOfAnother() || service.reign().ended() == null;
        }

        @Override
        public CompletableFuture<Void> askedBack() {
            return givingBack.get();
        }

        @Override
        public void failed(Throwable cause) {
            ledTerm = 0;
            service.reign().follows();
            synchronized (ReplicatedStore.this) {
                failure = cause;
                ReplicatedStore.this.notifyAll();
            }
            link.leave();
        }
    }

    /** Called by threads of the group. */
    private final class Served implements OwnReign.Listener {

        private @Nullable StoreService service;

        @Override
        public void opened() {
            synchronized (ReplicatedStore.this) {
                ReplicatedStore.this.notifyAll();
            }
        }

        @Override
        public void ended() {
            opened();
            StoreService past = Objects.requireNonNull(service);
            past.over().complete(null);
            if (isOfAnother()) {
                return; // closed when its sessions are forgotten
            }
            TimedClose.begin("smqtt-replica-end", () -> {
                try {
                    endServing();
                } finally {
                    past.closed().complete(null);
                }
            });
        }
    }

    /** Called by threads of the group. */
    private final class Used implements StoreState.Reigns {

        @Override
        public void applied(long entry, Reign begun) {
            service.reign().applied(entry, begun);
        }

        @Override
        public void found(long entry) {
            service.reign().found(entry);
        }

        @Override
        public CompletableFuture<Void> replaced() {
            StoreService now = service;
            now.reign().end("other nodes have more of it than this one, which gets a checkpoint");
            return now.closed();
        }
    }
}
