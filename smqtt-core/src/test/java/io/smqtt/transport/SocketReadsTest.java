// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.smqtt.connection.ReadPlan;
import io.smqtt.message.PayloadReader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SocketReadsTest {

    private final SocketReads reads = new SocketReads();
    private final Plan plan = new Plan();

    private static final class Plan implements ReadPlan {
        private int largest = PayloadReader.LARGEST_READ_BYTES;
        private @Nullable ByteBuf begun;

        @Override
        public int largestRead() {
            return largest;
        }

        @Override
        public @Nullable ByteBuf begun() {
            return begun;
        }
    }

    /** One read, as Netty does it; returns the capacity. */
    private int read(int available) {
        ByteBuf buffer = reads.allocate(UnpooledByteBufAllocator.DEFAULT);
        int capacity = buffer.writableBytes();
        reads.attemptedBytesRead(capacity);
        reads.lastBytesRead(Math.min(capacity, available));
        assertThat(reads.lastBytesRead()).isEqualTo(Math.min(capacity, available));
        reads.readComplete();
        buffer.release();
        return capacity;
    }

    private int readAll() {
        return read(Integer.MAX_VALUE);
    }

    @Test
    void fullReadsMakeTheNextOneLargerUpToTheUsualMaximum() {
        assertThat(readAll()).isEqualTo(2_048);
        assertThat(readAll()).isEqualTo(8_192);
        assertThat(readAll()).isEqualTo(32_768);
        assertThat(readAll()).isEqualTo(65_536);
        assertThat(readAll()).isEqualTo(65_536);
    }

    @Test
    void thePlanAllowsLargerReads() {
        reads.plan(plan);
        for (int i = 0; i < 4; i++) {
            readAll();
        }
        assertThat(readAll()).isEqualTo(524_288);
        plan.largest = PayloadReader.USUAL_READ_BYTES;
        assertThat(readAll()).isEqualTo(65_536);
        plan.largest = PayloadReader.LARGEST_READ_BYTES;
        assertThat(readAll()).isEqualTo(524_288);
    }

    @Test
    void twoReadsThatLeaveMostEmptyHalveTheNextOne() {
        assertThat(read(100)).isEqualTo(2_048);
        assertThat(read(100)).isEqualTo(2_048);
        assertThat(read(1_000)).isEqualTo(1_024);
        assertThat(read(100)).isEqualTo(1_024);
        assertThat(read(1_000)).isEqualTo(1_024);
        for (int i = 0; i < 20; i++) {
            read(1);
        }
        assertThat(read(1)).isEqualTo(64);
    }

    @Test
    void theBeginOfAPacketIsReadOn() {
        reads.plan(plan);
        ByteBuf begun = Unpooled.directBuffer(10_000, 10_000).writeZero(4_000);
        plan.begun = begun;
        assertThat(reads.allocate(UnpooledByteBufAllocator.DEFAULT)).isSameAs(begun);
        assertThat(begun.refCnt()).isEqualTo(2);
        begun.release();
        assertThat(readAll()).isEqualTo(6_000);
        assertThat(begun.refCnt()).isEqualTo(1);
        plan.begun = null;
        assertThat(readAll()).isEqualTo(2_048); // that read says nothing about the size of others
        begun.release();
    }

    @Test
    void anEndOfTheStreamChangesNothing() {
        read(-1);
        read(0);
        assertThat(readAll()).isEqualTo(2_048);
    }
}
