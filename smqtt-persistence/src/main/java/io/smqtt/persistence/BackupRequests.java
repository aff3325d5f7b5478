// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Backup requests from another process. The process writes the target to a file in the store's directory, which belongs to one user, and
 * reads the answer from another file.
 */
final class BackupRequests {

    private static final String REQUEST = "backup.request";
    private static final String ANSWER = "backup.answer";
    private static final String OK = "ok";
    private static final Duration LOOK_EVERY = Duration.ofMillis(50);

    private final Path directory;
    private final ExecutorService background;
    private final Consumer<Path> backup;
    private final AtomicBoolean working = new AtomicBoolean();

    /** Created by the process that has the store open. */
    BackupRequests(Path directory, ExecutorService background, Consumer<Path> backup) {
        this.directory = directory;
        this.background = background;
        this.backup = backup;
    }

    /** Checks for a request and answers it. */
    void look() {
        if (Files.exists(directory.resolve(REQUEST)) && working.compareAndSet(false, true)) {
            try {
                background.execute(this::serve);
            } catch (RejectedExecutionException e) {
                working.set(false); // the store is closing
            }
        }
    }

    private void serve() {
        try {
            Path target = Path.of(Files.readString(directory.resolve(REQUEST)));
            write(ANSWER, outcome(target));
            Files.delete(directory.resolve(REQUEST));
        } catch (IOException e) {
            // the requesting process times out
        } finally {
            working.set(false);
        }
    }

    private String outcome(Path target) {
        try {
            backup.accept(target);
            return OK;
        } catch (RuntimeException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private void write(String name, String text) throws IOException {
        Path fresh = directory.resolve(name + ".tmp");
        Files.writeString(fresh, text);
        Files.move(fresh, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }

    /**
     * Requests a backup from the process that has the store open, and waits for the answer.
     *
     * @param target an absolute path
     * @throws UncheckedIOException if the backup failed
     */
    void ask(Path target, Duration patience) {
        try {
            Files.deleteIfExists(directory.resolve(ANSWER));
            write(REQUEST, target.toString());
            long end = System.nanoTime() + patience.toNanos();
            while (!Files.exists(directory.resolve(ANSWER))) {
                if (System.nanoTime() > end) {
                    Files.deleteIfExists(directory.resolve(REQUEST));
                    throw new IOException("the broker does not answer");
                }
                LockSupport.parkNanos(this, LOOK_EVERY.toNanos());
            }
            String answer = Files.readString(directory.resolve(ANSWER));
            Files.deleteIfExists(directory.resolve(ANSWER));
            if (!answer.equals(OK)) {
                throw new IOException(answer);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the backup failed: " + e.getMessage(), e);
        }
    }

    /** Deletes the files of an earlier process. */
    void forgetAll() {
        try {
            Files.deleteIfExists(directory.resolve(REQUEST));
            Files.deleteIfExists(directory.resolve(ANSWER));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
