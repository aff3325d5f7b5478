// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.smqtt.BrokerModule;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.test.RawClient;
import io.smqtt.topic.TopicName;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StatusTopicsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Duration SOON = Duration.ofMillis(100);

    @TempDir
    Path directory;

    @Test
    void whoIsGrantedThemReadsRetainedValues() throws Exception {
        Path rules = Files.writeString(directory.resolve("acl"), "topic read $SYS/#\ntopic readwrite #\n");
        try (ObservedBroker broker = withRules(rules)) {
            RawClient client = broker.client("reader");
            assertThat(client.subscribe("$SYS/broker/clients/connected", 0).reasonCodes())
                    .containsExactly(0);

            assertThat(awaited(client, "1").topic()).isEqualTo("$SYS/broker/clients/connected");
            broker.client("another");
            awaited(client, "2");
        }
    }

    private static io.smqtt.test.ReceivedPacket awaited(RawClient client, String text) {
        while (true) {
            io.smqtt.test.ReceivedPacket packet = client.receive();
            if (packet == null) {
                throw new AssertionError("closed before " + text + " came");
            }
            if (packet.text().equals(text)) {
                return packet;
            }
        }
    }

    @Test
    void theVersionHasMosquittosForm() throws Exception {
        Path rules = Files.writeString(directory.resolve("acl"), "topic read $SYS/#\n");
        try (ObservedBroker broker = withRules(rules)) {
            RawClient client = broker.client("reader");
            client.subscribe("$SYS/broker/version", 0);

            assertThat(client.receive().text()).startsWith("smqtt version ");
        }
    }

    @Test
    void withoutRulesAnybodyReadsThem() throws Exception {
        try (ObservedBroker broker = new ObservedBroker(config -> config, management -> management.sysInterval(SOON))) {
            RawClient client = broker.client("curious");

            assertThat(client.subscribe("$SYS/broker/clients/connected", 0).reasonCodes())
                    .containsExactly(0);
            awaited(client, "1");
        }
    }

    @Test
    void withRulesNobodyReadsThemWithoutBeingGranted() throws Exception {
        Path rules = Files.writeString(directory.resolve("acl"), "topic readwrite #\n");
        try (ObservedBroker broker = withRules(rules)) {
            RawClient client = broker.client("curious");

            assertThat(client.subscribe("$SYS/#", 0).reasonCodes()).containsExactly(ReasonCode.NOT_AUTHORIZED.value());
            assertThat(client.subscribe("#", 0).reasonCodes()).containsExactly(0);
            client.expectNothing();
        }
    }

    @Test
    void unwatchedTopicsAreNotCountedAsMessages() throws Exception {
        try (ObservedBroker broker = new ObservedBroker(config -> config, management -> management.sysInterval(SOON))) {
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(broker.scraped("smqtt_retained_messages"))
                            .isPositive());
            assertThat(broker.scraped("smqtt_messages_received_total")).isZero();
        }
    }

    @Test
    void theSumsAreMadeOffTheEventLoopsAndAFailureEndsNothing() {
        List<Thread> askers = new CopyOnWriteArrayList<>();
        try (ObservedBroker broker = new ObservedBroker()) {
            BrokerModule.Core core = broker.core();
            StatusTopics topics = new StatusTopics(
                    core,
                    new StatusPublisher(core),
                    new BrokerMeters(new SimpleMeterRegistry(), Set.of("tcp"), null),
                    () -> {
                        askers.add(Thread.currentThread());
                        if (askers.size() < 3) {
                            throw new IllegalStateException("on purpose");
                        }
                        return new SessionTotals.Totals(4711, 0, 0, 0);
                    },
                    "test");
            topics.start(SOON);
            try {
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(retained(broker, "$SYS/broker/messages/inflight"))
                                .isEqualTo("4711"));
            } finally {
                topics.stop();
            }

            for (RoutingLoop loop : core.router().loops()) {
                assertThat(askers).noneMatch(thread -> loop.executor().inEventLoop(thread));
            }
            int asked = askers.size();
            await().during(SOON.multipliedBy(4)).atMost(PATIENCE).until(() -> askers.size() <= asked + 1);
        }
    }

    private static @Nullable String retained(ObservedBroker broker, String topic) {
        ApplicationMessage message = broker.core().router().retained().get(TopicName.of(topic));
        return message == null ? null : message.payload().asString();
    }

    private static ObservedBroker withRules(Path rules) {
        return new ObservedBroker(
                config -> config.access(AccessConfig.builder()
                        .allowAnonymous(AnonymousAccess.TRUE)
                        .aclFile(rules)
                        .build()),
                management -> management.sysInterval(SOON));
    }
}
