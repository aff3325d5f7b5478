// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import org.jgroups.Address;
import org.jgroups.util.ExtendedUUID;
import org.jspecify.annotations.Nullable;

/**
 * The version of the messages, entries and rows of a node with replicas. The number of the protocol counts changes of messages, entries of logs and rows that another node
 * must know. A node also reads what nodes of earlier numbers write, back to the oldest one that it names.
 *
 * <p>A change that others need not know changes nothing here. One that they must know takes two versions: the first reads the new form and
 * writes the former one, the second writes the new one. So each version works together with the one before it, and nodes are updated one
 * after the other.
 *
 * @param oldest the lowest number that it works with
 * @param current the number of what it writes
 * @param program the version of the program
 */
record ReplicaVersion(int oldest, int current, String program) {

    private static final int OLDEST = 1;
    private static final int CURRENT = 2;
    private static final int KNOWS_LOGS = 2;
    private static final int KNOWS_PLACES = 2;
    private static final ReplicaVersion BEFORE_NUMBERS = new ReplicaVersion(0, 0, "without a number");

    /** That of this program. */
    static ReplicaVersion own() {
        String version = ReplicaVersion.class.getPackage().getImplementationVersion();
        return new ReplicaVersion(OLDEST, CURRENT, version == null ? "unknown" : version);
    }

    /** That of a node, by its address. */
    static ReplicaVersion of(Address node) {
        return decode(node instanceof ExtendedUUID shown ? shown.get(AgreementGuard.VERSION_KEY) : null);
    }

    /** Whether it answers {@link GroupMessage.Logs}. */
    boolean knowsLogs() {
        return current >= KNOWS_LOGS;
    }

    /** Whether it knows of {@link PlaceMessage}. */
    boolean knowsPlaces() {
        return current >= KNOWS_PLACES;
    }

    byte[] encode() {
        return new ByteWriter(16).u8(oldest).u8(current).text(program).toByteArray();
    }

    /** Decodes the version that a node shows; null, or what cannot be decoded, is that of a node without one. */
    static ReplicaVersion decode(byte @Nullable [] shown) {
        if (shown == null) {
            return BEFORE_NUMBERS;
        }
        try {
            ByteReader in = new ByteReader(shown);
            return new ReplicaVersion(in.u8(), in.u8(), in.text());
        } catch (MalformedBytesException e) {
            return BEFORE_NUMBERS;
        }
    }

    /** Whether nodes of both versions can have replicas of each other. */
    boolean worksWith(ReplicaVersion other) {
        return oldest <= other.current && other.oldest <= current;
    }

    @Override
    public String toString() {
        return "version " + program + " (replication protocol " + current + ", works with " + oldest + " and later)";
    }
}
