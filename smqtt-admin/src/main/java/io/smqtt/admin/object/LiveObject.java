// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

import java.time.Instant;

/**
 * An object as all nodes have it, or as the configuration file of this node has it. Immutable if its value is.
 *
 * @param <T> the type of the value
 * @param id the identifier, unique in its kind
 * @param value the content
 * @param origin who made this version, for instance {@code user alice}; {@link #FILE} for an object of the configuration file
 * @param version increases with each change of the object, also when it is created again after its deletion; 0 for {@link #FILE}
 */
public record LiveObject<T>(String id, T value, String origin, long version) {

    /** The origin of objects of the configuration file, which are read-only. */
    public static final String FILE = "file";

    /**
     * Whether the object is of the configuration file.
     *
     * @return true if it cannot be changed
     */
    public boolean isReadOnly() {
        return origin.equals(FILE);
    }

    /**
     * The time of the last change, by the clock of the node that made it. Versions are milliseconds since 1970, unless a clock went back
     * or two changes were made in one millisecond; then they are a little later.
     *
     * @return the epoch for an object of the configuration file
     */
    public Instant changedAt() {
        return Instant.ofEpochMilli(version);
    }
}
