// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.ClusterConfig;
import java.net.InetAddress;
import org.jgroups.JChannel;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.PerDestinationBundler;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.junit.jupiter.api.Test;

class JGroupsStackTest {

    /** One thread that waits for the socket of one peer would keep back what goes to all others. */
    @Test
    void noThreadThatSendsToSeveralPeersWaitsForOneOfThem() throws Exception {
        try (JChannel channel =
                JGroupsStack.create(ClusterConfig.builder().build(), InetAddress::getAllByName, null, reason -> {})) {
            PlainTcp transport = channel.getProtocolStack().findProtocol(PlainTcp.class);

            assertThat(transport.nonBlockingSends()).isTrue();
            assertThat(transport.getBundler()).isInstanceOf(PerDestinationBundler.class);
        }
    }

    /** Promised are 8 s, and that a pause of less than 6 s is no end; the rest is for threads that are late. */
    @Test
    void silenceIsNoticedInTimeAndAPauseIsNotTakenForIt() throws Exception {
        try (JChannel channel =
                JGroupsStack.create(ClusterConfig.builder().build(), InetAddress::getAllByName, null, reason -> {})) {
            FD_ALL3 silence = channel.getProtocolStack().findProtocol(FD_ALL3.class);
            VERIFY_SUSPECT2 question = channel.getProtocolStack().findProtocol(VERIFY_SUSPECT2.class);
            long longest = silence.getTimeout() + silence.getInterval() + question.getTimeout();
            long shortest = silence.getTimeout() - silence.getInterval() + question.getTimeout();

            assertThat(silence.getTimeout() % silence.getInterval()).isZero();
            assertThat(longest).isLessThanOrEqualTo(6_500);
            assertThat(shortest).isGreaterThanOrEqualTo(6_000);
        }
    }
}
