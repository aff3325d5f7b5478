// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeConfigBuilder;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PropertyBytes;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The first of two addresses is the main one, to which the bridge returns. */
@Timeout(60)
class BridgeReturnTest extends TwoRemotes {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private BridgeConfigBuilder config() {
        return toBoth("a/# out 1");
    }

    private static void awaitConnected(DialledBroker broker, RemoteStub to) {
        await().atMost(PATIENCE)
                .until(() -> broker.status().state() == BridgeStatus.State.CONNECTED
                        && broker.status().address().equals(to.address()));
    }

    /** A try is a connection without a CONNECT. */
    private void expectTry() throws Exception {
        try (Socket socket = one.acceptSocket()) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void theBridgeReturnsWhenTheFirstAddressAnswers() throws Exception {
        try (DialledBroker broker =
                        DialledBroker.with(config().roundRobin(false).build());
                RawClient client = broker.client("publisher")) {
            RawClient refused = one.acceptConnect();
            client.publish("a/b", "first", 1);
            refused.close();
            RawClient second = two.accept(PropertyBytes.none()); // which acknowledges nothing
            expectTry();
            RemoteStub.next(second, MqttMessageType.DISCONNECT);

            RawClient first = one.accept(PropertyBytes.none());
            ReceivedPacket again = RemoteStub.nextPublish(first);
            assertThat(again.text()).isEqualTo("first");
            first.pubAck(again);
            awaitConnected(broker, one);
            await().atMost(PATIENCE).until(() -> broker.status().queued() == 0);
        }
    }

    /** Such as a load balancer whose broker is away. */
    @Test
    void anAddressThatAnswersAndRefusesIsTriedAgain() throws Exception {
        try (DialledBroker broker =
                DialledBroker.with(config().roundRobin(false).build())) {
            for (int i = 0; i < 2; i++) {
                one.acceptConnect().close();
                RawClient second = two.accept(PropertyBytes.none());
                expectTry();
                RemoteStub.next(second, MqttMessageType.DISCONNECT);
            }
            one.accept(PropertyBytes.none());
            awaitConnected(broker, one);
        }
    }

    @Test
    void withoutThatItStays() {
        try (DialledBroker broker = DialledBroker.with(config().build())) {
            one.acceptConnect().close();
            two.accept(PropertyBytes.none());
            awaitConnected(broker, two);

            await().during(Duration.ofMillis(500))
                    .atMost(PATIENCE)
                    .until(() -> broker.status().address().equals(two.address())
                            && broker.status().state() == BridgeStatus.State.CONNECTED);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 20", "1, 0, 40", "3, 0, 160", "4, 0, 200", "50, 0, 200", "0, 1, 400", "9, 5, 6400"})
    void theTimeBetweenTriesGrows(int tries, int failedReturns, long millis) {
        BridgeConfig config = config().build();

        assertThat(FirstAddress.delayMillis(config, tries, failedReturns)).isEqualTo(millis);
    }
}
