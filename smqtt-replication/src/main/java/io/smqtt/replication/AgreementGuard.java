// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.zip.CRC32C;
import org.jgroups.Address;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.raft.NO_DUPES;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;

/**
 * Refuses nodes of a version that does not work with this one, nodes that are configured with other nodes or another number of replicas, and those
 * with the data of another cluster or of a disk that was replaced, besides those whose name is there already. The address of a node has its version, a
 * checksum of what it is configured with, and the numbers of its groups and logs.
 *
 * <p>A join is refused. When nodes that were apart meet there is none, so {@link OwnNodes} asks for each message.
 */
final class AgreementGuard extends NO_DUPES {

    /** Begins the reason for a node with another configuration. */
    static final String OTHER_CONFIGURATION = "cluster.nodes and storage.replicas must be the same on all nodes";

    /** The reason for a node with the data of another cluster. */
    static final String OTHER_CLUSTER =
            "storage.dir has the data of different clusters, whose nodes have the same names";

    /** The reason for a node with a disk in whose place another one was admitted. */
    static final String REPLACED_DISK =
            "storage.dir has replicas in whose place another disk of this node has been admitted; they lack what was acknowledged since:"
                    + " start with an empty directory";

    /** Begins the reason for a node whose place another one holds. */
    static final String OTHER_HOLDER = "another node holds the place";

    /** Begins the reason for a node of another version. */
    static final String OTHER_VERSION = "nodes with replicas must have versions of smqtt that work together";

    private static final List<String> REASONS =
            List.of(OTHER_VERSION, OTHER_CONFIGURATION, OTHER_CLUSTER, REPLACED_DISK, OTHER_HOLDER);

    /** The part of an address that has the version. */
    static final byte[] VERSION_KEY = Util.stringToBytes("version");

    private static final byte[] KEY = Util.stringToBytes("agreement");

    private final String agreement;
    private final ReplicaVersion version;
    private final byte[] shownVersion;
    private final byte[] checksum;
    private final Function<ExtendedUUID, @Nullable String> data;

    /**
     * Creates the protocol.
     *
     * @param agreement the text that must be the same on all nodes
     * @param data why the data of a node has no part with that of this one; null if it has
     */
    AgreementGuard(String agreement, Function<ExtendedUUID, @Nullable String> data) {
        this(agreement, data, ReplicaVersion.own());
    }

    /** The same for a node of another version. */
    AgreementGuard(String agreement, Function<ExtendedUUID, @Nullable String> data, ReplicaVersion version) {
        this.agreement = agreement;
        this.version = version;
        shownVersion = version.encode();
        this.data = data;
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
        return data.apply(other);
    }

    /** Whether a reason lasts: another disk or another node is in the place of the one that is refused. */
    static boolean isReplaced(String reason) {
        return reason.startsWith(REPLACED_DISK) || reason.startsWith(OTHER_HOLDER);
    }

    /** The reason in the text of an error with which a node was refused by another one; null if it is none of these. */
    static @Nullable String reasonIn(String text) {
        for (String reason : REASONS) {
            int begin = text.indexOf(reason);
            if (begin >= 0) {
                return text.substring(begin);
            }
        }
        return null;
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
