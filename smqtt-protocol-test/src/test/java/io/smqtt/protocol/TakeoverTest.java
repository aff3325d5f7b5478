// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.ClientInfo;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Section 3.1.4 of both standards, with connections on several event loops. */
class TakeoverTest {

    private static final int RACERS = 150;
    private static final int RECONNECTS = 50;
    private static final int MESSAGES = 2_500;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(config -> config.eventLoops(4)
            .limits(LimitsConfig.builder().maxQueuedMessages(2 * MESSAGES).build()));

    @ParameterizedTest
    @EnumSource
    void theOldConnectionEndsAndTheNewOneTakesItsPlace(ProtocolVersion version) {
        // [MQTT-3.1.4-3] [MQTT311-3.1.4-2]
        for (int i = 0; i < 4; i++) { // on other event loops and on the same
            RawClient first = broker.open(version);
            first.connect(ConnectBytes.of("c").persistent(100));
            RawClient second = broker.open(version);
            second.connect(ConnectBytes.of("c").persistent(100));
            first.expectDisconnect(ReasonCode.SESSION_TAKEN_OVER);
            second.ping();
            second.disconnect();
        }
    }

    @ParameterizedTest
    @EnumSource
    void theOldConnectionEndsAlsoWhenANewSessionBegins(ProtocolVersion version) {
        // [MQTT-3.1.4-3] [MQTT311-3.1.4-2]
        for (int i = 0; i < 4; i++) {
            RawClient first = broker.client(version, "c");
            RawClient second = broker.client(version, "c");
            first.expectDisconnect(ReasonCode.SESSION_TAKEN_OVER);
            second.ping();
            second.disconnect();
        }
    }

    @ParameterizedTest
    @EnumSource
    void ofManyClientsThatRaceForAnIdentifierOneIsLeft(ProtocolVersion version) throws Exception {
        // [MQTT-3.1.4-3] [MQTT311-3.1.4-2]
        List<RawClient> racers = new ArrayList<>();
        List<Callable<ReceivedPacket>> starts = new ArrayList<>();
        for (int i = 0; i < RACERS; i++) {
            RawClient racer = broker.open(version).deadline(Duration.ofSeconds(30));
            ConnectBytes clean = ConnectBytes.of("c");
            ConnectBytes connect = i % 3 == 0 ? clean : clean.persistent(100);
            racers.add(racer);
            starts.add(() -> racer.connect(connect));
        }
        runAll(starts);
        List<ClientInfo> left = broker.broker().clients().collectList().block();
        assertThat(left).hasSize(1);
        assertThat(left.get(0).connected()).isTrue();
        InetSocketAddress winner = left.get(0).identity().remoteAddress();
        for (RawClient racer : racers) {
            if (racer.socket().getLocalPort() == winner.getPort()) {
                racer.ping();
            } else {
                racer.expectDisconnect(ReasonCode.SESSION_TAKEN_OVER);
            }
        }
    }

    private static <T> void runAll(List<Callable<T>> tasks) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(16);
        try {
            for (Future<T> task : threads.invokeAll(tasks)) {
                task.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @EnumSource
    void nothingIsLostOrOutOfOrderHoweverOftenASubscriberMoves(ProtocolVersion version) throws Exception {
        // [MQTT-4.6.0-5] [MQTT-4.6.0-6] [MQTT311-4.6.0-5] [MQTT311-4.6.0-6] [MQTT-4.4.0-1] [MQTT311-4.4.0-1]
        RawClient first = broker.open(version);
        first.connect(ConnectBytes.of("c").persistent(100));
        first.subscribe("from/+", 1);
        RawClient[] publishers = {broker.client(version, "p0"), broker.client(version, "p1")};
        runAll(List.of(
                () -> publish(publishers[0], "from/0"),
                () -> publish(publishers[1], "from/1"),
                () -> receive(version, first)));
    }

    private static boolean publish(RawClient publisher, String topic) {
        for (int sent = 0; sent < MESSAGES; ) {
            int batch = Math.min(25, MESSAGES - sent);
            for (int i = 0; i < batch; i++) {
                publisher.send(PublishBytes.to(topic).qos(1, i + 1).payload("" + sent++));
            }
            for (int i = 0; i < batch; i++) {
                publisher.expect(MqttMessageType.PUBACK);
            }
        }
        return true;
    }

    /** Takes all messages on many connections one after the other; leaves each with messages not acknowledged. */
    private boolean receive(ProtocolVersion version, RawClient first) {
        int[] next = new int[2];
        RawClient client = first;
        for (int round = 1; next[0] + next[1] < 2 * MESSAGES; round++) {
            boolean last = round > RECONNECTS;
            int[] previous = {-1, -1};
            int share = last ? Integer.MAX_VALUE : 2 * MESSAGES / RECONNECTS;
            for (int i = 0; i < share && next[0] + next[1] < 2 * MESSAGES; i++) {
                ReceivedPacket packet = client.expect(MqttMessageType.PUBLISH);
                int from = packet.topic().equals("from/0") ? 0 : 1;
                int number = Integer.parseInt(packet.text());
                assertThat(number).as("in order").isGreaterThan(previous[from]);
                assertThat(number).as("none is missing").isLessThanOrEqualTo(next[from]);
                assertThat(number == next[from] || packet.dup())
                        .as("seen before, so marked")
                        .isTrue();
                previous[from] = number;
                next[from] = Math.max(next[from], number + 1);
                if (last || i < share - 10) {
                    client.acknowledge(0x40, packet.packetId());
                }
            }
            if (!last) {
                client = moveOn(version, client, round % 2 == 0);
            }
        }
        return true;
    }

    private RawClient moveOn(ProtocolVersion version, RawClient client, boolean lost) {
        if (lost) {
            client.abort();
        }
        RawClient another = broker.open(version).deadline(Duration.ofSeconds(30));
        another.connect(ConnectBytes.of("c").persistent(100));
        return another;
    }
}
