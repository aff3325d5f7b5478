// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

/** Acknowledgements of messages that go out with a lower QoS. */
class LoweredQosTest {

    private static final int ID = 7;

    private final LoweredQos lowered = new LoweredQos(1);
    private final ByteBuf bytes = Unpooled.buffer();

    @Test
    void thePubAckOfALoweredMessageBecomesAPubRec() {
        lowered.sent(2, ID, bytes);
        assertThat(lowered.acknowledged(ID, 0, bytes)).isTrue();
        assertThat(Packets.type(bytes)).isEqualTo(Packets.PUBREC);
        assertThat(lowered.acknowledged(ID, 0, bytes)).isFalse();
    }

    /** The lowered message has expired after a refusal, so nothing acknowledges it. */
    @Test
    void theNextMessageWithItsIdentifierHasItsOwnPubAck() {
        lowered.sent(2, ID, bytes);
        lowered.sent(1, ID, bytes);
        assertThat(lowered.acknowledged(ID, 0, bytes)).isFalse();
        assertThat(bytes.isReadable()).isFalse();
    }
}
