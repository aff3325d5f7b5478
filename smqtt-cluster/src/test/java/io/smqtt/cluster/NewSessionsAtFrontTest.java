// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.BrokerModule;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.session.UnservedStores;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** A client of a front node gets the answer of the node that would store its session. */
class NewSessionsAtFrontTest {

    private static final BrokerCluster CLUSTER = new BrokerCluster();
    private static final String TEXT = "too few nodes";
    private static final int REASON_STRING = 0x1F;
    private static final Duration STEP = Duration.ofMillis(300);

    @RegisterExtension
    static final BrokerExtension KEEPER = CLUSTER.keeperWith(parts -> parts.module(new Alone()));

    @RegisterExtension
    static final BrokerExtension FRONT = CLUSTER.front();

    /** Tells a node that it is on the smaller side. */
    private static final class Alone implements BrokerModule {

        @Override
        public Mono<Void> start(Core core) {
            return Mono.fromRunnable(() -> core.sessions().adoptions().expect(new UnservedStores() {
                @Override
                public boolean isGuarded() {
                    return true;
                }

                @Override
                public @Nullable String refusal(Collection<String> nodes) {
                    return TEXT;
                }
            }));
        }

        @Override
        public Mono<Void> stop() {
            return Mono.empty();
        }
    }

    private static ReceivedPacket answer(ProtocolVersion version, ConnectBytes connect) throws Exception {
        try (RawClient client = FRONT.open(version).deadline(BrokerCluster.PATIENCE)) {
            client.send(connect);
            FutureTask<ReceivedPacket> answer = new FutureTask<>(() -> client.expect(MqttMessageType.CONNACK));
            new Thread(answer, "answer").start();
            await().atMost(BrokerCluster.PATIENCE).until(() -> {
                KEEPER.ticker().advance(STEP); // the node waits a little before it refuses
                return answer.isDone();
            });
            return answer.get();
        }
    }

    @Test
    void theAnswerComesThrough() throws Exception {
        ReceivedPacket refused =
                answer(ProtocolVersion.MQTT_5, ConnectBytes.of("c").persistent(60));
        assertThat(refused.reasonCode()).isEqualTo(0x88);
        assertThat(refused.property(REASON_STRING)).isEqualTo(TEXT);
        assertThat(answer(ProtocolVersion.MQTT_3_1_1, ConnectBytes.of("c").persistent(60))
                        .reasonCode())
                .isEqualTo(3);
        assertThat(answer(ProtocolVersion.MQTT_5, ConnectBytes.of("c")).reasonCode())
                .isZero();
    }
}
