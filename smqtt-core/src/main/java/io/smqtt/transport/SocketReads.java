// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import io.smqtt.connection.ReadPlan;
import io.smqtt.message.PayloadReader;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * Allocates the buffers that one socket is read into, in the size that its last reads have needed: four times as large after a full one, half as
 * large after two that left more than half empty. One read for each pass of the event loop. A plan can ask for larger reads, and for reads
 * behind the begin of a packet, which need no copy.
 */
@OnEventLoop
final class SocketReads implements RecvByteBufAllocator, RecvByteBufAllocator.ExtendedHandle {

    private static final int SMALLEST = 64;
    private static final int FIRST = 2_048;

    private @Nullable ReadPlan plan;
    private int size = FIRST;
    private boolean mostlyEmpty;
    private boolean appends;
    private int attempted;
    private int last;

    /** Sets the plan of all later reads. */
    void plan(ReadPlan next) {
        plan = next;
    }

    @Override
    @SuppressWarnings("deprecation") // of the interface
    public Handle newHandle() {
        return this;
    }

    @Override
    public ByteBuf allocate(ByteBufAllocator usual) {
        ReadPlan asked = plan;
        ByteBuf begun = asked == null ? null : asked.begun();
        appends = begun != null;
        return begun == null ? PayloadReader.buffer(usual, guess()) : begun.retain();
    }

    @Override
    public int guess() {
        ReadPlan asked = plan;
        return Math.min(size, asked == null ? PayloadReader.USUAL_READ_BYTES : asked.largestRead());
    }

    @Override
    public void attemptedBytesRead(int bytes) {
        attempted = bytes;
    }

    @Override
    public int attemptedBytesRead() {
        return attempted;
    }

    @Override
    public void lastBytesRead(int bytes) {
        last = bytes;
        if (bytes > 0 && !appends) {
            adapt(bytes);
        }
    }

    private void adapt(int bytes) {
        if (bytes == attempted) {
            size = Math.min(size * 4, PayloadReader.LARGEST_READ_BYTES);
            mostlyEmpty = false;
        } else if (bytes > size / 2) {
            mostlyEmpty = false;
        } else if (mostlyEmpty) {
            size = Math.max(size / 2, SMALLEST);
            mostlyEmpty = false;
        } else {
            mostlyEmpty = true;
        }
    }

    @Override
    public int lastBytesRead() {
        return last;
    }

    @Override
    public boolean continueReading() {
        return false;
    }

    @Override
    public boolean continueReading(UncheckedBooleanSupplier mayHaveMore) {
        return false;
    }

    @Override
    public void reset(ChannelConfig config) {}

    @Override
    public void incMessagesRead(int messages) {}

    @Override
    public void readComplete() {}
}
