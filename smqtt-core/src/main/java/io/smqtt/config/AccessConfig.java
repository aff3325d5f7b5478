// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Authentication and authorization: {@code smqtt.access.*}.
 *
 * @param allowAnonymous which clients may connect without a user name: those from loopback addresses, all, or none
 * @param passwordFile users and password hashes, in mosquitto's format; read again on SIGHUP
 * @param aclFile access rules, in mosquitto's format; read again on SIGHUP. Without this file every client may
 *     publish and subscribe to everything
 * @param admins users with the role admin. They can read the broker's own topics ($SYS, $event) without a rule
 * @param clientId pattern of the client identifiers that are reserved for a user: {@code ${user}} stands for the
 *     user name, {@code *} at the end for any characters, as in {@code ${user}-*}. Other identifiers are refused with
 *     0x85. A client that sends none gets an assigned one
 * @param chain the backends that decide who may connect, in the order in which they are asked: names of {@code access.backends.<name>},
 *     {@code certificate} and {@code password-file}. Empty for certificate and password file. Clients without a user name
 *     come last, as {@code allow-anonymous} says
 * @param backends backends outside of the broker, by name: HTTP servers, tokens, databases, directories
 * @param hashThreads number of threads that check password hashes
 * @param hashQueue maximum number of logins that wait for such a thread. A further login replaces one of an address
 *     with more waiting logins, or is refused with 0x89
 * @param failedLogins number of wrong passwords from one address (IPv6: a /64 network) within a minute before its
 *     refusals are delayed, by 100 ms and then twice as long each time; 0 for no delay. Logins with the right password
 *     are not delayed
 * @param failedLoginDelay maximum delay of a refusal
 * @param logConnections whether each connect and disconnect is logged, at level INFO; refusals always are. Lines
 *     are limited per address; the number of suppressed lines is logged
 * @param bans who is banned by the broker itself
 */
@ConfigBlock("access")
public record AccessConfig(
        @Setting("loopback") AnonymousAccess allowAnonymous,
        @Nullable Path passwordFile,
        @Nullable Path aclFile,
        List<String> admins,
        @Setting(placeholders = "${user}") String clientId,
        List<String> chain,
        Map<String, AccessBackendConfig> backends,
        @Setting(value = "1", min = "1", max = "64") int hashThreads,
        @Setting(value = "64", min = "1", max = "1000000") int hashQueue,
        @Setting(value = "10", min = "0", max = "1000000") int failedLogins,
        @Setting(value = "5s", min = "1ms", max = "20s") Duration failedLoginDelay,
        @Setting("true") boolean logConnections,
        AutomaticBansConfig bans) {

    /** The name in {@link #chain()} of users that a client certificate names. */
    public static final String CERTIFICATE = "certificate";

    /** The name in {@link #chain()} of the users of {@link #passwordFile()}. */
    public static final String PASSWORD_FILE = "password-file";

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a value is wrong, or contradicts another value
     */
    public AccessConfig {
        admins = List.copyOf(admins);
        Check.that(admins.stream().noneMatch(String::isBlank), "access.admins", "must not hold an empty name");
        if (!clientId.isEmpty()) {
            ClientIdPattern.parse("access.client-id", clientId);
        }
        chain = List.copyOf(chain);
        backends = Collections.unmodifiableMap(new LinkedHashMap<>(backends));
        checkChain(chain, backends, passwordFile);
    }

    private static void checkChain(
            List<String> chain, Map<String, AccessBackendConfig> backends, @Nullable Path passwordFile) {
        Check.that(chain.size() == Set.copyOf(chain).size(), "access.chain", "names a backend twice");
        for (String name : chain) {
            boolean builtIn = name.equals(CERTIFICATE) || name.equals(PASSWORD_FILE);
            Check.that(
                    builtIn || backends.containsKey(name),
                    "access.chain",
                    "names " + name + ", which is neither in access.backends nor certificate or password-file");
            Check.that(
                    !name.equals(PASSWORD_FILE) || passwordFile != null,
                    "access.chain",
                    "names password-file, which needs access.password-file");
        }
        backends.keySet().forEach(name -> {
            Check.name("access.backends." + name, name);
            Check.that(
                    !name.equals(CERTIFICATE) && !name.equals(PASSWORD_FILE),
                    "access.backends",
                    "has the name " + name + ", which the broker uses itself");
            Check.that(
                    chain.contains(name),
                    "access.backends",
                    "has " + name + ", which access.chain does not name; add it to access.chain or remove it");
        });
    }

    /**
     * The client identifiers that are reserved for a user.
     *
     * @return the pattern of {@link #clientId()}, or null if no identifiers are reserved
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
        return builder().build();
    }

    /**
     * Creates a builder with the defaults.
     *
     * @return a builder, for one thread
     */
    public static AccessConfigBuilder builder() {
        return new AccessConfigBuilder();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public AccessConfigBuilder toBuilder() {
        return new AccessConfigBuilder(this);
    }
}
