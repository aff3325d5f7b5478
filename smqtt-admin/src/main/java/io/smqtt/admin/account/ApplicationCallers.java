// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import io.smqtt.thread.AnyThread;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Accepts the users of the application around the broker, by their authorities. Requests without such a user are authenticated by the
 * broker.
 */
@AnyThread
public final class ApplicationCallers implements Callers {

    private static final Identification ENDED =
            new Refusal(401, "LOGIN_ENDED", "the login at the application has ended", null);

    private final Callers own;
    private final Map<Role, Set<String>> authorities;

    /**
     * Creates it.
     *
     * @param own authenticates requests without a user of the application, and checks Host and Origin of all
     * @param authorities the authorities that give a role, any of them
     */
    public ApplicationCallers(Callers own, Map<Role, Set<String>> authorities) {
        this.own = own;
        this.authorities = Map.copyOf(authorities);
    }

    @Override
    public @Nullable Refusal refusal(Credentials credentials) {
        return own.refusal(credentials);
    }

    @Override
    public Mono<Identification> identify(Credentials credentials) {
        ApplicationUser user = credentials.user();
        return user == null ? own.identify(credentials) : Mono.just(found(user));
    }

    @Override
    public Mono<Identification> identifyAgain(Credentials credentials) {
        ApplicationUser user = credentials.user();
        if (user == null) {
            return own.identifyAgain(credentials);
        }
        return Mono.just(user.isLoggedIn().getAsBoolean() ? found(user) : ENDED);
    }

    /** The strongest role of several. */
    private Identification found(ApplicationUser user) {
        for (Role role : Role.values()) {
            if (!Collections.disjoint(authorities.getOrDefault(role, Set.of()), user.authorities())) {
                return new Known(new Caller(user.name(), role, Caller.Kind.APPLICATION));
            }
        }
        return new Refusal(
                403,
                "NO_ROLE",
                "the user " + user.name() + " has no role here: none of the authorities of this user is listed in"
                        + " management.embedded.roles",
                null);
    }
}
