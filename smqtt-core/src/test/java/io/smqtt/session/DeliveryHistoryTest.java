// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.concurrent.ImmediateEventExecutor;
import io.smqtt.config.SharedStrategy;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.SubscriptionIndex;
import io.smqtt.spi.BrokerObserver;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeliveryHistoryTest {

    private static final int BLOCKS = 10;

    private final RoutingLoop loop = new Router(
                    List.of(ImmediateEventExecutor.INSTANCE),
                    new SubscriptionIndex(SharedStrategy.ROUND_ROBIN),
                    new RetainedMessages(10, 1_000),
                    new BrokerObserver() {})
            .loops()
            .get(0);
    private final long key = TakenMessages.newKey();
    private long nowNanos = -5;
    private final DeliveryHistory history =
            new DeliveryHistory(() -> nowNanos, BLOCKS * 2L * TakenMessages.CAPACITY * Long.BYTES);
    private int last;

    DeliveryHistoryTest() {
        history.begin(1);
    }

    @Test
    void theLatestAreKnown() {
        took(5 * TakenMessages.CAPACITY);

        assertThat(known(last - TakenMessages.CAPACITY, last)).isEqualTo(TakenMessages.CAPACITY);
        assertThat(history.knows(key, 1)).isFalse();
    }

    @Test
    void moreAreKnownWhileANodeIsAway() {
        history.nodeAway(true);
        took(9 * TakenMessages.CAPACITY);

        assertThat(known(0, last)).isEqualTo(last);
    }

    @Test
    void theNumberIsLimitedByTheHeap() {
        history.nodeAway(true);
        took(30 * TakenMessages.CAPACITY);

        assertThat(known(0, last - BLOCKS * TakenMessages.CAPACITY)).isZero();
        assertThat(known(last - (BLOCKS - 1) * TakenMessages.CAPACITY, last))
                .isEqualTo((BLOCKS - 1) * TakenMessages.CAPACITY);
    }

    @Test
    void theyAreKnownForAWhileAfterItsReturn() {
        history.nodeAway(true);
        took(5 * TakenMessages.CAPACITY);
        history.nodeAway(false);
        pass(Duration.ofMinutes(DeliveryHistory.AFTER_RETURN_MINUTES));
        took(TakenMessages.CAPACITY);
        assertThat(known(0, TakenMessages.CAPACITY)).isEqualTo(TakenMessages.CAPACITY);

        pass(Duration.ofSeconds(1));
        took(TakenMessages.CAPACITY);

        assertThat(known(0, TakenMessages.CAPACITY)).isZero();
    }

    @Test
    void aNodeThatGoesAgainKeepsThem() {
        history.nodeAway(true);
        took(5 * TakenMessages.CAPACITY);
        history.nodeAway(false);
        pass(Duration.ofMinutes(1));
        history.nodeAway(true);
        pass(Duration.ofHours(1));
        took(TakenMessages.CAPACITY);

        assertThat(known(0, TakenMessages.CAPACITY)).isEqualTo(TakenMessages.CAPACITY);
    }

    private void pass(Duration duration) {
        boolean away = history.isNodeAway();
        nowNanos += duration.toNanos();
        history.nodeAway(away);
    }

    private void took(int count) {
        for (int i = 0; i < count; i++) {
            history.took(loop, key, ++last);
        }
    }

    /** The number of known deliveries after one, up to another one. */
    private int known(int after, int upTo) {
        int known = 0;
        for (int id = after + 1; id <= upTo; id++) {
            known += history.knows(key, id) ? 1 : 0;
        }
        return known;
    }
}
