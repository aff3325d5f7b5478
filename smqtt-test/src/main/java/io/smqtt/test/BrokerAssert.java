// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import io.smqtt.ClientInfo;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.assertj.core.api.AbstractAssert;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Assertions about the events of a broker. Waits for missing events, up to 10 seconds; an error message lists
 * what happened instead. {@code assertThat} of AssertJ makes it from a {@link TestBroker}. Not thread-safe.
 *
 * <pre>{@code
 * import static org.assertj.core.api.Assertions.assertThat;
 *
 * assertThat(broker).received("devices/+/state").withQos(1).from("device-7").withPayload("on").times(1);
 * assertThat(broker).hasConnected("device-7").receivedNothing("errors/#");
 * }</pre>
 */
public final class BrokerAssert extends AbstractAssert<BrokerAssert, TestBroker> {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration POLL = Duration.ofMillis(5);

    private Duration deadline = PATIENCE;

    BrokerAssert(TestBroker broker) {
        super(broker, BrokerAssert.class);
    }

    /**
     * Changes how long to wait for what has not happened yet.
     *
     * @param value for each of the following assertions
     * @return this
     */
    public BrokerAssert within(Duration value) {
        deadline = value;
        return this;
    }

    /**
     * A client published a message.
     *
     * @param topicFilter which topics count
     * @return narrows down what message it must be
     */
    public ReceivedAssert received(String topicFilter) {
        return new ReceivedAssert(this, TopicFilter.of(topicFilter));
    }

    /**
     * No client has published such a message up to now; does not wait.
     *
     * @param topicFilter which topics count
     * @return this
     */
    public BrokerAssert receivedNothing(String topicFilter) {
        TopicFilter filter = TopicFilter.of(topicFilter);
        List<ApplicationMessage> wrong = actual.received().stream()
                .filter(message -> filter.matches(message.topic()))
                .toList();
        if (!wrong.isEmpty()) {
            throw failure("%s was to receive nothing of '%s'%n%s", actual, topicFilter, ReceivedAssert.list(wrong));
        }
        return this;
    }

    /**
     * A client is connected.
     *
     * @param clientId its client identifier
     * @return this
     */
    public BrokerAssert hasConnected(String clientId) {
        return awaitClients(
                "client '" + clientId + "' connected",
                () -> clients().stream().anyMatch(client -> is(client, clientId) && client.connected()));
    }

    /**
     * A client is not connected; its session may be there.
     *
     * @param clientId its client identifier
     * @return this
     */
    public BrokerAssert hasDisconnected(String clientId) {
        return awaitClients(
                "client '" + clientId + "' not connected",
                () -> clients().stream().noneMatch(client -> is(client, clientId) && client.connected()));
    }

    /**
     * A client has a session, connected or not.
     *
     * @param clientId its client identifier
     * @return this
     */
    public BrokerAssert hasSession(String clientId) {
        return awaitClients(
                "a session of '" + clientId + "'", () -> clients().stream().anyMatch(client -> is(client, clientId)));
    }

    /**
     * A client has no session, not even a connected one.
     *
     * @param clientId its client identifier
     * @return this
     */
    public BrokerAssert hasNoSession(String clientId) {
        return awaitClients(
                "no session of '" + clientId + "'", () -> clients().stream().noneMatch(client -> is(client, clientId)));
    }

    /**
     * A session has so many subscriptions.
     *
     * @param clientId its client identifier
     * @param count how many
     * @return this
     */
    public BrokerAssert hasSubscriptions(String clientId, int count) {
        return awaitClients(
                count + " subscriptions of '" + clientId + "'",
                () -> clients().stream().anyMatch(client -> is(client, clientId) && client.subscriptions() == count));
    }

    /**
     * So many messages wait for a session: queued, or sent and not acknowledged.
     *
     * @param clientId its client identifier
     * @param count how many
     * @return this
     */
    public BrokerAssert hasWaiting(String clientId, int count) {
        return awaitClients(
                count + " messages waiting for '" + clientId + "'",
                () -> clients().stream()
                        .anyMatch(client -> is(client, clientId) && client.inFlight() + client.queued() == count));
    }

    private List<ClientInfo> clients() {
        return Objects.requireNonNull(actual.broker().clients().collectList().block(PATIENCE));
    }

    private static boolean is(ClientInfo client, String clientId) {
        return client.identity().clientId().equals(clientId);
    }

    private BrokerAssert awaitClients(String what, BooleanSupplier condition) {
        await(condition, () -> {
            StringBuilder text =
                    new StringBuilder(actual + " was to have " + what + " within " + deadline + " and has");
            List<ClientInfo> clients = clients();
            for (ClientInfo client : clients) {
                text.append(System.lineSeparator())
                        .append("  ")
                        .append(client.identity().clientId())
                        .append(client.connected() ? ": connected, " : ": not connected, ")
                        .append(client.subscriptions())
                        .append(" subscriptions, ")
                        .append(client.inFlight())
                        .append(" messages in flight, ")
                        .append(client.queued())
                        .append(" queued");
            }
            return clients.isEmpty() ? text + " no sessions" : text.toString();
        });
        return this;
    }

    /** Waits for a condition; the message is made when the time is over. */
    void await(BooleanSupplier condition, Supplier<String> message) {
        if (condition.getAsBoolean()) {
            return;
        }
        try {
            Awaitility.await()
                    .atMost(deadline)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(POLL)
                    .until(condition::getAsBoolean);
        } catch (ConditionTimeoutException e) {
            if (!condition.getAsBoolean()) {
                throw failure("%s", message.get());
            }
        }
    }

    TestBroker broker() {
        return actual;
    }

    Duration deadline() {
        return deadline;
    }

    AssertionError failed(String message) {
        return failure("%s", message);
    }
}
