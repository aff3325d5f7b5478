// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.TlsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.Interception;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.transport.BindFailedException;
import io.smqtt.transport.TestPort;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.reactivestreams.Publisher;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** The embedding API over real sockets. */
@Timeout(60)
class BrokerTest {

    private static final Duration DEADLINE = Duration.ofSeconds(5);

    private final List<Broker> brokers = new ArrayList<>();
    private final List<MqttTestClient> clients = new ArrayList<>();
    private final AtomicInteger noDemand = new AtomicInteger();

    @AfterEach
    void stop() {
        clients.forEach(MqttTestClient::close);
        brokers.forEach(broker -> broker.close(DEADLINE).block());
    }

    static BrokerConfigBuilder config() {
        return BrokerConfig.builder().listeners(Map.of("tcp", onLoopback(0))).eventLoops(2);
    }

    private static ListenerConfig onLoopback(int port) {
        return ListenerConfig.tcp(port).toBuilder().host("127.0.0.1").build();
    }

    private Broker start(BrokerBuilder builder) {
        Broker broker = builder.start().block();
        brokers.add(broker);
        return broker;
    }

    private Broker start() {
        return start(Broker.builder().config(config().build()).observer(new BrokerObserver() {
            @Override
            public void messageDropped(DropReason reason, int count) {
                if (reason == DropReason.NO_DEMAND) {
                    noDemand.addAndGet(count);
                }
            }
        }));
    }

    private MqttTestClient connect(Broker broker, String clientId) throws Exception {
        MqttTestClient client = MqttTestClient.connect(broker.listeners().get("tcp"), clientId, false);
        clients.add(client);
        return client;
    }

    private static ApplicationMessage message(String topic, String text) {
        return ApplicationMessage.builder(topic)
                .payload(text)
                .qos(QoS.AT_LEAST_ONCE)
                .build();
    }

    private static String text(ApplicationMessage message) {
        return message.payload().asString();
    }

    @Test
    void publishesToClientsAndTellsHowMany() throws Exception {
        Broker broker = start();
        MqttTestClient client = connect(broker, "c").subscribe("a/+", 1);
        assertThat(broker.publish(message("a/b", "x")).block()).isEqualTo(new PublishResult(1, false));
        assertThat(broker.publish(message("b", "x")).block().matches()).isZero();
        await().untilAsserted(() -> assertThat(client.texts).containsExactly("x"));
    }

    @Test
    void receivesRetainedMessagesFirst() throws Exception {
        Broker broker = start();
        ApplicationMessage retained =
                ApplicationMessage.builder("r/1").payload("old").retain(true).build();
        assertThat(broker.publish(retained).block().retained()).isTrue();
        MqttTestClient client = connect(broker, "c");

        StepVerifier.create(broker.subscribe("r/#").map(BrokerTest::text).take(2))
                .expectNext("old")
                .then(() -> publish(client, "r/2", "new"))
                .expectNext("new")
                .expectComplete()
                .verify(DEADLINE);
    }

