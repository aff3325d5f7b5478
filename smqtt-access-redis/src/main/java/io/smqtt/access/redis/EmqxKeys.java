// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.BackendSettings;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The keys of EMQX: a hash for each user, and one with the rules of the user, by commands that are configured. Immutable. */
final class EmqxKeys implements KeyLayout {

    private static final Set<String> FIELDS = Set.of("password_hash", "password", "salt", "is_superuser");

    private final ReadCommand users;
    private final ReadCommand rules;

    private EmqxKeys(ReadCommand users, ReadCommand rules) {
        this.users = users;
        this.rules = rules;
    }

    /**
     * Reads the commands.
     *
     * @param settings {@code cmd} and {@code acl.cmd}
     * @throws io.smqtt.config.ConfigurationException if one of them cannot be used
     */
    static EmqxKeys of(BackendSettings settings) {
        ReadCommand users = ReadCommand.of(settings, "cmd", EnumSet.of(ReadCommand.Name.HGET, ReadCommand.Name.HMGET));
        List<String> fields = users.fixedFields();
        if (!FIELDS.containsAll(fields) || !(fields.contains("password_hash") || fields.contains("password"))) {
            throw settings.problem(
                    "cmd", "must have the field password_hash, and no others than salt and is_superuser beside it");
        }
        return new EmqxKeys(users, ReadCommand.of(settings, "acl.cmd", EnumSet.allOf(ReadCommand.Name.class)));
    }

    @Override
    public Mono<StoredUser> user(Redis redis, BackendRequest request) {
        return users.run(redis, request).flatMap(hash -> Mono.justOrEmpty(user(hash)));
    }

    private static @Nullable StoredUser user(Map<String, String> hash) {
        String password = hash.get(hash.containsKey("password_hash") ? "password_hash" : "password");
        String superuser = hash.getOrDefault("is_superuser", "");
        return password == null
                ? null
                : new StoredUser(
                        password,
                        hash.getOrDefault("salt", ""),
                        superuser.equals("1") || superuser.equalsIgnoreCase("true"));
    }

    @Override
    public Mono<List<AccessRule>> rules(Redis redis, BackendRequest request) {
        return rules.run(redis, request).map(TopicRules::read);
    }
}
