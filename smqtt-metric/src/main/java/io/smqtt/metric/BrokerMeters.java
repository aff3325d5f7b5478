// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.BackendOutcome;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ConnectRefusal;
import io.smqtt.spi.DeliverySource;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.Elsewhere;
import io.smqtt.spi.StoreFigures;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Counts the events of a broker and registers the counts. To be passed to {@link io.smqtt.BrokerBuilder#observer}. Events per message are
 * only added up, without a lock and without an allocation; the registry reads the sums. Tags never have a value that a client chooses.
 */
final class BrokerMeters implements BrokerObserver {

    private final MessageCounts messages;
    private final ConnectionCounts connections;
    private final StoreMeters store;
    private final BackendCounts backends;
    private final OverloadLevel overload;
    private final Counter eventsLeftOut;
    private final Counter takeovers;
    private final MeterRegistry registry;
    private final Counter created;
    private final Counter merged;
    private final Counter expired;
    private final Counter closed;
    private final Counter wills;
    private final Counter delayed;
    private final Counter flappingBans;
    private final Counter loginBans;
    private final AtomicInteger waitingPasswords = new AtomicInteger();

    /**
     * Creates meters.
     *
     * @param registry the registry of the meters
     * @param listeners the names of the broker's listeners
     * @param storeDirectory the directory of the store, or null without a store
     */
    BrokerMeters(MeterRegistry registry, Set<String> listeners, @Nullable Path storeDirectory) {
        messages = new MessageCounts(registry);
        connections = new ConnectionCounts(registry, listeners);
        store = new StoreMeters(registry, storeDirectory);
        this.registry = registry;
        backends = new BackendCounts(registry);
        overload = new OverloadLevel(registry);
        for (String packet : new String[] {"connect", "publish", "subscribe", "unsubscribe"}) {
            interceptorFailures(packet);
        }
        eventsLeftOut = Counter.builder("smqtt.events.left.out")
                .description("events of messages and clients that were not published because too many waited")
                .register(registry);
        takeovers = Counter.builder("smqtt.sessions.takeovers")
                .description("clients replaced by a newer connection with the same client identifier")
                .register(registry);
        merged = Counter.builder("smqtt.sessions.merged")
                .description(
                        "sessions merged into another one of the same client, which began on another node or was in another store")
                .register(registry);
        created = Counter.builder("smqtt.sessions.started")
                .description("sessions created")
                .register(registry);
        expired = ended(registry, "expired");
        closed = ended(registry, "closed");
        delayed = Counter.builder("smqtt.logins.delayed")
                .description("refused logins whose answer was delayed, because their address sent many wrong passwords")
                .register(registry);
        flappingBans = bans(registry, "flapping");
        loginBans = bans(registry, "refused_logins");
        Gauge.builder("smqtt.logins.waiting", waitingPasswords, AtomicInteger::get)
                .description("logins that wait for their password to be checked")
                .register(registry);
        wills = Counter.builder("smqtt.wills.published")
                .description("wills published")
                .register(registry);
    }

    private static Counter bans(MeterRegistry registry, String cause) {
        return Counter.builder("smqtt.bans.made")
                .description("bans that the broker has made by itself, because of disconnects or refused logins")
                .tag("cause", cause)
                .register(registry);
    }

    private static Counter ended(MeterRegistry registry, String cause) {
        return Counter.builder("smqtt.sessions.ended")
                .description("sessions ended, by expiry or otherwise")
                .tag("cause", cause)
                .register(registry);
    }

    MessageCounts messages() {
        return messages;
    }

    ConnectionCounts connections() {
        return connections;
    }

    StoreMeters store() {
        return store;
    }

    /** Sessions whose expiry interval ran out. */
    long expiredSessions() {
        return (long) expired.count();
    }

    @Override
    public void connectionOpened(String listener) {
        connections.opened(listener);
    }

    @Override
    public void connectionClosed(String listener, ReasonCode reason) {
        connections.closed(listener, reason);
    }

    @Override
    public void backendAnswered(String backend, BackendOutcome outcome, long nanos) {
        backends.answered(backend, outcome, nanos);
    }

    @Override
    public void backendWorking(String backend, boolean working) {
        backends.working(backend, working);
    }

    BackendCounts backends() {
        return backends;
    }

    @Override
    public void overloadChanged(int level, String cause) {
        overload.changed(level, cause);
    }

    OverloadLevel overload() {
        return overload;
    }

    @Override
    public void connectionRefused(String listener, String limit) {
        connections.refused(listener, limit);
    }

    @Override
    public void sessionRefused(String limit) {
        connections.sessionRefused(limit);
    }

    @Override
    public void clientConnected(ClientIdentity client, boolean sessionPresent) {
        connections.connected(client, sessionPresent);
    }

    @Override
    public void clientDisconnected(ClientIdentity client, ReasonCode reason) {
        connections.disconnected(client);
    }

    @Override
    public void connectRefused(ConnectRefusal refusal) {
        connections.rejected(refusal.listener(), refusal.reason());
    }

    private Counter interceptorFailures(String packet) {
        return Counter.builder("smqtt.interceptor.failures")
                .description("client requests refused because an interceptor failed")
                .tag("packet", packet)
                .register(registry);
    }

    /** Registered with the first payload of a check. */
    @Override
    public void payloadValidated(String validation, String outcome) {
        Counter.builder("smqtt.validation.payloads")
                .description("payloads that a check has seen: passed, failed, timeout or overload")
                .tags("validation", validation, "outcome", outcome)
                .register(registry)
                .increment();
    }

    @Override
    public void eventLeftOut() {
        eventsLeftOut.increment();
    }

    @Override
    public void interceptorFailed(String packet) {
        interceptorFailures(packet).increment();
    }

    @Override
    public void passwordsWaiting(int waiting) {
        waitingPasswords.set(waiting);
    }

    @Override
    public void refusalDelayed() {
        delayed.increment();
    }

    @Override
    public void clientBanned(String cause) {
        (cause.equals("flapping") ? flappingBans : loginBans).increment();
    }

    @Override
    public void sessionTakenOver(String clientId) {
        takeovers.increment();
    }

    @Override
    public void clientTooSlow(String listener) {
        connections.tooSlow(listener);
    }

    @Override
    public void sessionCreated(String clientId) {
        created.increment();
    }

    @Override
    public void sessionMerged(String clientId) {
        merged.increment();
    }

    @Override
    public void sessionEnded(String clientId, boolean hasExpired) {
        (hasExpired ? expired : closed).increment();
    }

    @Override
    public void messageReceived(QoS qos, int payloadBytes, int matches) {
        messages.received(qos, payloadBytes, matches);
    }

    @Override
    public void messageRefused(QoS qos, ReasonCode reason) {
        messages.refused(reason);
    }

    @Override
    public void deliveriesAdded(DeliverySource source, int count) {
        messages.added(source, count);
    }

    @Override
    public void messageElsewhere(Elsewhere reason, int count) {
        messages.elsewhere(reason, count);
    }

    @Override
    public void messageDelivered(QoS qos, int payloadBytes) {
        messages.delivered(qos, payloadBytes);
    }

    @Override
    public void messageRouted(long nanos) {
        messages.routed(nanos);
    }

    @Override
    public void queueTimed(long nanos) {
        messages.queueTimed(nanos);
    }

    @Override
    public void deliveryTimed(long nanos) {
        messages.deliveryTimed(nanos);
    }

    @Override
    public void messageQueued(QoS qos, int footprintBytes) {
        messages.queued(qos);
    }

    @Override
    public void messageDropped(DropReason reason, int count) {
        messages.dropped(reason, count);
    }

    @Override
    public void messageAbandoned(DropReason reason, int count) {
        messages.abandoned(reason, count);
    }

    @Override
    public void willPublished(String clientId) {
        wills.increment();
    }

    @Override
    public void retainedRefused(long count, long bytes) {
        messages.retainedRefused();
    }

    @Override
    public void storeCommitted(int operations, long bytes, long nanos, boolean kept) {
        store.committed(operations, nanos, kept);
    }

    @Override
    public void storeWorking(boolean working) {
        store.working(working);
    }

    @Override
    public void storeMeasured(StoreFigures figures) {
        store.measured(figures);
    }
}
