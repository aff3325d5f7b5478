// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.kit;

import static io.netty.handler.codec.mqtt.MqttMessageType.PUBACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBLISH;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.test.BrokerClock;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.MqttBroker;
import io.smqtt.test.OfBroker;
import io.smqtt.test.RawClient;
import io.smqtt.test.TestBroker;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.wire.Fault;
import io.smqtt.test.wire.FaultRule;
import io.smqtt.test.wire.MqttProxy;
import io.smqtt.test.wire.SessionRecording;
import io.smqtt.test.wire.SessionReplay;
import io.smqtt.test.wire.Side;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/**
 * The examples of {@code docs/testing.md}: what stands between two markers here stands there, and it works. The one with a
 * container stands in a test that runs where an engine does, those of the cluster in its own module.
 */
@Timeout(120)
class TestingExamplesTest {

    private static final List<Path> SOURCES = List.of(
            Path.of("src/test/java/io/smqtt/test/kit/TestingExamplesTest.java"),
            Path.of("src/test/java/io/smqtt/test/container/SmqttContainerTest.java"),
            Path.of("../smqtt-cluster/src/test/java/io/smqtt/cluster/PartitionedBrokersTest.java"));
    private static final Path DOCUMENT = Path.of("../docs/testing.md");
    private static final Pattern SNIPPET = Pattern.compile("// snippet (\\w+)\\n(.*?)// end", Pattern.DOTALL);
    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;

    /** Something that speaks MQTT, in place of an application. */
    private static final class Gateway implements AutoCloseable {

        private final RawClient client;

        Gateway(String host, int port) {
            client = RawClient.to(new InetSocketAddress(host, port), V5);
            client.connect(ConnectBytes.of("gateway").keepAlive(60).persistent(1_800));
        }

        void report(String state) {
            client.send(PublishBytes.to("gateway/state").payload(state).qos(1, client.nextPacketId()));
        }

        @Override
        public void close() {
            client.close();
        }
    }

    @Nested
    // snippet first
    @MqttBroker
    class GatewayTest {

        @Test
        void reportsItsState(TestBroker broker) {
            try (Gateway gateway = new Gateway(broker.host(), broker.port())) {
                gateway.report("up");

                assertThat(broker).hasConnected("gateway");
                assertThat(broker).received("gateway/state").withQos(1).withPayload("up");
            }
        }
    }
    // end

    @Nested
    // snippet config
    @MqttBroker(value = "small", properties = "limits.max-packet-bytes = 1KiB")
    @MqttBroker(value = "closed", configure = "refuseAll", lifetime = MqttBroker.Lifetime.CLASS)
    class TwoBrokersTest {

        static void refuseAll(TestBroker.Builder broker) {
            broker.config(config -> config.eventLoops(1))
                    .parts(parts -> parts.authenticator(request -> Mono.just(Authentication.refused())));
        }

        @Test
        void bothStart(@OfBroker("small") TestBroker small, @OfBroker("closed") int port) {
            assertThat(small.port()).isNotEqualTo(port);
        }
    }
    // end

    @Nested
    @MqttBroker
    class Time {

        @Test
        void passes(TestBroker broker, BrokerClock clock) {
            Gateway gateway = new Gateway(broker.host(), broker.port());
            // snippet clock
            clock.advance(Duration.ofMinutes(2)); // the keep alive of the gateway is one minute
            assertThat(broker).hasDisconnected("gateway").hasSession("gateway");
            clock.advance(Duration.ofHours(1)); // its session expires after half an hour
            assertThat(broker).hasNoSession("gateway");
            // end
            gateway.close();
        }
    }

    @Nested
    @MqttBroker
    class Faults {

