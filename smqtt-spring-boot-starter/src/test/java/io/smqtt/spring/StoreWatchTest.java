// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StoreWatchTest {

    @Test
    void aCommitThatDoesNotEndIsAStoreThatHangs() {
        AtomicLong now = new AtomicLong(7);
        StoreWatch watch = new StoreWatch(now::get);
        assertThat(watch.isHealthy()).isTrue();

        watch.storeWorking(true);
        now.addAndGet(Duration.ofSeconds(9).toNanos());
        assertThat(watch.isHealthy()).isTrue();
        now.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(watch.isHealthy()).isFalse();

        watch.storeWorking(false);
        assertThat(watch.isHealthy()).isTrue();
    }
}
