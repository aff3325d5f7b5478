// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.ban;

import io.smqtt.BrokerModule;
import io.smqtt.ReloadResult;
import io.smqtt.admin.object.Expected;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.admin.object.ObjectKind;
import io.smqtt.admin.object.ObjectLimits;
import io.smqtt.admin.object.ObjectRefusedException;
import io.smqtt.admin.object.ObjectRefusedException.Reason;
import io.smqtt.admin.object.ObjectWatcher;
import io.smqtt.config.ConfigurationException;
import io.smqtt.log.LogLimiter;
import io.smqtt.message.LogText;
import io.smqtt.message.ReasonCode;
import io.smqtt.session.PacketSink;
import io.smqtt.session.Session;
import io.smqtt.spi.Bans;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** The bans of all nodes, as this node applies them: it refuses clients, disconnects those that are connected, and deletes what has ended. */
@AnyThread
public final class BanPart implements BrokerModule {

    /** The limits of bans. */
    static final ObjectLimits LIMITS = new ObjectLimits(10_000, 8 << 10, 8 << 20);

    /** Maximum number of bans by a regular expression. */
    static final int MAX_PATTERNS = 100;

    /**
     * Maximum number of steps of all regular expressions together. Each of them can cost a comparison with each character of an identifier, on
     * the event loop of a client that is not authenticated yet.
     */
    static final int MAX_STEPS = 4_096;

    /** Maximum number of bans by a network. */
    static final int MAX_NETWORKS = 1_000;

    /** Maximum number of bans that the broker has made by itself, so that there is room for those of people; of networks the half of theirs. */
    private static final int MAX_AUTOMATIC = 5_000;

    static final int MAX_AUTOMATIC_NETWORKS = MAX_NETWORKS / 2;
    private static final int MAX_WAITING = 1_000;
    private static final String AUTOMATIC = "broker: ";

    private static final Logger LOG = LoggerFactory.getLogger(BanPart.class);
    private static final int AT_ONCE = 100;
    private static final long EXPIRY_SECONDS = 60;
    private static final String EXPIRY = "expiry";

