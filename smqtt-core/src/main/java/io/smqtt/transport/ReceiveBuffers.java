// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import io.smqtt.message.PayloadReader;

/**
 * Allocates the buffers that sockets are read into, in the size that the last reads have needed. Large ones may be in use until their payloads
 * are acknowledged, and may be released by any event loop. They come from an allocator with an arena per event loop, which uses released memory
 * again; the default one would clear new memory for most of them.
 */
final class ReceiveBuffers implements RecvByteBufAllocator {

    private final AdaptiveRecvByteBufAllocator sizes = new AdaptiveRecvByteBufAllocator();

    @Override
    @SuppressWarnings("deprecation") // sockets need an extended handle, and no other method creates one
    public Handle newHandle() {
        return new LargeHandle((ExtendedHandle) sizes.newHandle());
    }

    private static final class LargeHandle extends DelegatingHandle implements ExtendedHandle {

        private final ExtendedHandle sizes;

        LargeHandle(ExtendedHandle sizes) {
            super(sizes);
            this.sizes = sizes;
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator usual) {
            int bytes = guess();
            return bytes < PayloadReader.IN_PLACE_BYTES
                    ? sizes.allocate(usual)
                    : PooledByteBufAllocator.DEFAULT.directBuffer(bytes);
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier mayHaveMore) {
            return sizes.continueReading(mayHaveMore);
        }
    }
}
