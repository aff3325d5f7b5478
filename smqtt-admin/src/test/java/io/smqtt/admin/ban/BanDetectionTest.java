// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.ban;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.BrokerModule;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.config.AutomaticBansConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Bans;
import io.smqtt.spi.ConnectRefusal;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.test.RawClient;
import io.smqtt.test.TestBroker;
import io.smqtt.test.packet.ConnectBytes;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Bans that the broker makes by itself. */
class BanDetectionTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

    private final AtomicReference<Instant> now = new AtomicReference<>(NOW);
    private final AtomicLong nanos = new AtomicLong();
    private final List<String> causes = new CopyOnWriteArrayList<>();
    private final List<String> audited = new CopyOnWriteArrayList<>();
    private final LiveObjects objects = new LiveObjects();
    private final BanPart part =
            new BanPart(objects, now::get, null, (cause, ban) -> audited.add(cause + " " + ban.id()));
    private final BanDetection detection = new BanDetection(
            AutomaticBansConfig.builder()
                    .maxDisconnects(3)
                    .disconnectWindow(Duration.ofMinutes(1))
                    .disconnectBan(Duration.ofMinutes(5))
                    .maxRefusedLogins(4)
                    .refusedLoginWindow(Duration.ofMinutes(2))
                    .refusedLoginBan(Duration.ofHours(1))
                    .never(List.of("192.0.2.0/24"))
                    .build(),
            part,
            nanos::get);
    private final TestBroker broker = TestBroker.builder()
            .parts(parts -> parts.module(new Part()).observer(detection).observer(new LifecycleObserver() {
                @Override
                public void clientBanned(String cause) {
                    causes.add(cause);
                }
            }))
            .start();

    /** The bans of the broker. */
    private final class Part implements BrokerModule {

        @Override
        public Bans bans() {
            return part.bans();
        }

        @Override
        public Mono<Void> start(Core core) {
            return objects.start(core).then(part.start(core));
        }

        @Override
        public Mono<Void> stop() {
            return part.stop().then(Mono.fromRunnable(objects::stop));
        }
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void aClientThatDisconnectsTooOftenIsBanned() {
        for (int i = 0; i < 3; i++) {
            assertThat(connectAndDisconnect("flaps")).isZero();
        }
        await().atMost(PATIENCE).until(() -> !causes.isEmpty());

        assertThat(causes).containsExactly("flapping");
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(audited).containsExactly("flapping clientid:flaps"));
        assertThat(bans())
                .containsExactly(new Ban(
                        BanKind.CLIENTID,
                        "flaps",
                        "broker: flapping",
                        "3 disconnects within 1m",
                        NOW,
                        NOW.plus(Duration.ofMinutes(5))));
        assertThat(connectAndDisconnect("flaps")).isEqualTo(0x8A);
        assertThat(connectAndDisconnect("other")).isZero();

        now.set(NOW.plus(Duration.ofMinutes(5)));
        assertThat(connectAndDisconnect("flaps")).isZero();
    }

    @Test
    void disconnectsCountWithinTheWindowOnly() {
        connectAndDisconnect("slow");
        connectAndDisconnect("slow");
        nanos.addAndGet(Duration.ofSeconds(61).toNanos());
        connectAndDisconnect("slow");
        connectAndDisconnect("slow");
        ban("end"); // what was scheduled before it is done
        assertThat(bans()).extracting(Ban::who).containsExactly("end");
    }

    @Test
    void takeoversAreNotCounted() {
        try (RawClient last = takenOver("twin", 6)) {
            ban("end");
            assertThat(bans()).extracting(Ban::who).containsExactly("end");
            last.ping();
        }
    }

    private RawClient takenOver(String clientId, int times) {
        RawClient client = broker.client(ProtocolVersion.MQTT_5, clientId);
        for (int i = 0; i < times; i++) {
            RawClient next = broker.client(ProtocolVersion.MQTT_5, clientId);
            client.expectDisconnect(ReasonCode.SESSION_TAKEN_OVER);
            client.close();
            client = next;
        }
        return client;
    }

    @Test
    void anAddressWhoseLoginsAreRefusedTooOftenIsBanned() {
        refuse("198.51.100.7", ReasonCode.BAD_USER_NAME_OR_PASSWORD, 2);
        refuse("198.51.100.7", ReasonCode.SERVER_BUSY, 10);
        refuse("198.51.100.7", ReasonCode.NOT_AUTHORIZED, 2);
        await().atMost(PATIENCE).until(() -> !causes.isEmpty());

        assertThat(causes).containsExactly("refused_logins");
        assertThat(bans())
                .containsExactly(new Ban(
                        BanKind.PEERHOST,
                        "198.51.100.7",
                        "broker: refused_logins",
                        "4 refused logins within 2m",
                        NOW,
                        NOW.plus(Duration.ofHours(1))));
    }

    @Test
    void anIpv6NetworkIsBannedAsAWhole() {
        refuse("2001:db8:1:2::1", ReasonCode.BAD_USER_NAME_OR_PASSWORD, 2);
        refuse("2001:db8:1:2:ffff::9", ReasonCode.BAD_USER_NAME_OR_PASSWORD, 2);
        await().atMost(PATIENCE).until(() -> !causes.isEmpty());
        assertThat(bans())
                .extracting(Ban::as, Ban::who)
                .containsExactly(org.assertj.core.groups.Tuple.tuple(BanKind.PEERHOST_NET, "2001:db8:1:2::/64"));
    }

    @Test
    void loopbackAndExceptedNetworksAreNeverBanned() {
        refuse("127.0.0.1", ReasonCode.BAD_USER_NAME_OR_PASSWORD, 10);
        refuse("192.0.2.9", ReasonCode.BAD_USER_NAME_OR_PASSWORD, 10);
        ban("end");
        assertThat(bans()).extracting(Ban::who).containsExactly("end");
    }

    @Test
    void thereIsRoomForBansOfPeople() {
        for (int i = 0; i < BanPart.MAX_AUTOMATIC_NETWORKS + 3; i++) {
            ban(BanKind.PEERHOST_NET, "10." + i / 256 + "." + i % 256 + ".0/24");
        }
        assertThat(bans()).hasSize(BanPart.MAX_AUTOMATIC_NETWORKS);
        ban("a client identifier");
        assertThat(bans()).hasSize(BanPart.MAX_AUTOMATIC_NETWORKS + 1);
    }

    private void ban(String clientId) {
        ban(BanKind.CLIENTID, clientId);
    }

    /** Makes an automatic ban, or not, after those that are being made. */
    private void ban(BanKind as, String who) {
        part.make(new Ban(as, who, "broker: flapping", "", NOW, NOW.plusSeconds(60)), "flapping")
                .block(PATIENCE);
    }

    private void refuse(String address, ReasonCode reason, int times) {
        for (int i = 0; i < times; i++) {
            detection.connectRefused(
                    new ConnectRefusal("tcp", new InetSocketAddress(address, 1_000 + i), "c", "u", reason));
        }
    }

    private List<Ban> bans() {
        return part.objects().list().stream().map(LiveObject::value).toList();
    }

    private int connectAndDisconnect(String clientId) {
        try (RawClient client = broker.open(ProtocolVersion.MQTT_5)) {
            int code = client.send(ConnectBytes.of(clientId))
                    .expect(MqttMessageType.CONNACK)
                    .reasonCode();
            if (code == 0) {
                client.disconnect(ReasonCode.SUCCESS);
            }
            return code;
        }
    }
}