    private static void publish(MqttTestClient client, String topic, String text) {
        try {
            client.publish(topic, text, 1);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void missesNothingThatIsPublishedWhileTheRetainedMessagesCome() {
        Broker broker = start();
        for (int i = 0; i < 3; i++) {
            broker.publish(ApplicationMessage.builder("r/" + i)
                            .payload("old" + i)
                            .retain(true)
                            .build())
                    .block();
        }
        AtomicInteger published = new AtomicInteger();
        List<String> received = new CopyOnWriteArrayList<>();
        broker.subscribe("r/#").subscribe(message -> {
            received.add(text(message));
            if (published.getAndIncrement() == 0) {
                broker.publish(message("r/new", "new")).block();
            }
        });
        await().untilAsserted(() -> assertThat(received).contains("old0", "old1", "old2", "new"));
        assertThat(received).hasSize(4).last().isEqualTo("new");
    }

    @Tag("slow")
    @Test
    void aModuleThatDoesNotStopDoesNotKeepTheBrokerFromClosing() {
        Broker broker = start(Broker.builder().config(config().build()).module(new BrokerModule() {
            @Override
            public Mono<Void> start(Core core) {
                return Mono.empty();
            }

            @Override
            public Mono<Void> stop() {
                return Mono.never();
            }
        }));
        StepVerifier.create(broker.close(Duration.ofSeconds(1)))
                .expectComplete()
                .verify(Duration.ofSeconds(30));
    }

    @Test
    void everyCallOfAClosedBrokerFailsWithOneException() {
        Broker broker = start();
        broker.close(DEADLINE).block();
        ConsumerOptions options = ConsumerOptions.DEFAULTS;
        List<Publisher<?>> calls = List.of(
                broker.publish(message("t", "x")),
                broker.subscribe("t"),
                broker.subscribe("t").ready(),
                broker.subscribe("$share/g/t"),
                broker.subscribe("t", options),
                broker.receive("t", options),
                broker.removeConsumer("name"),
                broker.clients(),
                broker.client("c"),
                broker.explain("t", null),
                broker.explain("t", "c"),
                broker.disconnect("c"),
                broker.events());
        for (int i = 0; i < calls.size(); i++) {
            if (i != 2) { // that one waits for a subscriber
                StepVerifier.create(calls.get(i))
                        .expectError(BrokerClosedException.class)
                        .verify(DEADLINE);
            }
        }
        MessageFlux<ReceivedMessage> late = broker.receive("t", options);
        late.subscribe(message -> {}, error -> {});
        StepVerifier.create(late.ready())
                .expectError(BrokerClosedException.class)
                .verify(DEADLINE);
        assertThatThrownBy(broker::listeners).isInstanceOf(BrokerClosedException.class);
        assertThatThrownBy(broker::reload).isInstanceOf(BrokerClosedException.class);
        broker.close(DEADLINE).block(); // may be called again
    }

    @Test
    void whatIsPublishedWhileTheBrokerClosesHasAnEnd() {
        for (int round = 0; round < 5; round++) {
            Broker broker = start();
            Queue<CompletableFuture<PublishResult>> open = new ArrayDeque<>();
            CompletableFuture<Void> end = broker.close(DEADLINE).toFuture();
            while (!end.isDone()) {
                open.add(broker.publish(message("t", "x")).toFuture());
                if (open.size() > 100) { // or else the loop of this test is quicker than the broker's
                    assertHasAnEnd(open.remove());
                }
            }
            open.forEach(BrokerTest::assertHasAnEnd);
        }
    }

    private static void assertHasAnEnd(CompletableFuture<PublishResult> result) {
        CompletableFuture<@Nullable Throwable> failure = result.handle(
                (known, thrown) -> thrown == null || thrown instanceof BrokerClosedException ? null : thrown);

        assertThat(failure).succeedsWithin(DEADLINE).isNull();
    }

    @Test
    void aSharedSubscriptionGoesToOneOfItsMembers() {
        Broker broker = start();
        Queue<String> received = new ConcurrentLinkedQueue<>();
        List<Disposable> members = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            MessageFlux<ApplicationMessage> member = broker.subscribe("$share/g/t/+");
            members.add(member.subscribe(message -> received.add(text(message))));
            member.ready().block(DEADLINE);
        }
        for (int i = 0; i < 10; i++) {
            assertThat(broker.publish(message("t/" + i, "m" + i))
                            .block(DEADLINE)
                            .matches())
                    .isEqualTo(1);
        }
        await().untilAsserted(() -> assertThat(received).hasSize(10).doesNotHaveDuplicates());
        members.forEach(Disposable::dispose);
        assertThatThrownBy(() -> broker.subscribe("$share/g")).isInstanceOf(InvalidTopicException.class);
    }

    @Tag("slow")
    @Test
    void tellsWhenTheSubscriptionStands() {
        Broker broker = start();
        for (int i = 0; i < 20; i++) {
            List<String> received = new CopyOnWriteArrayList<>();
            MessageFlux<ReceivedMessage> messages = broker.receive("t", ConsumerOptions.DEFAULTS);
            Disposable consumer = messages.subscribe(message -> received.add(text(message.message())));
            messages.ready().block(DEADLINE);
            assertThat(broker.publish(message("t", "x")).block(DEADLINE).matches())
                    .isEqualTo(1);
            await().untilAsserted(() -> assertThat(received).containsExactly("x"));
            consumer.dispose();
            await().until(() -> broker.clients().collectList().block(DEADLINE).isEmpty());
        }
        MessageFlux<ApplicationMessage> direct = broker.subscribe("t");
        direct.subscribe();
        direct.ready().block(DEADLINE);
    }

    @Test
    void tellsThatASubscriptionWillNotStand() {
        Broker broker = start();
        MessageFlux<ReceivedMessage> durable = broker.receive("t", ConsumerOptions.DEFAULTS.durable("needs-a-store"));
        durable.subscribe(message -> {}, error -> {});
        StepVerifier.create(durable.ready())
                .expectError(IllegalStateException.class)
                .verify(DEADLINE);
        MessageFlux<ReceivedMessage> cancelled = broker.receive("t", ConsumerOptions.DEFAULTS);
        cancelled.subscribe().dispose();
        await().until(() -> broker.clients().collectList().block(DEADLINE).isEmpty());
        StepVerifier.create(cancelled.ready().onErrorResume(CancellationException.class, error -> Mono.empty()))
                .expectComplete() // one or the other
                .verify(DEADLINE);
    }

    @Test
    void respectsDemand() {
        Broker broker = start();
        StepVerifier.create(broker.subscribe("t").map(BrokerTest::text), 0)
                .expectSubscription()
                .then(() -> IntStream.range(0, 5)
                        .forEach(i -> broker.publish(message("t", "m" + i)).block()))
                .thenRequest(2)
                .expectNext("m0", "m1")
                .thenRequest(1)
                .expectNext("m2")
                .thenCancel()
                .verify(DEADLINE);
    }

    @Test
    void dropsAndCountsWhatASlowConsumerDoesNotTake() {
        Broker broker = start();
        StepVerifier.create(broker.subscribe("t"), 0)
                .expectSubscription()
                .then(() -> IntStream.range(0, 5_000)
                        .forEach(i -> broker.publish(message("t", "m" + i).toBuilder()
                                        .qos(QoS.AT_MOST_ONCE)
                                        .build())
                                .block()))
                .then(() -> assertThat(noDemand.get()).isEqualTo(5_000 - 4_096))
                .thenRequest(Long.MAX_VALUE)
                .expectNextCount(4_096)
                .thenCancel()
                .verify(DEADLINE);
    }

    @Test
    void aCancelledSubscriptionIsGone() {
        Broker broker = start();
        Disposable subscription = broker.subscribe("t").subscribe();
        assertThat(broker.publish(message("t", "x")).block().matches()).isEqualTo(1);
        subscription.dispose();
        assertThat(broker.publish(message("t", "x")).block().matches()).isZero();
    }

    @Test
    void keepsTheOrderOfEachPublisherForConsumersInTheProcess() throws Exception { // [MQTT-4.6.0-6]
        Broker broker = start();
        List<String> received = new CopyOnWriteArrayList<>();
        broker.subscribe("t/#").subscribe(message -> received.add(text(message)));
        List<MqttTestClient> publishers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            publishers.add(connect(broker, "p" + i));
        }
        for (int number = 0; number < 300; number++) {
            for (int i = 0; i < publishers.size(); i++) {
                publishers.get(i).publish("t/" + i, i + ":" + number, 0);
            }
        }
        await().untilAsserted(() -> assertThat(received).hasSize(1_200));
        for (int i = 0; i < publishers.size(); i++) {
            String prefix = i + ":";
            assertThat(received.stream().filter(text -> text.startsWith(prefix)))
                    .containsExactlyElementsOf(IntStream.range(0, 300)
                            .mapToObj(number -> prefix + number)
                            .toList());
        }
    }

