// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.Broker;
import io.smqtt.ConsumerEndedException;
import io.smqtt.ReceivedMessage;
import io.smqtt.config.ConfigurationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.convert.ConversionService;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/** All methods with {@link MqttListener}, and their subscriptions while the broker runs. Any thread. */
final class ListenerMethods {

    private static final Logger LOG = LoggerFactory.getLogger(ListenerMethods.class);
    private static final int IDLE_SECONDS = 30;
    private static final Duration FIRST_RETRY = Duration.ofSeconds(1);
    private static final Duration LAST_RETRY = Duration.ofMinutes(1);
    private static final int WAITING_PER_THREAD = 10_000;

    private final Supplier<@Nullable PayloadConverter> converter;
    private final ConversionService conversions;
    private final int threads;
    private final List<ListenerMethod> methods = new CopyOnWriteArrayList<>();
    private final List<Active> active = new ArrayList<>(); // guarded by itself
    private @Nullable Broker broker; // guarded by active
    private @Nullable Scheduler scheduler; // guarded by active

    ListenerMethods(Supplier<@Nullable PayloadConverter> converter, ConversionService conversions, int threads) {
        this.converter = converter;
        this.conversions = conversions;
        this.threads = threads;
    }

    private record Active(Disposable subscription, Mono<Void> end) {}

    List<ListenerMethod> all() {
        return methods;
    }

    /** Adds one; it is subscribed at once if the broker runs. */
    void add(ListenerMethod method) {
        synchronized (active) {
            methods.add(method);
            Broker running = broker;
            Scheduler calls = scheduler;
            if (running != null && calls != null) {
                subscribe(method, running, calls);
            }
        }
    }

    /**
     * Subscribes all.
     *
     * @param stored whether the broker has a store
     * @return how many subscriptions the broker is to have more, some time soon
     * @throws RuntimeException if a method cannot be called, or needs a store that is not there
     */
    int begin(Broker started, boolean stored) {
        for (ListenerMethod method : methods) {
            if (method.isDurable() && !stored) {
                throw new ConfigurationException(
                        "storage.kind", "must be rocksdb for the durable listener " + method.name());
            }
        }
        synchronized (active) {
            Scheduler calls =
                    Schedulers.newBoundedElastic(threads, WAITING_PER_THREAD, "smqtt-listener", IDLE_SECONDS, true);
            broker = started;
            scheduler = calls;
            methods.forEach(method -> subscribe(method, started, calls));
        }
        return (int) methods.stream().filter(method -> !method.isDurable()).count();
    }

    private void subscribe(ListenerMethod method, Broker from, Scheduler scheduler) {
        Function<ReceivedMessage, Mono<Void>> call = method.prepare(converter.get(), conversions, scheduler);
        Sinks.Empty<Void> end = Sinks.empty();
        Flux<Void> calls =
                from.receive(method.pattern().text(), method.options()).flatMap(call, method.concurrency(), 1);
        if (method.isDurable()) { // one that another node has taken over stays there
            calls = calls.retryWhen(Retry.backoff(Long.MAX_VALUE, FIRST_RETRY)
                    .maxBackoff(LAST_RETRY)
                    .transientErrors(true)
                    .filter(error -> !(error instanceof ConsumerEndedException)));
        }
        Disposable subscription = calls.doFinally(signal -> end.tryEmitEmpty())
                .subscribe(done -> {}, error -> LOG.error("{} gets no messages any more", method.name(), error));
        active.add(new Active(subscription, end.asMono()));
    }

    /**
     * Waits for calls that are under way, after the broker has ended.
     *
     * @param patience after which they are cancelled
     */
    Mono<Void> end(Duration patience) {
        List<Active> ending;
        Scheduler calls;
        synchronized (active) {
            ending = List.copyOf(active);
            active.clear();
            calls = scheduler;
            scheduler = null;
            broker = null;
        }
        return Mono.when(ending.stream().map(Active::end).toList())
                .timeout(patience, Mono.empty())
                .doFinally(signal -> {
                    ending.forEach(one -> one.subscription().dispose());
                    if (calls != null) {
                        calls.dispose();
                    }
                });
    }
}
