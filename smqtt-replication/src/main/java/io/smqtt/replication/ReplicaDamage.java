// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.persistence.StoreUnusableException;
import io.smqtt.spi.StoreDamagedException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** Creates errors that name the directory of a damaged replica, the entry, and the remedy. */
final class ReplicaDamage {

    private static final String ADVICE = ". Nothing of it was applied. If the other nodes with replicas are running,"
            + " remove this directory and start again: they rebuild it. Otherwise restore a backup.";

    private ReplicaDamage() {}

    /**
     * Creates an error.
     *
     * @param directory the directory of the group, or of its log
     * @param what the damage
     * @param cause its cause, or null
     */
    static StoreDamagedException of(Path directory, String what, @Nullable Throwable cause) {
        Path above = directory.getParent();
        Path replica = directory.endsWith("log") && above != null ? above : directory; // log and rows go together
        return new StoreDamagedException("the replica in " + replica + " is damaged: " + what + ADVICE, cause);
    }

    /** Creates an error for one entry. */
    static StoreDamagedException of(Path directory, long index, @Nullable String what, @Nullable Throwable cause) {
        return of(directory, "entry " + index + ": " + what, cause);
    }

    /** Converts a failure: damage to its own exception, others, for example a full disk, with the text of the library. */
    static RuntimeException of(Path directory, RocksDBException failure) {
        return isDamage(failure)
                ? of(directory, String.valueOf(failure.getMessage()), failure)
                : StoreUnusableException.of(directory, failure);
    }

    private static boolean isDamage(RocksDBException failure) {
        Status status = failure.getStatus();
        if (status == null) {
            return false;
        }
        String message = String.valueOf(failure.getMessage());
        return switch (status.getCode()) {
            case Corruption, NotFound, NotSupported, InvalidArgument -> true;
            case IOError -> message.contains("No such file") || message.contains("too short");
            default -> false;
        };
    }
}
