// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.spi.ClusterStatus.PeerStatus;
import io.smqtt.thread.AnyThread;

/**
 * The choice of the one node that has something, such as a bridge or a source: of the nodes that can be reached, the one with the highest hash of
 * its name and that of the thing. All nodes with the same view choose the same, and a node that comes or goes moves only the things that it has.
 */
@AnyThread
public final class Election {

    private static final long OFFSET = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private Election() {}

    /**
     * Whether this node has a thing. A node that has not joined, is leaving, or reaches fewer nodes than the cluster requires
     * does not.
     *
     * @param thing its name, the same on all nodes
     * @param view the cluster as this node sees it
     * @return true on one node, as soon as all of them see the same
     */
    public static boolean isChosen(String thing, ClusterStatus view) {
        if (!view.isReady()) {
            return false;
        }
        String self = view.self().nodeId();
        long own = score(thing, self);
        for (PeerStatus peer : view.peers()) {
            String other = peer.node().nodeId();
            long score = score(thing, other);
            boolean higher = score > own || score == own && other.compareTo(self) > 0;
            if (peer.reachable() && higher) {
                return false;
            }
        }
        return true;
    }

    /** FNV-1a over both names, then mixed, because similar names differ in few bits. */
    private static long score(String thing, String node) {
        long hash = OFFSET;
        String both = thing + '\n' + node;
        for (int i = 0; i < both.length(); i++) {
            hash = (hash ^ both.charAt(i)) * PRIME;
        }
        hash = (hash ^ hash >>> 33) * 0xff51afd7ed558ccdL;
        hash = (hash ^ hash >>> 33) * 0xc4ceb9fe1a85ec53L;
        return hash ^ hash >>> 33;
    }
}
