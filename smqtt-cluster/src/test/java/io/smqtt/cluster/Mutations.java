// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Random;

/** Changed bytes of frames, and what it costs to read them: readers may allocate in proportion to what has arrived, not to what it claims. */
public final class Mutations {

    /** Objects of a message, of each header and of each address, for the shortest of them. */
    private static final int BYTES_FOR_ONE = 64;

    private static final int BYTES_AT_LEAST = 16 * 1024;
    private static final int TRIES = 5;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private int read;
    private int refused;
    private long most;

    /** Reads a frame. */
    @FunctionalInterface
    public interface Reader {

        /** Reads a frame; an IOException, a RuntimeException or a ClassNotFoundException refuses it. */
        void read(byte[] frame) throws Exception;
    }

    /** Changes one to four places behind the head of a frame, which may become longer or shorter. */
    public static byte[] mutated(Random random, byte[] frame, int head) {
        byte[] bytes = frame.clone();
        for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
            int at = head + random.nextInt(bytes.length - head);
            switch (random.nextInt(5)) {
                case 0 -> bytes[at] = (byte) random.nextInt();
                case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 2 -> { // a large number
                    for (int i = at; i < Math.min(at + 4, bytes.length); i++) {
                        bytes[i] = (byte) (i == at ? 0x7F : 0xFF);
                    }
                }
                case 3 -> bytes = Arrays.copyOf(bytes, Math.max(head + 1, at));
                default -> {
                    byte[] twice = Arrays.copyOf(bytes, bytes.length + 16);
                    System.arraycopy(bytes, at, twice, at, Math.min(16, bytes.length - at));
                    bytes = twice;
                }
            }
        }
        return bytes;
    }

    /** Reads a frame, and fails if that has allocated too much. */
    public void read(byte[] frame, Reader reader) throws Exception {
        read++;
        long limit = BYTES_AT_LEAST + (long) BYTES_FOR_ONE * frame.length;
        long allocated = allocated(frame, reader);
        for (int again = 0;
                allocated >= limit && again < TRIES;
                again++) { // classes are loaded once, and collectors disturb
            allocated = Math.min(allocated, allocated(frame, reader));
        }
        assertThat(allocated).as("frame %d, %s", read, Arrays.toString(frame)).isLessThan(limit);
        most = Math.max(most, allocated);
    }

    private long allocated(byte[] frame, Reader reader) throws Exception {
        long before = threads.getCurrentThreadAllocatedBytes();
        try {
            reader.read(frame);
        } catch (IOException | RuntimeException | ClassNotFoundException e) {
            refused++;
        }
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    /** Fails unless some of the frames were refused, and others were not. */
    public void requireBoth() {
        assertThat(refused)
                .as("of %d frames, at most %d bytes for one", read, most)
                .isBetween(1, read - 1);
    }
}
