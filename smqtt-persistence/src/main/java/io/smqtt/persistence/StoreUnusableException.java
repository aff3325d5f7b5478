// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The directory of a store cannot be read or written, for example because its disk is full or another user owns it. */
public final class StoreUnusableException extends UncheckedIOException {

    private static final long serialVersionUID = 1L;

    private StoreUnusableException(String message, IOException cause) {
        super(message, cause);
    }

    /**
     * Creates an exception with the directory, the cause and the remedy.
     *
     * @param directory the directory of the store, or a parent of it
     * @param failure the error of the system or the database
     * @return an exception to be shown as it is
     */
    public static StoreUnusableException of(Path directory, Exception failure) {
        if (failure instanceof UncheckedIOException wrapper && wrapper.getCause() != null) {
            return of(directory, wrapper.getCause());
        }
        String reason = reason(failure);
        IOException cause = failure instanceof IOException known ? known : new IOException(reason, failure);
        return new StoreUnusableException(
                "the data in " + directory + " cannot be used: " + reason + ". " + advice(reason)
                        + ", or choose another directory with --data or storage.dir.",
                cause);
    }

    private static String reason(Exception failure) {
        if (failure instanceof AccessDeniedException denied) {
            return "Permission denied: " + denied.getFile();
        }
        if (failure instanceof NotDirectoryException file) {
            return "Not a directory: " + file.getFile();
        }
        if (failure instanceof FileSystemException other && other.getReason() != null) {
            return other.getReason() + ": " + other.getFile();
        }
        @Nullable String message = failure.getMessage();
        return message == null ? failure.toString() : message;
    }

    private static String advice(String reason) {
        if (reason.contains("No space left") || reason.contains("quota exceeded")) {
            return "Make room on its disk and start again";
        }
        if (reason.contains("Permission denied") || reason.contains("not permitted")) {
            return "Let the user that runs this program read and write there";
        }
        if (reason.contains("Read-only")) {
            return "Mount its disk for writing";
        }
        return "See to that and start again";
    }
}
