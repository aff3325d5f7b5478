// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.AccessConfig;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StatusTopicsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Duration SOON = Duration.ofMillis(50);

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
    void nobodyReadsThemWithoutBeingGranted() throws Exception {
        try (ObservedBroker broker = new ObservedBroker(config -> config, management -> management.sysInterval(SOON))) {
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

    private static ObservedBroker withRules(Path rules) {
        return new ObservedBroker(
                config -> config.access(AccessConfig.builder()
                        .allowAnonymous(AnonymousAccess.TRUE)
                        .aclFile(rules)
                        .build()),
                management -> management.sysInterval(SOON));
    }
}
