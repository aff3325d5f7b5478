// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Predicate;
import java.util.zip.CRC32C;
import org.jgroups.Address;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.raft.NO_DUPES;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;

/**
 * Refuses nodes of a version that does not work with this one, nodes that are configured with other nodes or another number of replicas, and those
 * with the data of another cluster, besides those whose name is there already. The address of a node has its version, a checksum of what it is
 * configured with, and the numbers of its groups.
 *
 * <p>A join is refused. When nodes that were apart meet there is none, so {@link OwnNodes} asks for each message.
 */
final class AgreementGuard extends NO_DUPES {

    /** Begins the reason for a node with another configuration. */
    static final String OTHER_CONFIGURATION = "cluster.nodes and storage.replicas must be the same on all nodes";

    /** The reason for a node with the data of another cluster. */
    static final String OTHER_CLUSTER =
            "storage.dir has the data of different clusters, whose nodes have the same names";

    /** Begins the reason for a node of another version. */
    static final String OTHER_VERSION = "nodes with replicas must have versions of smqtt that work together";

    private static final byte[] KEY = Util.stringToBytes("agreement");
    private static final byte[] VERSION_KEY = Util.stringToBytes("version");

    private final String agreement;
    private final ReplicaVersion version;
    private final byte[] shownVersion;
    private final byte[] checksum;
    private final Predicate<ExtendedUUID> isForeign;

    /**
     * Creates the protocol.
     *
     * @param agreement the text that must be the same on all nodes
     * @param isForeign whether a node has the data of another cluster
     */
    AgreementGuard(String agreement, Predicate<ExtendedUUID> isForeign) {
        this(agreement, isForeign, ReplicaVersion.own());
    }

    /** The same for a node of another version. */
    AgreementGuard(String agreement, Predicate<ExtendedUUID> isForeign, ReplicaVersion version) {
        this.agreement = agreement;
        this.version = version;
        shownVersion = version.encode();
        this.isForeign = isForeign;
        CRC32C sum = new CRC32C();
        sum.update(agreement.getBytes(StandardCharsets.UTF_8));
        checksum = ByteBuffer.allocate(Long.BYTES).putLong(sum.getValue()).array();
    }

    /** Adds the checksum and the version to the address of this node. */
    void describe(ExtendedUUID address) {
        address.put(KEY, checksum);
        address.put(VERSION_KEY, shownVersion);
    }

    /** Why a node has no part with this one; null if it has. */
    @Nullable
    String reason(@Nullable Address node) {
        if (!(node instanceof ExtendedUUID other)) {
            return OTHER_CONFIGURATION;
        }
        byte[] shown = other.get(VERSION_KEY);
        if (!Arrays.equals(shown, shownVersion)) {
            ReplicaVersion theirs = ReplicaVersion.decode(shown);
            if (!version.worksWith(theirs)) {
                return OTHER_VERSION + ": " + theirs + " and " + version + " do not";
            }
        }
        if (!Arrays.equals(other.get(KEY), checksum)) {
            return OTHER_CONFIGURATION;
        }
        return isForeign.test(other) ? OTHER_CLUSTER : null;
    }

    /** The reason in the text of an error with which a node was refused by another one; null if it is none of these. */
    static @Nullable String reasonIn(String text) {
        int begin = Math.max(
                text.indexOf(OTHER_VERSION), Math.max(text.indexOf(OTHER_CONFIGURATION), text.indexOf(OTHER_CLUSTER)));
        return begin < 0 ? null : text.substring(begin);
    }

    @Override
    protected boolean handleGmsHeader(GMS.GmsHeader header, Address sender) {
        boolean joins = header.getType() == GMS.GmsHeader.JOIN_REQ
                || header.getType() == GMS.GmsHeader.JOIN_REQ_WITH_STATE_TRANSFER;
        String reason = joins ? reason(header.getMember()) : null;
        if (reason != null) {
            sendJoinRejectedMessageTo(sender, reason + "; running nodes have " + agreement);
            return false;
        }
        return super.handleGmsHeader(header, sender);
    }
}
