// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.spi.RetainedVersion;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The information that this node keeps about forgotten removals: the latest of their versions, the horizon, and for each other node and partition
 * the latest change up to which both nodes had the same. A message of an unknown topic that is not later than both was removed here. A
 * message that the other node got while the two were apart is later than the second, so it is none of these. Stored with the messages.
 */
@OnClusterLoop
final class RetainedHorizon {

    /** The name of the note in the store. */
    static final String NOTE = "cluster.retained";

    private static final int FORMAT = 1;
    private static final int MOST_NODES = 64;

    private final Map<String, long[]> agreed = new LinkedHashMap<>(); // the node compared last is the last one
    private long clock;
    private boolean changed;

    /** A removal was forgotten. */
    void forgot(RetainedVersion version) {
        if (version.clock() > clock) {
            clock = version.clock();
            changed = true;
        }
    }

    /** Another node has announced its hashes. */
    void compare(String nodeId, long[] theirs, RetainedEntries mine) {
        if (theirs.length != RetainedEntries.PARTS) {
            return;
        }
        long[] clocks = agreed.remove(nodeId);
        if (clocks == null) {
            clocks = new long[RetainedEntries.PARTS];
        }
        for (int part = 0; part < theirs.length; part++) {
            if (theirs[part] == mine.hash(part) && mine.latest(part) > clocks[part]) {
                clocks[part] = mine.latest(part);
                changed = true;
            }
        }
        put(nodeId, clocks);
    }

    private void put(String nodeId, long[] clocks) {
        agreed.put(nodeId, clocks);
        if (agreed.size() > MOST_NODES) {
            Iterator<String> oldest = agreed.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
    }

    /**
     * Whether a message that another node has, and whose topic is unknown here, was removed here. The node that published it counts if this
     * node has compared with it: the other one may have got the message from there since.
     */
    boolean isForgotten(String topic, RetainedVersion version, String nodeId) {
        long[] published = agreed.get(version.nodeId());
        long[] clocks = published == null ? agreed.get(nodeId) : published;
        return clocks != null && version.clock() <= clock && version.clock() <= clocks[RetainedEntries.partOf(topic)];
    }

    /**
     * The version of a removal that was forgotten and is repeated: right after the version of the message, so that every change after the
     * message is after this removal, too. It is the same on each node, and no other change has it: names of nodes contain no '!'.
     */
    static RetainedVersion removalOf(RetainedVersion message) {
        return new RetainedVersion(message.clock(), message.nodeId() + '!');
    }

    /** Whether it differs from the last note. */
    boolean isChanged() {
        return changed;
    }

    byte[] toNote() {
        changed = false;
        ByteWriter note = new ByteWriter(64 + agreed.size() * RetainedEntries.PARTS * Long.BYTES);
        note.u8(FORMAT).i64(clock).number(agreed.size());
        agreed.forEach((nodeId, clocks) -> {
            note.text(nodeId);
            for (long latest : clocks) {
                note.i64(latest);
            }
        });
        return note.toByteArray();
    }

    /**
     * Continues from the note of an earlier run.
     *
     * @throws MalformedBytesException if it is not a note
     */
    void found(byte[] note) {
        ByteReader source = new ByteReader(note, 0, note.length);
        if (source.u8() != FORMAT) {
            throw new MalformedBytesException("unknown format");
        }
        clock = source.i64();
        int nodes = source.count(RetainedEntries.PARTS * Long.BYTES);
        for (int i = 0; i < nodes; i++) {
            String nodeId = source.text();
            long[] clocks = new long[RetainedEntries.PARTS];
            for (int part = 0; part < clocks.length; part++) {
                clocks[part] = source.i64();
            }
            put(nodeId, clocks);
        }
    }

    /** The latest of all clocks; 0 if there are none. */
    long latest() {
        long latest = clock;
        for (long[] clocks : agreed.values()) {
            for (long other : clocks) {
                latest = Math.max(latest, other);
            }
        }
        return latest;
    }
}
