// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SettledTagsTest {

    private final SettledTags tags = new SettledTags();

    @Test
    void tagsAreAcknowledgedUpToTheFirstThatIsOpen() {
        for (long tag = 1; tag <= 5; tag++) {
            tags.add(tag);
        }
        tags.stored(2);
        tags.stored(3);
        assertThat(tags.take()).isZero();
        tags.stored(1);
        assertThat(tags.take()).isEqualTo(3);
        assertThat(tags.take()).isZero();
        assertThat(tags.open()).isEqualTo(2);
    }

    @Test
    void rejectedMessagesAreNotAcknowledged() {
        tags.add(1);
        tags.add(2);
        tags.stored(1);
        tags.rejected(2);
        assertThat(tags.take()).isEqualTo(1);
        tags.add(3);
        tags.rejected(3);
        assertThat(tags.take()).isZero();
        assertThat(tags.open()).isZero();
    }

    @Test
    void atTheEndAllStoredMessagesAreAcknowledged() {
        for (long tag = 1; tag <= 5; tag++) {
            tags.add(tag);
        }
        tags.stored(2);
        tags.rejected(3);
        tags.stored(5);
        assertThat(tags.allStored()).containsExactly(2L, 5L);
        assertThat(tags.allStored()).isEmpty();
        assertThat(tags.open()).isEqualTo(2);
    }
}
