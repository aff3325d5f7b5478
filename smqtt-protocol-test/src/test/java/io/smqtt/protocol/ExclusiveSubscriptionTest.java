// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.MqttConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Subscriptions to $exclusive/FILTER, of which a client may have three. */
class ExclusiveSubscriptionTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config.mqtt(MqttConfig.defaults().toBuilder()
                            .exclusiveSubscriptions(true)
                            .build())
                    .limits(LimitsConfig.defaults().toBuilder()
                            .maxSubscriptionsPerClient(3)
                            .build()),
            builder -> builder);

    private static int subscribe(RawClient client, String filter) {
        return client.subscribe(filter, 0).reasonCodes().get(0);
    }

    @ParameterizedTest
    @EnumSource
    void theSecondClientIsRefusedUntilTheFirstUnsubscribes(ProtocolVersion version) {
        int refused = version.isV5() ? 0x97 : 0x80;
        RawClient first = broker.client(version, "first");
        RawClient second = broker.client(version, "second");
        assertThat(subscribe(first, "$exclusive/t/+")).isZero();
        assertThat(subscribe(second, "$exclusive/t/+")).isEqualTo(refused);
        assertThat(subscribe(second, "$exclusive/t/1")).as("another filter").isZero();
        assertThat(subscribe(first, "$exclusive/t/+")).as("again").isZero();
        broker.client(version, "p").publish("t/2", "x", 0);
        first.expectPublish("t/2", "x");
        second.expectNothing();
        first.unsubscribe("$exclusive/t/+");
        assertThat(subscribe(second, "$exclusive/t/+")).isZero();
    }

    @Test
    void ordinarySubscriptionsAreNotAffected() {
        RawClient first = broker.client(V5, "first");
        RawClient second = broker.client(V5, "second");
        assertThat(subscribe(first, "$exclusive/t")).isZero();
        assertThat(subscribe(second, "t")).isZero();
        assertThat(subscribe(broker.client(V5, "third"), "$share/g/t")).isZero();
        broker.client(V5, "p").publish("t", "x", 0);
        first.expectPublish("t", "x");
        second.expectPublish("t", "x");
    }

    @Test
    void theEndOfTheSessionReleasesTheFilter() {
        RawClient first = broker.client(V5, "first");
        assertThat(subscribe(first, "$exclusive/t")).isZero();
        RawClient second = broker.client(V5, "second");
        first.disconnect();
        await().until(() -> subscribe(second, "$exclusive/t") == 0);
    }

    @Test
    void aSessionKeepsItsSubscriptionWithoutAConnectionAndThroughATakeover() {
        RawClient first = broker.open(V5);
        first.connect(ConnectBytes.of("first").persistent(1_000));
        assertThat(subscribe(first, "$exclusive/t")).isZero();
        first.abort();
        RawClient second = broker.client(V5, "second");
        assertThat(subscribe(second, "$exclusive/t")).isEqualTo(0x97);
        RawClient again = broker.open(V5);
        again.connect(ConnectBytes.of("first").persistent(1_000));
        assertThat(subscribe(second, "$exclusive/t")).isEqualTo(0x97);
        broker.client(V5, "p").publish("t", "x", 0);
        again.expectPublish("t", "x");
        broker.client(V5, "first").publish("end", "x", 0); // a clean start ends the session
        assertThat(subscribe(second, "$exclusive/t")).isZero();
    }

    @Test
    void anOrdinarySubscriptionToTheSameFilterReplacesIt() {
        RawClient first = broker.client(V5, "first");
        assertThat(subscribe(first, "$exclusive/t")).isZero();
        assertThat(subscribe(first, "t")).isZero();
        assertThat(subscribe(broker.client(V5, "second"), "$exclusive/t")).isZero();
        broker.client(V5, "p").publish("t", "x", 0);
        first.expectPublish("t", "x");
        first.expectNothing();
    }

    @Test
    void whatALimitRefusesIsNotHeld() {
        RawClient first = broker.client(V5, "first");
        for (int i = 0; i < 3; i++) {
            assertThat(subscribe(first, "t/" + i)).isZero();
        }
        assertThat(subscribe(first, "$exclusive/t")).isEqualTo(0x97);
        assertThat(subscribe(broker.client(V5, "second"), "$exclusive/t")).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"$exclusive/$share/g/t", "$share/g/$exclusive/t", "$exclusive/$exclusive/t", "$exclusive/a/#/b"})
    void anExclusiveFilterCannotBeSharedOrIllFormed(String filter) {
        assertThat(subscribe(broker.client(V5, "c"), filter)).isEqualTo(0x8F);
        assertThat(broker.client(V5, "d").unsubscribe(filter).reasonCodes()).containsExactly(0x8F);
    }
}
