// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.config.ConfigurationException;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The rules of an ACL file in mosquitto's syntax, with our additions: {@code deny read} and {@code deny write}, sections
 * for roles, and conditions on the client's address. Immutable once read.
 *
 * <p>The rules that concern a client are those of its section (its user's, or the one before the first section if it is
 * anonymous), those of its roles, and the patterns. If one of them denies the topic, it is denied. Otherwise, if one of
 * them allows it, it is allowed. Otherwise this file says nothing, which denies unless another authorizer allows.
 */
@AnyThread
public final class AclFile {

    private final RuleSet anonymous;
    private final Map<String, RuleSet> users;
    private final Map<String, RuleSet> roles;
    private final RuleSet patterns;
    private final List<String> warnings;
    private final TextFile.Shape shape;

    AclFile(
            TextFile.Shape shape,
            RuleSet anonymous,
            Map<String, RuleSet> users,
            Map<String, RuleSet> roles,
            RuleSet patterns,
            List<String> warnings) {
        this.shape = shape;
        this.anonymous = anonymous;
        this.users = Map.copyOf(users);
        this.roles = Map.copyOf(roles);
        this.patterns = patterns;
        this.warnings = List.copyOf(warnings);
    }

    /**
     * Reads a file. Blocks.
     *
     * @param file the file
     * @return its rules
     * @throws ConfigurationException if the file is missing, unreadable or malformed; with file and line of every malformed line
     */
    public static AclFile read(Path file) {
        return AclParser.read(file);
    }

    /**
     * What an operator should know of the file although it is valid.
     *
     * @return messages that name the file; empty as a rule
     */
    public List<String> warnings() {
        return warnings;
    }

    /** How the file looked that was read. */
    TextFile.Shape shape() {
        return shape;
    }

    AccessDecision decide(ClientIdentity client, AccessAction action, String topic) {
        String userName = client.userName();
        RuleSet own = userName == null ? anonymous : users.getOrDefault(userName, RuleSet.EMPTY);
        if (own.denies(client, action, topic)
                || patterns.denies(client, action, topic)
                || rolesDeny(client, action, topic)) {
            return AccessDecision.DENY;
        }
        boolean allowed = own.allows(client, action, topic)
                || patterns.allows(client, action, topic)
                || rolesAllow(client, action, topic);
        return allowed ? AccessDecision.ALLOW : AccessDecision.CONTINUE;
    }

    private boolean rolesDeny(ClientIdentity client, AccessAction action, String topic) {
        if (roles.isEmpty() || client.roles().isEmpty()) {
            return false;
        }
        for (String role : client.roles()) {
            if (roles.getOrDefault(role, RuleSet.EMPTY).denies(client, action, topic)) {
                return true;
            }
        }
        return false;
    }

    private boolean rolesAllow(ClientIdentity client, AccessAction action, String topic) {
        if (roles.isEmpty() || client.roles().isEmpty()) {
            return false;
        }
        for (String role : client.roles()) {
            if (roles.getOrDefault(role, RuleSet.EMPTY).allows(client, action, topic)) {
                return true;
            }
        }
        return false;
    }
}
