// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jgroups.Address;
import org.jgroups.EmptyMessage;
import org.jgroups.Message;
import org.jgroups.stack.Protocol;
import org.jgroups.util.MessageBatch;
import org.jgroups.util.UUID;
import org.junit.jupiter.api.Test;

class LivenessTest {

    private final Address member = UUID.randomUUID();
    private long nanos = -5_000_000_000L;
    private final Liveness liveness = new Liveness(() -> nanos);

    /** Takes what comes up. */
    private static final class Top extends Protocol {

        private int messages;

        @Override
        public Object up(Message message) {
            messages++;
            return null;
        }

        @Override
        public void up(MessageBatch batch) {
            messages += batch.size();
        }
    }

    private long silentAfter(long millis) {
        nanos += millis * 1_000_000;
        return liveness.silentMillis(member);
    }

    @Test
    void silenceEndsWithAnyMessageAndNothingIsKeptOfWhoIsGone() {
        Top top = new Top();
        liveness.setUpProtocol(top);
        Message message = new EmptyMessage().setSrc(member);
        liveness.up(message);
        assertThat(silentAfter(9)).as("no member").isZero();

        liveness.members(List.of(member));
        assertThat(silentAfter(7_000)).isEqualTo(7_000);
        liveness.members(List.of(member));
        assertThat(silentAfter(1)).isEqualTo(7_001);
        liveness.up(message);
        assertThat(silentAfter(3)).isEqualTo(3);
        MessageBatch batch = new MessageBatch(1);
        batch.setSender(member).add(message);
        liveness.up(batch);
        assertThat(silentAfter(4)).isEqualTo(4);
        assertThat(top.messages).isEqualTo(3);

        liveness.members(List.of());
        assertThat(silentAfter(5)).isZero();
    }
}
