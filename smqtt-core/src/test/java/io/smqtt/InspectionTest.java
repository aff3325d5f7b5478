// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.Explanation.Outcome;
import io.smqtt.Explanation.Receiver;
import io.smqtt.Explanation.Verdict;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.DropReason;
import io.smqtt.topic.InvalidTopicException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;

/** Clients, events and explanations. */
@Timeout(60)
class InspectionTest extends ServedBroker {

    @BeforeEach
    void start() {
        start(
                1,
                builder -> builder.authorizer(request -> (request.action() == AccessAction.RECEIVE
                                                && request.client().clientId().equals("blind")
                                        || request.action() == AccessAction.PUBLISH
                                                && request.client().clientId().equals("mute")
                                ? AccessDecision.DENY
                                : AccessDecision.ALLOW)
                        .now()));
    }

    private void publish(String topic, QoS qos) {
        broker.publish(ApplicationMessage.builder(topic).payload("x").qos(qos).build())
                .block(PATIENCE);
    }

    @Test
    void showsOneClient() throws Exception {
        MqttTestClient client = connect("c").subscribe("b/+", 1).subscribe("$share/g/a", 0);
        ClientDetails details = broker.client("c").block(PATIENCE);
        assertThat(details.info().identity().version()).isEqualTo(ProtocolVersion.MQTT_5);
        assertThat(details.info().identity().remoteAddress().getAddress().isLoopbackAddress())
                .isTrue();
        assertThat(details.info().identity().listener()).isEqualTo("tcp");
        assertThat(details.keepAlive()).isEqualTo(Duration.ofSeconds(60));
        assertThat(details.sessionExpiry()).isEqualTo(Duration.ofSeconds(1_000));
        assertThat(details.stored()).isFalse();
        assertThat(details.sendMaximum()).isPositive();
        assertThat(details.subscriptions())
                .containsExactly(
                        new ClientDetails.Filter("$share/g/a", QoS.AT_MOST_ONCE, false, false, 0),
                        new ClientDetails.Filter("b/+", QoS.AT_LEAST_ONCE, false, false, 0));

        away(client, "c");
        publish("b/1", QoS.AT_LEAST_ONCE);
        ClientDetails offline = broker.client("c").block(PATIENCE);
        assertThat(offline.keepAlive()).isNull();
        assertThat(offline.sendMaximum()).isZero();
        assertThat(offline.info().queued()).isEqualTo(1);
        assertThat(offline.queuedBytes()).isPositive();
        assertThat(broker.client("nobody").blockOptional(PATIENCE)).isEmpty();
    }

    @Test
    void tellsWhatHappensToClients() throws Exception {
        List<BrokerEvent> events = new CopyOnWriteArrayList<>();
        Disposable listening = broker.events().subscribe(events::add);
        MqttTestClient first = connect("c").subscribe("t", 1);
        first.unsubscribe("t");
        MqttTestClient second = MqttTestClient.connect(broker.listeners().get("tcp"), "c", true, 0);
        second.close();
        await().untilAsserted(() -> assertThat(events).anyMatch(BrokerEvent.Disconnected.class::isInstance));
        assertThatThrownBy(() -> connect("$in-process/x")).isInstanceOf(AssertionError.class);
        await().untilAsserted(() -> assertThat(events)
                .<Class<?>>extracting(BrokerEvent::getClass)
                .contains(
                        BrokerEvent.SessionCreated.class,
                        BrokerEvent.Connected.class,
                        BrokerEvent.Subscribed.class,
                        BrokerEvent.Unsubscribed.class,
                        BrokerEvent.TakenOver.class,
                        BrokerEvent.SessionEnded.class,
                        BrokerEvent.Disconnected.class,
                        BrokerEvent.ConnectRefused.class));
        assertThat(events).first().isEqualTo(new BrokerEvent.SessionCreated("c"));
        listening.dispose();
    }

    @Test
    void tellsOfAWillThatIsPublished() throws Exception {
        List<BrokerEvent> events = new CopyOnWriteArrayList<>();
        Disposable listening = broker.events().subscribe(events::add);
        MqttTestClient watcher = connect("watcher").subscribe("wills", 1);
        MqttTestClient client = MqttTestClient.withWill(broker.listeners().get("tcp"), "c", "wills", "gone");
        clients.add(client);
        client.close(); // without a DISCONNECT
        await().untilAsserted(() -> assertThat(watcher.texts).containsExactly("gone"));
        await().untilAsserted(() -> assertThat(events.stream().filter(BrokerEvent.WillPublished.class::isInstance))
                .containsExactly(new BrokerEvent.WillPublished("c")));
        listening.dispose();
    }

    // --- explain

