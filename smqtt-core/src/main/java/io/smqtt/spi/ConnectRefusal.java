// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ReasonCode;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A refused CONNECT. Its values may be unverified. Later versions may add components: read them by name.
 *
 * @param listener the listener's name
 * @param remoteAddress the client's address, also behind a trusted proxy
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
