// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.net.SocketTimeoutException;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * Connects again when the answer to a WebSocket upgrade has not come in time.
 *
 * <p>Eclipse Paho Java waits one second for it and has no option for that. A broker whose first WebSocket connection begins while
 * a dozen others do, on a machine with other work, may need longer. Nothing of MQTT was sent by then.
 */
final class PatientUpgrade {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

    private PatientUpgrade() {}

    /** Makes the call, and repeats it for up to 20 s while reads of its socket time out. */
    static <T> T of(Callable<T> connect) throws Exception {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (true) {
            try {
                return connect.call();
            } catch (Exception e) {
                if (!(e.getCause() instanceof SocketTimeoutException) || System.nanoTime() - deadline > 0) {
                    throw e;
                }
            }
        }
    }
}
