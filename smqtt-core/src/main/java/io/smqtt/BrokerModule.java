// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.config.BrokerConfig;
import io.smqtt.connection.ConnectionRelay;
import io.smqtt.connection.TopicRules;
import io.smqtt.message.PayloadMemory;
import io.smqtt.routing.Router;
import io.smqtt.session.QueueBudget;
import io.smqtt.session.SessionRegistry;
import io.smqtt.spi.Bans;
import io.smqtt.spi.Bridges;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ManagementStatus;
import io.smqtt.spi.MetricsSource;
import io.smqtt.spi.PayloadChecks;
import io.smqtt.spi.PeerQueries;
import io.smqtt.spi.Replicas;
import io.smqtt.spi.RetainedVersions;
import io.smqtt.spi.Rules;
import io.smqtt.spi.Sources;
import io.smqtt.spi.Ticker;
import io.smqtt.spi.TrafficCounts;
import io.smqtt.transport.Listeners;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A part of the broker outside of its core, such as a cluster, a bridge or rules. It receives messages as a
 * {@link io.smqtt.routing.Subscriber} of the router, so the message path has no branch for modules.
 */
public interface BrokerModule {

    /**
     * Starts the module, after the event loops run and before the first listener is bound. Must not block.
     *
     * @param core the parts of the broker that the module uses
     * @return completes when clients may connect; an error stops the start of the broker
     */
    Mono<Void> start(Core core);

    /**
     * Called when all listeners are bound: clients can connect. Must neither block nor throw.
     */
    default void listening() {}

    /**
     * Reads the module's files again. Called by {@link Broker#reload}; may block, must not throw.
     *
     * @return the files that were read, and those that cannot be used, whose former content stays in force
     */
    default ReloadResult reload() {
        return ReloadResult.NOTHING;
    }

    /**
     * Called before the broker stops, while its listeners are still bound. Must neither block nor throw.
     */
    default void draining() {}

    /**
     * The same with the time that there is for clients to go, in place of {@link #draining()}. Must neither block nor throw.
     *
     * @param during the longest {@link #drainTime} of all modules, at most half of the deadline of the stop
     */
    default void draining(Duration during) {
        draining();
    }

    /**
     * The time over which the broker spreads the disconnects of its clients when it stops, so that the node that takes them over
     * does not get all of them at once. The longest time of all modules counts, at most half of the deadline of the stop.
     *
     * @return zero to disconnect all clients at once
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
     * Stops the module, after the last client has disconnected. Called once, also if {@link #start} failed or was not called
     * because the start of the broker failed earlier. Must not block.
     *
     * @return completes when the module has stopped; after 5 seconds the broker continues without waiting
     */
    Mono<Void> stop();

    /**
     * Forgets the answers of access backends that this module uses again. Must not wait for a backend.
     *
     * @return about how many there were
     */
    default long clearAccessCache() {
        return 0;
    }

    /**
     * Whether subscribers of this module delay acknowledgements by {@link io.smqtt.routing.RouteTicket#hold()}. Asked once, at
     * the start. Without such a module a message is acknowledged as soon as it is routed, and no ticket is created.
     *
     * @return true if publishers are to wait
     */
    default boolean holdsAcknowledgements() {
        return false;
    }

    /**
     * The bans that this module keeps. Asked once, before {@link #start}. A client is refused if any module or the builder has banned it.
     *
     * @return the bans; {@link Bans#NONE} if it keeps none
     */
    default Bans bans() {
        return Bans.NONE;
    }

    /**
     * The directory of client identifiers of this module. Asked once, before {@link #start}. A directory that was given to the
     * builder takes precedence.
     *
     * @return null if it has none
     */
    default @Nullable ClientDirectory clientDirectory() {
        return null;
    }

    /**
     * The relay of connections that this broker does not serve itself. Asked once, before {@link #start}.
     *
     * @return null if this broker serves all of its clients
     */
    default @Nullable ConnectionRelay relay() {
        return null;
    }

