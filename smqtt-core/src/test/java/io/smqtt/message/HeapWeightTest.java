// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

/** Weights against the layout of a 64-bit JVM with compressed pointers. What is measured stands in docs/tuning.md. */
final class HeapWeightTest {

    @Test
    void aRetainedMessageCountsItsObjectsAndBothFormsOfItsTopic() {
        ApplicationMessage small = ApplicationMessage.builder("r/0000001/status")
                .payload("12345678")
                .build();
        // place 40, message 64, topic 24 + 24 + 32 + 32, payload 16 + 24
        assertThat(HeapWeight.retained(small)).isEqualTo(256);
        ApplicationMessage large =
                ApplicationMessage.builder("a").payload("x".repeat(10_000)).build();
        assertThat(HeapWeight.retained(large)).isBetween(10_150, 10_300);
        assertThat(HeapWeight.retained(null)).isZero();
    }

    @Test
    void userPropertiesCount() {
        ApplicationMessage bare = ApplicationMessage.builder("a").payload("b").build();
        ApplicationMessage withProperty = ApplicationMessage.builder("a")
                .payload("b")
                .properties(PublishProperties.builder()
                        .userProperty("k".repeat(1_000), "v".repeat(1_000))
                        .build())
                .build();
        assertThat(HeapWeight.will(new Will(withProperty, 0)) - HeapWeight.will(new Will(bare, 0)))
                .isBetween(2_000, 2_060);
        assertThat(HeapWeight.will(null)).isZero();
    }

    @Test
    void textsBeyondLatinCountTwice() {
        Set<String> none = Set.of();
        int latin = HeapWeight.session("x".repeat(1_000), null, none, false);
        int wide = HeapWeight.session("\u4e2d".repeat(1_000), null, none, false);
        assertThat(wide - latin).isEqualTo(1_000);
        assertThat(HeapWeight.session("x", "user", Set.of("role"), true))
                .isGreaterThan(HeapWeight.session("x", "user", none, true))
                .isGreaterThan(HeapWeight.session("x", "user", Set.of("role"), false));
    }

    @Test
    void filtersOfManyLongLevelsCountWhatTheIndexKeepsOfThem() {
        int flat = HeapWeight.subscription("x".repeat(3_900), null);
        int deep = HeapWeight.subscription(("x".repeat(38) + '/').repeat(100) + '+', null);
        assertThat(flat).isBetween(3_900, 4_200);
        assertThat(deep).isBetween(80_000, 120_000);
        assertThat(HeapWeight.subscription("a/b", "g".repeat(3_000))).isGreaterThan(6_000);
    }
}
