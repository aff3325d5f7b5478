// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.Interception;
import io.smqtt.spi.MessageObserver;
import io.smqtt.spi.PublishInterceptor;
import io.smqtt.spi.SubscribeInterceptor;
import io.smqtt.spi.SubscribeRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The examples of {@code docs/embedding.md}: what stands between two markers here stands there, and it works. */
@Timeout(60)
class EmbeddingExamplesTest {

    private static final Path SOURCE = Path.of("src/test/java/io/smqtt/EmbeddingExamplesTest.java");
    private static final Path DOCUMENT = Path.of("../docs/embedding.md");
    private static final Pattern SNIPPET = Pattern.compile("// snippet (\\w+)\\n(.*?)// end", Pattern.DOTALL);

    private final List<String> handled = new CopyOnWriteArrayList<>();

    private void handle(ApplicationMessage message) {
        handled.add(message.payload().asString());
    }

    private static Mono<Boolean> isPasswordRight(String user, byte[] password) {
        return Mono.just(user.length() == password.length);
    }

    private static Broker startBroker() {
        // snippet start
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .build();
        Broker broker = Broker.builder().config(config).start().block();
        int port = broker.listeners().get("tcp").getPort();
        // end
        assertThat(port).isPositive();
        return broker;
    }

    @Test
    void messages() {
        Broker broker = startBroker();
        // snippet subscribe
        broker.subscribe("devices/+/state")
                .publishOn(Schedulers.boundedElastic(), 256)
                .subscribe(message -> handle(message));
        // end
        // snippet publish
        ApplicationMessage message = ApplicationMessage.builder("devices/7/state")
                .payload("on")
                .qos(QoS.AT_LEAST_ONCE)
                .retain(true)
                .expiryInterval(Duration.ofHours(1))
                .build();
        PublishResult result = broker.publish(message).block();
        // end
        assertThat(result).isEqualTo(new PublishResult(1, true));
        await().untilAsserted(() -> assertThat(handled).containsExactly("on"));
        // snippet close
        broker.close(Duration.ofSeconds(10)).block();
        // end
        assertThatThrownBy(() -> broker.publish(message).block()).isInstanceOf(BrokerClosedException.class);
    }

    @Test
    void consumers() {
        Broker broker = startBroker();
        // snippet consumers
        ConsumerOptions options = ConsumerOptions.DEFAULTS.shared("workers").window(100);
        MessageFlux<ReceivedMessage> jobs = broker.receive("jobs/#", options);
        jobs.publishOn(Schedulers.boundedElastic()).subscribe(received -> {
            handle(received.message());
            received.acknowledge();
        });
        jobs.ready().block();
        // end
        ApplicationMessage job = ApplicationMessage.builder("jobs/1")
                .payload("job")
                .qos(QoS.AT_LEAST_ONCE)
                .build();
        assertThat(broker.publish(job).block()).isEqualTo(new PublishResult(1, false));
        await().untilAsserted(() -> assertThat(handled).containsExactly("job"));
        await().until(() -> broker.clients().blockFirst().inFlight() == 0);
        broker.close(Duration.ofSeconds(1)).block();
    }

    @Test
    void clients() throws Exception {
        Broker broker = startBroker();
        List<String> events = new CopyOnWriteArrayList<>();
        // snippet clients
        broker.events().subscribe(event -> events.add(event.toString()));
        List<ClientInfo> clients = broker.clients().collectList().block();
        ClientDetails details = broker.client("device-7").block();
        boolean wasConnected = broker.disconnect("device-7").block();
        // end
        assertThat(clients).isEmpty();
        assertThat(details).isNull();
        assertThat(wasConnected).isFalse();
        MqttTestClient.connect(broker.listeners().get("tcp"), "device-7", true).close();
        await().untilAsserted(() -> assertThat(events).hasSizeGreaterThanOrEqualTo(2));
        broker.close(Duration.ofSeconds(1)).block();
    }

    @Test
    void explanations() throws Exception {
        Broker broker = startBroker();
        MqttTestClient client = MqttTestClient.connect(broker.listeners().get("tcp"), "device-7", true);
        client.subscribe("devices/+/state", 1);
        // snippet explain
        Explanation explanation = broker.explain("devices/7/state", "device-7").block();
        // end
        assertThat(explanation)
                .hasToString(
                        "devices/7/state by device-7: publish allowed\n"
                                + "  filter devices/+/state: devices > + [7] > state, subscribers: 1\n"
                                + "  to device-7 by devices/+/state, QoS 1, online, receive not checked, in flight 0, queued 0: sent\n");
        broker.close(Duration.ofSeconds(1)).block();
    }

