// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What {@code /cluster} of a node said.
 *
 * @param nodeId the node
 * @param routes its own
 * @param peers the others that it knows
 * @param forwardedMessages messages sent to others
 * @param repairs tables that had to be asked for again
 * @param receivedBytes all that others have sent
 */
record NodeView(
        String nodeId, int routes, List<PeerView> peers, long forwardedMessages, long repairs, long receivedBytes) {

    static final NodeView UNKNOWN = new NodeView("", 0, List.of(), 0, 0, 0);

    private static final Pattern NODE = Pattern.compile("\"node-id\":\"(\\w+)\".*?\"routes\":(\\d+)");
    private static final Pattern PEER =
            Pattern.compile("\"node-id\":\"(\\w+)\"[^}]*?\"routes\":(\\d+),[^}]*?\"reachable\":(\\w+),"
                    + "\"route-lag\":(\\d+)[^}]*?\"parked-messages\":(\\d+)[,}]");

    /** Another node as this one sees it. */
    record PeerView(String nodeId, int routes, boolean reachable, long lag, int parked) {}

    static NodeView of(String json) {
        int split = json.indexOf("\"peers\"");
        Matcher self = NODE.matcher(json);
        if (split < 0 || !self.find()) {
            throw new AssertionError("not the state of a cluster: " + json);
        }
        List<PeerView> peers = new ArrayList<>();
        for (Matcher peer = PEER.matcher(json.substring(split)); peer.find(); ) {
            peers.add(new PeerView(
                    peer.group(1),
                    Integer.parseInt(peer.group(2)),
                    Boolean.parseBoolean(peer.group(3)),
                    Long.parseLong(peer.group(4)),
                    Integer.parseInt(peer.group(5))));
        }
        return new NodeView(
                self.group(1),
                Integer.parseInt(self.group(2)),
                List.copyOf(peers),
                number(json, "forwarded-messages"),
                number(json, "repairs"),
                number(json, "received-bytes"));
    }

    private static long number(String json, String name) {
        Matcher matcher = Pattern.compile("\"" + name + "\":(\\d+)").matcher(json);
        if (!matcher.find()) {
            throw new AssertionError("no " + name + " in " + json);
        }
        return Long.parseLong(matcher.group(1));
    }

    /** What it knows of another node. */
    PeerView peer(String id) {
        return peers.stream()
                .filter(peer -> peer.nodeId().equals(id))
                .findFirst()
                .orElse(new PeerView(id, 0, false, 0, 0));
    }
}
