// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import org.rocksdb.AbstractEventListener;
import org.rocksdb.BackgroundErrorReason;
import org.rocksdb.Status;

/**
 * Disables the library's own recovery from write errors. {@link Store} reopens the database instead. The library would retry every five
 * seconds, and closing the database waits for the scheduled attempt.
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
