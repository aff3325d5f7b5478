// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.Broker;
import io.smqtt.BrokerClosedException;
import io.smqtt.ConsumerOptions;
import io.smqtt.MessageFlux;
import io.smqtt.ReceivedMessage;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.spi.BrokerStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/** The example of {@code docs/embedding.md} with a store: what stands between the markers here stands there, and works. */
@Timeout(60)
class EmbeddedStoreExampleTest {

    private static final Path SOURCE = Path.of("src/test/java/io/smqtt/persistence/EmbeddedStoreExampleTest.java");
    private static final Path DOCUMENT = Path.of("../docs/embedding.md");
    private static final Pattern SNIPPET = Pattern.compile("// snippet \\w+\\n(.*?)// end", Pattern.DOTALL);

    @TempDir
    Path directory;

    private final List<String> booked = new CopyOnWriteArrayList<>();
    private volatile boolean broken;

    private Broker startBroker() {
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .build();
        // snippet store
        BrokerStore store = RocksBrokerStore.open(directory.resolve("store"), StoreSettings.defaults());
        Broker broker = Broker.builder().config(config).store(store).start().block();
        // end
        return Objects.requireNonNull(broker);
    }

    @Test
    void whatWasRetainedIsThereAgain() {
        Broker first = startBroker();
        first.publish(ApplicationMessage.builder("a")
                        .payload("kept")
                        .qos(QoS.AT_LEAST_ONCE)
                        .retain(true)
                        .build())
                .block();
        first.close(Duration.ofSeconds(1)).block();

        Broker second = startBroker();
        ApplicationMessage found = second.subscribe("a").blockFirst();
        second.close(Duration.ofSeconds(1)).block();

        assertThat(Objects.requireNonNull(found).payload().asString()).isEqualTo("kept");
    }

    @Test
    void whatCameForANamedConsumerIsThereAgain() {
        Broker first = startBroker();
        consume(first);
        order(first, "1");
        await().untilAsserted(() -> assertThat(booked).containsExactly("1"));
        await().until(() -> first.clients().blockFirst().inFlight() == 0);
        broken = true;
        order(first, "2"); // not acknowledged: it could not be booked, and comes again and again
        await().untilAsserted(() -> assertThat(booked).startsWith("1", "2", "2"));
        first.close(Duration.ofSeconds(1)).block();

        broken = false;
        Broker second = startBroker();
        booked.clear();
        consume(second);
        await().untilAsserted(() -> assertThat(booked).containsExactly("2"));
        await().until(() -> second.clients().blockFirst().inFlight() == 0);
        second.close(Duration.ofSeconds(1)).block();
    }

    private static void order(Broker broker, String text) {
        broker.publish(ApplicationMessage.builder("orders/1")
                        .payload(text)
                        .qos(QoS.AT_LEAST_ONCE)
                        .build())
                .block();
    }

    private void book(ApplicationMessage message) {
        booked.add(message.payload().asString());
        if (broken) {
            throw new IllegalStateException("as the test wants it");
        }
    }

    private void consume(Broker broker) {
        // snippet durable
        ConsumerOptions durable = ConsumerOptions.DEFAULTS.durable("billing").queue(1_000_000, 1L << 30);
        MessageFlux<ReceivedMessage> orders = broker.receive("orders/+", durable);
        orders.publishOn(Schedulers.boundedElastic())
                .doOnNext(received -> {
                    book(received.message()); // may block, and may fail
                    received.acknowledge();
                })
                .retryWhen(Retry.backoff(Long.MAX_VALUE, Duration.ofMillis(100))
                        .maxBackoff(Duration.ofSeconds(10))
                        .filter(error -> !(error instanceof BrokerClosedException)))
                .onErrorComplete(BrokerClosedException.class)
                .subscribe();
        orders.ready().block();
        // end
    }

    @Test
    void theDocumentShowsWhatIsTestedHere() throws Exception {
        Matcher snippets = SNIPPET.matcher(Files.readString(SOURCE));
        int count = 0;
        while (snippets.find()) {
            count++;
            assertThat(Files.readString(DOCUMENT))
                    .contains("```java\n" + snippets.group(1).stripIndent().strip() + "\n```");
        }
        assertThat(count).isEqualTo(2);
    }
}
