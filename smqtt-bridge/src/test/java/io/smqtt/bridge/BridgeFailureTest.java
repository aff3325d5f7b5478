// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PropertyBytes;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attempts that fail: each problem is logged in one line, and nothing that was published meanwhile is lost. */
@Timeout(60)
class BridgeFailureTest {

    /** The protocol level in a CONNECT of MQTT 3.1.1. */
    private static final int LEVEL_AT = 8;

    private final RemoteStub remote = new RemoteStub();
    private final LoggedLines log = new LoggedLines();

    @AfterEach
    void close() {
        log.close();
        remote.close();
    }

    private BridgedBroker start() {
        return BridgedBroker.with(
                        "cloud",
                        BridgedBroker.bridge(remote.address(), "a/# out 1").hopLimit(0))
                .start();
    }

    /** Accepts the bridge at last, and takes the message that was published before its first connection. */
    private void assertNothingLost(BridgedBroker broker) {
        RawClient bridge = remote.accept(PropertyBytes.none());
        ReceivedPacket message = RemoteStub.nextPublish(bridge);
        assertThat(message.text()).isEqualTo("waits");
        bridge.pubAck(message);
        await().until(() -> broker.waiting("cloud") == 0);
    }

    private static void publish(BridgedBroker broker) {
        try (RawClient client = broker.client("publisher")) {
            client.publish("a/b", "waits", 1);
        }
    }

    @Test
    void aRefusedPassword() {
        try (BridgedBroker broker = start()) {
            publish(broker);
            for (int attempt = 0; attempt < 3; attempt++) {
                try (RawClient bridge = remote.acceptConnect()) {
                    RemoteStub.connAck(
                            bridge, 0x86, PropertyBytes.none().string(0x1f, "try\nharder" + "!".repeat(1_000)));
                    bridge.expectClosed();
                }
            }
            assertNothingLost(broker);
        }
        assertThat(log.with("bad user name or password (0x86): try\\u000aharder!"))
                .as("what the other broker says, in one short line")
                .singleElement()
                .satisfies(line -> assertThat(line).hasSizeLessThan(600));
    }

    /** In the form of either version, such as Moquette 0.17 does. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anotherVersionOfTheProtocol(boolean withProperties) {
        try (BridgedBroker broker = start()) {
            publish(broker);
            for (int attempt = 0; attempt < 3; attempt++) {
                try (RawClient bridge = remote.acceptConnect()) {
                    PacketBytes refusal = PacketBytes.packet(0x20).u8(0).u8(withProperties ? 0x84 : 1);
                    bridge.send(withProperties ? refusal.u8(0) : refusal);
                    bridge.expectClosed();
                }
            }
            assertNothingLost(broker);
        }
        assertThat(log.with("it refuses the connection: it does not speak MQTT 5.0, so set version to 3.1.1"))
                .hasSize(1);
    }

    @Test
    void garbageInPlaceOfConnAck() throws Exception {
        try (BridgedBroker broker = start()) {
            publish(broker);
            for (int attempt = 0; attempt < 2; attempt++) {
                try (Socket socket = remote.acceptSocket()) {
                    OutputStream out = socket.getOutputStream();
                    out.write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                    out.flush();
                    assertThat(socket.getInputStream().readAllBytes()).isNotEmpty();
                }
            }
            assertNothingLost(broker);
        }
        assertThat(log.with("it sends something that is not MQTT")).hasSize(1);
    }

    @Test
    void aTopicAliasThatWasNotAllowed() {
        try (BridgedBroker broker = start()) {
            publish(broker);
            try (RawClient bridge = remote.accept(PropertyBytes.none())) {
                RemoteStub.nextPublish(bridge);
                bridge.send((byte) 0x30, (byte) 7, (byte) 0, (byte) 0, (byte) 3, (byte) 0x23, (byte) 0, (byte) 1, (byte)
                        'x');
                bridge.expectClosed();
            }
            assertNothingLost(broker);
        }
        assertThat(log.with("that no broker may send")).hasSize(1);
    }

    @Test
    void noAnswer() {
        try (BridgedBroker broker = BridgedBroker.with(
                        "cloud",
                        BridgedBroker.bridge(remote.address(), "a/# out 1").connectTimeout(Duration.ofMillis(100)))
                .start()) {
            publish(broker);
            try (RawClient bridge = remote.acceptConnect()) {
                bridge.expectClosed();
            }
            assertNothingLost(broker);
        }
        assertThat(log.with("it does not answer the CONNECT")).hasSize(1);
    }

    /** Such as Moquette, which closes the connection because it does not know the protocol version. */
    @Test
    void noAnswerToTheBridgeBit() throws Exception {
        try (BridgedBroker broker = BridgedBroker.with(
                        "cloud",
                        BridgedBroker.bridge(remote.address(), "a/# out 1").version("3.1.1"))
                .start()) {
            publish(broker);
            for (int level : new int[] {0x84, 4, 0x84}) {
                try (Socket socket = remote.acceptSocket()) {
                    byte[] connect = socket.getInputStream().readNBytes(LEVEL_AT + 1);
                    assertThat(connect[LEVEL_AT] & 0xff).isEqualTo(level);
                }
            }
            RawClient bridge = remote.accept311(false);
            ReceivedPacket message = RemoteStub.nextPublish(bridge);
            assertThat(message.text()).isEqualTo("waits");
            bridge.pubAck(message);
            await().until(() -> broker.waiting("cloud") == 0);
        }
    }

    /** The other broker disconnects the older one of two clients with the same client identifier. */
    @Test
    void anotherClientWithTheSameClientIdentifier() {
        try (BridgedBroker broker = start()) {
            publish(broker);
            for (int attempt = 0; attempt < 4; attempt++) {
                try (RawClient bridge = remote.accept(PropertyBytes.none())) {
                    RemoteStub.nextPublish(bridge);
                    bridge.send((byte) 0xe0, (byte) 1, (byte) 0x8e);
                    bridge.expectClosed();
                }
            }
            assertNothingLost(broker);
        }
        assertThat(log.with("another client uses the same client identifier")).hasSize(1);
        assertThat(log.with("bridge cloud connected to")).hasSize(1);
    }

    @Test
    void aNameThatDoesNotResolveAndAPortThatIsClosed() {
        int closed;
        try (RemoteStub gone = new RemoteStub()) {
            closed = gone.port();
        }
        try (BridgedBroker broker = BridgedBroker.with(
                        "cloud",
                        BridgedBroker.bridge("no-such-host.invalid:1883", "a/# out 1")
                                .addresses(
                                        List.of("no-such-host.invalid:1883", "127.0.0.1:" + closed, remote.address())))
                .start()) {
            publish(broker);
            assertNothingLost(broker);
        }
        assertThat(log.with("the name no-such-host.invalid does not resolve")).hasSize(1);
        assertThat(log.with("Connection refused")).hasSize(1);
    }

    @Test
    void theTimeBetweenAttemptsGrows() {
        try (BridgedBroker broker = BridgedBroker.with(
                        "cloud",
                        BridgedBroker.bridge(remote.address(), "a/# out 1").maxDelay(Duration.ofMillis(400)))
                .start()) {
            assertThat(broker.isConnected("cloud")).isFalse();
            long begin = System.nanoTime();
            for (int attempt = 0; attempt < 5; attempt++) {
                remote.acceptConnect().close();
            }
            // 20, 40, 80, 160 ms, up to a half shorter
            assertThat(System.nanoTime() - begin)
                    .isGreaterThan(Duration.ofMillis(140).toNanos());
        }
    }
}
