// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

/**
 * A 64-bit hash of a row, the same on every node. The hash of all rows is the exclusive or of their hashes, so it does not depend on their
 * order and can be updated with each change.
 */
final class RouteHash {

    private static final long PRIME = 0x9E3779B97F4A7C15L;

    private RouteHash() {}

    static long of(String filter, int weight) {
        long hash = mix(filter.length() + PRIME * weight);
        for (int i = 0; i < filter.length(); i++) {
            hash = (hash ^ filter.charAt(i)) * 0x100000001B3L;
            hash ^= hash >>> 29;
        }
        return mix(hash);
    }

    private static long mix(long value) {
        long hash = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        hash = (hash ^ hash >>> 27) * 0x94D049BB133111EBL;
        return hash ^ hash >>> 31;
    }
}
