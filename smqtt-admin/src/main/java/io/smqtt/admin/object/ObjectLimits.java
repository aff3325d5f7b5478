// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

/**
 * The limits of a kind of objects. The node that makes a change checks them; a change of another node is never refused.
 *
 * @param count maximum number of objects, and of remembered deletions
 * @param objectBytes maximum bytes of one object as JSON
 * @param bytes maximum bytes of all objects as JSON
 */
public record ObjectLimits(int count, int objectBytes, long bytes) {

    /** Limits for objects that people make: 1,000 of at most 16 KiB, together 4 MiB. */
    public static final ObjectLimits FEW = new ObjectLimits(1_000, 16 << 10, 4 << 20);
}