    @Test
    void refusesWhatIsNoFilter() {
        Broker broker = start();
        assertThatThrownBy(() -> broker.subscribe("a#")).isInstanceOf(InvalidTopicException.class);
    }

    @Test
    void listsDisconnectsAndReportsClients() throws Exception {
        Broker broker = start();
        List<String> events = new CopyOnWriteArrayList<>();
        broker.events().subscribe(event -> events.add(event.getClass().getSimpleName() + " " + event.clientId()));
        MqttTestClient client = connect(broker, "c").subscribe("t", 1);
        ClientInfo info = broker.clients().single().block();
        assertThat(info.identity().clientId()).isEqualTo("c");
        assertThat(info.identity().listener()).isEqualTo("tcp");
        assertThat(info.connected()).isTrue();
        assertThat(info.subscriptions()).isEqualTo(1);

        assertThat(broker.disconnect("c").block()).isTrue();
        await().untilAsserted(() -> assertThat(client.disconnectReason).isEqualTo(0x98));
        assertThat(broker.disconnect("c").block()).isFalse();
        assertThat(broker.disconnect("nobody").block()).isFalse();
        broker.publish(message("t", "waiting")).block();
        await().untilAsserted(() ->
                assertThat(broker.clients().single().block().queued()).isEqualTo(1));

        MqttTestClient again = connect(broker, "c");
        assertThat(again.sessionPresent).isTrue();
        await().untilAsserted(() -> assertThat(again.texts).containsExactly("waiting"));
        again.unsubscribe("t");
        MqttTestClient short1 = MqttTestClient.connect(broker.listeners().get("tcp"), "c", true, 0);
        short1.close();
        await().untilAsserted(() -> assertThat(events)
                .containsSubsequence("Connected c", "Subscribed c", "Disconnected c", "Connected c", "Unsubscribed c")
                .contains("SessionEnded c"));
    }

