// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.hash;

import io.smqtt.thread.AnyThread;

/** The hash of a password as a backend has stored it. Its cost is limited. Immutable. */
@AnyThread
interface StoredHash {

    /** The maximum length of a stored hash, and of its salt, in characters. */
    int MAXIMUM_CHARS = 4_096;

    /**
     * Computes the hash of a password and compares in constant time.
     *
     * @param password the password, without U+0000
     * @return whether it is the one
     * @throws java.util.concurrent.CancellationException if the thread is interrupted, because nobody waits for the result
     */
    boolean matches(byte[] password);
}
