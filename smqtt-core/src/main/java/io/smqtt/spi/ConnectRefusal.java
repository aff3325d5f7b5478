// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ReasonCode;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A CONNECT that was refused. Nobody may have verified what the client says of itself. More components may come with later
 * versions: read them by name.
 *
 * @param listener the listener's name
 * @param remoteAddress where the client really is, behind a trusted proxy too
 * @param clientId the client identifier: as the client sent it, maybe empty, or as assigned once it was authenticated; null if it
 *     was not readable
 * @param userName the user: the authenticated one, or before that the user name that the client sent; null if there is none or it
 *     was not readable
 * @param reason the reason code of the CONNACK
 */
public record ConnectRefusal(
        String listener,
        InetSocketAddress remoteAddress,
        @Nullable String clientId,
        @Nullable String userName,
        ReasonCode reason) {}
