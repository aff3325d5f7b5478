// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.Broker;
import io.smqtt.config.ConfigurationException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.convert.ConversionService;
import reactor.core.publisher.Mono;
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
    private final Object lock = new Object();
    private @Nullable ListenerRun run; // guarded by lock

    ListenerMethods(Supplier<@Nullable PayloadConverter> converter, ConversionService conversions, int threads) {
        this.converter = converter;
        this.conversions = conversions;
        this.threads = threads;
    }

    List<ListenerMethod> all() {
        return methods;
    }

    /** {@return the names of those that have no subscription at the moment} */
    List<String> inactive() {
        return methods.stream()
                .filter(method -> !method.isActive())
                .map(ListenerMethod::name)
                .toList();
    }

    /** Adds one; it is subscribed at once if the broker runs. */
    void add(ListenerMethod method) {
        synchronized (lock) {
            methods.add(method);
            if (run != null) {
                subscribe(method, run);
            }
        }
    }

    /**
     * Subscribes all, and waits until they have their subscriptions.
     *
     * @param stored whether the broker has a store
     * @param patience how long
     * @throws RuntimeException if a method cannot be called, needs a store that is not there, or has no subscription in time.
     *     Durable ones only get a warning then: their node may be away, and what they are to hear is kept
     */
    void begin(Broker started, boolean stored, Duration patience) {
        for (ListenerMethod method : methods) {
            if (method.isDurable() && !stored) {
                throw new ConfigurationException(
                        "storage.kind", "must be rocksdb for the durable listener " + method.name());
            }
        }
        Map<ListenerMethod, Mono<Void>> subscriptions = new LinkedHashMap<>();
        synchronized (lock) {
            ListenerRun begun = new ListenerRun(
                    started,
                    Schedulers.newBoundedElastic(threads, WAITING_PER_THREAD, "smqtt-listener", IDLE_SECONDS, true));
            run = begun;
            methods.forEach(method -> subscriptions.put(method, subscribe(method, begun)));
        }
        Mono.when(subscriptions.values()).timeout(patience, Mono.empty()).block();
        subscriptions.keySet().stream()
                .filter(method -> !method.isActive())
                .forEach(method -> missing(method, patience));
    }

    private static void missing(ListenerMethod method, Duration patience) {
        if (!method.isDurable()) {
            throw new IllegalStateException("the listener " + method.name() + " has no subscription after "
                    + patience.toSeconds() + " s; warnings before this say why");
        }
        LOG.warn("the durable listener {} has no subscription yet; retrying", method.name());
    }

    private Mono<Void> subscribe(ListenerMethod method, ListenerRun to) {
        return to.subscribe(method, method.prepare(converter.get(), conversions, to.scheduler(), to::isOver));
    }

    /**
     * Lets no further call begin. What comes from now on stays unacknowledged: it is kept for durable listeners, and goes to
     * another member of a shared group.
     *
     * @param patience how long to wait for calls that are under way; they may still publish
     */
    Mono<Void> quiesce(Duration patience) {
        return Mono.defer(() -> {
            ListenerRun ending = current();
            return ending == null ? Mono.empty() : ending.quiesce(patience);
        });
    }

    /** Cancels what is left, after the broker has ended. */
    void end() {
        ListenerRun ending;
        synchronized (lock) {
            ending = run;
            run = null;
        }
        if (ending != null) {
            ending.dispose();
        }
        methods.forEach(method -> method.setActive(false));
    }

    private @Nullable ListenerRun current() {
        synchronized (lock) {
            return run;
        }
    }
}