    @Test
    void explainsWhoWouldGetIt() throws Exception {
        connect("online").subscribe("a/+/c", 1).subscribe("a/#", 0);
        connect("blind").subscribe("a/b/c", 1);
        away(connect("qos0").subscribe("a/b/c", 0), "qos0");
        away(connect("queue").subscribe("#", 1), "queue");
        away(connect("full").subscribe("a/b/c", 1), "full");
        connect("m1").subscribe("$share/g/a/b/+", 1);
        publish("a/b/c", QoS.AT_LEAST_ONCE);
        Disposable local = broker.subscribe("a/b/c").subscribe();
        connect("queue").close(); // takes what waits
        await().until(() -> {
            ClientDetails queue = broker.client("queue").block(PATIENCE);
            return !queue.info().connected()
                    && queue.info().queued() == 0
                    && queue.info().inFlight() == 0;
        });

        Explanation explained = broker.explain("a/b/c", "mute").block(PATIENCE);

        assertThat(explained.publish()).isEqualTo(Verdict.UNKNOWN);
        assertThat(explained.filters())
                .extracting(
                        match -> match.filter() + " = " + String.join(" > ", match.path()) + " " + match.subscribers())
                .containsExactly(
                        "# = # [a/b/c] 1",
                        "a/# = a > # [b/c] 1",
                        "a/+/c = a > + [b] > c 1",
                        "a/b/+ = a > b > + [c] 0",
                        "a/b/c = a > b > c 4");
        assertThat(explained.receivers())
                .extracting(Receiver::id)
                .satisfies(ids -> assertThat(ids.get(0)).startsWith("$in-process/"));
        assertThat(explained.receivers().subList(1, 6))
                .containsExactly(
                        new Receiver(
                                "blind",
                                List.of("a/b/c"),
                                QoS.AT_LEAST_ONCE,
                                true,
                                Verdict.DENIED,
                                0,
                                0,
                                Outcome.DROPPED,
                                DropReason.NOT_AUTHORIZED),
                        new Receiver(
                                "full",
                                List.of("a/b/c"),
                                QoS.AT_LEAST_ONCE,
                                false,
                                Verdict.ALLOWED,
                                0,
                                1,
                                Outcome.DROPPED,
                                DropReason.QUEUE_COUNT),
                        new Receiver(
                                "online",
                                List.of("a/#", "a/+/c"),
                                QoS.AT_LEAST_ONCE,
                                true,
                                Verdict.ALLOWED,
                                0,
                                0,
                                Outcome.SENT,
                                null),
                        new Receiver(
                                "qos0",
                                List.of("a/b/c"),
                                QoS.AT_MOST_ONCE,
                                false,
                                Verdict.ALLOWED,
                                0,
                                0,
                                Outcome.DROPPED,
                                DropReason.OFFLINE),
                        new Receiver(
                                "queue",
                                List.of("#"),
                                QoS.AT_LEAST_ONCE,
                                false,
                                Verdict.ALLOWED,
                                0,
                                0,
                                Outcome.QUEUED,
                                null));
        assertThat(explained.groups()).containsExactly(new Explanation.Group("g", "a/b/+", List.of("m1"), 1));
        assertThat(explained.toString())
                .contains("a/b/c by mute: publish unknown")
                .contains("filter a/+/c: a > + [b] > c, subscribers: 1")
                .contains(
                        "to full by a/b/c, QoS 1, offline, receive allowed, in flight 0, queued 1: dropped (QUEUE_COUNT)")
                .contains("to one of group g by a/b/+, online 1 of [m1]");
        local.dispose();
    }

    @Test
    void explainsWhoMayPublish() throws Exception {
        connect("mute").subscribe("t", 1);
        assertThat(broker.explain("t", "mute").block(PATIENCE).publish()).isEqualTo(Verdict.DENIED);
        connect("c");
        assertThat(broker.explain("t", "c").block(PATIENCE).publish()).isEqualTo(Verdict.ALLOWED);
        Explanation application = broker.explain("nobody", null).block(PATIENCE);
        assertThat(application.publish()).isEqualTo(Verdict.NOT_CHECKED);
        assertThat(application).hasToString("nobody by the application: publish not checked\n  no subscribers\n");
        assertThatThrownBy(() -> broker.explain("a/+", null)).isInstanceOf(InvalidTopicException.class);
    }

    @Test
    void explainsWithoutDoing() throws Exception {
        broker.publish(ApplicationMessage.builder("t")
                        .payload("kept")
                        .retain(true)
                        .build())
                .block(PATIENCE);
        MqttTestClient client = connect("c").subscribe("+", 1);
        await().until(() -> client.texts.size() == 1);
        assertThat(broker.explain("t", "c").block(PATIENCE).retained()).isTrue();
        assertThat(broker.explain("u", "c").block(PATIENCE).retained()).isFalse();
        client.ping();
        assertThat(client.texts).containsExactly("kept");
        assertThat(broker.client("c").block(PATIENCE).info().inFlight()).isZero();
    }
}
