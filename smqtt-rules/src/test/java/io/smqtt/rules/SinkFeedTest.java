// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.Broker;
import io.smqtt.ConsumerOptions;
import io.smqtt.MessageFlux;
import io.smqtt.ReceivedMessage;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.rules.sink.file.FileSinkFactory;
import io.smqtt.test.BrokerExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** Sinks that an application uses without rules. */
class SinkFeedTest {

    private static final int WINDOW = 4;

    @RegisterExtension
    private final BrokerExtension extension = new BrokerExtension();

    @TempDir
    Path directory;

    /** A sink that fails at first, and never takes poison. */
    private static final class Moody implements Sink {

        private final List<String> payloads = new CopyOnWriteArrayList<>();
        private volatile int failures = 2;
        private volatile boolean closed;

        @Override
        public Mono<BatchResult> send(List<SinkRecord> batch) {
            return Mono.defer(() -> {
                if (failures-- > 0) {
                    return Mono.error(new SinkException("away", true));
                }
                List<BatchResult.Refusal> refusals = new ArrayList<>();
                for (int i = 0; i < batch.size(); i++) {
                    String payload = String.valueOf(batch.get(i).row().get("payload"));
                    if (payload.equals("poison")) {
                        refusals.add(new BatchResult.Refusal(i, "it is poison", false));
                    } else {
                        payloads.add(payload);
                    }
                }
                return Mono.just(new BatchResult(refusals));
            });
        }

        @Override
        public Mono<Void> check() {
            return Mono.empty();
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private static void publish(Broker broker, String topic, String payload) {
        broker.publish(ApplicationMessage.builder(topic)
                        .payload(payload)
                        .qos(QoS.AT_LEAST_ONCE)
                        .build())
                .block();
    }

    @Test
    void messagesReachTheSinkInOrderWithRepetitionsAndAreAcknowledged() {
        Broker broker = extension.broker();
        Moody sink = new Moody();
        List<String> letters = Collections.synchronizedList(new ArrayList<>());
        RuleActionConfig config = RuleActionConfig.builder("moody")
                .minDelay(Duration.ofMillis(1))
                .maxDelay(Duration.ofMillis(5))
                .build();
        SinkFeed feed = SinkFeed.to(sink)
                .name("orders")
                .config(config)
                .givenUp((message, reason) -> letters.add(message.payload().asString() + ": " + reason))
                .build();
        MessageFlux<ReceivedMessage> orders = broker.receive(
                "orders/#", ConsumerOptions.DEFAULTS.window(WINDOW)); // more come only if these are acknowledged
        orders.subscribe(feed);
        orders.ready().block();

        for (int i = 0; i < 20; i++) {
            publish(broker, "orders/1", i == 7 ? "poison" : "order " + i);
        }

        await().untilAsserted(() -> assertThat(feed.counts().success()).isEqualTo(19));
        assertThat(sink.payloads)
                .containsExactlyElementsOf(IntStream.range(0, 20)
                        .filter(i -> i != 7)
                        .mapToObj(i -> "order " + i)
                        .toList());
        assertThat(letters).containsExactly("poison: it is poison");
        assertThat(feed.counts().dead()).isEqualTo(1);
        assertThat(feed.counts().received()).isEqualTo(20);
        assertThat(feed.counts().retried()).isPositive();
        feed.close();
        assertThat(sink.closed).isTrue();
        assertThat(feed.counts().queued()).isZero();
    }

    @Test
    void messageWithoutARowIsGivenUp() {
        Broker broker = extension.broker();
        Moody sink = new Moody();
        sink.failures = 0;
        try (SinkFeed feed = SinkFeed.to(sink)
                .rows(message ->
                        Map.of("payload", Integer.valueOf(message.payload().asString())))
                .build()) {
            MessageFlux<ReceivedMessage> numbers = broker.receive("numbers", ConsumerOptions.DEFAULTS);
            numbers.subscribe(feed);
            numbers.ready().block();
            publish(broker, "numbers", "no number");
            publish(broker, "numbers", "7");

            await().untilAsserted(() -> assertThat(sink.payloads).containsExactly("7"));
            assertThat(feed.counts().dead()).isEqualTo(1);
        }
    }

    @Test
    void theExampleOfThePageWritesAFile() throws IOException {
        Broker broker = extension.broker();
        Path file = directory.resolve("orders.jsonl");
        // example
        SinkFactory type = new FileSinkFactory();
        Map<String, String> settings = Map.of("path", file.toString(), "max-files", "3");
        Sink sink = type.open(SinkContext.of(
                "orders", type, settings, message -> broker.publish(message).then()));
        SinkFeed feed = SinkFeed.to(sink).name("orders").build();

        MessageFlux<ReceivedMessage> orders = broker.receive("orders/#", ConsumerOptions.DEFAULTS);
        orders.subscribe(feed);
        orders.ready().block();
        // end
        publish(broker, "orders/7", "two screws");

        await().untilAsserted(
                        () -> assertThat(file)
                                .content()
                                .isEqualTo(
                                        "{\"topic\":\"orders/7\",\"qos\":1,\"retain\":false,\"clientid\":null,\"payload\":\"two screws\"}\n"));
        feed.close();

        String source = Files.readString(Path.of("src/test/java/io/smqtt/rules/SinkFeedTest.java"));
        Matcher example = Pattern.compile("(?s)// example\n(.*?)// end").matcher(source);
        assertThat(example.find()).isTrue();
        assertThat(Files.readString(Path.of("..", "docs", "rules.md")).replaceAll("\\s+", " "))
                .contains(example.group(1).replaceAll("\\s+", " ").strip());
    }

    @Test
    void theActionOfAFeedReachesItsSink() {
        SinkFactory type = new FileSinkFactory();
        RuleActionConfig action = RuleActionConfig.builder("another")
                .timeout(Duration.ofSeconds(3))
                .lanes(4)
                .build();
        Map<String, String> settings = Map.of("path", "orders.jsonl");

        SinkContext context = SinkContext.of("orders", type, settings, action, message -> Mono.empty());

        assertThat(context.config().timeout()).isEqualTo(Duration.ofSeconds(3));
        assertThat(context.config().lanes()).isEqualTo(4);
        assertThat(context.config().type()).isEqualTo("file");
        assertThat(context.config().settings()).containsOnlyKeys("path");
        assertThat(SinkContext.of("orders", type, settings, message -> Mono.empty())
                        .config()
                        .timeout())
                .isEqualTo(RuleActionConfig.builder("file").build().timeout());
    }

    @Test
    void settingsAreCheckedAsInARule() {
        SinkFactory type = new FileSinkFactory();

        assertThatThrownBy(() -> SinkContext.of("orders", type, Map.of("max-files", "-1"), message -> Mono.empty()))
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        error -> assertThat(error.problems())
                                .containsExactlyInAnyOrder(
                                        "max-files must be a whole number from 0 to 1000", "path must be set"));
    }
}
