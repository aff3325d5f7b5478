// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import io.smqtt.log.LogLimiter;
import io.smqtt.message.LogText;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Fetches the rules of connected clients again when they are older than the cache's time, from the backends that had them at the connect. Rules of a
 * backend that cannot be fetched stay in force, and are fetched again some seconds later; so are those that a client has not got at its connect. A change is in force at once, also for existing
 * subscriptions.
 */
@AnyThread
final class RuleRefresh implements LifecycleObserver {

    private static final Logger LOG = LoggerFactory.getLogger(RuleRefresh.class);
    private static final long INTERVAL_MILLIS = 1_000;
    private static final double JITTER = 0.1;
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** A login that was under way when all rules were to be fetched again has ended after this time. */
    private static final long LOGIN_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);
    private final boolean isNeeded;
    private final ChainAuthorizer authorizer;
    private final long ageNanos;
    private final Map<FetchedRules, Long> connected =
            new ConcurrentHashMap<>(); // with the nanoTime at which they are fetched again
    private volatile long earlierUntilNanos = System.nanoTime(); // clients may come with rules of before
    private @Nullable Disposable task;

    RuleRefresh(List<Member> members, ChainAuthorizer authorizer) {
        List<Member> sources = members.stream().filter(Member::hasRules).toList();
        this.isNeeded = !sources.isEmpty();
        this.authorizer = authorizer;
        ageNanos = sources.stream()
                .map(member -> member.config().cacheTtl())
                .filter(age -> !age.isZero())
                .min(Duration::compareTo)
                .orElse(Duration.ofMinutes(1))
                .toNanos();
    }

    void start() {
        if (isNeeded) {
            task = Schedulers.parallel()
                    .schedulePeriodically(this::sweep, INTERVAL_MILLIS, INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    void stop() {
        Disposable running = task;
        if (running != null) {
            running.dispose();
        }
    }

    @Override
    public void clientConnected(ClientIdentity client, boolean sessionPresent) {
        if (client.grants().rules() instanceof FetchedRules rules) {
            boolean isPresent = rules.isComplete() && System.nanoTime() - earlierUntilNanos >= 0;
            connected.put(rules, isPresent ? due() : soon());
        }
    }

    @Override
    public void clientReauthenticated(ClientIdentity before, ClientIdentity client) {
        if (before.grants().rules() instanceof FetchedRules rules) {
            connected.remove(rules);
        }
        clientConnected(client, true);
    }

    @Override
    public void clientDisconnected(ClientIdentity client, ReasonCode reason) {
        if (client.grants().rules() instanceof FetchedRules rules) {
            connected.remove(rules);
        }
    }

    /** Fetches the rules of all clients at the next round. */
    void all() {
        long now = System.nanoTime();
        earlierUntilNanos = now + LOGIN_NANOS;
        connected.replaceAll((rules, due) -> now);
    }

    private long due() {
        double factor = 1 + ThreadLocalRandom.current().nextDouble(-JITTER, JITTER);
        return System.nanoTime() + (long) (ageNanos * factor);
    }

    private long soon() {
        return System.nanoTime() + Math.min(ageNanos, RETRY_NANOS);
    }

    /** Fetches the rules that are old enough. */
    void sweep() {
        sweep(System.nanoTime());
    }

    void sweep(long now) {
        connected.forEach((rules, due) -> {
            if (now - due >= 0 && connected.replace(rules, due, due())) {
                fetch(rules);
            }
        });
    }

    private void fetch(FetchedRules rules) {
        int number = rules.beginFetch();
        Flux.fromIterable(rules.fetched())
                .concatMap(former -> MemberRules.of(
                                former.source(), former.source().rulesAgain(rules.request()))
                        .onErrorResume(error -> {
                            failed(rules, error);
                            return Mono.just(former); // also with on-failure: next, which must not open what they deny
                        }))
                .collectList()
                .subscribe(fetched -> replace(rules, number, fetched), error -> failed(rules, error));
    }

    /** Fetches rules again soon: they may have changed, and the backend may answer again. */
    private void failed(FetchedRules rules, Throwable error) {
        LOG.debug("the rules of {} stay as they were", rules.request(), error);
        long next = soon();
        connected.computeIfPresent(rules, (known, due) -> next);
    }

    private void replace(FetchedRules rules, int number, List<MemberRules> fetched) {
        try {
            if (rules.replaceFetched(number, fetched)) {
                authorizer.changed();
            }
        } catch (IllegalArgumentException e) {
            if (lines.allows("rules")) {
                LOG.warn(
                        "changed access rules cannot be used, those of client {} stay as they were: {}",
                        LogText.escape(rules.request().clientId()),
                        LogText.escape(String.valueOf(e.getMessage())));
            }
        }
    }
}
