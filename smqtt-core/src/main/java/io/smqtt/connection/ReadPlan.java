// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.netty.buffer.ByteBuf;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/** What the next read of a connection is for. The transport asks before each read of a socket whose bytes are neither encrypted nor framed. */
@OnEventLoop
public interface ReadPlan {

    /**
     * The maximum size of the read.
     *
     * @return bytes
     */
    int largestRead();

    /**
     * The buffer with the begin of a packet, to which the read is appended. The transport passes it on with a reference of its own, also if
     * nothing was read.
     *
     * @return null to read into another buffer; otherwise with room for the read, and owned by the callee
     */
    @Nullable
    ByteBuf begun();
}
