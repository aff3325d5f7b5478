// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.backend;

import com.google.re2j.Pattern;
import io.smqtt.access.AddressRange;
import io.smqtt.access.RuleList;
import io.smqtt.access.RuleList.Actions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An access rule of a backend: a rule for topics, and the clients to which it applies. Its topic may have placeholders, such as
 * <code>${clientid}</code>. Immutable.
 *
 * @param rule the rule for topics
 * @param clientId the client identifiers to which it applies, or null for all; found anywhere in the identifier
 * @param userName the user names to which it applies, or null for all; found anywhere in the name
 * @param addresses the networks to which it applies; empty for all
 * @param listener the listener to which it applies, or null for all
 */
public record AccessRule(
        RuleList.Rule rule,
        @Nullable Pattern clientId,
        @Nullable Pattern userName,
        List<AddressRange> addresses,
        @Nullable String listener) {

    /** Copies the networks. */
    public AccessRule {
        addresses = List.copyOf(addresses);
    }

    /**
     * A rule for all clients.
     *
     * @param rule the rule for topics
     */
    public AccessRule(RuleList.Rule rule) {
        this(rule, null, null, List.of(), null);
    }

    /**
     * A rule that allows actions on a topic.
     *
     * @param actions the actions
     * @param topic a topic filter with placeholders
     * @return a rule for all clients
     */
    public static AccessRule allow(Actions actions, String topic) {
        return new AccessRule(new RuleList.Rule(true, actions, topic));
    }

    /**
     * A rule of mosquitto-go-auth: a filter in which {@code %u} stands for the user name and {@code %c} for the client identifier.
     *
     * @param actions the actions
     * @param filter the filter
     * @return a rule for all clients
     */
    public static AccessRule allowWithPercent(Actions actions, String filter) {
        return allow(actions, filter.replace("%u", "${username}").replace("%c", "${clientid}"));
    }

    /**
     * Whether the rule applies to a client. A rule that denies also applies if the address of the client is unknown.
     *
     * @param client the client
     * @return false if a condition is not met
     */
    boolean appliesTo(BackendRequest client) {
        return (listener == null || listener.equals(client.listener()))
                && (clientId == null || clientId.matcher(client.clientId()).find())
                && (userName == null || isUser(client.userName(), userName))
                && (addresses.isEmpty() || isInNetwork(client));
    }

    private static boolean isUser(@Nullable String name, Pattern pattern) {
        return name != null && pattern.matcher(name).find();
    }

    private boolean isInNetwork(BackendRequest client) {
        return client.remoteAddress().isUnresolved()
                ? !rule.allow()
                : addresses.stream()
                        .anyMatch(range -> range.contains(client.remoteAddress().getAddress()));
    }
}
