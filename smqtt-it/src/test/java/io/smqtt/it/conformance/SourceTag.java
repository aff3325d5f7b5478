// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.conformance;

/**
 * A tag found in a Java source.
 *
 * @param tag what stands between the brackets
 * @param place file and line, for messages
 * @param test the test it stands in or on as {@code Class.method}; empty if it is not part of a test
 */
record SourceTag(String tag, String place, String test) {

    /** Whether it says that a test proves the statement. */
    boolean isProof() {
        return !test.isEmpty();
    }
}
