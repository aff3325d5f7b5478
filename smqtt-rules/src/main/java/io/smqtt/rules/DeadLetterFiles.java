// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.rules.sink.file.RotatingFile;
import io.smqtt.thread.AnyThread;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The files of dead letters of all rules: one writer for each file, also if several rules have the same one. */
@AnyThread
final class DeadLetterFiles {

    private static final long MOST_BYTES = 64L << 20;
    private static final int FORMER_FILES = 5;

    private final Map<Path, Shared> open = new HashMap<>(); // guarded by this

    /** A file, and how many rules write it. */
    private static final class Shared {

        private final RotatingFile file;
        private int users;

        Shared(RotatingFile file) {
            this.file = file;
        }
    }

    /** The file of one rule. */
    final class Writer implements AutoCloseable {

        private final Path path;
        private final RotatingFile file;
        private boolean closed; // guarded by file

        private Writer(Path path, RotatingFile file) {
            this.path = path;
            this.file = file;
        }

        /** Appends a line, unless the rule has ended. Blocks. */
        void append(byte[] line) throws IOException {
            synchronized (file) {
                if (closed) {
                    throw new ClosedChannelException();
                }
                file.append(line);
            }
        }

        @Override
        public void close() {
            synchronized (file) {
                if (closed) {
                    return;
                }
                closed = true;
            }
            release(path);
        }
    }

    private synchronized void release(Path path) {
        Shared shared = open.get(path);
        if (shared != null && --shared.users == 0) {
            open.remove(path);
            shared.file.close();
        }
    }

    /** The file at a path, for a rule that closes it. */
    synchronized Writer open(Path path) {
        Path same = WrittenFiles.same(path);
        Shared shared = open.computeIfAbsent(
                same, made -> new Shared(new RotatingFile(path, MOST_BYTES, FORMER_FILES, false, true)));
        shared.users++;
        return new Writer(same, shared.file);
    }
}