        @Test
        void happen(TestBroker broker) {
            // snippet faults
            MqttProxy proxy = broker.proxy();
            Gateway gateway = new Gateway("127.0.0.1", proxy.port());
            FaultRule lost = proxy.fromBroker(PUBACK).times(1).drop();
            gateway.report("up");
            lost.awaitHits(1); // the broker has the message, the gateway has no PUBACK
            assertThat(broker).received("gateway/state").times(1);
            proxy.cutConnections();
            assertThat(broker).hasDisconnected("gateway");
            // end
            // snippet kinds
            proxy.fromClient(PUBLISH).topic("gateway/#").skip(2).delay(Duration.ofMillis(200));
            proxy.fromClient(PUBLISH).times(1).duplicate();
            proxy.fromBroker(PUBLISH).reorder();
            proxy.fromClient(PUBLISH)
                    .matching("big", packet -> packet.payload().length > 100)
                    .cut();
            proxy.fromBroker(PUBLISH).apply(new Fault.Cut(3)); // in the middle of the packet
            proxy.cutAfterBytes(Side.CLIENT, 10_000);
            proxy.readSlowly(Side.BROKER, 1_000); // a client that reads 1,000 bytes a second
            proxy.refuseConnections();
            proxy.halfOpen(); // connections stay open, without any answer
            proxy.heal(); // the faults end
            // end
            gateway.close();
        }
    }

    @Nested
    @MqttBroker
    class Bytes {

        @Test
        void areSent(TestBroker broker) {
            // snippet raw
            RawClient client = broker.open(ProtocolVersion.MQTT_5);
            client.connect(ConnectBytes.of("raw").keepAlive(10));
            client.send(PublishBytes.to("a/b").qos(1, 7).payload("hello"));
            assertThat(client.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(7);
            client.send((byte) 0x30, (byte) 0x01, (byte) 0x00); // a PUBLISH without a topic
            client.expectDisconnect(ReasonCode.MALFORMED_PACKET);
            // end
        }
    }

    @Nested
    @MqttBroker
    class Recordings {

        @TempDir
        Path directory;

        @Test
        void areReplayed(TestBroker broker) throws Exception {
            Path file = directory.resolve("session.txt");
            // snippet record
            MqttProxy proxy = broker.proxy().record();
            try (Gateway gateway = new Gateway("127.0.0.1", proxy.port())) {
                gateway.report("up");
                assertThat(broker).received("gateway/state");
            }
            proxy.recordings().get(0).write(file);
            // end
            broker.clear();
            try (TestBroker other = TestBroker.start()) {
                // snippet replay
                SessionReplay.of(SessionRecording.read(file))
                        .withoutTiming()
                        .against(other.address())
                        .assertSame();
                assertThat(other).received("gateway/state").withPayload("up").times(1);
                // end
            }
        }
    }

    @Test
    void withoutJUnit() {
        // snippet plain
        try (TestBroker broker =
                TestBroker.builder().property("mqtt.max-qos", "1").start()) {
            try (Gateway gateway = new Gateway(broker.host(), broker.port())) {
                gateway.report("up");
                assertThat(broker).received("gateway/state").times(1);
            }
        }
        // end
    }

    @Test
    void portsOfOtherProcessesAreFree() throws IOException {
        // snippet ports
        int front = LoopbackPorts.one();
        List<Integer> binds = LoopbackPorts.some(3); // for `cluster.bind`
        // end
        assertThat(binds).hasSize(3).doesNotContain(front);
        for (int port : binds) {
            new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
        }
    }

    @Test
    void theDocumentShowsWhatIsTestedHere() throws Exception {
        String document = Files.readString(DOCUMENT);
        List<String> names = new ArrayList<>();
        for (Path source : SOURCES) {
            Matcher snippets = SNIPPET.matcher(Files.readString(source));
            while (snippets.find()) {
                names.add(snippets.group(1));
                assertThat(document)
                        .as("snippet %s", snippets.group(1))
                        .contains("```java\n" + snippets.group(2).stripIndent().strip() + "\n```");
            }
        }
        assertThat(names)
                .containsExactly(
                        "first",
                        "config",
                        "clock",
                        "faults",
                        "kinds",
                        "raw",
                        "record",
                        "replay",
                        "plain",
                        "ports",
                        "container",
                        "node",
                        "network");
        assertThat(document.split("```java", -1)).hasSize(names.size() + 1);
    }
}
