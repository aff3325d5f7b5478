// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.lettuce.core.StreamMessage;
import java.util.List;
import java.util.Map;

/**
 * The bytes of the entries that were read and are not yet stored, and the number of entries to read next. Redis limits a read by a number only, so the
 * number is made from the size of the entries before. For one thread.
 */
final class ReadSize {

    private final int most;
    private final long mostBytes;
    private long bytes;
    private long entryBytes = 1;

    /**
     * Creates it without entries.
     *
     * @param most the largest number to read at once
     * @param mostBytes the bytes at which nothing more is read
     */
    ReadSize(int most, long mostBytes) {
        this.most = most;
        this.mostBytes = mostBytes;
    }

    boolean isFull() {
        return bytes >= mostBytes;
    }

    /** The number of entries to read: so many that entries like the ones before do not exceed the limit, and one at least. */
    int next() {
        return (int) Math.max(1, Math.min(most, (mostBytes - bytes) / entryBytes));
    }

    /** Notes what one read has brought. Large entries count at once, small ones after some reads. */
    void read(List<StreamMessage<byte[], byte[]>> entries) {
        if (!entries.isEmpty()) {
            long sum = entries.stream().mapToLong(ReadSize::bytes).sum();
            entryBytes = Math.max(1, Math.max(sum / entries.size(), entryBytes * 3 / 4));
        }
    }

    /** Counts an entry until it is {@link #settled}; returns its bytes. */
    long taken(StreamMessage<byte[], byte[]> entry) {
        long size = bytes(entry);
        bytes += size;
        return size;
    }

    void settled(long size) {
        bytes -= size;
    }

    private static long bytes(StreamMessage<byte[], byte[]> entry) {
        Map<byte[], byte[]> fields = entry.getBody();
        long sum = 0;
        if (fields != null) {
            for (Map.Entry<byte[], byte[]> field : fields.entrySet()) {
                sum += field.getKey().length + field.getValue().length;
            }
        }
        return sum;
    }
}
