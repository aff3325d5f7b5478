// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A backend of authentication and authorization outside of the broker: {@code smqtt.access.backends.<name>.*}. Immutable.
 *
 * @param type the kind of backend, such as {@code http}; the page of the type lists its further keys
 * @param checks what the backend decides: {@code user} for who may connect, {@code acl} for what a client may do
 * @param userPrefix the beginning of the user names that the backend is asked for; empty for all clients
 * @param onFailure what happens while the backend does not answer, or answers with an error: {@code refuse} the client, or ask the
 *     {@code next} backend
 * @param timeout maximum time for an answer
 * @param maxConcurrent maximum number of requests at the same time
 * @param maxWaiting maximum number of requests that wait for one of them; a further client is refused with 0x89
 * @param cacheTtl time for which a positive answer is used again, and after which access rules are fetched again; 10 % shorter or
 *     longer, so that not all end at once; 0s for not at all
 * @param refusedCacheTtl the same for a refusal, 20 % shorter or longer
 * @param cacheEntries maximum number of answers that are kept
 * @param cacheBytes maximum size of the answers that are kept
 * @param settings the further keys of the block, which its type declares
 */
@ConfigBlock("access.backends.<name>")
public record AccessBackendConfig(
        @Setting(required = true) String type,
        @Setting("user,acl") List<String> checks,
        String userPrefix,
        @Setting("refuse") OnFailure onFailure,
        @Setting(value = "5s", min = "10ms", max = "1m") Duration timeout,
        @Setting(value = "8", min = "1", max = "1024") int maxConcurrent,
        @Setting(value = "1000", min = "0", max = "1000000") int maxWaiting,
        @Setting(value = "1m", min = "0s", max = "1d") Duration cacheTtl,
        @Setting(value = "5s", min = "0s", max = "1h") Duration refusedCacheTtl,

        @Setting(value = "100000", min = "1", max = "10000000")
        int cacheEntries,

        @Setting(value = "32MiB", min = "64KiB", max = "4GiB")
        long cacheBytes,

        Map<String, ConfigValue> settings) {

    /**
     * The names that a backend fills in for a client in its settings, such as <code>${username}</code>; beside them
     * <code>${client_attrs.NAME}</code>.
     */
    public static final List<String> PLACEHOLDERS = List.of(
            "username",
            "clientid",
            "password",
            "peerhost",
            "peerport",
            "cert_subject",
            "cert_common_name",
            "cert_pem",
            "listener",
            "proto_name",
            "action",
            "access",
            "topic",
            "qos",
            "retain");

    /** What happens when a backend fails. */
    public enum OnFailure {
        /** The client is refused. */
        REFUSE,
        /** The next backend is asked. */
        NEXT
    }

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a check is unknown, or there is none
     */
    public AccessBackendConfig {
        checks = List.copyOf(checks);
        settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
        boolean known = checks.stream().allMatch(check -> check.equals("user") || check.equals("acl"));
        Check.that(known && !checks.isEmpty(), "access.backends.<name>.checks", "must be user, acl or both");
    }

    /**
     * Whether the backend decides who may connect.
     *
     * @return true for {@code user} in {@link #checks()}
     */
    public boolean checksUsers() {
        return checks.contains("user");
    }

    /**
     * Whether the backend decides what a client may do.
     *
     * @return true for {@code acl} in {@link #checks()}
     */
    public boolean checksRules() {
        return checks.contains("acl");
    }

    /**
     * Creates a configuration with defaults.
     *
     * @param type the kind of backend
     * @return a builder, for one thread
     */
    public static AccessBackendConfigBuilder builder(String type) {
        return new AccessBackendConfigBuilder().type(type);
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public AccessBackendConfigBuilder toBuilder() {
        return new AccessBackendConfigBuilder(this);
    }
}
