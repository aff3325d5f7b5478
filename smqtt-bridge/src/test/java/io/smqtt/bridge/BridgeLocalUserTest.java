// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.BridgeConfig;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PropertyBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The access rights of a bridge at its own broker. */
@Timeout(60)
class BridgeLocalUserTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String RULES = """
            topic readwrite #
            user plant
            topic read up/a/#
            topic read all/#
            topic deny all/secret
            topic write down/a/#
            """;

    @TempDir
    Path directory;

    private final RemoteStub remote = new RemoteStub();
    private final LoggedLines log = new LoggedLines();
    private Path rules;

    @BeforeEach
    void write() throws IOException {
        rules = Files.writeString(directory.resolve("acl"), RULES);
    }

    @AfterEach
    void close() {
        log.close();
        remote.close();
    }

    private BridgedBroker start(String localUser, BridgeConfig.Start start, String... topics) {
        return BridgedBroker.with(
                        "cloud",
                        BridgedBroker.bridge(remote.address(), topics)
                                .localUser(localUser)
                                .start(start)
                                .hopLimit(0))
                .access(AccessConfig.builder().aclFile(rules).build())
                .start();
    }

    private BridgedBroker start(String localUser, String... topics) {
        return start(localUser, BridgeConfig.Start.AUTOMATIC, topics);
    }

    @Test
    void onlyWhatTheUserMayReadGoesOut() {
        try (BridgedBroker broker = start("plant", "up/b/# out 1", "up/a/# out 1", "all/# out 1");
                RawClient client = broker.client("client")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            broker.awaitConnected("cloud");
            log.awaitLine("refuses the subscription to up/b/#");
            client.publish("up/b/1", "no", 1);
            client.publish("all/secret", "no", 1);
            client.publish("all/open", "yes", 1);
            client.publish("up/a/1", "yes", 1);
            for (String topic : new String[] {"all/open", "up/a/1"}) {
                ReceivedPacket message = RemoteStub.nextPublish(bridge);
                assertThat(message.topic()).isEqualTo(topic);
                bridge.pubAck(message);
            }
        }
    }

    @Test
    void whatTheUserMayNotReadDoesNotWaitBeforeTheFirstConnection() {
        try (BridgedBroker broker = start("plant", BridgeConfig.Start.MANUAL, "up/b/# out 1", "up/a/# out 1");
                RawClient client = broker.client("client")) {
            client.publish("up/b/1", "no", 1);
            client.publish("up/a/1", "yes", 1);
            await().atMost(PATIENCE).until(() -> broker.waiting("cloud") == 1);
            client.publish("up/b/1", "no", 1);
            client.publish("up/a/1", "yes", 1);
            await().atMost(PATIENCE).until(() -> broker.waiting("cloud") == 2);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"plant", ""})
    void onlyWhatTheUserMayWriteComesIn(String localUser) {
        try (BridgedBroker broker = start(localUser, "down/# in 1");
                RawClient client = broker.client("client")) {
            client.subscribe("down/#", 1);
            RawClient bridge = remote.accept(PropertyBytes.none());
            bridge.expect(MqttMessageType.SUBSCRIBE);
            broker.awaitConnected("cloud");
            bridge.send(PublishBytes.to("down/b").payload("one").qos(1, 1));
            byte[] refusal = RemoteStub.next(bridge, MqttMessageType.PUBACK).bytes();
            bridge.send(PublishBytes.to("down/a/1").payload("two").qos(1, 2));
            byte[] answer = RemoteStub.next(bridge, MqttMessageType.PUBACK).bytes();

            boolean mayAll = localUser.isEmpty();
            assertThat(refusal[refusal.length - 1] & 0xff).isEqualTo(mayAll ? 1 : 0x87); // or the identifier
            assertThat(answer).hasSize(4).endsWith(0, 2);
            if (mayAll) {
                client.expectPublish("down/b", "one");
            }
            client.expectPublish("down/a/1", "two");
        }
    }
}