    @Test
    void plugsInAuthenticatorsAuthorizersAndInterceptors() throws Exception {
        Broker broker = start(Broker.builder()
                .config(config().build())
                .authenticator(request ->
                        Authentication.accepted("user of " + request.clientId()).now())
                .authorizer(request ->
                        (request.topic().startsWith("secret") ? AccessDecision.DENY : AccessDecision.ALLOW).now())
                .interceptor((client, message) -> reactor.core.publisher.Mono.just(Interception.forward(
                        ApplicationMessage.builder(message.topic().value())
                                .payload(client.userName() + " says " + text(message))
                                .qos(message.qos())
                                .build()))));
        MqttTestClient client = connect(broker, "c").subscribe("t", 1).subscribe("secret/t", 1);
        client.publish("t", "hello", 1);
        await().untilAsserted(() -> assertThat(client.texts).containsExactly("user of c says hello"));
        assertThat(broker.clients().single().block().subscriptions()).isEqualTo(1);
    }

    @Test
    void twoBrokersShareNothing() throws Exception {
        Broker one = start();
        Broker other = start();
        MqttTestClient atOne = connect(one, "c").subscribe("t", 1);
        MqttTestClient atOther = connect(other, "c").subscribe("t", 1);
        one.publish(message("t", "one")).block();
        other.publish(message("t", "other")).block();
        await().untilAsserted(() -> assertThat(atOne.texts).containsExactly("one"));
        await().untilAsserted(() -> assertThat(atOther.texts).containsExactly("other"));
        one.close(DEADLINE).block();
        assertThat(atOther.isOpen()).isTrue();
        atOther.ping();
    }

    @Test
    void closesGracefully() throws Exception {
        Broker broker = start();
        MqttTestClient client = connect(broker, "c").subscribe("t", 1);
        InetSocketAddress address = broker.listeners().get("tcp");
        Socket silent = new Socket(address.getAddress(), address.getPort()); // never sends its CONNECT
        CompletableFuture<Void> consumer = broker.subscribe("t").then().toFuture();
        Disposable events = broker.events().subscribe();

        broker.close(DEADLINE).block();
        broker.close(DEADLINE).block();

        assertThat(consumer).succeedsWithin(DEADLINE);
        assertThat(events.isDisposed()).isTrue();
        await().untilAsserted(
                        () -> assertThat(client.disconnectReason).isEqualTo(ReasonCode.SERVER_SHUTTING_DOWN.value()));
        await().untilAsserted(() -> assertThat(client.isOpen()).isFalse());
        silent.close();
        assertThatThrownBy(() -> new Socket(address.getAddress(), address.getPort()).close())
                .isInstanceOf(java.net.ConnectException.class);
        assertThatThrownBy(() -> broker.publish(message("t", "x")).block()).isInstanceOf(BrokerClosedException.class);
        StepVerifier.create(broker.subscribe("t"))
                .expectError(BrokerClosedException.class)
                .verify(DEADLINE);
        assertThat(threadsOf("smqtt-")).isZero();
    }

