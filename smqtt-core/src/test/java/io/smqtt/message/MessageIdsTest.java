// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MessageIdsTest {

    @Test
    void allEventLoopsAndRunsGiveOtherIdentifiers() {
        Set<Long> ids = new HashSet<>();
        for (int loop = 0; loop < 100; loop++) {
            MessageIds source = new MessageIds();
            for (int i = 0; i < 1_000; i++) {
                assertThat(ids.add(source.next())).isTrue();
            }
        }
        assertThat(ids).doesNotContain(ApplicationMessage.NO_ID);
    }

    @Test
    void theNumberThatMeansNoIdentifierIsPassedOver() {
        MessageIds source = new MessageIds(-2);

        assertThat(source.next()).isEqualTo(-1);
        assertThat(source.next()).isEqualTo(1);
    }
}
