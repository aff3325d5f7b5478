// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ReasonCode;
import io.smqtt.session.InProcess;
import io.smqtt.session.Session;
import io.smqtt.session.Stores;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The shutdown of a broker: clients first, then consumers, sessions that other nodes take over, modules, store and event loops. A step that
 * fails or takes too long is logged, and the next one follows.
 */
@AnyThread
final class Shutdown {

    private static final Logger LOG = LoggerFactory.getLogger(Broker.class);
    private static final Duration MODULE_STOP = Duration.ofSeconds(5);
    private static final Duration POLL = Duration.ofMillis(20);
    private static final Duration SHORTEST_HAND_OVER = Duration.ofSeconds(1);

    private final BrokerParts parts;
    private final List<BrokerModule> modules;
    private final Duration patience;
    private final Supplier<Mono<Void>> consumers;
    private final Supplier<Mono<Void>> loops;

    /**
     * Creates a shutdown that has not begun.
     *
     * @param parts the parts of the broker
     * @param modules in the order of their start
     * @param patience maximum duration of a step
     * @param consumers ends the consumers in this process
     * @param loops ends the event loops
     */
    Shutdown(
            BrokerParts parts,
            List<BrokerModule> modules,
            Duration patience,
            Supplier<Mono<Void>> consumers,
            Supplier<Mono<Void>> loops) {
        this.parts = parts;
        this.modules = modules;
        this.patience = patience;
        this.consumers = consumers;
        this.loops = loops;
    }

    /**
     * Ends the broker as {@link Broker#close} describes.
     *
     * @param deadline time for clients to disconnect
     * @return completes when each step has completed or was abandoned
     */
    Mono<Void> run(Duration deadline) {
        return Mono.defer(() -> run(deadline, System.nanoTime()));
    }

    private Mono<Void> run(Duration deadline, long beganNanos) {
        Duration drain = drainTime(deadline);
        return step("notifying modules", patience, () -> {
                    modules.forEach(module -> module.draining(drain));
                    return Mono.empty();
                })
                .then(step("closing listeners", patience, parts.listeners()::stopAccepting))
                .then(step("draining clients", drain.plus(patience), () -> drainClients(drain)))
                .then(step(
                        "waiting for clients",
                        deadline.plus(patience),
                        () -> Flux.interval(Duration.ZERO, POLL)
                                .takeUntil(tick -> allDisconnected())
                                .then()
                                .timeout(deadline.minus(drain), Mono.empty())))
                .then(step("closing connections", patience, parts.listeners()::close))
                .then(step("ending consumers", patience, consumers))
                .then(Mono.defer(() -> handOver(deadline.minusNanos(System.nanoTime() - beganNanos))))
                .then(Mono.defer(this::release))
                .doOnSuccess(done -> LOG.info("stopped"));
    }

    /** Uses the rest of the deadline, and a moment if there is none. */
    private Mono<Void> handOver(Duration rest) {
        Duration atMost = rest.compareTo(SHORTEST_HAND_OVER) < 0 ? SHORTEST_HAND_OVER : rest;
        return step(
                "handing over sessions",
                atMost.plus(patience),
                () -> Flux.fromIterable(modules)
                        .concatMap(module -> module.handOver(atMost))
                        .then());
    }

    private Duration drainTime(Duration deadline) {
        Duration longest = Duration.ZERO;
        for (BrokerModule module : modules) {
            Duration wanted = module.drainTime();
            longest = wanted.compareTo(longest) > 0 ? wanted : longest;
        }
        Duration most = deadline.dividedBy(2);
        return longest.compareTo(most) > 0 ? most : longest;
    }

    /** Disconnects clients one after the other, evenly spread over the given time. */
    private Mono<Void> drainClients(Duration during) {
        long ticks = during.toNanos() / POLL.toNanos();
        if (ticks == 0) {
            return Mono.empty();
        }
        List<Session> online = new ArrayList<>();
        for (Session session : parts.sessions().all()) {
            if (isClientOnline(session)) {
                online.add(session);
            }
        }
        return Flux.interval(POLL)
                .take(ticks)
                .doOnNext(tick -> online.subList(share(online, tick, ticks), share(online, tick + 1, ticks))
                        .forEach(session ->
                                session.execute(() -> Broker.disconnect(session, ReasonCode.SERVER_SHUTTING_DOWN))))
                .takeUntil(tick -> parts.listeners().connectedCount() == 0)
                .then();
    }

    /** Consumers in this process stay until the clients are gone. */
    private static boolean isClientOnline(Session session) {
        return session.isOnline() && !InProcess.isReserved(session.id());
    }

    private static int share(List<Session> all, long tick, long ticks) {
        return (int) (all.size() * tick / ticks);
    }

    /** Disconnects all clients, also those that connected in the meantime; returns whether none is left. */
    private boolean allDisconnected() {
        for (Session session : parts.sessions().all()) {
            if (isClientOnline(session)) {
                session.execute(() -> Broker.disconnect(session, ReasonCode.SERVER_SHUTTING_DOWN));
            }
        }
        return parts.listeners().connectedCount() == 0;
    }

    /** Stops modules, the last one first, whether they have been started or not. */
    static Mono<Void> stop(List<BrokerModule> modules) {
        List<BrokerModule> lastFirst = new ArrayList<>(modules);
        Collections.reverse(lastFirst);
        return Flux.fromIterable(lastFirst)
                .concatMap(module -> step("stopping " + module.getClass().getName(), MODULE_STOP, module::stop))
                .then();
    }

    /** Stops modules, store and event loops; also for a broker that could not start. */
    Mono<Void> release() {
        return Mono.<Void>fromRunnable(() -> parts.features().forEach(CoreFeature::stop))
                .then(stop(modules))
                .then(Mono.<Void>fromRunnable(() -> parts.overload().stop()) // while the event loops take tasks
                        .subscribeOn(Schedulers.boundedElastic()))
                .then(step("flushing the store", patience, this::finishWriting))
                .then(step("closing the store", patience, this::closeStore))
                .then(step("stopping the event loops", patience, loops))
                .doFinally(signal -> parts.access().close());
    }

    /** A step of the shutdown. Whatever its outcome, the next one follows in time. */
    private static Mono<Void> step(String name, Duration atMost, Supplier<Mono<Void>> work) {
        return Mono.defer(work).timeout(atMost).onErrorResume(error -> {
            if (error instanceof TimeoutException) {
                LOG.warn("shutdown: {} did not complete within {}; continuing", name, atMost);
            } else {
                LOG.warn("shutdown: {} failed; continuing", name, error);
            }
            return Mono.empty();
        });
    }

    /** Lets the event loops submit their pending writes. */
    private Mono<Void> finishWriting() {
        Stores stores = parts.stores();
        if (stores == null) {
            return Mono.empty();
        }
        return Flux.fromIterable(parts.router().loops())
                .concatMap(loop -> Mono.<Void>create(sink -> loop.executor().execute(() -> {
                    try {
                        stores.of(loop).finish();
                        sink.success();
                    } catch (RuntimeException e) { // the event loop would swallow it
                        sink.error(e);
                    }
                })))
                .then();
    }

    /** Closes the store on a thread of its own, because it blocks and the threads of a pool may all be in use. */
    private Mono<Void> closeStore() {
        Stores stores = parts.stores();
        if (stores == null) {
            return Mono.empty();
        }
        return Mono.create(sink -> {
            Thread closer = new Thread(
                    () -> {
                        try {
                            stores.store().close();
                            sink.success();
                        } catch (RuntimeException e) {
                            sink.error(e);
                        }
                    },
                    "smqtt-store-close");
            closer.start();
        });
    }
}
