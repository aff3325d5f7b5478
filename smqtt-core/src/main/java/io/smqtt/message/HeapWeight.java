// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import io.smqtt.thread.AnyThread;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Estimates the heap of stored objects, for all limits in bytes. Objects, arrays, texts and places in indexes are counted with the layout of a
 * JVM with compressed pointers. Shared texts and nodes are counted as if they were not shared, so small objects with much sharing take up to
 * half less. {@code docs/tuning.md} compares the weights with measurements.
 */
@AnyThread
public final class HeapWeight {

    /** A session without texts, will and subscriptions, with its places in tables and deadlines. */
    private static final int SESSION = 580;

    /** The additional weight of a stored session. */
    private static final int RECORD = 240;

    /** The empty window and the empty queue of a session that has received a message. */
    private static final int OUTBOUND = 600;

    /** The identifiers of messages from a client, without the bits. */
    private static final int INBOUND = 48;

    private static final int ARRAY = 16;
    private static final int STRING = 24;
    private static final int MESSAGE = 64;
    private static final int WILL = 24;
    private static final int TOPIC = 24;
    private static final int BLOCK = 16; // a payload's or property block's own object
    private static final int RETAINED_PLACE = 40; // of the sorted map
    private static final int SUBSCRIPTION = 32;
    private static final int FILTER = 16;
    private static final int FILTER_PLACES = 48; // in the session's table and the index
    private static final int NODE = 48; // of the index

    /** Half of a node for each level of a filter: the index has a node only where at least two filters continue. */
    private static final int LEVEL = NODE / 2;

    /** Minimum number of characters that a filter is longer than its level for the node to have a text of its own. */
    private static final int BORROWED = 256;

    private HeapWeight() {}

    /**
     * A session without its will and its subscriptions.
     *
     * @param clientId the client identifier
     * @param userName the user, or null
     * @param roles the roles that were granted to the user
     * @param stored whether the session is also in a store
     * @return bytes
     */
    public static int session(String clientId, @Nullable String userName, Set<String> roles, boolean stored) {
        int bytes = SESSION + (stored ? RECORD : 0) + text(clientId) + text(userName);
        for (String role : roles) {
            bytes += text(role) + 2 * Integer.BYTES;
        }
        return bytes;
    }

    /**
     * The message state of a session, without the messages.
     *
     * @param outbound whether it has ever received a message
     * @param identifiers capacity for identifiers of QoS 2 messages from the client
     * @return bytes
     */
    public static int flows(boolean outbound, int identifiers) {
        return (outbound ? OUTBOUND : 0) + (identifiers == 0 ? 0 : INBOUND + array(identifiers / Byte.SIZE));
    }

    /**
     * The will of a session.
     *
     * @param will the will, or null
     * @return bytes; 0 for null
     */
    public static int will(@Nullable Will will) {
        return will == null ? 0 : WILL + message(will.message());
    }

    /**
     * A retained message.
     *
     * @param message the message, or null
     * @return bytes; 0 for null
     */
    public static int retained(@Nullable ApplicationMessage message) {
        return message == null ? 0 : RETAINED_PLACE + message(message);
    }

    /**
     * A subscription whose filter no other subscription has.
     *
     * @param filter the filter, without share name
     * @param shareName the group, or null
     * @return bytes
     */
    public static int subscription(String filter, @Nullable String shareName) {
        long plain = (long) SUBSCRIPTION + FILTER + FILTER_PLACES + text(filter);
        long bytes = plain;
        int length = filter.length();
        boolean wildcard = false;
        for (int at = 0; at < length; at++) {
            char next = filter.charAt(at);
            wildcard |= next == '+' || next == '#';
            if (next == '/') {
                bytes += LEVEL + (length - at > BORROWED ? (array(at) + STRING) / 2 : 0);
            }
        }
        if (!wildcard) { // in the hash table, without nodes
            bytes = plain;
        }
        if (shareName != null) { // the group and its name
            bytes += 3L * NODE + text(shareName) + text(filter) + array(shareName.length());
        }
        return (int) Math.min(bytes, Integer.MAX_VALUE / 2);
    }

    private static int message(ApplicationMessage message) {
        int topic = message.topic().utf8().length;
        int properties = message.properties().encodedBytes();
        int payload = message.payload().size();
        return MESSAGE
                + TOPIC
                + text(message.topic().value())
                + array(topic)
                + (payload == 0 ? 0 : BLOCK + array(payload))
                + (properties == 0 ? 0 : BLOCK + array(properties))
                + text(message.publisherId());
    }

    /** Latin-1 takes one byte per character, other text two; one character beyond Latin-1 is enough. */
    private static int text(@Nullable String text) {
        if (text == null) {
            return 0;
        }
        int length = text.length();
        for (int i = 0; i < length; i++) {
            if (text.charAt(i) > 0xFF) {
                return STRING + array(2 * length);
            }
        }
        return STRING + array(length);
    }

    private static int array(int bytes) {
        return ARRAY + (bytes + 7 & -8);
    }
}