    private final InstantSource clock;
    private final BanTable table;
    private final ObjectKind<Ban> bans;
    private final Scheduler worker = Schedulers.newSingle("smqtt-bans", true);
    private final AtomicBoolean sweeps = new AtomicBoolean();
    private final AtomicInteger waiting = new AtomicInteger();
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 10);
    private volatile @Nullable Core core;
    private @Nullable Disposable expiry; // of start and stop

    private final @Nullable Path file;
    private final BiConsumer<String, Ban> automatic;
    private volatile BanFile configured = BanFile.NONE; // the last content that could be read

    /**
     * Creates the bans of a node, without a file.
     *
     * @param objects keeps them
     * @param clock the time of their ends
     */
    public BanPart(LiveObjects objects, InstantSource clock) {
        this(objects, clock, null, (cause, ban) -> {});
    }

    /**
     * Creates the bans of a node. Reads the file, so it blocks.
     *
     * @param objects keeps them
     * @param clock the time of their ends
     * @param file bans that are read-only at the port; null for none
     * @param automatic listener for each ban that the broker has made by itself, with its cause; on any thread, must neither block nor throw
     * @throws ConfigurationException if the file cannot be used
     */
    public BanPart(LiveObjects objects, InstantSource clock, @Nullable Path file, BiConsumer<String, Ban> automatic) {
        this.clock = clock;
        this.file = file;
        this.automatic = automatic;
        table = new BanTable(clock);
        bans = objects.kind("ban", new BanFormat(), LIMITS, BanPart::checkPatterns);
        bans.watch(new Watcher());
        if (file != null) {
            configured = BanFile.read(file);
            bans.configured(configured.bans());
        }
    }

    /** Reads the file again. If it cannot be used, its former content stays in force. */
    @Override
    public synchronized ReloadResult reload() {
        if (file == null) {
            return new ReloadResult(List.of(), List.of());
        }
        try {
            configured = configured.again(file);
            bans.configured(configured.bans());
            return new ReloadResult(List.of(file.toString()), List.of());
        } catch (ConfigurationException e) {
            return new ReloadResult(List.of(), e.problems());
        }
    }

    /** Where the file has a ban: its name and line; null if the ban is not in it. */
    @Nullable
    String source(String id) {
        return configured.sources().get(id);
    }

    /** Limits what CONNECT looks at one after the other. */
    static void checkPatterns(Map<String, Ban> before, Map<String, Ban> after) {
        check(before, after, false, MAX_PATTERNS);
        check(before, after, true, MAX_NETWORKS);
        long steps = steps(after);
        if (steps > MAX_STEPS && steps > steps(before)) {
            throw new IllegalArgumentException("the regular expressions of all bans have at most " + MAX_STEPS
                    + " characters with their repetitions written out");
        }
    }

    private static long steps(Map<String, Ban> all) {
        return all.values().stream()
                .filter(ban -> ban.as().isPattern() && ban.as() != BanKind.PEERHOST_NET)
                .mapToLong(ban -> BanPattern.steps(ban.who()))
                .sum();
    }

    private static void check(Map<String, Ban> before, Map<String, Ban> after, boolean networks, int most) {
        long count = count(after, networks);
        if (count > most && count > count(before, networks)) {
            throw new IllegalArgumentException(
                    "there are at most " + most + " bans by " + (networks ? "networks" : "regular expressions"));
        }
    }

    private static long count(Map<String, Ban> all, boolean networks) {
        return all.values().stream()
                .filter(ban -> ban.as().isPattern() && networks == (ban.as() == BanKind.PEERHOST_NET))
                .count();
    }

    /** The bans that CONNECT looks up. */
    @Override
    public Bans bans() {
        return table;
    }

    /** The bans as objects, also those that have ended and are not deleted yet. */
    ObjectKind<Ban> objects() {
        return bans;
    }

    InstantSource clock() {
        return clock;
    }

    /** Applies bans on this node. */
    private final class Watcher implements ObjectWatcher<Ban> {

        @Override
        public void changed(LiveObject<Ban> object) {
            table.put(object.value());
            if (sweeps.compareAndSet(false, true)) {
                worker.schedule(BanPart.this::sweep);
            }
        }

        @Override
        public void removed(String id) {
            int colon = id.indexOf(':');
            table.remove(BanKind.of(id.substring(0, colon)), id.substring(colon + 1));
        }
    }

    @Override
    public Mono<Void> start(Core started) {
        return Mono.fromRunnable(() -> {
            core = started;
            expiry = worker.schedulePeriodically(this::deleteEnded, EXPIRY_SECONDS, EXPIRY_SECONDS, TimeUnit.SECONDS);
        });
    }

    @Override
    public Mono<Void> stop() {
        return Mono.fromRunnable(() -> {
            if (expiry != null) {
                expiry.dispose();
            }
            worker.dispose();
        });
    }

    /** Disconnects clients that are banned by now. One sweep follows any number of changes. */
    private void sweep() {
        sweeps.set(false); // before reading: later changes need another one
        Core started = core;
        if (started == null) {
            return;
        }
        Flux.fromIterable(started.sessions().all())
                .filter(session -> session.isOnline() && isBanned(session))
                .subscribeOn(worker) // and so are further ones taken there, not on event loops
                .flatMap(this::disconnect, AT_ONCE)
                .count()
                .subscribe(
                        count -> LOG.debug("{} banned clients were disconnected", count),
                        error -> LOG.warn("banned clients may still be connected", error));
    }

    private boolean isBanned(Session session) {
        ClientIdentity client = session.client();
        return table.isBanned(client.clientId(), client.userName(), client.remoteAddress());
    }

    private Mono<Boolean> disconnect(Session session) {
        return Mono.create(sink -> {
            try {
                session.execute(() -> {
                    PacketSink connection = session.sink();
                    boolean banned = connection != null && isBanned(session); // another client may have taken over
                    if (connection != null && banned) {
                        connection.disconnect(ReasonCode.ADMINISTRATIVE_ACTION);
                    }
                    sink.success(banned);
                });
            } catch (RejectedExecutionException e) { // the broker stops
                sink.success();
            }
        });
    }

    /**
     * Makes a ban of the broker itself, soon and on another thread. Does nothing if there is such a ban already, or no room.
     *
     * @param ban made by the broker
     * @param cause why, as metrics have it
     */
    void ban(Ban ban, String cause) {
        if (waiting.incrementAndGet() > MAX_WAITING) {
            waiting.decrementAndGet();
            notMade(ban, cause, "too many bans wait");
            return;
        }
        try {
            worker.schedule(() ->
                    make(ban, cause).doFinally(end -> waiting.decrementAndGet()).subscribe());
        } catch (RejectedExecutionException e) { // the broker stops
            waiting.decrementAndGet();
        }
    }

    /** Makes a ban of {@link #ban}. What fails is logged. */
    Mono<Void> make(Ban ban, String cause) {
        boolean network = ban.as() == BanKind.PEERHOST_NET;
        long automatic = bans.list().stream()
                .map(LiveObject::value)
                .filter(each -> each.by().startsWith(AUTOMATIC) && (!network || each.as() == BanKind.PEERHOST_NET))
                .count();
        int most = network ? MAX_AUTOMATIC_NETWORKS : MAX_AUTOMATIC;
        if (automatic + Math.max(1, waiting.get()) > most) {
            notMade(ban, cause, "there are at most " + most + " automatic bans");
            return Mono.empty();
        }
        LiveObject<Ban> before = bans.get(ban.id());
        boolean ended = before != null && before.value().hasEnded(clock.instant());
        return bans.put(ban.id(), ban, ended ? Expected.ANYTHING : Expected.NOTHING, ban.by())
                .doOnNext(made -> made(ban, cause))
                .onErrorResume(error -> {
                    if (!(error instanceof ObjectRefusedException refused) || refused.reason() != Reason.EXISTS) {
                        notMade(ban, cause, String.valueOf(error.getMessage()));
                    }
                    return Mono.empty();
                })
                .then();
    }

    private void made(Ban ban, String cause) {
        Core started = core;
        if (started != null) {
            started.observer().clientBanned(cause);
        }
        automatic.accept(cause, ban);
        if (lines.allows(cause)) {
            LOG.warn(
                    "{} {} is banned until {}: {}",
                    ban.as().text(),
                    LogText.escape(ban.who()),
                    ban.until(),
                    ban.reason());
        }
    }

    private void notMade(Ban ban, String cause, String why) {
        if (lines.allows("not " + cause)) {
            LOG.warn("{} {} is not banned ({}): {}", ban.as().text(), LogText.escape(ban.who()), ban.reason(), why);
        }
    }

    /** Deletes bans that have ended. All nodes do so, with the same result. */
    void deleteEnded() {
        List<LiveObject<Ban>> ended = bans.list().stream()
                .filter(object -> !object.isReadOnly() && object.value().hasEnded(clock.instant()))
                .toList();
        Flux.fromIterable(ended)
                .concatMap(object -> bans.delete(object.id(), Expected.version(object.version()), EXPIRY)
                        .onErrorResume(ObjectRefusedException.class, refused -> Mono.empty())) // another node was first
                .subscribe(done -> {}, error -> LOG.debug("bans that have ended are not deleted yet", error));
    }
}
