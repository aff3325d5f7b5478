// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.io.IOException;

/** The channel of a member of a replicated store. */
interface ReplicaLink {

    /** Leaves the channel at once, because the log or the rows of the member cannot be used. Called on a thread of the group. */
    void leave();

    /** Closes the channel, if it ends with this member: before its log and rows, and after its store. Blocks. */
    void close() throws IOException;
}
