// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static io.smqtt.connection.ConnectionBench.publish;
import static io.smqtt.connection.ConnectionBench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.mqtt.MqttVersion;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.Interception;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Answers of plugged-in parts that come when the connection has changed, or that say what nobody expected. */
class LateAnswersTest {

    private final ConnectionBench bench = new ConnectionBench();

    @AfterEach
    void close() {
        bench.close();
    }

    /** The client is gone while an answer is awaited, and is then ended from the broker's side: taken over, say. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aConnectionThatIsEndedAfterItIsGoneLeavesNothing(boolean answered) {
        Sinks.One<AccessDecision> decision = Sinks.one();
        bench.authorizer =
                request -> request.action() == AccessAction.SUBSCRIBE ? decision.asMono() : AccessDecision.ALLOW.now();
        bench.open().connected();
        ByteBuf bytes = Unpooled.buffer(300);
        bytes.writeBytes(bench.encode(subscribe("t", 0, 1), publish("t", "x".repeat(200), 0, 0)));
        bench.channel.writeInbound(bytes); // the PUBLISH waits behind the SUBSCRIBE
        assertThat(bytes.refCnt()).isEqualTo(1);
        bench.channel.close();
        bench.registry.find("c").terminate(ReasonCode.ADMINISTRATIVE_ACTION);
        if (answered) {
            decision.tryEmitValue(AccessDecision.ALLOW);
        }
        bench.channel.runPendingTasks();
        assertThat(bytes.refCnt()).isZero();
        assertThat(bench.events).contains("disconnected ADMINISTRATIVE_ACTION", "closed ADMINISTRATIVE_ACTION");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aMessageWhoseQosIsChangedOnItsWayIsAcknowledgedAsItWasSent(int changed) {
        bench.interceptors.add((client, message) -> Mono.just(Interception.forward(ApplicationMessage.builder("t")
                .payload("x")
                .qos(io.smqtt.message.QoS.of(changed))
                .build())));
        bench.open().connected();
        bench.send(publish("t", "a", 0, 0), publish("t", "b", 1, 1), publish("t", "c", 2, 2));
        assertThat(bench.answers()).containsExactly("PUBACK 1 10", "PUBREC 2 10");
        assertThat(bench.registry.find("c").inbound().awaitingRelease()).isEqualTo(1);
    }

    /** Whoever decides takes longer than a client has for its CONNECT: the session that another connection has is left alone. */
    @Test
    void aClaimThatIsNotDecidedIsGivenUpWithItsConnection() {
        List<String> said = new ArrayList<>();
        AtomicReference<MonoSink<Void>> decision = new AtomicReference<>();
        bench.directory = new ClientDirectory() {
            @Override
            public Mono<Void> claim(ClientIdentity client, boolean cleanStart) {
                return Mono.create(sink -> {
                    said.add("claimed " + client.clientId());
                    sink.onCancel(() -> said.add("cancelled"));
                    decision.set(sink);
                });
            }

            @Override
            public void settled(ClientIdentity client) {
                said.add("settled " + client.clientId());
            }
        };
        bench.open().send(ConnectionBench.connect("c", MqttVersion.MQTT_5));
        assertThat(bench.settled).as("the deadline of the CONNECT is over").isTrue();
        assertThat(said).containsExactly("claimed c");
        bench.channel.close();
        bench.channel.runPendingTasks();
        assertThat(said).containsExactly("claimed c", "cancelled", "settled c");
        decision.get().success();
        bench.channel.runPendingTasks();
        assertThat(bench.registry.find("c")).isNull();
    }

    /** CONNECT and SUBSCRIBE of a reconnecting client: one read, no task of the event loop and no timer. */
    @Test
    void answersThatAreAvailableAreHandledInTheSameRead() {
        bench.open();
        bench.channel
                .pipeline()
                .fireChannelRead(bench.encode(
                        ConnectionBench.connect("c", MqttVersion.MQTT_5),
                        subscribe("t", 0, 1),
                        publish("t", "x", 1, 2)));
        assertThat(bench.events).contains("connected c");
        assertThat(bench.registry.find("c").subscriptions().size()).isEqualTo(1);
        assertThat(bench.answers())
                .containsExactly("CONNACK CONNECTION_ACCEPTED", "SUBACK 1", "PUBLISH t x", "PUBACK 2 0");
    }

    @Test
    void aPartThatNeverAnswersIsTakenForOneThatFailed() {
        VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
        try {
            bench.authorizer =
                    request -> request.action() == AccessAction.SUBSCRIBE ? Mono.never() : AccessDecision.ALLOW.now();
            bench.open().connected();
            bench.send(subscribe("t", 0, 1), publish("t", "behind it", 1, 7));
            time.advanceTimeBy(Duration.ofSeconds(29));
            bench.channel.runPendingTasks();
            assertThat(bench.answers()).isEmpty();
            time.advanceTimeBy(Duration.ofSeconds(1));
            bench.channel.runPendingTasks();
            assertThat(bench.answers()).containsExactly("SUBACK 1", "PUBACK 7 10");
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    @Test
    void anInterceptorThatNeverAnswersRefusesThatMessageAlone() {
        VirtualTimeScheduler time = VirtualTimeScheduler.getOrSet();
        try {
            bench.interceptors.add(
                    (client, message) -> message.payload().asString().equals("lost")
                            ? Mono.never()
                            : Interception.forward(message).now());
            bench.open().connected();
            bench.send(publish("t", "lost", 1, 6), publish("t", "behind it", 1, 7));
            time.advanceTimeBy(Duration.ofSeconds(29));
            bench.channel.runPendingTasks();
            assertThat(bench.answers()).isEmpty();
            time.advanceTimeBy(Duration.ofSeconds(1));
            bench.channel.runPendingTasks();
            assertThat(bench.answers()).containsExactly("PUBACK 6 83", "PUBACK 7 10");
        } finally {
            VirtualTimeScheduler.reset();
        }
    }
}
