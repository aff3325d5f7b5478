// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.util.UUID;
import org.junit.jupiter.api.Test;

class PeerSenderTest {

    @Test
    void anErrorCostsOneFrameAndNotThePeer() throws Exception {
        BlockingQueue<byte[]> sent = new LinkedBlockingQueue<>();
        JChannel channel = new JChannel(false) {
            @Override
            public JChannel send(Message message) {
                byte[] frame = message.getArray();
                if (frame[0] == 1) {
                    throw new OutOfMemoryError("for a moment");
                }
                sent.add(frame);
                return this;
            }
        };
        PeerSender sender = new PeerSender(channel, UUID.randomUUID());
        sender.start();
        try {
            assertThat(sender.offer(new byte[] {1}, true)).isTrue();
            assertThat(sender.offer(new byte[] {2}, true)).isTrue();

            assertThat(sent.poll(60, TimeUnit.SECONDS)).containsExactly(2);
        } finally {
            sender.end();
        }
    }
}
