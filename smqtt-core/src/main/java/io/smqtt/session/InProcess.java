// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.ClientIdentity;
import java.net.InetSocketAddress;
import java.util.Set;

/**
 * Names of those who use the broker from its own process. They stand beside client identifiers, and no client may have
 * one: a CONNECT with such a name is refused. Access rules do not apply to them. Any thread.
 */
public final class InProcess {

    /** What all of these names begin with. */
    public static final String PREFIX = "$in-process/";

    private static final InetSocketAddress HERE = InetSocketAddress.createUnresolved("in-process", 0);
    private static final String NO_LISTENER = "";

    private InProcess() {}

    /**
     * Tells whether a name is none that a client may have.
     *
     * @param clientId a client identifier
     * @return true if it begins with {@link #PREFIX}
     */
    public static boolean isReserved(String clientId) {
        return clientId.startsWith(PREFIX);
    }

    /**
     * Who somebody in this process is.
     *
     * @param name the name without {@link #PREFIX}
     * @return an identity without a user and without an address
     */
    public static ClientIdentity identity(String name) {
        return new ClientIdentity(PREFIX + name, null, HERE, NO_LISTENER, ProtocolVersion.MQTT_5, Set.of());
    }
}
