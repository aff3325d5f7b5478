// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Accounts;
import io.smqtt.admin.account.Caller;
import io.smqtt.admin.account.Formats;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.account.User;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.object.LiveObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code /users}: the users of the management port. */
public final class UserRoutes implements RouteGroup {

    private static final int BODY_BYTES = 8_192;
    private static final String MISSING = "USER_NOT_FOUND";
    private static final String DESCRIPTION = "description";
    private static final String NAME = "username";

    private final Accounts accounts;

    /**
     * Creates the routes.
     *
     * @param accounts the users
     */
    public UserRoutes(Accounts accounts) {
        this.accounts = accounts;
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/users", Role.ADMINISTRATOR, this::list),
                new Route("POST", "/users", Role.ADMINISTRATOR, BODY_BYTES, this::create),
                new Route("PUT", "/users/{username}", Role.ADMINISTRATOR, BODY_BYTES, this::change),
                Route.delete("/users/{username}", Role.ADMINISTRATOR, this::delete),
                new Route("POST", "/users/{username}/change_pwd", Role.VIEWER, BODY_BYTES, this::changePassword));
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        return Mono.just(ApiAnswer.json(
                accounts.users().list().stream().map(UserRoutes::fields).toList()));
    }

    private static Map<String, Object> fields(LiveObject<User> user) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put(NAME, user.id());
        fields.put("role", user.value().role().text());
        fields.put(DESCRIPTION, user.value().description());
        fields.put("backend", user.isReadOnly() ? "file" : "local");
        fields.put(ObjectProblems.VERSION, user.version());
        return fields;
    }

    private static Mono<ApiAnswer> answer(Mono<LiveObject<User>> user) {
        return ObjectProblems.answered(user.map(made -> ApiAnswer.json(fields(made))), MISSING);
    }

    private Mono<ApiAnswer> create(ApiRequest request) {
        Origins.requirePerson(request);
        JsonFields fields = request.fields();
        Role role = Formats.userRole(fields);
        return answer(accounts.createUser(
                fields.text(NAME),
                fields.text("password"),
                role == null ? Role.VIEWER : role,
                Formats.description(fields, DESCRIPTION),
                Origins.of(request)));
    }

    private Mono<ApiAnswer> change(ApiRequest request) {
        Origins.requirePerson(request);
        JsonFields fields = request.fields();
        LiveObject<User> user = found(request);
        User before = user.value();
        Role role = Formats.userRole(fields);
        Role after = role == null ? before.role() : role;
        Caller caller = request.known();
        if (caller.kind() == Caller.Kind.USER && caller.name().equals(user.id()) && after != before.role()) {
            throw new Problem(400, "NOT_ALLOWED", "nobody changes the own role").exception();
        }
        String description = fields.has(DESCRIPTION) ? Formats.description(fields, DESCRIPTION) : before.description();
        String password = fields.textOrNull("password");
        Mono<String> hash = password == null ? Mono.just(before.passwordHash()) : accounts.hashed(password);
        long version = fields.has(ObjectProblems.VERSION)
                ? fields.number(ObjectProblems.VERSION, 0, Long.MAX_VALUE)
                : user.version();
        return answer(hash.flatMap(made -> accounts.users()
                .put(
                        user.id(),
                        new User(made, after, description),
                        ObjectProblems.expected(version),
                        Origins.of(request))));
    }

    private LiveObject<User> found(ApiRequest request) {
        LiveObject<User> user = accounts.users().get(request.path(NAME));
        if (user == null) {
            throw new Problem(404, MISSING, "there is no such user").exception();
        }
        return user;
    }

    private Mono<ApiAnswer> delete(ApiRequest request) {
        Origins.requirePerson(request);
        String name = request.path(NAME);
        Caller caller = request.known();
        if (caller.kind() == Caller.Kind.USER && caller.name().equals(name)) {
            throw new Problem(400, "NOT_ALLOWED", "nobody deletes himself").exception();
        }
        return ObjectProblems.answered(
                accounts.users()
                        .delete(name, ObjectProblems.expected(version(request)), Origins.of(request))
                        .thenReturn(ApiAnswer.noContent()),
                MISSING);
    }

    /** The version that a DELETE is meant for; null for any. */
    static @Nullable Long version(ApiRequest request) {
        return request.query(ObjectProblems.VERSION) == null
                ? null
                : Long.valueOf(request.number(ObjectProblems.VERSION, 0, 0, Long.MAX_VALUE));
    }

    private Mono<ApiAnswer> changePassword(ApiRequest request) {
        Origins.requirePerson(request);
        JsonFields fields = request.fields();
        String name = request.path(NAME);
        Caller caller = request.known();
        boolean own = caller.kind() == Caller.Kind.USER && caller.name().equals(name);
        if (!own && caller.role() != Role.ADMINISTRATOR) {
            throw new Problem(403, "UNAUTHORIZED_ROLE", "only the own password can be changed").exception();
        }
        String before = fields.text("old_pwd");
        String after = fields.text("new_pwd");
        if (before.equals(after)) {
            throw new InvalidFieldException("the new password is the old one");
        }
        if (!own) {
            found(request);
        }
        Mono<ApiAnswer> answer =
                accounts.changePassword(name, before, after, caller).thenReturn(ApiAnswer.noContent());
        return ObjectProblems.answered(answer.onErrorMap(UserRoutes::named), MISSING);
    }

    /** The old password is not a login: 401 would end the session of the page. */
    private static Throwable named(Throwable error) {
        boolean wrong = error instanceof Accounts.LoginRefusedException refused
                && refused.refusal().status() == 401;
        return wrong ? new Problem(400, "ERROR_PWD_NOT_MATCH", "the old password is wrong").exception() : error;
    }
}
