// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import io.smqtt.thread.AnyThread;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Authenticates by login token, API key (Basic) or the token of the management port. */
@AnyThread
public final class AccountCallers implements Callers {

    private static final String BEARER = "Bearer ";
    private static final String BASIC = "Basic ";
    private static final Identification TOKEN = new Known(new Caller("token", Role.ADMINISTRATOR, Caller.Kind.TOKEN));
    private static final Identification NEEDED = new Refusal(
            401,
            "TOKEN_NEEDED",
            "log in first, or send an API key or the token of the broker: Authorization: Bearer ... or Basic ...",
            null);
    private static final Identification WRONG_TOKEN =
            new Refusal(401, "BAD_TOKEN", "the token is wrong, or has ended", null);
    private static final Identification WRONG_KEY = new Refusal(
            401, "BAD_API_KEY_OR_SECRET", "the API key is unknown, disabled or expired, or its secret is wrong", null);
    private static final Refusal FOREIGN = new Refusal(
            403,
            "FOREIGN_HOST",
            "Host or Origin is not one of this broker; management.allowed-hosts lists its names",
            null);

    private final Accounts accounts;
    private final Predicate<String> token;
    private final HostRule hosts;

    /**
     * Creates it.
     *
     * @param accounts the users and keys
     * @param token whether an Authorization header has the token of the management port
     * @param allowedHosts names of this broker
     * @param anyHost whether other names are accepted as Host, too
     */
    public AccountCallers(Accounts accounts, Predicate<String> token, List<String> allowedHosts, boolean anyHost) {
        this.accounts = accounts;
        this.token = token;
        this.hosts = new HostRule(
                allowedHosts.stream().map(name -> name.toLowerCase(Locale.ROOT)).toList(), anyHost);
    }

    @Override
    public @Nullable Refusal refusal(Credentials credentials) {
        return hosts.isForeign(credentials.host(), credentials.origin()) ? FOREIGN : null;
    }

    @Override
    public Mono<Identification> identify(Credentials credentials) {
        return Mono.just(found(credentials.authorization(), accounts::byToken));
    }

    @Override
    public Mono<Identification> identifyAgain(Credentials credentials) {
        return Mono.just(found(credentials.authorization(), accounts::byTokenQuietly));
    }

    @Override
    public boolean isKnown(@Nullable String authorization) {
        return found(authorization, accounts::byTokenQuietly) instanceof Known;
    }

    private Identification found(@Nullable String authorization, Function<String, @Nullable Caller> byToken) {
        if (authorization == null) {
            return NEEDED;
        }
        if (authorization.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
            Caller caller = byKey(authorization.substring(BASIC.length()).strip());
            return caller == null ? WRONG_KEY : new Known(caller);
        }
        if (token.test(authorization)) {
            return TOKEN;
        }
        String text = bearer(authorization);
        Caller caller = text == null ? null : byToken.apply(text);
        return caller == null ? WRONG_TOKEN : new Known(caller);
    }

    /**
     * Reads the token of an Authorization header.
     *
     * @param authorization the header; null if there is none
     * @return the text after Bearer; null if there is none
     */
    public static @Nullable String bearer(@Nullable String authorization) {
        return authorization != null && authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? authorization.substring(BEARER.length()).strip()
                : null;
    }

    private @Nullable Caller byKey(String encoded) {
        String text;
        try {
            text = new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) { // no Base64
            return null;
        }
        int colon = text.indexOf(':');
        return colon < 0 ? null : accounts.byKey(text.substring(0, colon), text.substring(colon + 1));
    }
}
