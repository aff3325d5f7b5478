// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.AccountCallers;
import io.smqtt.admin.account.Accounts;
import io.smqtt.admin.account.Caller;
import io.smqtt.admin.account.Callers;
import io.smqtt.admin.account.Credentials;
import io.smqtt.admin.account.LoginSource;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import reactor.core.publisher.Mono;

/** {@code /login} and {@code /logout}. A page asks {@code GET /login} first: an application may have authenticated its user. */
public final class LoginRoutes implements RouteGroup {

    private static final int BODY_BYTES = 8_192;
    private static final String DEVICE = "device";

    private final Accounts accounts;
    private final Callers callers;
    private final ClusterLogins logins;
    private final String version;

    /**
     * Creates the routes.
     *
     * @param accounts the users
     * @param callers authenticates requests
     * @param logins the tokens of all nodes
     * @param version the version of the broker
     */
    public LoginRoutes(Accounts accounts, Callers callers, ClusterLogins logins, String version) {
        this.accounts = accounts;
        this.callers = callers;
        this.logins = logins;
        this.version = version;
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/login", null, this::current),
                new Route("POST", "/login", null, BODY_BYTES, this::login),
                new Route("POST", "/logout", Role.VIEWER, BODY_BYTES, this::logout));
    }

    /** Who the sender is; without Authorization and without an application that knows it, nobody yet. */
    private Mono<ApiAnswer> current(ApiRequest request) {
        Credentials credentials = request.credentials();
        if (credentials.user() == null && credentials.authorization() == null) {
            return Mono.just(ApiAnswer.json(Map.of("authentication", "none")));
        }
        return callers.identify(credentials).map(found -> {
            if (found instanceof Callers.Refusal refusal) {
                throw new Problem(refusal.status(), refusal.code(), refusal.message()).exception();
            }
            return answer(((Callers.Known) found).caller());
        });
    }

    private static ApiAnswer answer(Caller caller) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("authentication", caller.kind().name().toLowerCase(Locale.ROOT));
        fields.put("username", caller.name());
        fields.put("role", caller.role().text());
        return ApiAnswer.json(fields);
    }

    private Mono<ApiAnswer> login(ApiRequest request) {
        JsonFields fields = request.fields();
        LoginSource source = new LoginSource(Origins.address(request), fields.textOrNull(DEVICE));
        Mono<ApiAnswer> answer = accounts.login(fields.text("username"), fields.text("password"), source)
                .map(this::answer);
        return ObjectProblems.answered(answer, "NOT_FOUND");
    }

    private ApiAnswer answer(Accounts.LoggedIn login) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("token", logins.named(login.token()));
        fields.put("version", version);
        fields.put("role", login.role().text());
        fields.put("license", Map.of("edition", "opensource"));
        fields.put("must_change_password", login.first());
        if (login.device() != null) {
            fields.put(DEVICE, login.device());
        }
        return ApiAnswer.json(fields);
    }

    private Mono<ApiAnswer> logout(ApiRequest request) {
        String token = AccountCallers.bearer(request.credentials().authorization());
        return (token == null ? Mono.<Void>empty() : logins.end(token)).then(Mono.fromSupplier(ApiAnswer::noContent));
    }
}
