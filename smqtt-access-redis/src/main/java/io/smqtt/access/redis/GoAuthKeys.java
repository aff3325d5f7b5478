// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import io.smqtt.access.RuleList.Actions;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The keys of mosquitto-go-auth: the hash of the password under the user name, {@code true} under {@code NAME:su} for superusers, and sets of topic filters.
 * As there, a subscription and its deliveries need a filter each: {@code sacls} allow to subscribe only, {@code racls} and {@code rwacls} to receive.
 */
final class GoAuthKeys implements KeyLayout {

    private static final String COMMON = "common";

    /** A kind of sets, with what their filters allow. */
    private enum Kind {
        SUBSCRIBE("sacls", Actions.SUBSCRIBE_REQUEST),
        READ("racls", Actions.DELIVERY),
        WRITE("wacls", Actions.PUBLISH),
        READ_WRITE("rwacls", Actions.PUBLISH, Actions.DELIVERY);

        private final String suffix;
        private final List<Actions> actions;

        Kind(String suffix, Actions... actions) {
            this.suffix = suffix;
            this.actions = List.of(actions);
        }
    }

    private final boolean superusers;

    /**
     * Creates the layout.
     *
     * @param superusers whether there are superusers
     */
    GoAuthKeys(boolean superusers) {
        this.superusers = superusers;
    }

    @Override
    public Mono<StoredUser> user(Redis redis, BackendRequest request) {
        String name = name(request);
        if (name == null) {
            return Mono.empty();
        }
        return redis.text(name)
                .flatMap(hash -> superuser(redis, name).map(superuser -> new StoredUser(hash, "", superuser)));
    }

    private Mono<Boolean> superuser(Redis redis, String name) {
        return superusers ? redis.text(name + ":su").map("true"::equals).defaultIfEmpty(false) : Mono.just(false);
    }

    @Override
    public Mono<List<AccessRule>> rules(Redis redis, BackendRequest request) {
        String name = name(request);
        Flux<AccessRule> own = name == null ? Flux.empty() : rules(redis, name, GoAuthKeys::literal);
        return own.concatWith(rules(redis, COMMON, AccessRule::allowWithPercent))
                .collectList();
    }

    private static Flux<AccessRule> rules(Redis redis, String owner, BiFunction<Actions, String, AccessRule> rule) {
        return Flux.fromArray(Kind.values())
                .concatMap(kind -> redis.members(owner + ":" + kind.suffix).flatMapIterable(filters -> {
                    List<AccessRule> rules = new ArrayList<>();
                    for (String filter : filters) {
                        kind.actions.forEach(actions -> rules.add(rule.apply(actions, filter)));
                    }
                    return rules;
                }));
    }

    /** A filter of one user, in which go-auth replaces nothing. */
    private static AccessRule literal(Actions actions, String filter) {
        return AccessRule.allow(actions, filter);
    }

    private static @Nullable String name(BackendRequest request) {
        String name = request.userName();
        return name == null || name.isEmpty() ? null : name;
    }
}
