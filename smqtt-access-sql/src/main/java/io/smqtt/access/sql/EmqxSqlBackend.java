// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.sql;

import io.smqtt.ReloadResult;
import io.smqtt.access.RuleList;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.AccessRules;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.hash.PasswordChecks;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Tables as EMQX reads them: a row with {@code password_hash}, {@code salt} and {@code is_superuser} for a client, and rows with
 * {@code permission}, {@code action} and {@code topic} for its rules.
 */
@AnyThread
final class EmqxSqlBackend implements AccessBackend {

    /** Columns that are fields of a rule. That of a zone is among them because no rule may apply outside of it. */
    private static final List<String> FIELDS = List.of(
            "permission",
            "action",
            "topic",
            "qos",
            "retain",
            "ipaddr",
            "clientid_re",
            "username_re",
            "listener",
            "zone");

    private final SqlServer server;
    private final PasswordChecks passwords;
    private final @Nullable SqlStatement users;
    private final @Nullable SqlStatement rules;

    EmqxSqlBackend(
            SqlServer server, PasswordChecks passwords, @Nullable SqlStatement users, @Nullable SqlStatement rules) {
        this.server = server;
        this.passwords = passwords;
        this.users = users;
        this.rules = rules;
    }

    @Override
    public Set<Ability> abilities() {
        Set<Ability> abilities = EnumSet.noneOf(Ability.class);
        if (users != null) {
            abilities.add(Ability.USERS);
        }
        if (rules != null) {
            abilities.add(Ability.RULES);
        }
        return abilities;
    }

    @Override
    public Mono<BackendAnswer> authenticate(BackendRequest request) {
        if (users == null) {
            return Mono.just(BackendAnswer.NOT_MINE);
        }
        if (request.password() != null && request.passwordText() == null && users.usesPassword()) {
            return Mono.just(BackendAnswer.DENY);
        }
        return server.rows(users, request, 1)
                .onErrorResume(SqlServer.SqlFailedException.class, SqlAnswers::noneIfUnsuitable)
                .flatMap(rows -> rows.isEmpty() ? Mono.just(BackendAnswer.NOT_MINE) : check(rows.get(0), request));
    }

    private Mono<BackendAnswer> check(SqlRow row, BackendRequest request) {
        if (!row.columns().containsKey("password_hash")) {
            return Mono.error(new IllegalStateException("the query has no column password_hash"));
        }
        String hash = row.text("password_hash");
        if (hash == null) {
            return Mono.just(BackendAnswer.DENY);
        }
        boolean superuser = row.isTrue("is_superuser");
        return passwords
                .matches(request, hash, row.text("salt"))
                .map(yes -> yes ? new BackendAnswer.Allow(superuser, Map.of(), null, null) : BackendAnswer.DENY);
    }

    @Override
    public Mono<List<AccessRule>> rules(BackendRequest request) {
        return rules == null
                ? Mono.just(List.of())
                : server.rows(rules, request, RuleList.MAXIMUM_RULES + 1)
                        .onErrorMap(SqlServer.SqlFailedException.class, SqlAnswers::refusalIfUnsuitable)
                        .map(EmqxSqlBackend::rules);
    }

    /**
     * Reads rules.
     *
     * @throws IllegalArgumentException if a row is no rule, or there are too many; with the number of the row
     */
    static List<AccessRule> rules(List<SqlRow> rows) {
        if (rows.size() > RuleList.MAXIMUM_RULES) {
            throw new IllegalArgumentException("more than " + RuleList.MAXIMUM_RULES + " access rules");
        }
        List<AccessRule> rules = new ArrayList<>(rows.size());
        for (int i = 0; i < rows.size(); i++) {
            try {
                rules.addAll(rule(rows.get(i)));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("access rule " + (i + 1) + " " + e.getMessage(), e);
            }
        }
        return rules;
    }

    /** Reads the columns that are fields of a rule. Others, such as the number of a row, are no conditions. */
    private static List<AccessRule> rule(SqlRow row) {
        Map<String, String> fields = new HashMap<>();
        for (String column : FIELDS) {
            String text = row.textOrEmpty(column);
            if (text != null) {
                fields.put(column, text);
            }
        }
        String address = row.textOrEmpty("ipaddress");
        if (address != null) {
            fields.put("ipaddr", address);
        }
        return AccessRules.of(fields);
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
