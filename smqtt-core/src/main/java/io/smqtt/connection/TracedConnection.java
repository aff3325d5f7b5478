// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.codec.ConnectPacket;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.trace.RunningTraces;
import org.jspecify.annotations.Nullable;

/** A connection as traces see it. */
@OnEventLoop
interface TracedConnection {

    /** The traces that run; null if there are none. */
    @Nullable
    RunningTraces traces();

    /** The connection as the transport sees it. */
    ClientLink link();

    /** The client; null until it is authenticated. */
    @Nullable
    ClientIdentity clientOrNull();

    /** The CONNECT, until the CONNACK is about to be sent. */
    @Nullable
    ConnectPacket connect();

    /** Whether the client speaks MQTT 5.0. */
    boolean isV5();
}
