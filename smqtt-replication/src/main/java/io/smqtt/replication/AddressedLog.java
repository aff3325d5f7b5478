// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.nio.ByteBuffer;
import java.util.function.Function;
import org.jgroups.Address;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.Util;
import org.jspecify.annotations.Nullable;

/**
 * The log of one group as the address of its node shows it: its identity, which the leader needs for the admission of a log that may not vote; and
 * the number of the group, if it may. An address is made when its node connects, and does not change. Thread-safe.
 */
final class AddressedLog {

    private final RocksRaftLog log;
    private final byte[] identityKey;
    private final byte[] groupKey;
    private final byte[] logKey;
    private final Verdicts<Boolean> replaced = new Verdicts<>();
    private final Function<Address, Boolean> isReplacedNow = this::isReplacedNow;

    /**
     * Creates an object for a log of this node.
     *
     * @param group the number of the group in messages
     */
    AddressedLog(RocksRaftLog log, int group) {
        this.log = log;
        identityKey = Util.stringToBytes("new-" + group);
        groupKey = Util.stringToBytes("of-" + group);
        logKey = Util.stringToBytes("log-" + group);
    }

    /** Adds the log to the address of this node. */
    void describe(ExtendedUUID address) {
        if (!log.isVoter()) {
            address.put(identityKey, bytes(log.identity()));
        } else if (log.group() != 0) {
            address.put(groupKey, bytes(log.group()));
            address.put(logKey, bytes(log.identity()));
        }
    }

    private static byte[] bytes(long number) {
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    /** The identity of a log that could not vote when its node connected; null if the address has none. */
    @Nullable
    Long newIdentity(Address member) {
        return member instanceof ExtendedUUID node ? number(node.get(identityKey)) : null;
    }

    private static @Nullable Long number(byte @Nullable [] bytes) {
        return bytes == null || bytes.length != Long.BYTES
                ? null
                : ByteBuffer.wrap(bytes).getLong();
    }

    /** Whether the members of the group have admitted another log in the place of that of a node. Called for each message. */
    boolean isReplaced(ExtendedUUID node) {
        KnownLogs known = log.known();
        return !known.isEmpty() && replaced.of(node, known, isReplacedNow);
    }

    private boolean isReplacedNow(Address address) {
        ExtendedUUID node = (ExtendedUUID) address;
        boolean votes = node.get(groupKey) != null;
        Long identity = number(node.get(votes ? logKey : identityKey));
        return (votes || identity != null) && log.known().isReplaced(GroupMembers.nameOf(node), identity, votes);
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
