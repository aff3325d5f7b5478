// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SilenceTest {

    private final Silence silence = new Silence();

    private boolean isOver(int checks) {
        for (int i = 0; i < checks; i++) {
            silence.checked();
        }
        return silence.isLongerThan(3);
    }

    @Test
    void checksWithoutBytesCount() {
        assertThat(isOver(3)).isFalse();
        silence.heard();
        assertThat(isOver(3)).isFalse();
        assertThat(isOver(1)).isTrue();
    }

    @Test
    void processingIsNotSilence() {
        silence.processing();
        assertThat(isOver(100_000)).isFalse();
        silence.heard();
        assertThat(isOver(3)).isFalse();
        assertThat(isOver(1)).isTrue();
    }
}
