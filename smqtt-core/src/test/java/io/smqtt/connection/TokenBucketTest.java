// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TokenBucketTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private static TokenBucket bucket(long perSecond, long burst, long now) {
        TokenBucket bucket = TokenBucket.of(perSecond, burst, now);
        if (bucket == null) {
            throw new AssertionError("no limit");
        }
        return bucket;
    }

    @Test
    void noRateIsNoBucket() {
        assertThat(TokenBucket.of(0, 10, 0)).isNull();
    }

    @Test
    void aSecondsWorthIsThereAtOnce() {
        TokenBucket bucket = bucket(10, 0, 5);
        assertThat(bucket.isFull(5)).isTrue();
        assertThat(bucket.spend(10, 5)).isZero();
        assertThat(bucket.isFull(5)).isFalse();
        assertThat(bucket.spend(5, 5)).isEqualTo(SECOND / 2);
        assertThat(bucket.owedNanos(5 + SECOND / 4)).isEqualTo(SECOND / 4);
        assertThat(bucket.owedNanos(5 + SECOND)).isZero();
    }

    @Test
    void thoseWhoSpendMoreThanThereIsWaitOneBehindTheOther() {
        TokenBucket bucket = bucket(10, 10, 0);
        bucket.spend(10, 0);
        assertThat(bucket.spend(10, 0)).isEqualTo(SECOND);
        assertThat(bucket.spend(10, 0)).isEqualTo(2 * SECOND);
        assertThat(bucket.spend(10, SECOND)).isEqualTo(2 * SECOND);
    }

    @Test
    void whatIsThereCanBeSpentWithoutADebtAndGivenBack() {
        TokenBucket bucket = bucket(10, 2, 0);
        assertThat(bucket.spendOneOfStock(0)).isTrue();
        assertThat(bucket.spendOneOfStock(0)).isTrue();
        assertThat(bucket.spendOneOfStock(0)).isFalse();
        assertThat(bucket.owedNanos(0)).isZero();
        bucket.returnOne();
        assertThat(bucket.spendOneOfStock(0)).isTrue();
        assertThat(bucket.spend(1, 0)).isEqualTo(SECOND / 10);
        assertThat(bucket.spendOneOfStock(SECOND / 10)).isFalse();
        assertThat(bucket.spendOneOfStock(SECOND / 5)).isTrue();
    }

    @Test
    void aPauseGivesNoMoreThanTheBurst() {
        TokenBucket bucket = bucket(10, 20, 0);
        bucket.spend(20, 0);
        assertThat(bucket.isFull(SECOND)).isFalse();
        assertThat(bucket.isFull(2 * SECOND)).isTrue();
        assertThat(bucket.spend(20, 1_000 * SECOND)).isZero();
        assertThat(bucket.spend(1, 1_000 * SECOND)).isEqualTo(SECOND / 10);
    }

    @Test
    void theClockMayBeNegativeAndOverflow() {
        TokenBucket bucket = bucket(1, 1, Long.MAX_VALUE - SECOND / 2);
        assertThat(bucket.spend(1, Long.MAX_VALUE - SECOND / 2)).isZero();
        assertThat(bucket.spend(1, Long.MIN_VALUE + SECOND / 2 - 1)).isZero();
        assertThat(bucket.spend(1, Long.MIN_VALUE + SECOND / 2 - 1)).isEqualTo(SECOND);
    }

    @Test
    void theHighestRatesAndLargestCountsFit() {
        TokenBucket bucket = bucket(1L << 40, 0, 0);
        assertThat(bucket.spend(1L << 40, 0)).isZero();
        assertThat(bucket(1, 1, 0).spend(1L << 30, 0)).isEqualTo(((1L << 30) - 1) * SECOND);
    }

    @Test
    void aBurstBelowTwoTicksIsRaised() {
        TokenBucket bucket = bucket(1_000, 1, 0);
        assertThat(bucket.spend(200, 0)).isZero();
        assertThat(bucket.spend(1, 0)).isEqualTo(SECOND / 1_000);
    }
}
