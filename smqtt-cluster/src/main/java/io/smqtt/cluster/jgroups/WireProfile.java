// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

/** The channels, which accept different headers and addresses. */
enum WireProfile {

    /** The channel of the cluster. */
    CLUSTER,

    /**
     * The channel for replicas: in addition the headers of consensus, for the numbers of protocols from {@value #FIRST_PROTOCOL} to {@value
     * #LAST_PROTOCOL}. An even number is that of an election, the next one that of its log. Addresses carry names.
     */
    REPLICAS;

    private static final int FIRST_PROTOCOL = 800;
    private static final int LAST_PROTOCOL = 863;

    /** A vote is asked for. */
    static final short VOTE_REQUEST = 3000;

    /** A vote. */
    static final short VOTE = 3001;

    /** The leader of a term. */
    static final short LEADER = 3005;

    /** Entries for a log. */
    static final short ENTRIES = 2000;

    /** The answer to entries. */
    static final short ENTRIES_ANSWER = 2001;

    /** Whether a protocol has a header of a class in this channel, beside those in both. */
    boolean isKnownHeader(short protocol, short number) {
        if (this != REPLICAS || protocol < FIRST_PROTOCOL || protocol > LAST_PROTOCOL) {
            return false;
        }
        return protocol % 2 == 0
                ? number == VOTE_REQUEST || number == VOTE || number == LEADER
                : number == ENTRIES || number == ENTRIES_ANSWER;
    }
}
