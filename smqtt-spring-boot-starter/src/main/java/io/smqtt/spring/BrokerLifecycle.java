// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.Broker;
import io.smqtt.BrokerClosedException;
import io.smqtt.admin.BrokerView;
import io.smqtt.admin.EmbeddedManagement;
import io.smqtt.spi.ClusterStatus;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Starts the broker when all beans are there and the web server runs, and stops it before the web server. What needs the
 * running {@link Broker} asks {@link #broker()}; each start makes a new one. Any thread may ask; Spring starts and stops.
 *
 * <p>The ports of the listeners are the properties {@code local.smqtt.<listener>.port} while it runs.
 */
public final class BrokerLifecycle implements SmartLifecycle {

    /** After the web server (which has 2048 and 1024 less than the greatest) and before what uses the broker as a client. */
    public static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 512;

    private static final Logger LOG = LoggerFactory.getLogger(BrokerLifecycle.class);
    private static final String PORTS = "smqtt.ports";
    private static final int SHARE_OF_CLIENTS = 4; // of the time for a stop: at least a quarter
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Assembly assembly;
    private final ListenerMethods listeners;
    private final Duration stopTimeout;
    private final ConfigurableEnvironment environment;
    private final ApplicationEventPublisher events;
    private final Object lock = new Object(); // of starts and stops
    private volatile Assembly.@Nullable Run run;
    private volatile @Nullable Mono<Void> ending; // from the beginning of a stop to the next start

    BrokerLifecycle(
            Assembly assembly,
            ListenerMethods listeners,
            Duration stopTimeout,
            ConfigurableEnvironment environment,
            ApplicationEventPublisher events) {
        this.assembly = assembly;
        this.listeners = listeners;
        this.stopTimeout = stopTimeout;
        this.environment = environment;
        this.events = events;
    }

    /**
     * The broker that runs.
     *
     * @return one that takes clients
     * @throws BrokerClosedException if none runs: before the start of the application is over, and in a stop once the listener
     *     methods have ended
     */
    public Broker broker() {
        Assembly.Run now = run;
        if (now == null) {
            throw new BrokerClosedException("the MQTT broker does not run");
        }
        return now.broker();
    }

    /** {@return how the cluster looks from here, or null without one} */
    @Nullable
    ClusterStatus cluster() {
        Assembly.Run now = run;
        return now == null ? null : now.view().clusterStatus();
    }

    /** {@return what operators see of the broker, or null if none runs} */
    @Nullable
    BrokerView view() {
        Assembly.Run now = run;
        return now == null || !isRunning() ? null : now.view();
    }

    /** {@return the API and the dashboard of the broker that runs, or null without one or without a path for them} */
    @Nullable
    EmbeddedManagement management() {
        Assembly.Run now = run;
        return now == null ? null : now.management();
    }

    /** {@return the names of listener methods that get no messages at the moment} */
    List<String> inactiveListeners() {
        return listeners.inactive();
    }

    boolean isStoreHealthy() {
        Assembly.Run now = run;
        return now == null || now.store().isHealthy();
    }

    @Override
    public void start() {
        synchronized (lock) {
            Mono<Void> before = ending;
            if (before != null) {
                before.onErrorComplete().block();
                ending = null;
            } else if (run != null) {
                return;
            }
            Gate gate = new Gate();
            Assembly.Run started = assembly.start(gate);
            run = started;
            try {
                listeners.begin(started.broker(), started.stored(), PATIENCE);
            } catch (RuntimeException e) {
                end().onErrorComplete().block(); // the first error is the one to tell
                throw e;
            }
            gate.open();
            Map<String, Object> ports = new LinkedHashMap<>();
            started.broker().listeners().forEach((name, address) -> {
                ports.put("local.smqtt." + name + ".port", address.getPort());
                LOG.info("listening: {} on {}", name, text(address));
            });
            PropertySource<?> source = new MapPropertySource(PORTS, ports);
            environment.getPropertySources().addFirst(source);
            events.publishEvent(new BrokerStartedEvent(started.broker()));
        }
    }

    private static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    @Override
    public void stop() {
        end().block();
    }

    @Override
    public void stop(Runnable callback) {
        end().doFinally(signal -> callback.run())
                .subscribe(done -> {}, error -> LOG.warn("the broker did not stop cleanly", error));
    }

    /** One end for all who ask; it begins at once. */
    private Mono<Void> end() {
        synchronized (lock) {
            Assembly.Run last = run;
            Mono<Void> now = ending;
            if (last == null || now != null) {
                return now == null ? Mono.empty() : now;
            }
            environment.getPropertySources().remove(PORTS);
            now = end(last, System.nanoTime() + stopTimeout.toNanos()).cache();
            now.subscribe(done -> {}, error -> LOG.debug("told to those who wait", error));
            ending = now; // calls are refused before anybody sees that the stop has begun
            return now;
        }
    }

    /** Listener methods first, as long as they can still publish and acknowledge, then the broker with the time that is left. */
    private Mono<Void> end(Assembly.Run last, long deadline) {
        return listeners
                .quiesce(stopTimeout.minus(stopTimeout.dividedBy(SHARE_OF_CLIENTS)))
                .publishOn(Schedulers.parallel()) // not on the thread of a method
                .then(Mono.defer(() -> {
                    run = null;
                    return last.broker().close(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
                }))
                .doOnTerminate(listeners::end); // before those who wait may start again
    }

    @Override
    public boolean isRunning() {
        return run != null && ending == null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
