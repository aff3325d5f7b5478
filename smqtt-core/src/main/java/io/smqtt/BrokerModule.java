// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.config.BrokerConfig;
import io.smqtt.routing.Router;
import io.smqtt.session.QueueBudget;
import io.smqtt.session.SessionRegistry;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ManagementStatus;
import io.smqtt.spi.MetricsSource;
import io.smqtt.spi.RetainedVersions;
import io.smqtt.spi.Ticker;
import io.smqtt.spi.TrafficCounts;
import io.smqtt.transport.Listeners;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A part of the broker that lives outside of its core: peers of a cluster, a bridge, rules. It takes messages as a
 * {@link io.smqtt.routing.Subscriber} of the router, so the message path has no branch for it.
 */
public interface BrokerModule {

    /**
     * Starts the module, after the event loops run and before the first listener is bound. Must not block.
     *
     * @param core what the module works with
     * @return completes when clients may come; an error stops the start of the broker
     */
    Mono<Void> start(Core core);

    /**
     * All listeners are bound: clients can connect. Must neither block nor throw.
     */
    default void listening() {}

    /**
     * Reads the module's files again. Called by {@link Broker#reload}; may block, must not throw.
     *
     * @return what was read, and what cannot be used and stays as it was
     */
    default ReloadResult reload() {
        return ReloadResult.NOTHING;
    }

    /**
     * The broker is about to stop; its listeners are still bound. Must neither block nor throw.
     */
    default void draining() {}

    /**
     * How long the broker takes to send its clients away when it stops, spread evenly, so that what takes them over is not
     * hit by all at once. The longest of all modules counts; at most half of the deadline of the stop.
     *
     * @return zero for all at once
     */
    default Duration drainTime() {
        return Duration.ZERO;
    }

    /**
     * Hands sessions over to others, after the last client is gone and before any module stops. Must not block.
     *
     * @param atMost the time until the broker stops without the rest
     * @return completes when nothing more can be handed over
     */
    default Mono<Void> handOver(Duration atMost) {
        return Mono.empty();
    }

    /**
     * Stops the module, after the last client is gone. Called once, also if {@link #start} failed or was not
     * called, because something else ended the start of the broker. Must not block.
     *
     * @return completes when nothing of the module runs any more; after 5 seconds the broker ends without it
     */
    Mono<Void> stop();

    /**
     * Tells whether subscribers of this module keep acknowledgements waiting by
     * {@link io.smqtt.routing.RouteTicket#hold()}. Asked once, at start. Without such a module acknowledgements leave as
     * soon as a message is routed, and nobody pays for tickets.
     *
     * @return true if publishers are to wait
     */
    default boolean holdsAcknowledgements() {
        return false;
    }

    /**
     * The directory of client identifiers that this module keeps. Asked once, before {@link #start}; one that the builder
     * was given comes first.
     *
     * @return null if it keeps none
     */
    default @Nullable ClientDirectory clientDirectory() {
        return null;
    }

    /**
     * The cluster that this module makes the broker a node of. Asked once, before {@link #start}.
     *
     * @return how the cluster looks, for any thread at any time; null if it makes the broker none
     */
    default @Nullable Supplier<ClusterStatus> cluster() {
        return null;
    }

    /**
     * The metrics and health checks of this module. Asked once, before {@link #start}.
     *
     * @return the metrics; null if it has none
     */
    default @Nullable MetricsSource metrics() {
        return null;
    }

    /**
     * The management port of this module. Asked once, before {@link #start}.
     *
     * @return its connections, for any thread at any time; null if it has none
     */
    default @Nullable Supplier<ManagementStatus> management() {
        return null;
    }

    /**
     * The versions of retained messages, which are stored with them. Asked once, before the store is read.
     *
     * @return the versions; null if this module keeps none
     */
    default @Nullable RetainedVersions retainedVersions() {
        return null;
    }

    /**
     * How long wills of sessions that are found in the store wait at a start, since other nodes may have published them
     * while this one was away. Asked once, before {@link #start}; the longest of all modules counts.
     *
     * @return zero if nobody else publishes them
     */
    default Duration recoveredWillsWait() {
        return Duration.ZERO;
    }

    /**
     * The key of the configuration that asks for this module, as {@link BrokerConfig#requiredModules()} names it.
     *
     * @return for instance {@code cluster.enabled}; empty if no key does
     */
    default String configurationKey() {
        return "";
    }

    /**
     * The parts of the broker that a module works with.
     *
     * @param broker the broker, as an application has it; not to be used before {@link #listening}
     * @param config the broker's configuration
     * @param router routes messages; its index takes the module's subscriptions
     * @param sessions the sessions of this node
     * @param ticker the broker's monotonic clock
     * @param observer is told what the module does with messages
     * @param budget slows publishers while the module's queues are nearly full
     * @param traffic what each event loop has received from clients and sent to them
     * @param listeners the connections of this node
     * @param cluster how the cluster looks from this node, for any thread at any time; null without one
     * @param metrics the metrics and health checks of the broker; null without a module for them
     * @param management the connections of the management port, for any thread at any time; null without one
     */
    record Core(
            Broker broker,
            BrokerConfig config,
            Router router,
            SessionRegistry sessions,
            Ticker ticker,
            BrokerObserver observer,
            QueueBudget budget,
            List<TrafficCounts> traffic,
            Listeners listeners,
            @Nullable Supplier<ClusterStatus> cluster,
            @Nullable MetricsSource metrics,
            @Nullable Supplier<ManagementStatus> management) {}
}
