// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.MqttConfig;
import io.smqtt.test.RawClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Exclusive subscriptions of stored sessions. */
class StoredExclusiveTest {

    private final DurableBroker broker = new DurableBroker(config -> config.mqtt(
            MqttConfig.defaults().toBuilder().exclusiveSubscriptions(true).build()));

    @AfterEach
    void close() {
        broker.close();
    }

    @Test
    void theyAreExclusiveAfterARestart() {
        assertThat(broker.persistent("first").subscribe("$exclusive/t", 1).reasonCodes())
                .containsExactly(1);
        assertThat(broker.store.subscriptions("first")).containsExactly("$exclusive/t");

        broker.kill();

        RawClient second = broker.persistent("second");
        assertThat(second.subscribe("$exclusive/t", 1).reasonCodes()).containsExactly(0x97);
        RawClient first = broker.resumed("first");
        broker.clean("p").publish("t", "x", 1);
        first.pubAck(first.expectPublish("t", "x"));
        first.subscribe("t", 1);
        assertThat(broker.store.subscriptions("first")).containsExactly("t");
        assertThat(second.subscribe("$exclusive/t", 1).reasonCodes()).containsExactly(1);
        first.unsubscribe("t");
        assertThat(broker.store.subscriptions("first")).isEmpty();
    }

    @Test
    void whatCannotBeStoredIsNotHeld() {
        RawClient first = broker.persistent("first");
        broker.store.fail();
        assertThat(first.subscribe("$exclusive/t", 1).reasonCodes()).containsExactly(0x97);
        broker.store.heal();
        RawClient second = broker.persistent("second");
        await().until(() -> second.subscribe("$exclusive/t", 1).reasonCodes().get(0) == 1);
    }
}
