// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static io.smqtt.connection.ConnectionBench.connect;
import static io.smqtt.connection.ConnectionBench.ping;
import static io.smqtt.connection.ConnectionBench.publish;
import static io.smqtt.connection.ConnectionBench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttVersion;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.Interception;
import io.smqtt.spi.TrafficCounts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class ConnectionTest {

    private final ConnectionBench bench = new ConnectionBench();

    @AfterEach
    void close() {
        bench.close();
    }

    private void limits(LimitsConfig limits) {
        bench.config = BrokerConfig.builder().limits(limits).build();
    }

    private void deliver(String topic, String text) {
        bench.router.route(
                bench.loop.routing(),
                ApplicationMessage.builder(topic).payload(text).build(),
                RouteTicket.NONE);
    }

    // --- reading

    @Test
    void takesPacketsSplitAtEveryByteAndPipelined() {
        bench.open();
        ByteBuf all =
                bench.encode(connect("c", MqttVersion.MQTT_5), subscribe("t", 1, 1), publish("t", "x", 1, 2), ping());
        while (all.isReadable()) {
            bench.channel.writeInbound(Unpooled.buffer(1).writeByte(all.readByte()));
        }
        assertThat(bench.answers())
                .containsExactly("CONNACK CONNECTION_ACCEPTED", "SUBACK 1", "PUBLISH t x", "PUBACK 2 0", "PINGRESP");

        bench.send(publish("t", "y", 0, 0), publish("t", "z", 0, 0), ping());
        assertThat(bench.answers()).containsExactly("PUBLISH t y", "PUBLISH t z", "PINGRESP");
    }

    @Test
    void readsOnlyByDemandAndNotWhileAnAnswerIsAwaited() {
        Sinks.One<Authentication> authentication = Sinks.one();
        bench.authenticator = request -> authentication.asMono();
        bench.open();
        int before = bench.wire.reads;
        assertThat(before).isPositive();
        bench.send(connect("c", MqttVersion.MQTT_5), ping());
        assertThat(bench.wire.reads).isEqualTo(before);
        assertThat(bench.answers()).isEmpty();
        assertThat(bench.complete).isTrue(); // the client has no deadline while others decide
        assertThat(bench.settled).isFalse();

        authentication.tryEmitValue(Authentication.accepted("u"));

        assertThat(bench.answers()).containsExactly("CONNACK CONNECTION_ACCEPTED", "PINGRESP");
        assertThat(bench.wire.reads).isGreaterThan(before);
        assertThat(bench.settled).isTrue();
    }

    /** As from WebSocket frames of one read: slices, which cannot grow. */
    @Test
    void framesWaitWhileAnAnswerIsAwaited() {
        Sinks.One<Authentication> authentication = Sinks.one();
        bench.authenticator = request -> authentication.asMono();
        bench.open();
        ByteBuf read = PooledByteBufAllocator.DEFAULT.directBuffer(1_024);
        read.writeBytes(bench.encode(connect("c", MqttVersion.MQTT_5)));
        int connect = read.readableBytes();
        read.writeBytes(bench.encode(ping(), ping(), ping()));
        List<ByteBuf> frames = new ArrayList<>(List.of(read.readRetainedSlice(connect)));
        while (read.isReadable()) {
            frames.add(read.readRetainedSlice(2));
        }
        read.release();
        bench.channel.writeInbound(frames.toArray());

        authentication.tryEmitValue(Authentication.accepted("u"));

        assertThat(bench.answers()).containsExactly("CONNACK CONNECTION_ACCEPTED", "PINGRESP", "PINGRESP", "PINGRESP");
        assertThat(read.refCnt()).isZero();
    }

    @Test
    void nothingOvertakesSeveralAwaitedAnswers() {
        List<Sinks.One<AccessDecision>> decisions = new ArrayList<>();
        bench.authorizer = request -> {
            if (request.action() != AccessAction.PUBLISH) {
                return AccessDecision.ALLOW.now();
            }
            decisions.add(Sinks.one());
            return decisions.get(decisions.size() - 1).asMono();
        };
        List<Sinks.One<Interception<ApplicationMessage>>> interceptions = new ArrayList<>();
        bench.interceptors.add((client, message) -> {
            interceptions.add(Sinks.one());
            return interceptions.get(interceptions.size() - 1).asMono();
        });
        bench.open().connected();
        bench.send(subscribe("#", 0, 1), publish("a", "1", 1, 2), publish("b", "2", 1, 3));
        assertThat(bench.answers()).containsExactly("SUBACK 1");
        decisions.get(0).tryEmitValue(AccessDecision.ALLOW);
        assertThat(bench.answers()).isEmpty();
        assertThat(decisions).hasSize(1); // the second PUBLISH waits for the interceptor of the first

        interceptions
                .get(0)
                .tryEmitValue(Interception.forward(ApplicationMessage.builder("a")
                        .payload("one")
                        .qos(QoS.AT_LEAST_ONCE)
                        .build()));
        assertThat(bench.answers()).containsExactly("PUBLISH a one", "PUBACK 2 0");
        decisions.get(1).tryEmitValue(AccessDecision.ALLOW);
        bench.channel.runPendingTasks();
        interceptions.get(1).tryEmitValue(Interception.stop(ReasonCode.IMPLEMENTATION_SPECIFIC_ERROR));
        assertThat(bench.answers()).containsExactly("PUBACK 3 83");
    }

    @Test
    void anAnswerThatCannotBeDealtWithEndsTheConnection() {
        Sinks.One<AccessDecision> decision = Sinks.one();
        bench.authorizer = request -> decision.asMono();
        bench.interceptors.add((client, message) -> Mono.error(new IllegalStateException("on purpose")));
        bench.observerFails = true;
        bench.open().connected();
        bench.send(publish("a", "1", 1, 2));
        decision.tryEmitValue(AccessDecision.ALLOW);
        assertThat(bench.answers()).containsExactly("DISCONNECT 83");
        assertThat(bench.events).contains("disconnected IMPLEMENTATION_SPECIFIC_ERROR");
    }

    @Test
    void anInterceptorThatThrowsRefusesThatMessageAlone() {
        bench.interceptors.add((client, message) -> {
            if (message.topic().value().equals("a")) {
                throw new IllegalStateException("on purpose");
            }
            return Interception.forward(message).now();
        });
        bench.open().connected();
        bench.send(publish("a", "1", 0, 0), publish("a", "2", 1, 2), publish("a", "3", 2, 3), publish("b", "4", 1, 4));
        assertThat(bench.answers()).containsExactly("PUBACK 2 83", "PUBREC 3 83", "PUBACK 4 10");
    }

    @Test
    void aDeniedSubscriptionMayBeDecidedLate() {
        Sinks.One<AccessDecision> decision = Sinks.one();
        bench.authorizer = request -> decision.asMono();
        bench.open().connected();
        bench.send(subscribe("t", 1, 1), ping());
        assertThat(bench.answers()).isEmpty();
        decision.tryEmitError(new IllegalStateException("no answer"));
        assertThat(bench.answers()).containsExactly("SUBACK 1", "PINGRESP");
        assertThat(bench.router.index().size()).isZero();
    }

    @Test
    void aSlowReaderGetsNothingReadAndIsDisconnectedInTheEnd() {
        limits(LimitsConfig.builder().slowConsumerTimeout(Duration.ofSeconds(3)).build());
        bench.open().connected();
        bench.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(10, 20));
        bench.wire.stuck = true;
        bench.channel.pipeline().firstContext().write(Unpooled.buffer().writeZero(100)); // not flushed: it waits
        assertThat(bench.channel.isWritable()).isFalse();
        int reads = bench.wire.reads;
        bench.send(ping());
        assertThat(bench.wire.reads).isEqualTo(reads);
        bench.pass(Duration.ofSeconds(4));
        assertThat(bench.events).containsOnlyOnce("too slow").contains("disconnected QUOTA_EXCEEDED");
        bench.pass(Duration.ofSeconds(1)); // it may still read why
        assertThat(bench.channel.isOpen()).isFalse();
    }

    @Test
    void aPublisherIsHeldToItsRateAndNotTakenForDead() {
        limits(LimitsConfig.builder().maxPublishRate(10).build());
        bench.open().connected();
        io.netty.handler.codec.mqtt.MqttMessage[] flood = new io.netty.handler.codec.mqtt.MqttMessage[300];
        for (int i = 0; i < flood.length; i++) {
            flood[i] = publish("t", "x", 0, 0);
        }
        int reads = bench.wire.reads;
        bench.send(flood);
        for (int second = 0; second < 28; second++) { // beyond 1.5 times the keep alive of 10 s
            bench.pass(Duration.ofSeconds(1));
        }
        assertThat(bench.wire.reads).isEqualTo(reads);
        assertThat(bench.channel.isOpen()).isTrue();
        for (int second = 0; second < 4; second++) {
            bench.pass(Duration.ofSeconds(1));
        }
        assertThat(bench.wire.reads).isGreaterThan(reads);
    }

    @Test
    void publishersAreSlowedWhileQueuesHoldTooMuch() {
        bench.open().connected();
        ReadPace pace = new ReadPace(
                null, new Connection(bench.channel.pipeline().lastContext(), bench.loop, null, null, () -> {}));
        pace.published(false, true);
        assertThat(pace.postpones(bench.loop)).isFalse();
        io.smqtt.session.Session absent = occupyBudget();
        bench.pass(Duration.ofMillis(200));
        assertThat(pace.postpones(bench.loop)).isFalse(); // nothing was published since
        pace.published(false, true);
        assertThat(pace.postpones(bench.loop)).isTrue();
        assertThat(pace.postpones(bench.loop)).isTrue();
        bench.pass(Duration.ofMillis(300));
        assertThat(pace.postpones(bench.loop)).isFalse();
        assertThat(absent.queuedCount()).isPositive();
    }

    private io.smqtt.session.Session occupyBudget() {
        bench.send(subscribe("q", 1, 9));
        io.smqtt.session.Session session = bench.registry.find("c");
        session.connectionEnded(session.sink(), false, 1_000);
        bench.router.route(
                bench.loop.routing(),
                ApplicationMessage.builder("q")
                        .payload("x".repeat(20_000))
                        .qos(QoS.AT_LEAST_ONCE)
                        .build(),
                RouteTicket.NONE);
        return session;
    }

    // --- writing

    @Test
    void allOutputOfAPassIsOneWrite() {
        bench.open().connected();
        bench.send(subscribe("t", 0, 1));
        bench.received();
        int writes = bench.wire.writes;
        for (int i = 0; i < 100; i++) {
            deliver("t", String.valueOf(i));
        }
        assertThat(bench.wire.writes).isEqualTo(writes);
        bench.channel.runPendingTasks();
        assertThat(bench.wire.writes).isEqualTo(writes + 1);
        assertThat(bench.received())
                .hasSize(100)
                .allSatisfy(message -> io.netty.util.ReferenceCountUtil.release(message));
    }

    @Test
    void muchOutputDoesNotWaitForTheEndOfThePass() {
        bench.open().connected();
        bench.send(subscribe("t", 0, 1));
        bench.received();
        int writes = bench.wire.writes;
        for (int i = 0; i < 20; i++) {
            deliver("t", "x".repeat(7_000));
        }
        assertThat(bench.wire.writes).isEqualTo(writes + 2); // 140,000 bytes, 64 KiB at a time
        assertThat(bench.received())
                .hasSize(20)
                .allSatisfy(message -> io.netty.util.ReferenceCountUtil.release(message));
    }

    @Test
    void aLargePayloadGoesByReferenceInOrder() {
        bench.open().connected();
        bench.send(subscribe("t", 0, 1));
        bench.received();
        ApplicationMessage large = ApplicationMessage.builder("t")
                .payload(Payload.of("L".repeat(20_000)))
                .build();
        int writes = bench.wire.writes;
        deliver("t", "before");
        bench.router.route(bench.loop.routing(), large, RouteTicket.NONE);
        ByteBuf shared = bench.loop.sharedPayload(large, bench.channel.alloc());
        assertThat(bench.wire.writes - writes)
                .as("what was encoded so far, then the payload")
                .isEqualTo(2);
        assertThat(shared.readableBytes()).isEqualTo(20_000);
        deliver("t", "after");
        assertThat(bench.answers())
                .containsExactly("PUBLISH t before", "PUBLISH t " + "L".repeat(20_000), "PUBLISH t after");
        assertThat(shared.refCnt()).isZero();
    }

    @Test
    void nothingIsLeakedWhenOutputComesAfterTheEnd() {
        bench.open().connected();
        bench.send(subscribe("t", 0, 1));
        bench.received();
        deliver("t", "x");
        OutboundBuffer buffer =
                new OutboundBuffer(bench.loop, bench.channel.pipeline().lastContext());
        buffer.begin().writeByte(1);
        buffer.close();
        ByteBuf late = buffer.begin();
        late.writeByte(1);
        buffer.written();
        ByteBuf large = Unpooled.buffer().writeZero(10);
        buffer.append(large);
        bench.channel.close();
        bench.channel.runPendingTasks();
        assertThat(late.refCnt()).isZero();
        assertThat(large.refCnt()).isZero();
    }

    // --- the end

    @Test
    void aViolationIsAnsweredOnceAndNothingBehindItIsProcessed() { // [MQTT-4.13.1-1]
        bench.open().connected();
        bench.send(connect("c", MqttVersion.MQTT_5), publish("t", "x", 1, 1));
        assertThat(bench.answers()).containsExactly("DISCONNECT 82");
        assertThat(bench.channel.isOpen()).isFalse();
        assertThat(bench.events).containsExactly("connected c", "disconnected PROTOCOL_ERROR", "closed PROTOCOL_ERROR");
    }

    @Test
    void whatIsNoConnectGetsNoAnswer() { // [MQTT-3.1.4-1]
        bench.open();
        bench.send(ping());
        assertThat(bench.answers()).isEmpty();
        assertThat(bench.channel.isOpen()).isFalse();
        assertThat(bench.events).hasSize(1).allMatch(event -> event.startsWith("closed"));
    }

    @Test
    void aConnectThatDoesNotCompleteIsTimedOut() {
        bench.open();
        bench.connectTimeout.run();
        bench.channel.runPendingTasks();
        assertThat(bench.events).containsExactly("closed MAXIMUM_CONNECT_TIME");
        assertThat(bench.channel.isOpen()).isFalse();
    }

    @Test
    void keepAliveEndsASilentConnectionAfterOneAndAHalfTimes() { // [MQTT-3.1.2-22]
        bench.open().connected();
        bench.pass(Duration.ofSeconds(10));
        bench.send(ping());
        bench.pass(Duration.ofSeconds(14));
        assertThat(bench.channel.isOpen()).isTrue();
        bench.pass(Duration.ofSeconds(2));
        assertThat(bench.answers()).containsExactly("PINGRESP", "DISCONNECT 8d");
        assertThat(bench.events).contains("disconnected KEEP_ALIVE_TIMEOUT");
    }

    @Test
    void aChannelThatIsLostWhileTheClientIsExaminedLeavesNothing() {
        Sinks.One<Authentication> authentication = Sinks.one();
        bench.authenticator = request -> authentication.asMono();
        bench.open();
        bench.send(connect("c", MqttVersion.MQTT_5));
        bench.channel.close();
        authentication.tryEmitValue(Authentication.accepted("u"));
        bench.channel.runPendingTasks();
        assertThat(bench.registry.find("c")).isNull();
        assertThat(bench.events).containsExactly("closed UNSPECIFIED_ERROR");
    }

    @Test
    void aChannelThatIsLostDuringTheClaimLeavesNothing() {
        Sinks.Empty<Void> claim = Sinks.empty();
        bench.directory = (client, cleanStart) -> claim.asMono();
        bench.open();
        bench.send(connect("c", MqttVersion.MQTT_5));
        bench.channel.close();
        claim.tryEmitEmpty();
        bench.channel.runPendingTasks();
        assertThat(bench.registry.all()).isEmpty();
    }

    @Test
    void aClaimThatFailsIsNotTheClientsFault() {
        bench.directory = (client, cleanStart) -> Mono.error(new IllegalStateException("no quorum"));
        bench.open();
        bench.send(connect("c", MqttVersion.MQTT_5));
        assertThat(bench.answers()).containsExactly("CONNACK CONNECTION_REFUSED_SERVER_UNAVAILABLE_5");
        assertThat(bench.events).containsExactly("refused SERVER_UNAVAILABLE", "closed SERVER_UNAVAILABLE");
    }

    @Test
    void aRefusedClientIsTold() {
        bench.authenticator = request -> Authentication.refused().now();
        bench.open();
        bench.send(connect("c", MqttVersion.MQTT_3_1_1));
        assertThat(bench.answers()).containsExactly("CONNACK CONNECTION_REFUSED_BAD_USER_NAME_OR_PASSWORD");
        assertThat(bench.channel.isOpen()).isFalse();
    }

    @Test
    void anOverloadedBrokerRefusesClients() {
        bench.overloadLevel = 1;
        bench.open().connected().reconnect(MqttProperties.NO_PROPERTIES);
        bench.overloadLevel = 2;
        bench.reopen(MqttProperties.NO_PROPERTIES);
        assertThat(bench.answers()).containsExactly("CONNACK CONNECTION_REFUSED_SERVER_BUSY");
        assertThat(bench.events).contains("refused SERVER_BUSY");
    }

    @Test
    void anOlderClientIsRefusedWithCode3() {
        bench.overloadLevel = 2;
        bench.open();
        bench.send(connect("c", MqttVersion.MQTT_3_1_1));
        assertThat(bench.answers()).containsExactly("CONNACK CONNECTION_REFUSED_SERVER_UNAVAILABLE");
    }

    @Test
    void atTheHighestLevelOfOverloadPublishersAtQos0AreNotRead() {
        bench.open().connected();
        bench.overloadLevel = 3;
        int reads = bench.wire.reads;
        bench.send(publish("t", "x", 1, 1));
        assertThat(bench.wire.reads).isEqualTo(reads + 1); // its acknowledgement limits it

        bench.send(publish("t", "x", 1, 2), publish("t", "x", 0, 0));
        bench.pass(Duration.ofMillis(4_800));
        assertThat(bench.wire.reads).isEqualTo(reads + 1);
        bench.pass(Duration.ofSeconds(2));
        assertThat(bench.wire.reads).isEqualTo(reads + 2); // once in a while, for its PINGREQ
        assertThat(bench.loop.traffic().postponedReads(TrafficCounts.Limit.OVERLOAD))
                .isEqualTo(1);

        bench.send(publish("t", "x", 0, 0));
        bench.overloadLevel = 2;
        bench.pass(Duration.ofSeconds(1));
        assertThat(bench.wire.reads).isEqualTo(reads + 3);
    }

    @Test
    void aNormalDisconnectIsNotAnswered() {
        bench.open().connected();
        bench.send(new io.netty.handler.codec.mqtt.MqttMessage(new io.netty.handler.codec.mqtt.MqttFixedHeader(
                MqttMessageType.DISCONNECT, false, io.netty.handler.codec.mqtt.MqttQoS.AT_MOST_ONCE, false, 0)));
        assertThat(bench.answers()).isEmpty();
        assertThat(bench.events).containsExactly("connected c", "disconnected SUCCESS", "closed SUCCESS");
    }

    @Test
    void whatIsNotABufferIsReleasedAndExceptionsClose() {
        bench.open().connected();
        ByteBuf held = Unpooled.buffer();
        bench.channel.writeInbound(new io.netty.buffer.DefaultByteBufHolder(held));
        assertThat(held.refCnt()).isZero();
        bench.channel.pipeline().fireExceptionCaught(new java.io.IOException("reset"));
        assertThat(bench.channel.isOpen()).isFalse();
        assertThat(bench.events).contains("disconnected UNSPECIFIED_ERROR");
    }

    // --- QoS 2 and quotas

    @Test
    void routesAQos2MessageOnce() { // [MQTT-4.3.3-10]
        bench.open().connected();
        bench.send(subscribe("t", 0, 1), publish("t", "x", 2, 7), publish("t", "x", 2, 7));
        assertThat(bench.answers()).containsExactly("SUBACK 1", "PUBLISH t x", "PUBREC 7 0", "PUBREC 7 0");
        assertThat(bench.registry.find("c").inbound().awaitingRelease()).isEqualTo(1);
    }

    @Test
    void tooManyUnacknowledgedMessagesEndTheConnection() { // [MQTT-3.3.4-7]
        limits(LimitsConfig.builder().receiveMaximum(2).build());
        bench.open().connected();
        bench.send(publish("t", "x", 2, 1), publish("t", "x", 2, 2), publish("t", "x", 2, 3));
        assertThat(bench.answers()).containsExactly("PUBREC 1 10", "PUBREC 2 10", "DISCONNECT 93");
    }
}
