// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterStatus.PeerStatus;
import io.smqtt.spi.ClusterTransport;
import java.util.Iterator;

/** The cluster's state as JSON. Values from other nodes may have any content, and are escaped. */
final class ClusterJson {

    private final StringBuilder json = new StringBuilder(512);

    private ClusterJson() {}

    static String of(ClusterStatus status) {
        return new ClusterJson().write(status);
    }

    private String write(ClusterStatus status) {
        json.append("{\"state\":\"").append(Tagged.of(status.state())).append('"');
        json.append(",\"ready\":").append(status.isReady());
        number("min-members", status.minMembers());
        json.append(",\"self\":{");
        node(status.self());
        json.append("},\"peers\":[");
        for (Iterator<PeerStatus> peers = status.peers().iterator(); peers.hasNext(); ) {
            peer(peers.next());
            json.append(peers.hasNext() ? "," : "");
        }
        json.append("],\"traffic\":{");
        traffic(status.traffic());
        json.append("},\"wills\":{\"own\":").append(status.wills().own());
        number("held", status.wills().held());
        number("held-bytes", status.wills().heldBytes());
        number("refused", status.wills().refused());
        json.append("},\"retained\":{\"refused\":").append(status.retained().refused());
        number("comparing", status.retained().comparing());
        number("compared", status.retained().compared());
        number("cleared", status.retained().cleared());
        number("cleared-bytes", status.retained().clearedBytes());
        number("forgotten", status.retained().forgotten());
        return json.append("}}\n").toString();
    }

    private void node(ClusterStatus.Node node) {
        json.append("\"node-id\":");
        text(node.nodeId());
        number("epoch", node.epoch());
        json.append(",\"address\":");
        text(node.address());
        json.append(",\"version\":");
        text(node.version());
        number("weight", node.weight());
        number("routes", node.routes());
    }

    private void peer(PeerStatus peer) {
        json.append('{');
        node(peer.node());
        json.append(",\"reachable\":").append(peer.reachable());
        number("route-lag", peer.routeLag());
        number("heard-ms", peer.heardMillis());
        number("queued-messages", peer.queuedMessages());
        number("queued-bytes", peer.queuedBytes());
        number("parked-messages", peer.parkedMessages());
        json.append('}');
    }

    private void traffic(ClusterStatus.Traffic traffic) {
        json.append("\"forwarded-messages\":").append(traffic.forwardedMessages());
        number("forwarded-frames", traffic.forwardedFrames());
        number("forwarded-bytes", traffic.forwardedBytes());
        number("received-bytes", traffic.receivedBytes());
        number("waiting-bytes", traffic.waitingBytes());
        number("refused-frames", traffic.refusedFrames());
        number("malformed-frames", traffic.malformedFrames());
        number("pulls", traffic.pulls());
        number("repairs", traffic.repairs());
        json.append(",\"refused-connections\":{");
        String separator = "";
        for (ClusterTransport.Refusal reason : ClusterTransport.Refusal.values()) {
            json.append(separator).append('"').append(Tagged.of(reason)).append("\":");
            json.append(traffic.refusedConnections(reason));
            separator = ",";
        }
        json.append('}');
    }

    private void number(String name, long value) {
        json.append(",\"").append(name).append("\":").append(value);
    }

    private void text(String value) {
        json.append('"');
        for (int i = 0; i < value.length(); i++) {
            char next = value.charAt(i);
            if (next < ' ' || next == '"' || next == '\\' || next > '~') {
                json.append(String.format("\\u%04x", (int) next));
            } else {
                json.append(next);
            }
        }
        json.append('"');
    }
}
