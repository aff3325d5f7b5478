// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ManagementMemoryTest {

    private static final int MIB = 1 << 20;

    /** 2 MiB for requests, 4 MiB for answers. */
    private final ManagementMemory memory = ManagementMemory.of(64L * MIB);

    @Test
    void bodiesShareALimitInProportionToTheHeap() {
        ManagementMemory.Share first = memory.share();
        ManagementMemory.Share second = memory.share();

        assertThat(memory.maxBodyBytes()).isEqualTo(2 * MIB);
        assertThat(first.receive(MIB)).isTrue();
        assertThat(first.receive(MIB / 2)).isTrue();
        assertThat(second.receive(MIB)).isFalse();
        assertThat(second.isRefused()).isTrue();
        assertThat(first.isRefused()).isFalse();

        first.release();
        assertThat(memory.held()).isZero();
        assertThat(memory.share().receive(MIB)).isTrue();
    }

    @Test
    void aSmallBodyHasRoomInAnyCase() {
        ManagementMemory.Share large = memory.share();
        assertThat(large.receive(2 * MIB + ManagementMemory.FREE_BYTES)).isTrue();

        assertThat(memory.share().receive(ManagementMemory.FREE_BYTES)).isTrue();
        assertThat(memory.share().receive(ManagementMemory.FREE_BYTES + 1)).isFalse();
    }

    @Test
    void anAnswerThatIsTooLargeHasRoomAlone() {
        ManagementMemory.Share first = memory.share();
        ManagementMemory.Share second = memory.share();

        assertThat(first.answer(50 * MIB)).isTrue();
        assertThat(second.answer(MIB)).isFalse();
        assertThat(second.answer(ManagementMemory.FREE_BYTES)).isTrue();

        first.release();
        assertThat(second.answer(MIB)).isTrue();
        second.release();
        assertThat(memory.held()).isZero();
    }

    @Test
    void nothingIsTakenAfterTheEnd() {
        ManagementMemory.Share share = memory.share();
        share.release();

        assertThat(share.receive(MIB)).isFalse();
        assertThat(share.answer(MIB)).isFalse();
        assertThat(memory.held()).isZero();
    }

    @Test
    void smallAndLargeHeapsHaveLimitsToo() {
        assertThat(ManagementMemory.of(MIB).maxBodyBytes()).isEqualTo(MIB);
        assertThat(ManagementMemory.of(Long.MAX_VALUE).maxBodyBytes()).isEqualTo(64 * MIB);
    }
}
