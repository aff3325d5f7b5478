// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.ClientInfo;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.AccessRequest;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.Grants;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Access rules are read again while the client of a restored session is still away. */
class RestoredRightsTest {

    private final AtomicBoolean granted = new AtomicBoolean(true);
    private final DurableBroker broker = new DurableBroker(
            config -> config,
            parts -> parts.authenticator(this::authenticate).authorizer(RestoredRightsTest::authorize));

    @AfterEach
    void close() {
        broker.close();
    }

    private Mono<Authentication> authenticate(AuthenticationRequest request) {
        Grants grants = granted.get() ? Grants.NONE.withRules(RestoredRightsTest::decide) : Grants.NONE;
        return new Authentication.Accepted("u", Set.of(), grants).now();
    }

    /** The client's own rules. */
    private static AccessDecision decide(
            ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        return topic.equals("own") ? AccessDecision.ALLOW : AccessDecision.CONTINUE;
    }

    /** Those of all clients: everybody may publish; what is local may be read from this machine. */
    private static Mono<AccessDecision> authorize(AccessRequest request) {
        boolean here = request.client().remoteAddress().getAddress() != null
                && request.client().remoteAddress().getAddress().isLoopbackAddress();
        boolean allowed = request.action() == AccessAction.PUBLISH
                || (here && request.topic().equals("local"));
        return (allowed ? AccessDecision.ALLOW : AccessDecision.DENY).now();
    }

    private void subscribeAndRestart(String topic) {
        RawClient client = broker.open(ProtocolVersion.MQTT_5);
        client.connect(ConnectBytes.of("away").persistent(1_000));
        assertThat(client.subscribe(topic, 1).reasonCodes()).containsExactly(1);
        client.disconnect();
        broker.awaitOffline("away");
        broker.restart();
    }

    private void reloadAndPublish(String topic) {
        assertThat(broker.broker().reload().failed()).isEmpty();
        RawClient publisher = broker.clean("p");
        publisher.publish(topic, "first", 1);
        publisher.publish(topic, "second", 1);
    }

    private void expectBoth(String topic) {
        RawClient back = broker.resumed("away");
        ReceivedPacket first = back.expectPublish(topic, "first");
        back.acknowledge(0x40, first.packetId());
        ReceivedPacket second = back.expectPublish(topic, "second");
        back.acknowledge(0x40, second.packetId());
    }

    private int subscriptions() {
        return Objects.requireNonNull(broker.broker()
                .clients()
                .filter(info -> info.identity().clientId().equals("away"))
                .map(ClientInfo::subscriptions)
                .blockFirst());
    }

    @Test
    void aSubscriptionThatOnlyGrantsAllowOutlivesAReload() {
        subscribeAndRestart("own");
        reloadAndPublish("own");
        expectBoth("own");
        assertThat(broker.broker().reload().failed()).isEmpty();
        RawClient publisher = broker.clean("p");
        publisher.publish("own", "third", 1);
        broker.client(1).expectPublish("own", "third");
        assertThat(subscriptions()).isEqualTo(1);
    }

    @Test
    void aSubscriptionThatIsAllowedByAddressOutlivesAReload() {
        subscribeAndRestart("local");
        reloadAndPublish("local");
        expectBoth("local");
    }

    @Test
    void whatAClientLostWhileItWasAwayEndsWhenItConnects() {
        subscribeAndRestart("own");
        granted.set(false);
        reloadAndPublish("own");
        broker.resumed("away").expectNothing();
        await().until(() -> subscriptions() == 0);
    }
}
