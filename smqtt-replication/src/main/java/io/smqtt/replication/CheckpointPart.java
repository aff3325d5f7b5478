// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A file of a checkpoint.
 *
 * @param name its name below the directory of the checkpoint, with at most one directory in front of it, and {@code /} between them
 * @param bytes its size
 */
record CheckpointPart(String name, long bytes) {

    private static final String FILE = "[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}";
    private static final Pattern NAME = Pattern.compile("(" + FILE + "/)?" + FILE);

    /**
     * Checks a part, which may come from another node: its name must not lead out of a directory.
     *
     * @throws MalformedBytesException if it may
     */
    CheckpointPart {
        if (!NAME.matcher(name).matches()) {
            throw new MalformedBytesException("the name of a file of a checkpoint");
        }
        if (bytes < 0) {
            throw new MalformedBytesException("a file of a checkpoint with " + bytes + " bytes");
        }
    }

    /**
     * The bytes of several parts.
     *
     * @throws MalformedBytesException if they are too many for a number
     */
    static long sum(List<CheckpointPart> parts) {
        long sum = 0;
        for (CheckpointPart part : parts) {
            sum += part.bytes();
            if (sum < 0) {
                throw new MalformedBytesException("the bytes of a checkpoint");
            }
        }
        return sum;
    }
}
