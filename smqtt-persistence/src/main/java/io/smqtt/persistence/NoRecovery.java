// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import org.rocksdb.AbstractEventListener;
import org.rocksdb.BackgroundErrorReason;
import org.rocksdb.Status;

/**
 * Keeps the library from trying to get over a write error by itself. {@link Store} does that, by opening the database
 * again; the library's own attempts come every five seconds, and closing the database waits for the one that is planned.
 */
final class NoRecovery extends AbstractEventListener {

    NoRecovery() {
        super(EnabledEventCallback.ON_ERROR_RECOVERY_BEGIN);
    }

    /** Called by a thread of the library. */
    @Override
    public boolean onErrorRecoveryBegin(BackgroundErrorReason reason, Status backgroundError) {
        return false;
    }
}
