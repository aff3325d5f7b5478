// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.transport.ReceiverContext;
import io.micrometer.observation.transport.SenderContext;
import io.smqtt.Broker;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MessageTracingTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String PARENT = "00-" + TRACE + "-b7ad6b7169203331-01";

    private final W3c tracer = new W3c();
    private final List<AutoCloseable> open = new ArrayList<>();
    private @Nullable Broker broker;

    /** What a tracer does, as far as it is seen from here: one identifier for a trace, and one for each span. */
    private static final class W3c implements ObservationHandler<Observation.Context> {

        final List<String> ended = new CopyOnWriteArrayList<>();
        private int spans;

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }

        @Override
        public synchronized void onStart(Observation.Context context) {
            String span = "%016x".formatted(++spans);
            if (context instanceof ReceiverContext<?> from) {
                receive(from, span);
            } else if (context instanceof SenderContext<?> to) {
                Object trace = Objects.requireNonNull(context.getParentObservation())
                        .getContextView()
                        .get("trace");
                send(to, "00-" + trace + "-" + span + "-01");
            }
        }

        private <C> void receive(ReceiverContext<C> context, String span) {
            String parent = context.getGetter().get(Objects.requireNonNull(context.getCarrier()), "traceparent");
            context.put("trace", parent == null ? "new" + span : parent.split("-")[1]);
        }

        private <C> void send(SenderContext<C> context, String traceparent) {
            context.getSetter().set(context.getCarrier(), "traceparent", traceparent);
            context.getSetter().set(context.getCarrier(), "tracestate", "smqtt=1");
        }

        @Override
        public void onStop(Observation.Context context) {
            io.micrometer.common.KeyValue outcome = context.getLowCardinalityKeyValue("outcome");
            ended.add(context.getContextualName() + (outcome == null ? "" : " " + outcome.getValue()));
        }
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        if (broker != null) {
            broker.close(Duration.ofSeconds(1)).block(PATIENCE);
        }
    }

    private void start(double share, boolean traced) {
        ObservationRegistry registry = ObservationRegistry.create();
        if (traced) {
            registry.observationConfig().observationHandler(tracer);
        }
        MessageTracing tracing = MessageTracing.of(registry, share);
        broker = Objects.requireNonNull(Broker.builder()
                .config(BrokerConfig.builder()
                        .listeners(Map.of(
                                "tcp",
                                ListenerConfig.tcp(0).toBuilder()
                                        .host("127.0.0.1")
                                        .build()))
                        .access(AccessConfig.builder()
                                .allowAnonymous(AnonymousAccess.TRUE)
                                .build())
                        .build())
                .interceptor(tracing)
                .observer(tracing.observer())
                .start()
                .block(PATIENCE));
    }

    private RawClient client(ProtocolVersion version, String id) {
        RawClient client = RawClient.to(
                Objects.requireNonNull(
                        Objects.requireNonNull(broker).listeners().get("tcp")),
                version);
        open.add(client);
        client.connect(id);
        return client;
    }

    private static PublishBytes message(String... userProperties) {
        PublishBytes message = PublishBytes.to("t").payload("hello");
        for (int i = 0; i < userProperties.length; i += 2) {
            message.properties().user(userProperties[i], userProperties[i + 1]);
        }
        return message;
    }

    @Test
    void subscribersGetTheBrokersContextInThePlaceOfThePublishers() {
        start(0, true);
        RawClient subscriber = client(ProtocolVersion.MQTT_5, "subscriber");
        subscriber.subscribe("t", 0);

        client(ProtocolVersion.MQTT_5, "publisher")
                .send(message("a", "1", "traceparent", PARENT, "b", "2", "a", "3", "traceparent", "twice"));

        assertThat(pairs(subscriber.expectPublish("t", "hello")))
                .containsExactly(
                        "a=1", "traceparent=00-" + TRACE + "-0000000000000002-01", "b=2", "a=3", "tracestate=smqtt=1");
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(tracer.ended).containsExactly("route", "receive routed"));
    }

    private static List<String> pairs(ReceivedPacket packet) {
        return packet.userProperties();
    }

    @Test
    void olderSubscribersGetThePayloadAlone() {
        start(1, true);
        RawClient subscriber = client(ProtocolVersion.MQTT_3_1_1, "subscriber");
        subscriber.subscribe("t", 0);

        client(ProtocolVersion.MQTT_5, "publisher").send(message("traceparent", PARENT));

        assertThat(subscriber.expectPublish("t", "hello").text()).isEqualTo("hello");
    }

    @Test
    void aMessageWithoutContextIsTracedByItsShare() {
        start(1, true);
        RawClient subscriber = client(ProtocolVersion.MQTT_5, "subscriber");
        subscriber.subscribe("t", 0);

        client(ProtocolVersion.MQTT_3_1_1, "publisher").publish("t", "hello", 1);

        assertThat(pairs(subscriber.expectPublish("t", "hello")))
                .containsExactly("traceparent=00-new0000000000000001-0000000000000002-01", "tracestate=smqtt=1");
    }

    @Test
    void withoutAShareAMessageWithoutContextStaysAsItIs() {
        start(0, true);
        RawClient subscriber = client(ProtocolVersion.MQTT_5, "subscriber");
        subscriber.subscribe("t", 0);

        client(ProtocolVersion.MQTT_5, "publisher").send(message("k", "v"));

        assertThat(pairs(subscriber.expectPublish("t", "hello"))).containsExactly("k=v");
        assertThat(tracer.ended).isEmpty();
    }

    @Test
    void withoutATracerAMessageStaysAsItIs() {
        start(1, false);
        RawClient subscriber = client(ProtocolVersion.MQTT_5, "subscriber");
        subscriber.subscribe("t", 0);

        client(ProtocolVersion.MQTT_5, "publisher").send(message("traceparent", PARENT));

        assertThat(pairs(subscriber.expectPublish("t", "hello"))).containsExactly("traceparent=" + PARENT);
    }

    @Test
    void aMessageForNobodyEndsToo() {
        start(1, true);

        client(ProtocolVersion.MQTT_5, "publisher").publish("nobody", "x", 1);

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(tracer.ended).containsExactly("route", "receive unmatched"));
    }

    @Test
    void aShareIsAShare() {
        for (double share : new double[] {-0.1, 1.1, Double.NaN}) {
            assertThatThrownBy(() -> MessageTracing.of(ObservationRegistry.create(), share))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
