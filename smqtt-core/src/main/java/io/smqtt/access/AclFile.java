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
 * The rules of an ACL file in mosquitto's syntax, with the extensions {@code deny read} and {@code deny write}, sections for roles, and
 * conditions on the client's address. Immutable.
 *
 * <p>The rules for a client are those of its section (that of its user, or the part before the first section for an anonymous client),
 * those of its roles, and the patterns. A topic is denied if one of these rules denies it, else allowed if one allows it. Otherwise the
 * file makes no decision; then the topic is denied unless another authorizer allows it.
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
     * Warnings about a valid file.
     *
     * @return messages that name the file; usually empty
     */
    public List<String> warnings() {
        return warnings;
    }

    /** Size and end of the file when it was read. */
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
