// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Silence of another broker means an empty session only if this one is not the reason. */
class SessionDrainTest {

    private final EventLoop loop = new DefaultEventLoop();
    private final CompletableFuture<Boolean> empty = new CompletableFuture<>();
    private final AtomicBoolean reads = new AtomicBoolean(true);
    private final SessionDrain drain = new SessionDrain(20, reads::get, empty::complete);

    @AfterEach
    void stop() {
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    }

    private void begin(Runnable arrivals) {
        loop.execute(() -> {
            drain.begin(loop);
            arrivals.run();
        });
    }

    @Test
    void aSessionFromWhichNothingComesIsEmpty() {
        begin(() -> {
            drain.arrived(0);
            drain.arrived(2);
            drain.answered();
        });

        assertThat(empty.join()).isTrue();
    }

    @Test
    void aMessageThatIsNotStoredHereYetKeepsTheSession() {
        begin(() -> drain.arrived(1));

        assertThat(empty.join()).isFalse();
    }

    @Test
    void aBrokerThatDoesNotReadKeepsTheSession() {
        reads.set(false);
        begin(() -> {});

        assertThat(empty.join()).isFalse();
    }
}
