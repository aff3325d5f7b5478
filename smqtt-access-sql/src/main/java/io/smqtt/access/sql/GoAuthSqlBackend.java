// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.sql;

import io.smqtt.ReloadResult;
import io.smqtt.access.RuleList;
import io.smqtt.access.RuleList.Actions;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.hash.PasswordChecks;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Tables as mosquitto-go-auth reads them, by {@code userquery}, {@code superquery} and {@code aclquery}. What they do not accept, the next
 * backend may.
 */
@AnyThread
final class GoAuthSqlBackend implements AccessBackend {

    private static final String READ = "1";
    private static final String WRITE = "2";
    private static final String SUBSCRIBE = "4";

    private final SqlServer server;
    private final PasswordChecks passwords;
    private final @Nullable SqlStatement users;
    private final @Nullable SqlStatement superusers;
    private final @Nullable SqlStatement topics;

    GoAuthSqlBackend(
            SqlServer server,
            PasswordChecks passwords,
            @Nullable SqlStatement users,
            @Nullable SqlStatement superusers,
            @Nullable SqlStatement topics) {
        this.server = server;
        this.passwords = passwords;
        this.users = users;
        this.superusers = superusers;
        this.topics = topics;
    }

    @Override
    public Set<Ability> abilities() {
        Set<Ability> abilities = EnumSet.noneOf(Ability.class);
        if (users != null) {
            abilities.add(Ability.USERS);
        }
        if (topics != null) {
            abilities.add(Ability.RULES);
        }
        return abilities;
    }

    @Override
    public Mono<BackendAnswer> authenticate(BackendRequest request) {
        if (users == null || request.userName() == null) {
            return Mono.just(BackendAnswer.NOT_MINE);
        }
        return server.rows(users, request, 1)
                .onErrorResume(SqlServer.SqlFailedException.class, SqlAnswers::noneIfUnsuitable)
                .flatMap(rows -> {
                    String hash = rows.isEmpty() ? null : rows.get(0).first();
                    return hash == null ? Mono.just(false) : passwords.matches(request, hash, null);
                })
                .flatMap(yes -> yes ? accepted(request) : Mono.just(BackendAnswer.NOT_MINE));
    }

    private Mono<BackendAnswer> accepted(BackendRequest request) {
        Mono<Boolean> superuser = superusers == null
                ? Mono.just(false)
                : server.rows(superusers, request, 1)
                        .onErrorResume(SqlServer.SqlFailedException.class, SqlAnswers::noneIfUnsuitable)
                        .map(rows -> !rows.isEmpty() && SqlRow.isYes(rows.get(0).first()));
        return superuser.map(all -> new BackendAnswer.Allow(all, Map.of(), null, null));
    }

    @Override
    public Mono<List<AccessRule>> rules(BackendRequest request) {
        if (topics == null || request.userName() == null) {
            return Mono.just(List.of());
        }
        return Mono.zip(
                        filters(topics, request, WRITE),
                        filters(topics, request, READ),
                        filters(topics, request, SUBSCRIBE))
                .map(answers -> rules(answers.getT1(), answers.getT2(), answers.getT3()));
    }

    private Mono<Set<String>> filters(SqlStatement statement, BackendRequest request, String access) {
        return server.rows(
                        statement,
                        name -> name.equals("access") ? access : request.value(name),
                        RuleList.MAXIMUM_RULES + 1)
                .onErrorMap(SqlServer.SqlFailedException.class, SqlAnswers::refusalIfUnsuitable)
                .map(rows -> {
                    Set<String> filters = new LinkedHashSet<>();
                    for (SqlRow row : rows) {
                        String filter = row.first();
                        if (filter != null) {
                            filters.add(filter);
                        }
                    }
                    return filters;
                });
    }

    /**
     * Makes rules of filters. To subscribe and to receive are rights of their own, as the plugin checks the one when a client subscribes, and the other with
     * each delivery.
     *
     * @throws IllegalArgumentException if there are too many
     */
    static List<AccessRule> rules(Set<String> write, Set<String> read, Set<String> subscribe) {
        List<AccessRule> rules = new ArrayList<>();
        write.forEach(filter -> rules.add(AccessRule.allowWithPercent(Actions.PUBLISH, filter)));
        subscribe.forEach(filter -> rules.add(AccessRule.allowWithPercent(
                read.contains(filter) ? Actions.SUBSCRIBE : Actions.SUBSCRIBE_REQUEST, filter)));
        read.stream()
                .filter(filter -> !subscribe.contains(filter))
                .forEach(filter -> rules.add(AccessRule.allowWithPercent(Actions.DELIVERY, filter)));
        if (rules.size() > RuleList.MAXIMUM_RULES) {
            throw new IllegalArgumentException("more than " + RuleList.MAXIMUM_RULES + " access rules");
        }
        return rules;
    }

    @Override
    public ReloadResult reload() {
        return server.reload();
    }

    @Override
    public void close() {
        passwords.close();
        server.close();
    }
}
