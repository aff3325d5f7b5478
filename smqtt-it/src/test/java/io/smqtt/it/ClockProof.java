// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The broker is killed and started again with a wall clock that is a day ahead or behind, by libfaketime: what was to
 * happen after 20 s happens after 20 s, to a second. What must not have happened is looked at one second before, what must
 * have happened one second after.
 */
class ClockProof {

    private static final long AFTER_SECONDS = 20;
    private static final long LONG_SECONDS = 3_600;
    private static final Duration DOWN = Duration.ofSeconds(3);
    private static final Duration BEFORE = Duration.ofSeconds(AFTER_SECONDS - 1);
    private static final Duration AFTERWARDS = Duration.ofSeconds(AFTER_SECONDS + 1);

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"+1d", "-1d"})
    void whatIsDueGoesByTheTimeThatPassed(String step) {
        long beganNanos;
        try (BrokerProcess broker = StoredBroker.start(directory)) {
            InetSocketAddress address = broker.address("tcp");
            for (String name : List.of("messages-before", "messages-after")) {
                try (RawClient client = connect(address, name, LONG_SECONDS)) {
                    client.subscribe("m", 1);
                    client.disconnect();
                }
            }
            RawClient willed = RawClient.to(address, ProtocolVersion.MQTT_5);
            PublishBytes will = PublishBytes.to("will").payload("gone").qos(1);
            will.properties().willDelay(AFTER_SECONDS);
            willed.connect(ConnectBytes.of("willed").persistent(LONG_SECONDS).will(will));
            List<RawClient> sessions = new ArrayList<>();
            for (String name : List.of("session-before", "session-after")) {
                sessions.add(connect(address, name, AFTER_SECONDS));
            }
            try (RawClient publisher = RawClient.to(address, ProtocolVersion.MQTT_5)) {
                publisher.connect("publisher");
                PublishBytes message = PublishBytes.to("m").payload("short").qos(1);
                message.properties().messageExpiry(AFTER_SECONDS);
                publisher.publish(message);
                publisher.publish("m", "lasting", 1);
                publisher.publish("$delayed/" + AFTER_SECONDS + "/delayed", "later", 1);
            }
            beganNanos = System.nanoTime();
            sessions.forEach(RawClient::abort);
            willed.abort();
            await().pollDelay(Duration.ofSeconds(1)).until(() -> true); // the ends are noticed and stored
            broker.kill9();
        }
        await().pollDelay(DOWN).until(() -> true);
        try (BrokerProcess broker = StoredBroker.start(directory, withClock(step))) {
            InetSocketAddress address = broker.address("tcp");
            try (RawClient heir = RawClient.to(address, ProtocolVersion.MQTT_5).deadline(Duration.ofMinutes(1))) {
                heir.connect("heir");
                heir.subscribe("will", 1);
                heir.subscribe("delayed", 1);

                at(beganNanos, BEFORE);
                heir.expectNothing();
                assertThat(isPresent(address, "session-before")).isTrue();
                assertThat(messages(address, "messages-before")).containsExactly("short", "lasting");

                List<String> came = new ArrayList<>();
                while (came.size() < 2) {
                    came.add(heir.expect(MqttMessageType.PUBLISH).text());
                    assertThat(sinceMillis(beganNanos)).isBetween(BEFORE.toMillis(), AFTERWARDS.toMillis());
                    System.out.println("wall clock " + step + ": " + came.get(came.size() - 1) + " after "
                            + sinceMillis(beganNanos) + " ms");
                }
                assertThat(came).containsExactlyInAnyOrder("gone", "later"); // the will and the delayed message

                at(beganNanos, AFTERWARDS);
                assertThat(isPresent(address, "session-after")).isFalse();
                assertThat(messages(address, "messages-after")).containsExactly("lasting");
            }
        }
    }

    /** The beginning of the command of a process whose wall clock is ahead, such as "+1d", or behind. */
    static List<String> withClock(String step) {
        Path library = Stream.of("x86_64-linux-gnu", "aarch64-linux-gnu")
                .map(machine -> Path.of("/usr/lib", machine, "faketime/libfaketimeMT.so.1"))
                .filter(Files::exists)
                .findFirst()
                .orElseThrow(() -> new AssertionError("install libfaketime"));
        return List.of(
                "env",
                "LD_PRELOAD=" + library,
                "FAKETIME=" + step,
                "FAKETIME_DONT_FAKE_MONOTONIC=1",
                "FAKETIME_FORCE_MONOTONIC_FIX=0", // else waits of the JVM end at once
                "NO_FAKE_STAT=1");
    }

    private static RawClient connect(InetSocketAddress address, String name, long expirySeconds) {
        RawClient client = RawClient.to(address, ProtocolVersion.MQTT_5);
        client.connect(ConnectBytes.of(name).persistent(expirySeconds));
        return client;
    }

    private static boolean isPresent(InetSocketAddress address, String name) {
        try (RawClient client = RawClient.to(address, ProtocolVersion.MQTT_5)) {
            return client.connect(ConnectBytes.of(name).persistent(AFTER_SECONDS))
                    .sessionPresent();
        }
    }

    private static List<String> messages(InetSocketAddress address, String name) {
        return new OfflineSession(name, "m").drain(address);
    }

    private static long sinceMillis(long beganNanos) {
        return Duration.ofNanos(System.nanoTime() - beganNanos).toMillis();
    }

    private static void at(long beganNanos, Duration moment) {
        await().atMost(Duration.ofMinutes(1)).until(() -> sinceMillis(beganNanos) >= moment.toMillis());
    }
}
