// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.Broker;
import io.smqtt.BrokerClosedException;
import io.smqtt.BrokerModule;
import io.smqtt.ClientDetails;
import io.smqtt.ClientInfo;
import io.smqtt.Explanation;
import io.smqtt.config.LimitsConfig;
import io.smqtt.routing.Subscription;
import io.smqtt.session.InProcess;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.HealthReport;
import io.smqtt.spi.MetricsSource;
import io.smqtt.thread.AnyThread;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The operator's view of one broker, as records. {@code ctl}, the management port and the actuator endpoint show it. It is a
 * module of the broker. No answer is longer than {@link #MAX_BYTES}. Lists are read on the subscribing thread, never on an
 * event loop of the broker.
 */
@AnyThread
public final class BrokerView implements BrokerModule {

    /** Maximum size of an answer as JSON, in bytes. Clients choose identifiers, user names and filters of up to 64 KiB. */
    public static final int MAX_BYTES = 8 << 20;

    /** Maximum number of entries of a list. */
    public static final int MAX_ENTRIES = 10_000;

    private volatile @Nullable Core core;
    private volatile boolean running;

    /** Creates the view of a broker that is about to start. */
    public BrokerView() {}

    @Override
    public Mono<Void> start(Core started) {
        return Mono.fromRunnable(() -> core = started);
    }

    @Override
    public void listening() {
        running = true;
    }

    @Override
    public Mono<Void> stop() {
        return Mono.fromRunnable(() -> {
            running = false;
            core = null;
        });
    }

    /**
     * Tells whether the broker runs.
     *
     * @return true from the binding of all listeners until the stop
     */
    public boolean isRunning() {
        return running;
    }

    /**
     * Returns the broker, for actions.
     *
     * @return the running broker
     * @throws BrokerClosedException if none runs
     */
    public Broker broker() {
        return core().broker();
    }

    private Core core() {
        Core now = core;
        if (now == null || !running) {
            throw new BrokerClosedException("the broker does not run");
        }
        return now;
    }

    /**
     * Returns the limits of the broker.
     *
     * @return the limits of its configuration
     * @throws BrokerClosedException if none runs
     */
    public LimitsConfig limits() {
        return core().config().limits();
    }

    /**
     * Returns the state of the cluster as this node sees it.
     *
     * @return the current state; null if the broker is not a node of a cluster
     */
    public @Nullable ClusterStatus clusterStatus() {
        Core now = core;
        Supplier<ClusterStatus> status = now == null ? null : now.cluster();
        return status == null ? null : status.get();
    }

    /**
     * Reads all meters. Takes some milliseconds.
     *
     * @return lines in the text format of Prometheus; null if the broker has no module with meters
     */
    public @Nullable String scrape() {
        MetricsSource metrics = source();
        return metrics == null ? null : metrics.scrape();
    }

    /**
     * Checks whether the process works.
     *
     * @return the result; up if the broker has no module with health checks
     */
    public HealthReport live() {
        MetricsSource metrics = source();
        return metrics == null ? new HealthReport(true, Map.of()) : metrics.live();
    }

    /**
     * Checks whether clients can connect.
     *
     * @return the result; up while the broker runs if it has no module with health checks
     */
    public HealthReport ready() {
        MetricsSource metrics = source();
        return metrics == null ? new HealthReport(running, Map.of()) : metrics.ready();
    }

    private @Nullable MetricsSource source() {
        Core now = core;
        return now == null ? null : now.metrics();
    }

    /**
     * Counts sessions and subscriptions.
     *
     * @return the counts at the time of subscription
     * @throws BrokerClosedException if none runs
     */
    public Mono<BrokerSummary> summary() {
        return broker().clients()
                .filter(BrokerView::isClient)
                .collect(Counts::new, Counts::session)
                .map(counts -> {
                    forEachSubscription(subscription -> counts.subscriptions++);
                    return new BrokerSummary(
                            broker().listeners(), counts.sessions, counts.connected, counts.subscriptions);
                });
    }

    /** Running counts of a summary. For one thread. */
    private static final class Counts {

        private int sessions;
        private int connected;
        private int subscriptions;

        private void session(ClientInfo client) {
            sessions++;
            connected += client.connected() ? 1 : 0;
        }
    }

    /**
     * Distinguishes clients from in-process consumers.
     *
     * @param client a session
     * @return true for the session of a network client
     */
    public static boolean isClient(ClientInfo client) {
        return !InProcess.isReserved(client.identity().clientId());
    }

    /**
     * Lists sessions, online and offline.
     *
     * @param limit maximum number of entries, 1 to {@link #MAX_ENTRIES}
     * @param filter selects sessions
     * @return the sessions at the time of subscription, in no particular order
     * @throws BrokerClosedException if none runs
     */
    public Mono<Page<ClientInfo>> clients(int limit, Predicate<? super ClientInfo> filter) {
        return broker().clients()
                .filter(filter)
                .collect(
                        () -> new Page.Builder<ClientInfo, ClientInfo>(
                                limit, MAX_BYTES, one -> one, SizeLimit::bytesOf),
                        Page.Builder::add)
                .map(Page.Builder::build);
    }

    /**
     * Returns one session with its subscriptions.
     *
     * @param clientId the client identifier
     * @return the session; empty if there is none
     * @throws BrokerClosedException if none runs
     */
    public Mono<Bounded<ClientDetails>> client(String clientId) {
        return broker().client(clientId).map(found -> SizeLimit.of(found, MAX_BYTES));
    }

    /**
     * Explains where a message would go, without publishing one.
     *
     * @param topic the topic name
     * @param clientId the publisher; null for the application
     * @return the expected result for a message of QoS 1
     * @throws io.smqtt.topic.InvalidTopicException if the text is not a topic name
     * @throws BrokerClosedException if none runs
     */
    public Mono<Bounded<Explanation>> explain(String topic, @Nullable String clientId) {
        return broker().explain(topic, clientId).map(found -> SizeLimit.of(found, MAX_BYTES));
    }

    /**
     * Lists the subscriptions of this node, without the routes of other nodes.
     *
     * @param limit maximum number of entries, 1 to {@link #MAX_ENTRIES}
     * @param filter selects subscriptions
     * @return the current subscriptions, weakly consistent, in no particular order; none while no broker runs
     */
    public Page<SubscriptionInfo> subscriptions(int limit, Predicate<? super Subscription> filter) {
        Page.Builder<Subscription, SubscriptionInfo> page =
                new Page.Builder<>(limit, MAX_BYTES, SubscriptionInfo::of, SizeLimit::bytesOf);
        forEachSubscription(subscription -> {
            if (filter.test(subscription)) {
                page.add(subscription);
            }
        });
        return page.build();
    }

    private void forEachSubscription(Consumer<? super Subscription> visitor) {
        Core now = core;
        if (now != null) {
            now.router().index().forEach(subscription -> {
                if (!subscription.subscriber().isRelay()) {
                    visitor.accept(subscription);
                }
            });
        }
    }
}
