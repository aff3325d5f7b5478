// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.Broker;
import io.smqtt.message.ApplicationMessage;
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
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** All methods with {@link MqttListener}, and their subscriptions while the broker runs. Any thread. */
final class ListenerMethods {

    private static final Logger LOG = LoggerFactory.getLogger(ListenerMethods.class);
    private static final int IDLE_SECONDS = 30;
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

    void begin(Broker started) {
        synchronized (active) {
            Scheduler calls =
                    Schedulers.newBoundedElastic(threads, WAITING_PER_THREAD, "smqtt-listener", IDLE_SECONDS, true);
            broker = started;
            scheduler = calls;
            methods.forEach(method -> subscribe(method, started, calls));
        }
    }

    private void subscribe(ListenerMethod method, Broker from, Scheduler calls) {
        Function<ApplicationMessage, Mono<Void>> call = method.prepare(converter.get(), conversions, calls);
        Sinks.Empty<Void> end = Sinks.empty();
        Disposable subscription = from.subscribe(method.pattern().filter().value())
                .flatMap(call, method.concurrency(), 1)
                .doFinally(signal -> end.tryEmitEmpty())
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
