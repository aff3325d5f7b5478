// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Where a broker is that comes and goes. Safe for use by several threads. */
final class Whereabouts {

    private static final long PATIENCE_MILLIS = 100;

    private @Nullable InetSocketAddress address;

    /** Says where it is, or with null that it is gone. */
    synchronized void set(@Nullable InetSocketAddress value) {
        address = value;
        notifyAll();
    }

    /** Where it is; waits a moment if it is gone, and returns null if it does not come back in that time. */
    synchronized @Nullable InetSocketAddress find() {
        if (address == null) {
            try {
                wait(PATIENCE_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
        return address;
    }
}
