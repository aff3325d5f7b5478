// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static io.smqtt.connection.ConnectionBench.publish;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessage;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.UserLimitsConfig;
import io.smqtt.spi.TrafficCounts;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RateLimitsTest {

    private final ConnectionBench bench = new ConnectionBench();
    private long nanos;
    private int nextClient;

    @AfterEach
    void close() {
        bench.close();
    }

    private static LimitsConfig ofUser(int messages) {
        UserLimitsConfig user =
                UserLimitsConfig.defaults().toBuilder().maxPublishRate(messages).build();
        return LimitsConfig.builder().user(user).build();
    }

    private static BrokerConfig config(LimitsConfig limits, ListenerConfig listener) {
        return BrokerConfig.builder()
                .limits(limits)
                .listeners(Map.of("tcp", listener))
                .build();
    }

    private RateLimits limits(LimitsConfig limits) {
        return new RateLimits(config(limits, ListenerConfig.tcp(0)), () -> nanos);
    }

    private ClientRates rates(RateLimits limits, @Nullable String user) {
        ClientRates rates = limits.of("tcp", "c" + nextClient++, user);
        if (rates == null) {
            throw new AssertionError("no limit");
        }
        return rates;
    }

    private long spend(ClientRates rates, int messages) {
        return TimeUnit.NANOSECONDS.toMillis(rates.spend(messages, 0, nanos, new TrafficCounts()));
    }

    @Test
    void nothingConfiguredLimitsNothing() {
        assertThat(limits(LimitsConfig.defaults()).of("tcp", "c", "u")).isNull();
    }

    @Test
    void clientsWithoutAUserNameAreNotLimitedByThoseOfUsers() {
        assertThat(limits(ofUser(10)).of("tcp", "c", null)).isNull();
    }

    @Test
    void connectionsOfAUserShareItsRate() {
        RateLimits limits = limits(ofUser(10));
        ClientRates first = rates(limits, "u");
        ClientRates second = rates(limits, "u");
        ClientRates other = rates(limits, "v");
        assertThat(spend(first, 10)).isZero();
        assertThat(spend(second, 10)).isEqualTo(1_000);
        assertThat(spend(first, 10)).isEqualTo(2_000);
        assertThat(spend(other, 10)).isZero();
    }

    @Test
    void aUserWhoReconnectsOwesWhatItOwed() {
        RateLimits limits = limits(ofUser(10));
        ClientRates before = rates(limits, "u");
        spend(before, 20);
        before.close(nanos);
        ClientRates after = rates(limits, "u");
        assertThat(spend(after, 1)).isEqualTo(1_100);
        after.close(nanos);
        limits.removeIdle();
        assertThat(limits.rememberedCount()).isEqualTo(1);
        nanos += TimeUnit.SECONDS.toNanos(4);
        limits.removeIdle();
        assertThat(limits.rememberedCount()).isZero();
    }

    @Test
    void manyConnectedUsersDoNotMakeTheBrokerForgetWhatOneOwes() {
        RateLimits limits = limits(ofUser(10));
        for (int i = 0; i < SharedBuckets.MAX_IDLE; i++) {
            rates(limits, "connected-" + i);
        }
        ClientRates before = rates(limits, "u");
        spend(before, 20);
        before.close(nanos);
        assertThat(spend(rates(limits, "u"), 1)).isEqualTo(1_100);
    }

    @Test
    void noMoreUsersWithoutConnectionsAreRememberedThanTheLimit() {
        RateLimits limits = limits(ofUser(10));
        for (int i = 0; i <= SharedBuckets.MAX_IDLE; i++) {
            ClientRates gone = rates(limits, "gone-" + i);
            spend(gone, 20);
            gone.close(nanos);
        }
        assertThat(limits.rememberedCount()).isEqualTo(SharedBuckets.MAX_IDLE);
        nanos += TimeUnit.SECONDS.toNanos(4);
        limits.removeIdle();
        assertThat(limits.rememberedCount()).isZero();
    }

    @Test
    void aUserWhoOwesNothingIsForgottenWithItsLastConnection() {
        RateLimits limits = limits(ofUser(10));
        ClientRates first = rates(limits, "u");
        ClientRates second = rates(limits, "u");
        first.close(nanos);
        limits.removeIdle();
        assertThat(limits.rememberedCount()).isEqualTo(1);
        second.close(nanos);
        assertThat(limits.rememberedCount()).isZero();
    }

    @Test
    void aClientThatReconnectsHasNoBurstOfItsOwnAgain() {
        RateLimits limits = limits(LimitsConfig.builder().maxPublishRate(10).build());
        ClientRates before = client(limits, "a");
        assertThat(spend(before, 10)).isZero();
        before.close(nanos);
        ClientRates after = client(limits, "a");
        assertThat(spend(after, 10)).isEqualTo(1_000);
        ClientRates taker = client(limits, "a"); // before the end of the connection that it takes over
        after.close(nanos);
        assertThat(spend(taker, 10)).isEqualTo(2_000);
        assertThat(spend(client(limits, "b"), 10)).isZero();
        taker.close(nanos);
        nanos += TimeUnit.SECONDS.toNanos(3);
        limits.removeIdle();
        assertThat(limits.rememberedCount()).isEqualTo(1); // b is connected
        assertThat(spend(client(limits, "a"), 10)).isZero();
    }

    @Test
    void clientsThatSendMuchAndLeaveDelayOthersOfTheListenerByFiveSecondsAtMost() {
        RateLimits limits = new RateLimits(
                config(
                        LimitsConfig.defaults(),
                        ListenerConfig.tcp(0).toBuilder().maxPublishRate(10).build()),
                () -> nanos);
        for (int i = 0; i < 100; i++) {
            ClientRates flood = client(limits, "flood" + i);
            spend(flood, 1_000);
            flood.close(nanos);
        }
        assertThat(spend(client(limits, "other"), 1)).isEqualTo(5_100);
    }

    @Test
    void whoHasPaidTakesNothingBack() {
        RateLimits limits = new RateLimits(
                config(
                        LimitsConfig.defaults(),
                        ListenerConfig.tcp(0).toBuilder().maxPublishRate(10).build()),
                () -> nanos);
        ClientRates first = client(limits, "first");
        assertThat(spend(first, 30)).isEqualTo(2_000);
        ClientRates second = client(limits, "second");
        assertThat(spend(second, 200)).isEqualTo(22_000);
        nanos += TimeUnit.SECONDS.toNanos(2);
        first.close(nanos);
        assertThat(spend(client(limits, "third"), 1)).isEqualTo(20_100);
        second.close(nanos); // leaves five seconds
        assertThat(spend(client(limits, "fourth"), 1)).isEqualTo(5_100);
    }

    private ClientRates client(RateLimits limits, String clientId) {
        ClientRates rates = limits.of("tcp", clientId, null);
        if (rates == null) {
            throw new AssertionError("no limit");
        }
        return rates;
    }

    @Test
    void theLongestDelayCounts() {
        UserLimitsConfig user =
                UserLimitsConfig.defaults().toBuilder().maxPublishRate(20).build();
        RateLimits limits = new RateLimits(
                config(
                        LimitsConfig.builder().maxPublishRate(5).user(user).build(),
                        ListenerConfig.tcp(0).toBuilder().maxPublishRate(100).build()),
                () -> nanos);
        TrafficCounts counts = new TrafficCounts();
        ClientRates first = rates(limits, "u");
        ClientRates second = rates(limits, "u");
        assertThat(first.spend(10, 0, nanos, counts)).isEqualTo(TimeUnit.SECONDS.toNanos(1));
        assertThat(counts.postponedReads(TrafficCounts.Limit.CLIENT)).isEqualTo(1);
        second.spend(5, 0, nanos, counts);
        nanos += TimeUnit.SECONDS.toNanos(1);
        for (int i = 0; i < 30; i++) {
            rates(limits, "u").spend(5, 0, nanos, counts);
        }
        assertThat(counts.postponedReads(TrafficCounts.Limit.USER)).isPositive();
        rates(limits, null).spend(5, 0, nanos, counts);
        assertThat(counts.postponedReads(TrafficCounts.Limit.LISTENER)).isEqualTo(1);
    }

    @Test
    void aMessageThatOneBucketDoesNotHoldIsNotTakenFromTheOthers() {
        UserLimitsConfig user =
                UserLimitsConfig.defaults().toBuilder().maxPublishRate(20).build();
        LimitsConfig dropping = LimitsConfig.builder()
                .maxPublishRate(30)
                .user(user)
                .overRate(LimitsConfig.OverRate.DROP)
                .build();
        RateLimits limits = new RateLimits(
                config(
                        dropping,
                        ListenerConfig.tcp(0).toBuilder().maxPublishRate(10).build()),
                () -> nanos);
        ClientRates rates = rates(limits, "u");
        assertThat(rates.drops()).isTrue();
        int taken = 0;
        for (int i = 0; i < 100; i++) {
            taken += rates.spendMessageOfStock(nanos) ? 1 : 0;
        }
        assertThat(taken).isEqualTo(10);
        TrafficCounts counts = new TrafficCounts();
        assertThat(rates.spend(20, 0, nanos, counts))
                .isEqualTo(TimeUnit.SECONDS.toNanos(2)); // the listener's debt alone
        assertThat(counts.postponedReads(TrafficCounts.Limit.LISTENER)).isEqualTo(1);
    }

    // --- connections

    private void open(LimitsConfig limits, ListenerConfig listener) {
        bench.config = config(limits, listener);
        bench.listener = listener;
        bench.open().connected();
    }

    private static MqttMessage[] flood(int count, String payload) {
        MqttMessage[] flood = new MqttMessage[count];
        Arrays.setAll(flood, i -> publish("t", payload, 0, 0));
        return flood;
    }

    /** The seconds until the next read, at most 60. */
    private int secondsToRead(MqttMessage... flood) {
        int reads = bench.wire.reads;
        bench.send(flood);
        int seconds = 0;
        while (bench.wire.reads == reads && seconds < 60) {
            bench.pass(Duration.ofSeconds(1));
            seconds++;
        }
        assertThat(bench.channel.isOpen()).isTrue();
        return seconds;
    }

    @Test
    void bytesOfAClientAreHeldToTheirRateFromTheFirstPacketOn() {
        open(LimitsConfig.builder().maxBytesRate(1_000).build(), ListenerConfig.tcp(0));
        assertThat(secondsToRead(flood(40, "x".repeat(95)))).isBetween(3, 4); // 40 times 101 bytes
        assertThat(bench.loop.traffic().postponedReads(TrafficCounts.Limit.CLIENT))
                .isEqualTo(1);
        assertThat(secondsToRead(flood(1, "x"))).isZero();
    }

    @Test
    void aBurstIsReadAtOnce() {
        open(LimitsConfig.builder().maxPublishRate(10).maxPublishBurst(300).build(), ListenerConfig.tcp(0));
        assertThat(secondsToRead(flood(300, "x"))).isZero();
        assertThat(secondsToRead(flood(20, "x"))).isBetween(2, 3);
    }

    @Test
    void aListenerIsHeldToItsRate() {
        open(
                LimitsConfig.defaults(),
                ListenerConfig.tcp(0).toBuilder().maxPublishRate(10).build());
        assertThat(secondsToRead(flood(40, "x"))).isBetween(3, 4);
        assertThat(bench.loop.traffic().postponedReads(TrafficCounts.Limit.LISTENER))
                .isEqualTo(1);
    }

    @Test
    void messagesOverTheRateAreDroppedAtQos0WhereThatIsConfigured() {
        LimitsConfig dropping = LimitsConfig.builder()
                .maxPublishRate(10)
                .overRate(LimitsConfig.OverRate.DROP)
                .build();
        open(dropping, ListenerConfig.tcp(0));
        bench.send(ConnectionBench.subscribe("t", 0, 1));
        bench.received();
        assertThat(secondsToRead(flood(50, "x"))).isZero();
        assertThat(bench.answers()).hasSize(10).allMatch(List.of("PUBLISH t x")::contains);
        assertThat(Collections.frequency(bench.events, "message refused QUOTA_EXCEEDED"))
                .isEqualTo(40);

        MqttMessage[] acknowledged = new MqttMessage[20];
        Arrays.setAll(acknowledged, i -> publish("u", "x", 1, i + 1));
        assertThat(secondsToRead(acknowledged)).isBetween(2, 3);
        assertThat(bench.answers()).hasSize(20).allMatch(answer -> answer.startsWith("PUBACK"));
        assertThat(Collections.frequency(bench.events, "message refused QUOTA_EXCEEDED"))
                .isEqualTo(40);
    }

    @Test
    void nothingIsDropped() {
        open(ofUser(10), ListenerConfig.tcp(0));
        bench.send(ConnectionBench.subscribe("t", 0, 1));
        bench.received();
        bench.send(flood(50, "x"));
        assertThat(bench.answers()).hasSize(50).allMatch(List.of("PUBLISH t x")::contains);
    }
}
