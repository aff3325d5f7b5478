// SPDX-License-Identifier: Apache-2.0
package io.smqtt.samples.gateway;

import static io.netty.handler.codec.mqtt.MqttMessageType.PUBACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBLISH;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.test.BrokerClock;
import io.smqtt.test.MqttBroker;
import io.smqtt.test.TestBroker;
import io.smqtt.test.wire.FaultRule;
import io.smqtt.test.wire.MqttProxy;
import io.smqtt.test.wire.Side;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@MqttBroker(standingClock = true)
@Timeout(120)
class DeviceGatewayTest {

    private static final int PATIENCE_SECONDS = 30;

    private final BlockingQueue<String> executed = new LinkedBlockingQueue<>();
    private DeviceGateway gateway;

    private DeviceGateway started(int port) throws Exception {
        gateway = new DeviceGateway("127.0.0.1", port, "g1", executed::add);
        await(gateway.start());
        return gateway;
    }

    private static void await(CompletableFuture<?> future) throws Exception {
        future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @AfterEach
    void stop() throws Exception {
        if (gateway.isConnected()) {
            await(gateway.stop());
        }
    }

    private static void command(TestBroker broker, String command, Duration expiry) {
        ApplicationMessage message = ApplicationMessage.builder("gateways/g1/commands")
                .payload(command)
                .qos(QoS.AT_LEAST_ONCE)
                .expiryInterval(expiry)
                .build();
        broker.broker().publish(message).block();
    }

    @Test
    void reportsAndExecutes(TestBroker broker) throws Exception {
        started(broker.port());
        await(gateway.report("7", "21.5"));
        command(broker, "open", Duration.ofHours(1));

        assertThat(broker)
                .received("gateways/g1/status")
                .retained()
                .withPayload("up")
                .times(1);
        assertThat(broker)
                .received("devices/7/reading")
                .withQos(1)
                .from("g1")
                .withPayload("21.5")
                .times(1);
        assertThat(executed.poll(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo("open");
    }

    @Test
    void connectsAgainAndGetsWhatCameMeanwhile(TestBroker broker, MqttProxy proxy) throws Exception {
        started(proxy.port());
        proxy.refuseConnections();
        proxy.cutConnections();
        assertThat(broker).hasDisconnected("g1");
        command(broker, "open", Duration.ofHours(1));
        CompletableFuture<?> report = gateway.report("7", "21.5");

        proxy.heal();

        await(report);
        assertThat(broker).hasConnected("g1").received("devices/7/reading").times(1);
        assertThat(executed.poll(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo("open");
    }

    @Test
    void sendsAgainWhatWasNotAcknowledged(TestBroker broker, MqttProxy proxy) throws Exception {
        started(proxy.record().port());
        FaultRule swallowed = proxy.fromBroker(PUBACK).times(1).drop();
        CompletableFuture<?> report = gateway.report("7", "21.5");
        swallowed.awaitHits(1);
        assertThat(report).isNotDone();

        proxy.cutConnections();

        await(report);
        assertThat(broker)
                .received("devices/7/reading")
                .withPayload("21.5")
                .times(2); // at least once is what was asked for
        assertThat(proxy.recordings().get(1).packetsOf(Side.CLIENT))
                .filteredOn(packet -> packet.type() == PUBLISH)
                .singleElement()
                .matches(packet -> packet.dup() && packet.topic().equals("devices/7/reading"));
    }

    @Test
    void commandsThatAreTooOldAreNotExecuted(TestBroker broker, BrokerClock clock) throws Exception {
        started(broker.port());
        await(gateway.stop());
        assertThat(broker).hasDisconnected("g1").hasSession("g1");
        command(broker, "stale", Duration.ofMinutes(10));
        command(broker, "fresh", Duration.ofHours(2));

        clock.advance(Duration.ofMinutes(30));

        started(broker.port());
        assertThat(executed.poll(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo("fresh");
        assertThat(executed).isEmpty();
    }

    @Test
    void isMissedAfterHalfAMinute(TestBroker broker, BrokerClock clock, MqttProxy proxy) throws Exception {
        BlockingQueue<String> status = new LinkedBlockingQueue<>();
        started(proxy.port());
        broker.broker()
                .subscribe("gateways/g1/status")
                .subscribe(message -> status.add(message.payload().asString()));
        assertThat(status.poll(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo("up");
        proxy.refuseConnections();
        proxy.cutConnections();
        assertThat(broker).hasDisconnected("g1");
        clock.advance(Duration.ofSeconds(20));
        assertThat(status).isEmpty();

        clock.advance(Duration.ofSeconds(11));

        assertThat(status.poll(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo("missing");
        proxy.heal();
        assertThat(broker).hasConnected("g1");
    }

    @Test
    void theSessionEndsAfterAnHour(TestBroker broker, BrokerClock clock) throws Exception {
        started(broker.port());
        await(gateway.stop());
        assertThat(broker).hasDisconnected("g1").hasSession("g1");

        clock.advance(Duration.ofMinutes(61));

        assertThat(broker).hasNoSession("g1");
    }
}
