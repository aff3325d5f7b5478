// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;

/**
 * The content of an entry of a group whose state is a store.
 *
 * <pre>
 * 0  1 = a batch without a reign, as they were before there were reigns, 2 = a batch, 3 = a reign
 *    batch: its reign and its number in it, 8 bytes each, and the rows
 *    reign: the run, 8 bytes, and the name of the node
 * </pre>
 */
sealed interface StoreEntry {

    /**
     * A batch of the committing thread.
     *
     * @param reign the number of its reign; 0 if it has none
     * @param number counts the batches of the reign; 0 if it has none
     * @param source has the rows
     * @param offset where they begin
     * @param length their bytes
     */
    record Batch(long reign, long number, byte[] source, int offset, int length) implements StoreEntry {}

    /** The begin of a reign. */
    record Begin(Reign reign) implements StoreEntry {}

    /** Bytes in front of the rows of a batch. */
    int BATCH_HEADER_BYTES = 1 + 2 * Long.BYTES;

    /** Encodes a batch. */
    static byte[] batch(long reign, long number, byte[] rows) {
        return new ByteWriter(BATCH_HEADER_BYTES + rows.length)
                .u8(2)
                .i64(reign)
                .i64(number)
                .raw(rows, rows.length)
                .toByteArray();
    }

    /** Encodes the begin of a reign. */
    static byte[] begin(Reign reign) {
        return new ByteWriter(1 + Long.BYTES + reign.node().length() + 1)
                .u8(3)
                .i64(reign.run())
                .text(reign.node())
                .toByteArray();
    }

    /**
     * Decodes an entry.
     *
     * @param source has the entry
     * @param offset where it begins
     * @param length its bytes
     * @throws MalformedBytesException if it is none of the above
     */
    static StoreEntry decode(byte[] source, int offset, int length) {
        ByteReader in = new ByteReader(source, offset, offset + length);
        int kind = in.u8();
        return switch (kind) {
            case 1 -> new Batch(0, 0, source, offset + 1, length - 1);
            case 2 -> new Batch(in.i64(), in.i64(), source, offset + BATCH_HEADER_BYTES, length - BATCH_HEADER_BYTES);
            case 3 -> {
                long run = in.i64();
                yield new Begin(new Reign(in.text(), run));
            }
            default -> throw new MalformedBytesException("it is an entry of kind " + kind + ", not of a store");
        };
    }
}
