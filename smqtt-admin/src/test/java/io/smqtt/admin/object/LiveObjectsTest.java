// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.admin.object.ObjectRefusedException.Reason;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import io.smqtt.test.store.ManualStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class LiveObjectsTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final String TOPIC = "$smqtt/object/note/a";

    private final ObjectNode node = ObjectNode.alone(new ObjectLimits(3, 100, 260), null);

    @AfterEach
    void stop() {
        node.close();
    }

    private static Reason refusal(Supplier<?> change) {
        return Objects.requireNonNull(catchThrowableOfType(ObjectRefusedException.class, change::get))
                .reason();
    }

    @Test
    void objectsAreCreatedChangedAndDeleted() {
        LiveObject<String> first = node.put("a", "1", Expected.NOTHING);
        LiveObject<String> second = node.put("a", "2", Expected.version(first.version()));

        assertThat(second.version()).isGreaterThan(first.version());
        assertThat(second.origin()).isEqualTo("user alice");
        assertThat(second.changedAt()).isAfter(first.changedAt());
        assertThat(node.notes.list()).containsExactly(second);
        node.delete("a");
        assertThat(node.notes.list()).isEmpty();
        assertThat(node.put("a", "3", Expected.NOTHING).version()).isGreaterThan(second.version() + 1);
        assertThat(node.seen).containsExactly("a=1", "a=2", "a is gone", "a=3");
    }

    @Test
    void aChangeMeantForAnotherStateIsRefused() {
        LiveObject<String> first = node.put("a", "1", Expected.ANYTHING);
        node.put("a", "2", Expected.SOMETHING);

        assertThat(refusal(() -> node.put("a", "3", Expected.version(first.version()))))
                .isEqualTo(Reason.CHANGED);
        assertThat(refusal(() -> node.put("a", "3", Expected.NOTHING))).isEqualTo(Reason.EXISTS);
        assertThat(refusal(() -> node.put("b", "3", Expected.SOMETHING))).isEqualTo(Reason.MISSING);
        assertThat(refusal(() -> node.put("b", "3", Expected.version(1)))).isEqualTo(Reason.MISSING);
        assertThatThrownBy(() -> node.delete("b")).isInstanceOf(ObjectRefusedException.class);
        assertThat(node.text("a")).isEqualTo("2");
    }

    @Test
    void identifiersMayHaveAllCharacters() {
        for (String id : List.of("a/b", "+", "#", "a b", "%2F", "Zürich", "☃\u0000")) {
            node.put(id, "x", Expected.NOTHING);
            assertThat(node.text(id)).isEqualTo("x");
            node.delete(id);
        }
        for (String id : List.of("", "x".repeat(1_025), "\uD800")) {
            assertThat(refusal(() -> node.put(id, "x", Expected.NOTHING))).isEqualTo(Reason.INVALID);
        }
    }

    @Test
    void limitsAreChecked() {
        assertThat(refusal(() -> node.put("a", "x".repeat(100), Expected.NOTHING)))
                .isEqualTo(Reason.LIMIT);
        node.put("a", "x".repeat(25), Expected.NOTHING);
        node.put("b", "x".repeat(25), Expected.NOTHING);
        assertThat(refusal(() -> node.put("c", "x".repeat(25), Expected.NOTHING)))
                .isEqualTo(Reason.LIMIT);
        node.put("c", "", Expected.NOTHING);
        assertThat(refusal(() -> node.put("d", "", Expected.NOTHING))).isEqualTo(Reason.LIMIT);
        node.put("a", "y".repeat(25), Expected.SOMETHING);
        node.delete("b");
        node.put("d", "", Expected.NOTHING);
    }

    @Test
    void aRuleProtectsTheWhole() {
        node.put("last", "x", Expected.NOTHING);

        assertThatThrownBy(() -> node.delete("last")).hasMessage("the last one stays");
        assertThat(node.text("last")).isEqualTo("x");
    }

    @Test
    void objectsOfTheFileAreReadOnly() {
        node.put("a", "1", Expected.NOTHING);
        node.notes.configured(Map.of("a", "file", "f", "file"));

        assertThat(refusal(() -> node.put("f", "2", Expected.ANYTHING))).isEqualTo(Reason.READ_ONLY);
        assertThat(node.text("a")).isEqualTo("file");
        assertThat(node.notes.list()).allMatch(LiveObject::isReadOnly).hasSize(2);
        node.notes.configured(Map.of());
        node.put("b", "1", Expected.NOTHING);
        assertThat(node.text("a")).isEqualTo("1");
        assertThat(node.text("f")).isNull();
        assertThat(node.seen)
                .startsWith("a=1")
                .contains("a=file", "f=file", "f is gone")
                .endsWith("b=1");
    }

    @Test
    void noClientReachesThem() {
        node.put("a", "secret", Expected.NOTHING);
        RawClient client = node.broker.client(V5, "c");
        client.subscribe("#", 1);
        client.subscribe("+/#", 1);
        client.send(SubscribeBytes.of(client.nextPacketId()).filter("$smqtt/#", 1));
        assertThat(client.expect(MqttMessageType.SUBACK).reasonCodes()).containsExactly(0x87);
        client.send(PublishBytes.to(TOPIC).payload("{}").retained().qos(1, client.nextPacketId()));
        assertThat(client.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(0x87);
        node.broker
                .broker()
                .publish(ApplicationMessage.builder(TOPIC)
                        .payload("{}")
                        .retain(true)
                        .build())
                .block(ObjectNode.PATIENCE);
        node.put("a", "2", Expected.SOMETHING);
        client.expectNothing();

        assertThat(node.text("a")).isEqualTo("2");
        assertThat(node.core().router().retained().count()).isZero();
        assertThat(node.broker
                        .broker()
                        .subscribe("$smqtt/#")
                        .take(Duration.ofMillis(100))
                        .collectList()
                        .block())
                .isEmpty();
    }

    @Test
    void aChangeWaitsForTheStoreAndIsThereAfterACrash() throws Exception {
        ManualStore store = new ManualStore();
        try (ObjectNode first = ObjectNode.alone(ObjectLimits.FEW, store)) {
            first.put("a", "1", Expected.NOTHING);
            first.put("b", "1", Expected.NOTHING);
            first.delete("b");
            store.hold();
            CompletableFuture<LiveObject<String>> change =
                    first.notes.put("c", "1", Expected.NOTHING, "user alice").toFuture();
            await().until(() -> store.pending() > 0);
            assertThat(change).isNotDone();
            store.release();
            change.get(30, TimeUnit.SECONDS);
            store.kill();
        }
        try (ObjectNode second = ObjectNode.alone(ObjectLimits.FEW, store.reopened(System::nanoTime))) {
            assertThat(second.notes.list()).extracting(LiveObject::id).containsExactly("a", "c");
            assertThat(second.notes.list()).extracting(LiveObject::origin).containsOnly("user alice");
            assertThat(second.seen).contains("a=1", "c=1").doesNotContain("b=1");
        }
    }

    @Test
    void aDeletionEndsAfterThirtyDays() {
        node.put("a", "1", Expected.NOTHING);
        node.delete("a");
        RetainedMessages retained = node.core().router().retained();
        long now = node.core().ticker().nanoTime();

        retained.removeExpired(now + Duration.ofDays(29).toNanos(), 100);
        assertThat(retained.hidden(TOPIC)).hasSize(1);
        retained.removeExpired(now + Duration.ofDays(31).toNanos(), 100);
        assertThat(retained.hidden(TOPIC)).isEmpty();
    }

    @Test
    void oldDeletionsGiveWayToNewOnes() {
        for (int i = 0; i < 5; i++) {
            node.put("n" + i, "x", Expected.NOTHING);
            node.delete("n" + i);
        }
        node.put("a", "x", Expected.NOTHING);

        assertThat(node.core().router().retained().hidden("$smqtt/object/note/n"))
                .hasSize(3);
    }
}
