// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who may do what: {@code smqtt.access.*}.
 *
 * @param allowAnonymous which clients may connect without a user name: those from loopback addresses, all, or none
 * @param passwordFile users and password hashes, in mosquitto's format; read again on SIGHUP
 * @param aclFile rules, in mosquitto's format; read again on SIGHUP. Without one everybody may do everything
 * @param admins users who have the role admin, which reads the broker's own topics, whoever has verified them
 * @param hashThreads threads that check password hashes
 * @param hashQueue logins that wait for such a thread before more are refused with 0x89
 */
public record AccessConfig(
        @ConfigDoc("which clients may connect without a user name: those from loopback addresses, all, " + "or none")
        AnonymousAccess allowAnonymous,

        @ConfigDoc("users and password hashes, in mosquitto's format; read again on SIGHUP") @Nullable
        Path passwordFile,

        @ConfigDoc("rules, in mosquitto's format; read again on SIGHUP. Without one everybody may do " + "everything")
        @Nullable
        Path aclFile,

        @ConfigDoc(
                "users who have the role admin, which reads the broker's own topics ($SYS, $event) also where no rule lets "
                        + "them, whoever has verified them")
        List<String> admins,

        @ConfigDoc(value = "threads that check password hashes", min = "1", max = "64")
        int hashThreads,

        @ConfigDoc(
                value = "logins that wait for such a thread before more are refused with 0x89",
                min = "1",
                max = "1000000")
        int hashQueue) {

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
        Check.range("access.hash-threads", hashThreads, 1, 64);
        Check.range("access.hash-queue", hashQueue, 1, 1_000_000);
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static AccessConfig defaults() {
        return new AccessConfig(AnonymousAccess.LOOPBACK, null, null, List.of(), 1, 64);
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
        private int hashThreads;
        private int hashQueue;

        private Builder(AccessConfig from) {
            allowAnonymous = from.allowAnonymous;
            passwordFile = from.passwordFile;
            aclFile = from.aclFile;
            admins = from.admins;
            hashThreads = from.hashThreads;
            hashQueue = from.hashQueue;
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

        /**
         * Makes the configuration.
         *
         * @return a new one
         * @throws ConfigurationException if a value is out of its range
         */
        public AccessConfig build() {
            return new AccessConfig(allowAnonymous, passwordFile, aclFile, admins, hashThreads, hashQueue);
        }
    }
}