    @Test
    void everythingWrittenArrivesBeforeTheGoodbye() throws Exception {
        Broker broker = start();
        MqttTestClient client = connect(broker, "c").subscribe("t", 1);
        for (int i = 0; i < 20; i++) {
            broker.publish(message("t", "x".repeat(30_000))).block();
        }
        broker.close(DEADLINE).block();
        await().untilAsserted(() -> assertThat(client.disconnectReason).isEqualTo(0x8B));
        assertThat(client.texts).hasSize(20);
    }

    private static long threadsOf(String prefix) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(prefix))
                .count();
    }

    @Test
    void aFailedStartLeavesNothingBehind() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
                TestPort free = new TestPort()) {
            Map<String, ListenerConfig> listeners = new java.util.LinkedHashMap<>();
            listeners.put("first", onLoopback(free.number()));
            listeners.put("second", onLoopback(taken.getLocalPort()));
            BrokerBuilder builder =
                    Broker.builder().config(config().listeners(listeners).build());

            assertThatThrownBy(() -> builder.start().block()).isInstanceOf(BindFailedException.class);

            new ServerSocket(free.number(), 1, InetAddress.getByName("127.0.0.1")).close();
        }
        await().untilAsserted(() -> assertThat(threadsOf("smqtt-")).isZero());
    }

    @Test
    void unusableCertificatesLeaveNothingBehindEither(@TempDir Path directory) throws Exception {
        Path garbage = Files.writeString(directory.resolve("garbage.pem"), "garbage");
        ListenerConfig listener = onLoopback(0).toBuilder()
                .tls(TlsConfig.builder(garbage, garbage).build())
                .build();
        BrokerBuilder builder = Broker.builder()
                .config(config().listeners(Map.of("tls", listener)).build());
        assertThatThrownBy(() -> builder.start().block()).isInstanceOf(ConfigurationException.class);
        await().untilAsserted(() -> assertThat(threadsOf("smqtt-")).isZero());
    }

    @Test
    void reloadsAccessRules(@TempDir Path directory) throws Exception {
        Path acl = Files.writeString(directory.resolve("acl"), "topic readwrite #\n");
        Broker broker = start(Broker.builder()
                .config(config().access(AccessConfig.builder().aclFile(acl).build())
                        .build()));
        MqttTestClient client = connect(broker, "c").subscribe("a", 1).subscribe("b", 1);
        Files.writeString(acl, "topic readwrite a\n");

        assertThat(broker.reload()).satisfies(result -> {
            assertThat(result.failed()).isEmpty();
            assertThat(result.reloaded()).containsExactly(acl.toString());
        });

        await().untilAsserted(() ->
                assertThat(broker.clients().single().block().subscriptions()).isEqualTo(1));
        Files.writeString(acl, "nonsense here\n");
        assertThat(broker.reload().failed()).isNotEmpty();
        client.publish("a", "still allowed", 1);
        await().untilAsserted(() -> assertThat(client.texts).containsExactly("still allowed"));
    }

    @Test
    void warnsOfAccessFilesAtTheStartAndAfterAReload(@TempDir Path directory) throws Exception {
        Path acl = Files.writeString(directory.resolve("acl"), "# nothing yet\n");
        Logger logger = (Logger) LoggerFactory.getLogger(Broker.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        try {
            Broker broker = start(Broker.builder()
                    .config(config().access(AccessConfig.builder().aclFile(acl).build())
                            .build()));
            assertThat(log.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .satisfiesExactly(warning -> assertThat(warning).startsWith(acl + ": contains no rule"));
            broker.reload();
            assertThat(log.list).hasSize(2);
        } finally {
            logger.detachAppender(log);
        }
    }
}
