// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * The origin of a login, by which wrong ones are counted. Immutable.
 *
 * @param address the address; null if that is not known
 * @param device the secret that an earlier login of the user gave to the browser or program; empty to ask for one, null to do without
 */
public record LoginSource(
        @Nullable InetAddress address, @Nullable String device) {

    /**
     * A login of a program that keeps no secret.
     *
     * @param address the address; null if that is not known
     * @return the origin
     */
    public static LoginSource of(@Nullable InetAddress address) {
        return new LoginSource(address, null);
    }

    /** {@return the form without the secret} */
    @Override
    public String toString() {
        return "LoginSource[address=" + address + "]";
    }
}
