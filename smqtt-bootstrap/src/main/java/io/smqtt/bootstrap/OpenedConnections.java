// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.spi.LifecycleObserver;
import java.util.concurrent.atomic.LongAdder;

/** Counts transport connections, for {@link HeapWatch}. */
final class OpenedConnections implements LifecycleObserver {

    private final LongAdder count = new LongAdder();

    @Override
    public void connectionOpened(String listener) {
        count.increment();
    }

    /** {@return connections that were accepted since the start} */
    long count() {
        return count.sum();
    }
}
