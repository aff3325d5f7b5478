// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StartThreadTest {

    @AfterEach
    void clear() {
        Thread.interrupted();
    }

    @Test
    void aStopSignalInterruptsAStartThatWaits() {
        StartThread start = new StartThread(true);
        assertThat(start.wasEnded()).isFalse();
        start.end();
        assertThat(start.wasEnded()).isTrue();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aShortStartRunsToItsEnd() {
        StartThread start = new StartThread(false);
        start.end();
        assertThat(start.wasEnded()).isFalse();
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void afterTheStartItsThreadIsNotInterrupted() {
        StartThread late = new StartThread(true);
        late.ended();
        late.end();
        assertThat(Thread.interrupted()).isFalse();

        StartThread interrupted = new StartThread(true);
        interrupted.end();
        interrupted.ended();
        assertThat(Thread.interrupted()).isFalse();
        assertThat(interrupted.wasEnded()).isTrue();
    }
}
