// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Who may do what: {@code smqtt.access.*}.
 *
 * @param allowAnonymous clients without user name: from loopback addresses only, all, or none
 * @param passwordFile users and password hashes, in mosquitto's format
 * @param aclFile rules, in mosquitto's format
 * @param hashThreads threads that check password hashes
 * @param hashQueue logins that wait for such a thread before more are refused with 0x89
 */
public record AccessConfig(
        AnonymousAccess allowAnonymous,
        @Nullable Path passwordFile,
        @Nullable Path aclFile,
        int hashThreads,
        int hashQueue) {

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static AccessConfig defaults() {
        return new AccessConfig(
                AnonymousAccess.LOOPBACK,
                null,
                null,
                1,
                64);
    }
}
