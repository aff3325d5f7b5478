// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Authentication and authorization: {@code smqtt.access.*}.
 *
 * @param allowAnonymous which clients may connect without a user name: those from loopback addresses, all, or none
 * @param passwordFile users and password hashes, in mosquitto's format; read again on SIGHUP
 * @param aclFile rules, in mosquitto's format; read again on SIGHUP. Without one everybody may do everything
 * @param admins users who have the role admin, which reads the broker's own topics, whoever has verified them
 * @param clientId the client identifiers that are reserved for a user, such as {@code ${user}} or {@code ${user}-*}; empty
 *     reserves none
 * @param hashThreads threads that check password hashes
 * @param hashQueue logins that wait for such a thread; a further one takes the place of one of an address that has more
 *     waiting, or is refused with 0x89
 * @param failedLogins wrong passwords from one address within a minute before its refusals are delayed; 0 for no delay
 * @param failedLoginDelay the longest delay of a refusal
 * @param logConnections whether connects and disconnects are logged
 */
public record AccessConfig(
        @ConfigDoc("which clients may connect without a user name: those from loopback addresses, all, " + "or none")
        AnonymousAccess allowAnonymous,

        @ConfigDoc("users and password hashes, in mosquitto's format; read again on SIGHUP") @Nullable
        Path passwordFile,

        @ConfigDoc("access rules, in mosquitto's format; read again on SIGHUP. Without this file every client may "
                + "publish and subscribe to everything")
        @Nullable
        Path aclFile,

        @ConfigDoc("users with the role admin. They can read the broker's own topics ($SYS, $event) without a rule")
        List<String> admins,

        @ConfigDoc(
                value =
                        "pattern of the client identifiers that are reserved for a user: `${user}` stands for the user name, "
                                + "`*` at the end for any characters, as in `${user}-*`. Other identifiers are refused with 0x85. A "
                                + "client that sends none gets an assigned one",
                placeholders = "${user}")
        String clientId,

        @ConfigDoc(value = "number of threads that check password hashes", min = "1", max = "64")
        int hashThreads,

        @ConfigDoc(
                value =
                        "maximum number of logins that wait for such a thread. A further login replaces one of an address "
                                + "with more waiting logins, or is refused with 0x89",
                min = "1",
                max = "1000000")
        int hashQueue,

        @ConfigDoc(
                value =
                        "number of wrong passwords from one address (IPv6: a /64 network) within a minute before its refusals "
                                + "are delayed, by 100 ms and then twice as long each time; 0 for no delay. Logins with the right "
                                + "password are not delayed",
                min = "0",
                max = "1000000")
        int failedLogins,

        @ConfigDoc(value = "maximum delay of a refusal", min = "1ms", max = "20s")
        Duration failedLoginDelay,

        @ConfigDoc(
                "whether each connect and disconnect is logged, at level INFO; refusals always are. Lines are limited "
                        + "per address; the number of suppressed lines is logged")
        boolean logConnections) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public AccessConfig {
        Check.present("access.allow-anonymous", allowAnonymous);
        Check.present("access.admins", admins);
        admins = List.copyOf(admins);
        Check.that(admins.stream().noneMatch(String::isBlank), "access.admins", "must not hold an empty name");
        Check.present("access.client-id", clientId);
        if (!clientId.isEmpty()) {
            ClientIdPattern.parse("access.client-id", clientId);
        }
        Check.range("access.hash-threads", hashThreads, 1, 64);
        Check.range("access.hash-queue", hashQueue, 1, 1_000_000);
        Check.range("access.failed-logins", failedLogins, 0, 1_000_000);
        Check.range("access.failed-login-delay", failedLoginDelay, Duration.ofMillis(1), Duration.ofSeconds(20));
    }

    /**
     * The client identifiers that are reserved for a user.
     *
     * @return what {@link #clientId()} says, or null if none are reserved
     */
    public @Nullable ClientIdPattern clientIdPattern() {
        return clientId.isEmpty() ? null : ClientIdPattern.parse("access.client-id", clientId);
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static AccessConfig defaults() {
        return new AccessConfig(
                AnonymousAccess.LOOPBACK, null, null, List.of(), "", 1, 64, 10, Duration.ofSeconds(5), true);
    }

    /**
     * Begins with the defaults.
     *
     * @return a builder, for one thread
     */
    public static Builder builder() {
        return defaults().toBuilder();
    }

    /**
     * Begins with these values.
     *
     * @return a builder, for one thread
     */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Collects values for a new {@link AccessConfig}. Not safe for several threads. */
    public static final class Builder {

        private AnonymousAccess allowAnonymous;
        private @Nullable Path passwordFile;
        private @Nullable Path aclFile;
        private List<String> admins;
        private String clientId;
        private int hashThreads;
        private int hashQueue;
        private int failedLogins;
        private Duration failedLoginDelay;
        private boolean logConnections;

        private Builder(AccessConfig from) {
            allowAnonymous = from.allowAnonymous;
            passwordFile = from.passwordFile;
            aclFile = from.aclFile;
            admins = from.admins;
            clientId = from.clientId;
            hashThreads = from.hashThreads;
            hashQueue = from.hashQueue;
            failedLogins = from.failedLogins;
            failedLoginDelay = from.failedLoginDelay;
            logConnections = from.logConnections;
        }

        /** {@return this, with {@link AccessConfig#allowAnonymous()} set to the argument} */
        public Builder allowAnonymous(AnonymousAccess value) {
            allowAnonymous = value;
            return this;
        }

        /** {@return this, with {@link AccessConfig#passwordFile()} set to the argument} */
        public Builder passwordFile(@Nullable Path value) {
            passwordFile = value;
            return this;
        }

        /** {@return this, with {@link AccessConfig#aclFile()} set to the argument} */
        public Builder aclFile(@Nullable Path value) {
            aclFile = value;
            return this;
        }

        /** {@return this, with {@link AccessConfig#admins()} set to the argument} */
        public Builder admins(List<String> value) {
            admins = value;
            return this;
        }

        /** {@return this, with {@link AccessConfig#clientId()} set to the argument} */
        public Builder clientId(String value) {
            clientId = value;
            return this;
        }

        /** {@return this, with {@link AccessConfig#hashThreads()} set to the argument} */
        public Builder hashThreads(int value) {
            hashThreads = value;
            return this;
        }

        /** {@return this, with {@link AccessConfig#hashQueue()} set to the argument} */
        public Builder hashQueue(int value) {
            hashQueue = value;
            return this;
        }

        /** {@return this, with {@link AccessConfig#failedLogins()} set to the argument} */
        public Builder failedLogins(int value) {
            failedLogins = value;
            return this;
        }

        /** {@return this, with {@link AccessConfig#failedLoginDelay()} set to the argument} */
        public Builder failedLoginDelay(Duration value) {
            failedLoginDelay = value;
            return this;
        }

        /** {@return this, with {@link AccessConfig#logConnections()} set to the argument} */
        public Builder logConnections(boolean value) {
            logConnections = value;
            return this;
        }

        /**
         * Makes the configuration.
         *
         * @return a new one
         * @throws ConfigurationException if a value is out of its range
         */
        public AccessConfig build() {
            return new AccessConfig(
                    allowAnonymous,
                    passwordFile,
                    aclFile,
                    admins,
                    clientId,
                    hashThreads,
                    hashQueue,
                    failedLogins,
                    failedLoginDelay,
                    logConnections);
        }
    }
}
