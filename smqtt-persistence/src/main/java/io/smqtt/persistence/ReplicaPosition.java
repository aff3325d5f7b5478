// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;

/**
 * The part of a log that the rows of a replica have. It is one row, written with each batch.
 *
 * @param entry the index of the last entry that was applied, 0 if there was none
 * @param reign the index of the entry with which the current reign began: that of the node whose batches are applied; 0 before the first one
 * @param batch the number of the last batch of this reign that was applied, 0 if there was none
 */
public record ReplicaPosition(long entry, long reign, long batch) {

    /** That of new rows. */
    public static final ReplicaPosition NONE = new ReplicaPosition(0, 0, 0);

    private static final int TYPICAL_BYTES = 3 * Integer.BYTES;

    /** Decodes a row. One that was written before there were reigns has the entry only. */
    static ReplicaPosition decode(byte[] row) {
        ByteReader in = new ByteReader(row);
        long entry = in.number();
        return in.remaining() == 0
                ? new ReplicaPosition(entry, 0, 0)
                : new ReplicaPosition(entry, in.number(), in.number());
    }

    byte[] encode() {
        return new ByteWriter(TYPICAL_BYTES)
                .number(entry)
                .number(reign)
                .number(batch)
                .toByteArray();
    }

    /**
     * The position behind an entry that begins a reign.
     *
     * @param index the index of the entry
     * @return a position without batches
     */
    public ReplicaPosition reignFrom(long index) {
        return new ReplicaPosition(index, index, 0);
    }

    /**
     * The position behind an entry with a batch of the current reign.
     *
     * @param index the index of the entry
     * @param number the number of the batch
     * @return a position in the same reign
     */
    public ReplicaPosition behind(long index, long number) {
        return new ReplicaPosition(index, reign, number);
    }

    /**
     * Whether a batch is the next one, or a later one, of the current reign.
     *
     * @param ofReign the reign of the batch
     * @param number the number of the batch
     * @return false if it is of another reign, or was applied before, or one behind it was
     */
    public boolean takes(long ofReign, long number) {
        return ofReign == reign && number > batch;
    }

    /**
     * Whether a batch was applied in the current reign, or one behind it was.
     *
     * @param ofReign the reign of the batch
     * @param number the number of the batch
     * @return false if another reign has begun meanwhile
     */
    public boolean has(long ofReign, long number) {
        return ofReign == reign && number <= batch;
    }
}
