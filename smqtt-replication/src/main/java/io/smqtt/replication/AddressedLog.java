// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.nio.ByteBuffer;
import org.jgroups.Address;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;

/**
 * The log of one group as the address of its node shows it: the identity of a log that may not vote, which the leader needs for the admission;
 * or the number of the group. An address is made when its node connects, and does not change. Thread-safe.
 */
final class AddressedLog {

    private final RocksRaftLog log;
    private final byte[] identityKey;
    private final byte[] groupKey;

    /**
     * Creates an object for a log of this node.
     *
     * @param group the number of the group in messages
     */
    AddressedLog(RocksRaftLog log, int group) {
        this.log = log;
        identityKey = Util.stringToBytes("new-" + group);
        groupKey = Util.stringToBytes("of-" + group);
    }

    /** Adds the log to the address of this node. */
    void describe(ExtendedUUID address) {
        if (!log.isVoter()) {
            address.put(identityKey, bytes(log.identity()));
        } else if (log.group() != 0) {
            address.put(groupKey, bytes(log.group()));
        }
    }

    private static byte[] bytes(long number) {
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    /** The identity of a log that could not vote when its node connected; null if the address has none. */
    @Nullable
    Long newIdentity(Address member) {
        byte[] identity = member instanceof ExtendedUUID node ? node.get(identityKey) : null;
        return identity == null || identity.length != Long.BYTES
                ? null
                : ByteBuffer.wrap(identity).getLong();
    }

    /** Whether another node has the data of a group with the same name of another cluster. Called for each message. */
    boolean isForeign(ExtendedUUID node) {
        byte[] theirs = node.get(groupKey);
        long own = log.group();
        return theirs != null && own != 0 && !isEqual(theirs, own);
    }

    private static boolean isEqual(byte[] bytes, long number) {
        if (bytes.length != Long.BYTES) {
            return false;
        }
        for (int i = 0; i < Long.BYTES; i++) {
            if (bytes[i] != (byte) (number >>> Byte.SIZE * (Long.BYTES - 1 - i))) {
                return false;
            }
        }
        return true;
    }
}
