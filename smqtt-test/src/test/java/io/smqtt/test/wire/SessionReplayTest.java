// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.MqttBroker;
import io.smqtt.test.RawClient;
import io.smqtt.test.TestBroker;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@MqttBroker
@Timeout(120)
class SessionReplayTest {

    @TempDir
    Path directory;

    private SessionRecording record(TestBroker broker, ProtocolVersion version) {
        MqttProxy proxy = broker.proxy().record();
        talk(proxy.address(), version, "hello");
        await().until(() -> proxy.recordings().get(0).entries().stream().anyMatch(SessionRecording.Entry::isEnd));
        return proxy.recordings().get(0);
    }

    private static void talk(InetSocketAddress address, ProtocolVersion version, String text) {
        try (RawClient client = RawClient.to(address, version)) {
            client.connect("recorded");
            client.subscribe("t/#", 1);
            client.send(PublishBytes.to("t/1").payload(text).qos(0));
            client.expectPublish("t/1", "hello");
            client.publish("u", "other", 2);
            client.disconnect();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFileIsReplayedAgainstAnotherBroker(ProtocolVersion version, TestBroker broker) throws IOException {
        Path file = directory.resolve("session.txt");
        record(broker, version).write(file);
        try (TestBroker other = TestBroker.start()) {
            SessionRecording read = SessionRecording.read(file);
            SessionReplay.Result result =
                    SessionReplay.of(read).against(other.address()).assertSame();

            assertThat(result.actual().packetsOf(Side.BROKER))
                    .extracting(WirePacket::type)
                    .containsExactlyElementsOf(read.packetsOf(Side.BROKER).stream()
                            .map(WirePacket::type)
                            .toList())
                    .contains(MqttMessageType.PUBLISH);
            assertThat(other).received("u").withQos(2).withPayload("other").times(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClientIsPlayedItsBroker(ProtocolVersion version, TestBroker broker) {
        SessionReplay replay = SessionReplay.of(record(broker, version));
        try (SessionReplay.Served same = replay.serve();
                SessionReplay.Served other = replay.serve()) {
            talk(same.address(), version, "hello");
            talk(other.address(), version, "other");

            same.await().assertSame();
            assertThat(other.await().differences())
                    .singleElement()
                    .asString()
                    .contains("came instead of PUBLISH QoS 0 't/1'");
        }
    }

    @Test
    void aClientThatDoesNotComeIsNotWaitedForForever() {
        SessionReplay replay =
                SessionReplay.of(SessionRecording.parse("smqtt session 1\n")).deadline(Duration.ofMillis(50));
        try (SessionReplay.Served lonely = replay.serve()) {
            assertThatThrownBy(lonely::await)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no client was served");
        }
    }

    @Test
    void theTextIsStable(TestBroker broker) {
        SessionRecording recording = record(broker, ProtocolVersion.MQTT_5);
        String text = recording.toText();

        assertThat(text.lines()).first().isEqualTo("smqtt session 1");
        assertThat(text).containsPattern("\n\\d+\\.\\d{6} > 10[0-9a-f]+  # CONNECT\n");
        assertThat(text).containsPattern("\n\\d+\\.\\d{6} > 300b0003742f310068656c6c6f  # PUBLISH t/1\n");
        assertThat(text).containsPattern("\n\\d+\\.\\d{6} < 300b0003742f310068656c6c6f  # PUBLISH t/1\n");
        assertThat(text).containsPattern("\n\\d+\\.\\d{6} [<>] end\n$");
        assertThat(SessionRecording.parse(text).toText()).isEqualTo(text);
        assertThat(recording.packetsOf(Side.CLIENT).get(2).text()).isEqualTo("hello");
    }

    @Test
    void timesAreKept(TestBroker broker) {
        SessionRecording slow = SessionRecording.parse("""
                smqtt session 1
                0   > 100d00044d51545404020000000163
                0.1 < 20020000
                0.5 > c000
                0.5 < d000
                0.6 > end
                """);
        long began = System.nanoTime();
        SessionReplay.of(slow).against(broker.address()).assertSame();
        long timed = System.nanoTime() - began;

        assertThat(timed).isGreaterThan(Duration.ofMillis(590).toNanos());
    }

    @Test
    void differencesAreNamed(TestBroker broker) {
        SessionRecording wrong = SessionRecording.parse("""
                smqtt session 1
                0 > 100d00044d51545404020000000163
                0.1 < 20020100       # with a session, which is not there
                9.2 > c000

                9.3 < d000
                9.4 > c000
                9.5 < 4002000a       # nobody published anything
                """);

        SessionReplay.Result result = SessionReplay.of(wrong)
                .withoutTiming()
                .deadline(Duration.ofSeconds(30))
                .against(broker.address());

        assertThat(result.differences())
                .containsExactly(
                        "entry 2: CONNACK 20020000 came instead of CONNACK 20020100",
                        "entry 6: PINGRESP d000 came instead of PUBACK 10 4002000a");
        assertThatThrownBy(result::assertSame)
                .hasMessageContaining("the replay differs")
                .hasMessageContaining("< d000  # PINGRESP");
        assertThat(SessionReplay.of(wrong)
                        .withoutTiming()
                        .deadline(Duration.ofSeconds(30))
                        .comparing(packet -> packet.type().toString())
                        .against(broker.address())
                        .differences())
                .hasSize(1);
    }

    @Test
    void whatDoesNotComeIsNamed(TestBroker broker) {
        SessionRecording early = SessionRecording.parse("smqtt session 1\n0 < 20020000\n"); // nobody has sent a CONNECT

        assertThat(SessionReplay.of(early)
                        .withoutTiming()
                        .deadline(Duration.ofMillis(300))
                        .against(broker.address())
                        .differences())
                .containsExactly("entry 1: nothing came within PT0.3S instead of CONNACK 20020000");
    }

    @Test
    void theEndOfTheConnectionIsCompared(TestBroker broker) {
        String refused = "smqtt session 1\n0 > 100c00044d515454040000000000\n";
        SessionReplay.of(SessionRecording.parse(refused + "0.1 < 20020002\n0.1 < end\n"))
                .withoutTiming()
                .against(broker.address())
                .assertSame();

        assertThat(SessionReplay.of(SessionRecording.parse(refused + "0.1 < 20020002\n0.1 < d000\n"))
                        .withoutTiming()
                        .against(broker.address())
                        .differences())
                .containsExactly("entry 3: the connection ended instead of PINGRESP d000");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "smqtt session 2",
                "smqtt session 1\n0 > zz",
                "smqtt session 1\n0 ! 10",
                "smqtt session 1\n0 >",
                "smqtt session 1\nnow > 10",
                "smqtt session 1\n1 > c000\n0.5 < d000"
            })
    void whatIsNoRecordingIsRefused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SessionRecording.parse(text))
                .withMessageContaining("line ");
    }
}
