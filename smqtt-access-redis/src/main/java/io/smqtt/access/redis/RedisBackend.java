// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import io.smqtt.ReloadResult;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.BackendSecret;
import io.smqtt.access.hash.PasswordChecks;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Map;
import java.util.Set;
import reactor.core.publisher.Mono;

/** Users and access rules in Redis. A client that is not there, another backend may know; one that is there is accepted or refused. */
@AnyThread
final class RedisBackend implements AccessBackend {

    private final Redis redis;
    private final KeyLayout keys;
    private final PasswordChecks checks;
    private final List<BackendSecret> passwords;

    /**
     * Creates a backend.
     *
     * @param passwords those with which connections are opened
     */
    RedisBackend(Redis redis, KeyLayout keys, PasswordChecks checks, List<BackendSecret> passwords) {
        this.passwords = List.copyOf(passwords);
        this.redis = redis;
        this.keys = keys;
        this.checks = checks;
    }

    @Override
    public Set<Ability> abilities() {
        return Set.of(Ability.USERS, Ability.RULES);
    }

    @Override
    public Mono<BackendAnswer> authenticate(BackendRequest request) {
        return keys.user(redis, request).flatMap(user -> answer(user, request)).defaultIfEmpty(BackendAnswer.NOT_MINE);
    }

    private Mono<BackendAnswer> answer(StoredUser user, BackendRequest request) {
        byte[] password = request.password();
        if (password == null || password.length == 0) {
            return Mono.just(BackendAnswer.DENY);
        }
        return checks.matches(request, user.passwordHash(), user.salt())
                .map(matches ->
                        matches ? new BackendAnswer.Allow(user.superuser(), Map.of(), null, null) : BackendAnswer.DENY);
    }

    @Override
    public Mono<List<AccessRule>> rules(BackendRequest request) {
        return keys.rules(redis, request);
    }

    @Override
    public void start() {
        redis.start();
    }

    @Override
    public ReloadResult reload() {
        return ReloadResult.of(passwords.stream().map(BackendSecret::reload).toList());
    }

    @Override
    public void close() {
        checks.close();
        redis.close();
    }
}