    /**
     * The state of the cluster that this module connects the broker to. Asked once, before {@link #start}.
     *
     * @return the state of the cluster, for any thread at any time; null without a cluster
     */
    default @Nullable Supplier<ClusterStatus> cluster() {
        return null;
    }

    /**
     * The questions to other nodes that this module carries. Asked once, before {@link #start}.
     *
     * @return the questions, for any thread at any time; null without a cluster
     */
    default @Nullable PeerQueries peerQueries() {
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
     * @return the state of the port, for any thread at any time; null if it has none
     */
    default @Nullable Supplier<ManagementStatus> management() {
        return null;
    }

    /**
     * The bridges of this module. Asked once, before {@link #start}.
     *
     * @return the bridges; null if it has none
     */
    default @Nullable Bridges bridges() {
        return null;
    }

    /**
     * The checks of payloads of this module. Asked once, before {@link #start}.
     *
     * @return the checks; null if it checks no payloads
     */
    default @Nullable PayloadChecks payloadChecks() {
        return null;
    }

    /**
     * The rules of this module. Asked once, before {@link #start}.
     *
     * @return the rules; null if it has none
     */
    default @Nullable Rules rules() {
        return null;
    }

    /**
     * The sources of this module. Asked once, before {@link #start}.
     *
     * @return the sources; null if it has none
     */
    default @Nullable Sources sources() {
        return null;
    }

    /**
     * The replicas of stores that this module holds. Asked once, before {@link #start}.
     *
     * @return the replicas; null if it holds none
     */
    default @Nullable Replicas replicas() {
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
     * The delay of wills of sessions that were found in the store at the start, because other nodes may have published them
     * while this one was down. Asked once, before {@link #start}; the longest delay of all modules counts.
     *
     * @return zero if no other node publishes them
     */
    default Duration recoveredWillsWait() {
        return Duration.ZERO;
    }

    /**
     * The configuration key that requires this module, as {@link BrokerConfig#requiredModules()} names it.
     *
     * @return for instance {@code cluster.enabled}; empty if no key requires it
     */
    default String configurationKey() {
        return "";
    }

    /**
     * The parts of the broker that a module works with.
     *
     * @param broker the broker, as an application uses it; not to be used before {@link #listening}
     * @param config the broker's configuration
     * @param router routes messages; the module's subscriptions are added to its index
     * @param sessions the sessions of this node
     * @param ticker the broker's monotonic clock
     * @param observer receives the module's message events
     * @param budget slows publishers while the module's queues are nearly full
     * @param payloads the network buffers in which payloads are used in place
     * @param traffic bytes and packets of clients, by event loop
     * @param topicRules the topic rewrites and automatic subscriptions, which may be changed
     * @param listeners the connections of this node
     * @param cluster the state of the cluster as this node sees it, for any thread at any time; null without a cluster
     * @param peerQueries questions to other nodes, for any thread at any time; null without a cluster
     * @param metrics the metrics and health checks of the broker; null without a module for them
     * @param management the state of the management port, for any thread at any time; null without one
     * @param bridges the bridges of this node; null without any
     * @param payloadChecks the checks of payloads, which may be changed; null without a module for them
     * @param rules the rules of this node; null without any
     * @param sources the sources of this node; null without any
     * @param replicas the replicas of stores on this node; null without any
     */
    record Core(
            Broker broker,
            BrokerConfig config,
            Router router,
            SessionRegistry sessions,
            Ticker ticker,
            BrokerObserver observer,
            QueueBudget budget,
            PayloadMemory payloads,
            List<TrafficCounts> traffic,
            TopicRules topicRules,
            Listeners listeners,
            @Nullable Supplier<ClusterStatus> cluster,
            @Nullable PeerQueries peerQueries,
            @Nullable MetricsSource metrics,
            @Nullable Supplier<ManagementStatus> management,
            @Nullable Bridges bridges,
            @Nullable PayloadChecks payloadChecks,
            @Nullable Rules rules,
            @Nullable Sources sources,
            @Nullable Replicas replicas) {}
}
