// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The authorization of a request, and where it came from. Immutable.
 *
 * @param authorization the Authorization header; null if there is none
 * @param address the address of the connection
 * @param host the Host header; null if there is none
 * @param origin the Origin header; null if there is none
 * @param user the user whom the application around the broker has authenticated; null if there is none
 */
public record Credentials(
        @Nullable String authorization,
        InetSocketAddress address,
        @Nullable String host,
        @Nullable String origin,
        @Nullable ApplicationUser user) {

    /** {@return the form without the secret} */
    @Override
    public String toString() {
        return "Credentials[address=" + address + ", host=" + host + ", origin=" + origin + "]";
    }
}
