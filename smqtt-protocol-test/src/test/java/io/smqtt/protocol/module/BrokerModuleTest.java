// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.module;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.Broker;
import io.smqtt.BrokerModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

class BrokerModuleTest {

    private final Peer peer = new Peer();

    @RegisterExtension
    final BrokerExtension brokers = new BrokerExtension(config -> config, builder -> builder.module(peer));

    /** Stands for a peer node: takes messages of its routes and keeps acknowledgements until it has its own. */
    private static final class Peer implements BrokerModule, Subscriber {

        private final BlockingQueue<RouteTicket> tickets = new LinkedBlockingQueue<>();

        @Override
        public Mono<Void> start(Core core) {
            return Mono.fromRunnable(() -> core.router()
                    .index()
                    .add(new Subscription(this, TopicFilter.of("far/#"), null, QoS.EXACTLY_ONCE, false, true, 0)));
        }

        @Override
        public Mono<Void> stop() {
            return Mono.empty();
        }

        @Override
        public boolean holdsAcknowledgements() {
            return true;
        }

        @Override
        public String id() {
            return "peer";
        }

        @Override
        public @Nullable RoutingLoop owner() {
            return null;
        }

        @Override
        public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
            ticket.hold();
            tickets.add(ticket);
        }

        @Override
        public boolean isOnline() {
            return true;
        }

        @Override
        public int inFlightCount() {
            return 0;
        }

        RouteTicket next() throws InterruptedException {
            RouteTicket ticket = tickets.poll(5, TimeUnit.SECONDS);
            assertThat(ticket).as("a message for the peer").isNotNull();
            return ticket;
        }
    }

    private RawClient publisher() {
        return brokers.client(ProtocolVersion.MQTT_5, "publisher");
    }

    @Test
    void acknowledgementWaitsForThePeer() throws Exception {
        RawClient publisher = publisher();
        publisher.send(PublishBytes.to("far/1").payload("x").qos(1, 7));
        RouteTicket ticket = peer.next();
        publisher.expectNothing();

        ticket.release(true);

        assertThat(publisher.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(7);
    }

    // [MQTT-4.6.0-2] [MQTT-4.6.0-3]: the order of acknowledgements is the order of the messages
    @Test
    void acknowledgementsKeepTheOrderOfTheMessages() throws Exception {
        RawClient publisher = publisher();
        publisher.send(PublishBytes.to("far/1").payload("x").qos(1, 7));
        publisher.send(PublishBytes.to("far/2").payload("y").qos(1, 8));
        RouteTicket first = peer.next();
        RouteTicket second = peer.next();

        second.release(true);
        publisher.expectNothing();
        first.release(true);

        assertThat(publisher.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(7);
        assertThat(publisher.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(8);
    }

    @Test
    void failureOfThePeerIsNoPositiveAcknowledgement() throws Exception {
        RawClient publisher = publisher();
        publisher.send(PublishBytes.to("far/1").payload("x").qos(2, 9));

        peer.next().release(false);

        assertThat(publisher.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
    }

    @Test
    void messagesThatThePeerDoesNotWantAreAcknowledgedAtOnce() {
        RawClient publisher = publisher();
        publisher.send(PublishBytes.to("near/1").payload("x").qos(1, 3));

        assertThat(publisher.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(3);
    }

    @Test
    void modulesStopInReverseOrderAndAFailedStartStopsTheBroker() {
        List<String> calls = new ArrayList<>();
        BrokerConfig config = BrokerConfig.defaults().toBuilder()
                .listeners(Map.of("tcp", ListenerConfig.tcp(0)))
                .build();

        assertThatThrownBy(() -> Broker.builder()
                        .config(config)
                        .module(new Recorder("a", calls, Mono.empty()))
                        .module(new Recorder("b", calls, Mono.error(new IllegalStateException("no peers"))))
                        .start()
                        .block(Duration.ofSeconds(10)))
                .hasMessageContaining("no peers");

        assertThat(calls).containsExactly("start a", "start b", "stop b", "stop a");
    }

    private record Recorder(String name, List<String> calls, Mono<Void> started) implements BrokerModule {

        @Override
        public Mono<Void> start(Core core) {
            return Mono.defer(() -> {
                calls.add("start " + name);
                return started;
            });
        }

        @Override
        public Mono<Void> stop() {
            return Mono.fromRunnable(() -> calls.add("stop " + name));
        }
    }
}
