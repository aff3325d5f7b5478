// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import io.netty.util.NetUtil;
import io.smqtt.spi.ClusterStatus;
import java.util.List;

/** Shows tests of whole clusters which nodes a front node chooses. */
public final class RelayChoices {

    private RelayChoices() {}

    /**
     * The first choice for a client.
     *
     * @param peers the other nodes
     * @param clientId the client
     * @return address and port
     */
    public static String first(List<ClusterStatus.PeerStatus> peers, String clientId) {
        List<RelayTarget> order = RelayTarget.order(RelayTarget.of(peers), clientId);
        return NetUtil.toSocketAddressString(order.get(0).address());
    }
}
