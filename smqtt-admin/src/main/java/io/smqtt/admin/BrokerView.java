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
 * What operators see of one broker: records that {@code ctl}, the management port and the actuator endpoint show. It is a
 * module of the broker. No answer has more than {@link #MAX_BYTES}. Lists are read on the thread that subscribes, never on
 * an event loop of the broker.
 */
@AnyThread
public final class BrokerView implements BrokerModule {

    /** Bytes of one answer as JSON, at most: clients choose identifiers, user names and filters of up to 64 KiB. */
    public static final int MAX_BYTES = 8 << 20;

    /** Entries of one list, at most. */
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
     * Tells whether there is a broker to look at.
     *
     * @return true from when all listeners are bound until the broker stops
     */
    public boolean isRunning() {
        return running;
    }

    /**
     * The broker itself, for what changes it.
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
     * The limits that the broker runs with.
     *
     * @return those of its configuration
     * @throws BrokerClosedException if none runs
     */
    public LimitsConfig limits() {
        return core().config().limits();
    }

    /**
     * The cluster as this node sees it.
     *
     * @return the state of the moment, or null if the broker is no node of a cluster
     */
    public @Nullable ClusterStatus clusterStatus() {
        Core now = core;
        Supplier<ClusterStatus> status = now == null ? null : now.cluster();
        return status == null ? null : status.get();
    }

    /**
     * Reads all meters. Takes some milliseconds.
     *
     * @return lines in the text format of Prometheus, or null if no module of the broker keeps meters
     */
    public @Nullable String scrape() {
        MetricsSource metrics = source();
        return metrics == null ? null : metrics.scrape();
    }

    /**
     * Checks whether the process works.
     *
     * @return the result; up if no module of the broker checks it
     */
    public HealthReport live() {
        MetricsSource metrics = source();
        return metrics == null ? new HealthReport(true, Map.of()) : metrics.live();
    }

    /**
     * Checks whether clients can be sent to the broker now.
     *
     * @return the result; up while the broker runs if no module of it checks more
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
     * Counts what the broker has.
     *
     * @return the counts of the moment of subscription
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

    /** Three numbers of many things. For one thread. */
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
     * Tells clients from consumers in the process of the broker.
     *
     * @param client a session
     * @return true for one that has come by the network
     */
    public static boolean isClient(ClientInfo client) {
        return !InProcess.isReserved(client.identity().clientId());
    }

    /**
     * Lists sessions, connected or not.
     *
     * @param limit how many are shown at most, 1 to {@link #MAX_ENTRIES}
     * @param filter which of them
     * @return those of the moment of subscription, in no order
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
     * Shows one session.
     *
     * @param clientId the client identifier
     * @return all that is known of it; empty if there is none
     * @throws BrokerClosedException if none runs
     */
    public Mono<Bounded<ClientDetails>> client(String clientId) {
        return broker().client(clientId).map(found -> SizeLimit.of(found, MAX_BYTES));
    }

    /**
     * Tells what would become of a message.
     *
     * @param topic the topic name
     * @param clientId the client that would publish it; null for the application
     * @return what would happen to a message of QoS 1
     * @throws io.smqtt.topic.InvalidTopicException if the text is not a topic name
     * @throws BrokerClosedException if none runs
     */
    public Mono<Bounded<Explanation>> explain(String topic, @Nullable String clientId) {
        return broker().explain(topic, clientId).map(found -> SizeLimit.of(found, MAX_BYTES));
    }

    /**
     * Lists the subscriptions of this node, without the routes of other nodes.
     *
     * @param limit how many are shown at most, 1 to {@link #MAX_ENTRIES}
     * @param filter which of them
     * @return those of the moment, weakly consistent, in no order; none while no broker runs
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
                if (subscription.subscriber().isLocal()) {
                    visitor.accept(subscription);
                }
            });
        }
    }
}