    @Test
    void plugins() throws Exception {
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .build();
        // snippet plugins
        Broker broker = Broker.builder()
                .config(config)
                .authenticator(request -> request.userName() == null || request.password() == null
                        ? Mono.just(Authentication.CONTINUE) // the next one decides
                        : isPasswordRight(request.userName(), request.password())
                                .map(right ->
                                        right ? Authentication.accepted(request.userName()) : Authentication.refused()))
                .authorizer(request ->
                        (request.topic().startsWith("private/") ? AccessDecision.DENY : AccessDecision.ALLOW).now())
                .interceptor((client, message) -> Mono.just(
                        message.payload().size() > 100_000
                                ? Interception.stop(ReasonCode.QUOTA_EXCEEDED)
                                : Interception.forward(message)))
                .start()
                .block();
        // end
        MqttTestClient client = MqttTestClient.connect(broker.listeners().get("tcp"), "c", true);
        client.subscribe("t", 1).subscribe("private/x", 1).publish("t", "hello", 1);
        await().untilAsserted(() -> assertThat(client.texts).containsExactly("hello"));
        assertThat(broker.clients().blockFirst().subscriptions()).isEqualTo(1);
        broker.close(Duration.ofSeconds(1)).block();
    }

    @Test
    void changedMessages() throws Exception {
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .build();
        // snippet interceptor
        PublishInterceptor expires = (client, message) -> Mono.just(Interception.forward(message.toBuilder()
                .topic("sites/1/" + message.topic())
                .expiryInterval(Duration.ofHours(1))
                .build()));
        // end
        // snippet subscriptions
        SubscribeInterceptor noFlood =
                (client, request) -> request.filter().value().equals("#")
                        ? Interception.<SubscribeRequest>stop(ReasonCode.NOT_AUTHORIZED, "name what you need")
                                .now()
                        : Interception.forward(request.withMaximumQos(QoS.AT_LEAST_ONCE))
                                .now();
        // end
        Broker broker = Broker.builder()
                .config(config)
                .interceptor(expires)
                .interceptor(noFlood)
                .start()
                .block();
        MqttTestClient client = MqttTestClient.connect(broker.listeners().get("tcp"), "c", true);
        client.subscribe("sites/+/t", 1).publish("t", "hello", 1);
        await().untilAsserted(() -> assertThat(client.texts).containsExactly("hello"));
        broker.close(Duration.ofSeconds(1)).block();
    }

    @Test
    void observers() {
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .build();
        // snippet observer
        LongAdder dropped = new LongAdder();
        Broker broker = Broker.builder()
                .config(config)
                .observer(new MessageObserver() {
                    @Override
                    public void messageDropped(DropReason reason, int count) {
                        dropped.add(count);
                    }
                })
                .start()
                .block();
        // end
        broker.publish(ApplicationMessage.builder("t").build()).block();
        assertThat(dropped.sum()).isZero();
        broker.close(Duration.ofSeconds(1)).block();
    }

    @Test
    void modules() {
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .build();
        PublishInterceptor own =
                (client, message) -> Interception.forward(message).now();
        // snippet modules
        Broker broker = BrokerComposition.ofApplication(config, getClass().getClassLoader())
                .add(builder -> builder.interceptor(own))
                .start();
        // end
        assertThat(broker.listeners()).containsOnlyKeys("tcp");
        broker.close(Duration.ofSeconds(1)).block();
    }

    @Test
    void theDocumentShowsWhatIsTestedHere() throws Exception {
        String document = Files.readString(DOCUMENT);
        Matcher snippets = SNIPPET.matcher(Files.readString(SOURCE));
        List<String> names = new ArrayList<>();
        while (snippets.find()) {
            names.add(snippets.group(1));
            assertThat(document)
                    .as("snippet %s", snippets.group(1))
                    .contains("```java\n" + snippets.group(2).stripIndent().strip() + "\n```");
        }
        assertThat(names)
                .containsExactly(
                        "start",
                        "subscribe",
                        "publish",
                        "close",
                        "consumers",
                        "clients",
                        "explain",
                        "plugins",
                        "interceptor",
                        "subscriptions",
                        "observer",
                        "modules");
        int elsewhere = 3; // the examples with a store are tested in the store's module, and the imports below
        assertThat(document.split("```java", -1)).hasSize(names.size() + elsewhere + 1);
    }
}
