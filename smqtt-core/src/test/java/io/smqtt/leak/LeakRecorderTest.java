// SPDX-License-Identifier: Apache-2.0
package io.smqtt.leak;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;

/** The listener hears what it must hear: this run itself leaks on purpose and takes the reports away again. */
class LeakRecorderTest {

    private final LeakRecorder recorder = LeakRecorder.install();

    @Test
    void reportsAPooledBufferThatWasDropped() {
        drop(PooledByteBufAllocator.DEFAULT.directBuffer(64));

        assertThat(recorder.drain()).singleElement().asString().contains("ByteBuf", "LeakRecorderTest");
    }

    @Test
    void reportsAnUnpooledBufferThatWasDropped() {
        drop(UnpooledByteBufAllocator.DEFAULT.directBuffer(64));

        assertThat(recorder.drain()).singleElement().asString().contains("ByteBuf", "LeakRecorderTest");
    }

    @Test
    void keepsQuietAboutAReleasedBuffer() {
        PooledByteBufAllocator.DEFAULT.directBuffer(64).release();

        assertThat(recorder.drain()).isEmpty();
    }

    @Test
    void reportsALeakOnce() {
        drop(PooledByteBufAllocator.DEFAULT.directBuffer(64));
        recorder.drain();

        assertThat(recorder.drain()).isEmpty();
    }

    private static void drop(ByteBuf buffer) {
        buffer.writeByte(1);
    }
}
