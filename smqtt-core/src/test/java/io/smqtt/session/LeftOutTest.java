// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LeftOutTest {

    private final LeftOut sessions = new LeftOut();

    @Test
    void claimsThatAreRefusedTakeNoRoom() {
        for (int i = 1; i <= 100; i++) {
            sessions.add("c" + i, i);
        }
        int capacity = sessions.capacity();

        for (int i = 0; i < 10_000; i++) {
            String clientId = "c" + (i % 100 + 1);
            long number = sessions.begin(clientId, () -> {});
            assertThat(number).isEqualTo(i % 100 + 1);
            sessions.end(clientId, number, true);
        }

        assertThat(sessions.capacity()).isEqualTo(capacity);
    }

    @Test
    void whatIsClaimedIsGoneAndOthersAreFound() {
        for (int i = 1; i <= 1_000; i++) {
            sessions.add("c" + i, i);
        }
        for (int i = 1; i <= 1_000; i += 2) {
            sessions.end("c" + i, sessions.begin("c" + i, () -> {}), false);
        }
        for (int i = 1_001; i <= 1_500; i++) {
            sessions.add("c" + i, i);
        }

        assertThat(sessions.begin("c1", () -> {})).isEqualTo(LeftOut.NONE);
        for (int i = 2; i <= 1_000; i += 2) {
            assertThat(sessions.begin("c" + i, () -> {})).isEqualTo(i);
        }
        assertThat(sessions.begin("c1500", () -> {})).isEqualTo(1_500);
    }
}
