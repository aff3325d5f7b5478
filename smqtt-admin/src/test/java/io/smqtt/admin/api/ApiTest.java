// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.BrokerClosedException;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.Caller;
import io.smqtt.admin.account.Callers;
import io.smqtt.admin.account.Credentials;
import io.smqtt.admin.account.Role;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

class ApiTest {

    /** The Authorization header is the name of the role. */
    private static final Callers BY_NAME = new Callers() {

        @Override
        public @Nullable Refusal refusal(Credentials credentials) {
            return "evil.example".equals(credentials.host()) ? new Refusal(403, "BAD_HOST", "no", null) : null;
        }

        @Override
        public Mono<Identification> identify(Credentials credentials) {
            String name = credentials.authorization();
            return Mono.just(
                    name == null
                            ? new Refusal(401, "TOKEN_NEEDED", "who?", Duration.ofSeconds(7))
                            : new Known(new Caller(name, Role.valueOf(name), Caller.Kind.USER)));
        }
    };

    private final List<String> heard = new ArrayList<>();
    private final Api api = new Api(
            List.of("/api/v5", "/api/v1"),
            BY_NAME,
            List.of(
                    () -> List.of(
                            Route.get("/clients", Role.VIEWER, ApiTest::echo),
                            Route.get("/clients/{clientid}", Role.VIEWER, ApiTest::echo),
                            Route.delete(
                                    "/clients/{clientid}", Role.OPERATOR, request -> Mono.just(ApiAnswer.noContent())),
                            Route.post("/clients/{clientid}/subscribe", Role.OPERATOR, ApiTest::echo),
                            Route.post("/clients/kickout/bulk", Role.OPERATOR, ApiTest::kick)),
                    () -> List.of(
                            Route.get("/open", null, ApiTest::echo),
                            Route.get("/closed", null, request -> Mono.error(new BrokerClosedException())),
                            Route.get("/bug", null, request -> {
                                throw new IllegalStateException("a secret");
                            }),
                            new Route("POST", "/small", null, 4, ApiTest::echo))),
            List.of((request, status, failure) -> heard.add(request.route().template() + " " + status)));

    private static Mono<ApiAnswer> echo(ApiRequest request) {
        return Mono.just(ApiAnswer.json(Map.of(
                "path", request.path(),
                "limit", request.number("limit", 100, 1, 1_000),
                "caller", request.caller() == null ? "" : request.known().name())));
    }

    private static Mono<ApiAnswer> kick(ApiRequest request) {
        List<String> names =
                request.array(2).stream().map(one -> one.text("id")).toList();
        return Mono.just(ApiAnswer.json(names));
    }

    private ApiAnswer.Content ask(String method, String path, @Nullable String role) {
        return ask(method, path, role, null, "");
    }

    private ApiAnswer.Content ask(
            String method, String path, @Nullable String role, @Nullable String type, String body) {
        int query = path.indexOf('?');
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        ApiCall call = call(
                method,
                query < 0 ? path : path.substring(0, query),
                query < 0 ? "" : path.substring(query + 1),
                role,
                type,
                bytes);
        return (ApiAnswer.Content) Objects.requireNonNull(api.answer(call).block());
    }

    private static ApiCall call(
            String method, String path, String query, @Nullable String role, @Nullable String type, byte[] bytes) {
        return new ApiCall(
                method,
                path,
                query,
                new Credentials(role, InetSocketAddress.createUnresolved("127.0.0.1", 1), "localhost", null, null),
                name -> name.equals("Content-Type") ? type : null,
                most -> bytes.length > most
                        ? Mono.error(new Problem(413, "BODY_TOO_LARGE", "large").exception())
                        : Mono.just(bytes));
    }

    private static String text(ApiAnswer.Content answer) {
        return new String(answer.body(), StandardCharsets.UTF_8);
    }

    @Test
    void aHandlerThatDoesNotAnswerInTimeIsCancelledAndTheAnswerIs503() {
        AtomicBoolean cancelled = new AtomicBoolean();
        Route never = Route.delete(
                "/never", Role.OPERATOR, request -> Mono.<ApiAnswer>never().doOnCancel(() -> cancelled.set(true)));
        Api hurried = new Api(
                List.of("/api/v5"),
                BY_NAME,
                List.of(() -> List.of(never)),
                List.of((request, status, failure) -> heard.add(request.route().template() + " " + status)),
                Duration.ofMillis(1));

        ApiAnswer answer = Objects.requireNonNull(
                hurried.answer(call("DELETE", "/api/v5/never", "", "OPERATOR", null, new byte[0]))
                        .block());

        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.headers()).containsKey("Retry-After");
        assertThat(cancelled).isTrue();
        assertThat(heard).containsExactly("/never 503");
    }

    @Test
    void aValueThatProxiesRefuseInAPathIsInTheQuery() {
        assertThat(text(ask("GET", "/api/v5/clients/~?~=a%2Fb", "VIEWER"))).contains("{\"clientid\":\"a/b\"}");
        assertThat(text(ask("GET", "/api/v5/clients/~", "VIEWER"))).contains("{\"clientid\":\"~\"}");
        assertThat(text(ask("GET", "/api/v5/clients/c?~=d", "VIEWER"))).contains("{\"clientid\":\"c\"}");
    }

    @Test
    void bothBasesReachTheRoute() {
        assertThat(api.serves("/api/v5")).isTrue();
        assertThat(api.serves("/api/v55/clients")).isFalse();
        assertThat(ask("GET", "/api/v5/clients", "VIEWER").status()).isEqualTo(200);
        assertThat(ask("GET", "/api/v1/clients", "VIEWER").status()).isEqualTo(200);
        assertThat(ask("HEAD", "/api/v1/clients", "VIEWER").status()).isEqualTo(200);
        assertThat(ask("GET", "/api/v5", null).status()).isEqualTo(404);
    }

    @Test
    void parametersAreOneDecodedSegmentEach() {
        assertThat(text(ask("GET", "/api/v5/clients/a%2Fb+%C3%A9?limit=7", "VIEWER")))
                .contains("\"clientid\":\"a/b+é\"", "\"limit\":7");
        assertThat(ask("GET", "/api/v5/clients/a/b", "VIEWER").status()).isEqualTo(404);
        assertThat(ask("GET", "/api/v5/clients/%zz", "VIEWER").status()).isEqualTo(400);
    }

    @Test
    void aLiteralSegmentGoesBeforeAParameter() {
        assertThat(text(ask(
                        "POST", "/api/v5/clients/kickout/bulk", "OPERATOR", "application/json", "[{\"id\":\"a\"}]")))
                .isEqualTo("[\"a\"]");
        assertThat(ask("POST", "/api/v5/clients/kickout/subscribe", "OPERATOR").status())
                .isEqualTo(200);
    }

    @Test
    void anotherMethodIsToldWhichThereAre() {
        ApiAnswer.Content answer = ask("PUT", "/api/v5/clients/a", "VIEWER");

        assertThat(answer.status()).isEqualTo(405);
        assertThat(answer.headers()).containsEntry("Allow", "DELETE, GET, HEAD");
    }

    @ParameterizedTest
    @CsvSource({"ADMINISTRATOR, 200, 204", "OPERATOR, 200, 204", "VIEWER, 200, 403", "PUBLISHER, 403, 403"})
    void theRoleIsCheckedBeforeTheHandler(String role, int read, int written) {
        assertThat(ask("GET", "/api/v5/clients/a", role).status()).isEqualTo(read);
        assertThat(ask("DELETE", "/api/v5/clients/a", role).status()).isEqualTo(written);
    }

    @Test
    void whoIsNotKnownIsToldHowToLogIn() {
        ApiAnswer.Content answer = ask("GET", "/api/v5/clients", null);

        assertThat(answer.status()).isEqualTo(401);
        assertThat(answer.headers())
                .containsEntry("WWW-Authenticate", "Bearer realm=\"smqtt\"")
                .containsEntry("Retry-After", "7");
        assertThat(ask("GET", "/api/v5/open", null).status()).isEqualTo(200);
    }

    @Test
    void aProblemHasTheFieldsOfTheStandardAndCodeAndMessage() {
        ApiAnswer.Content answer = ask("GET", "/api/v5/clients?limit=0", "VIEWER");

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.contentType()).isEqualTo("application/problem+json");
        JsonFields fields = JsonFields.parse(text(answer));
        assertThat(fields.text("type")).isEqualTo("about:blank");
        assertThat(fields.text("title")).isEqualTo("Bad Request");
        assertThat(fields.number("status", 0, 999)).isEqualTo(400);
        assertThat(fields.text("code")).isEqualTo("BAD_REQUEST");
        assertThat(fields.text("message")).isEqualTo(fields.text("detail")).contains("limit", "1 to 1000");
    }

    @Test
    void aBodyIsJsonOfALimitedSize() {
        String path = "/api/v5/clients/kickout/bulk";
        assertThat(ask("POST", path, "OPERATOR", null, "[]").status()).isEqualTo(415);
        assertThat(ask("POST", path, "OPERATOR", "text/plain", "[]").status()).isEqualTo(415);
        assertThat(ask("POST", path, "OPERATOR", "Application/JSON; charset=utf-8", "[]")
                        .status())
                .isEqualTo(200);
        assertThat(ask("POST", path, "OPERATOR", "application/json", "[").status())
                .isEqualTo(400);
        assertThat(ask("POST", path, "OPERATOR", "application/json", "").status())
                .isEqualTo(400);
        assertThat(ask("POST", path, "OPERATOR", "application/json", "[{\"id\":1}]")
                        .status())
                .isEqualTo(400);
        assertThat(ask("POST", path, "OPERATOR", "application/json", "[{},{},{}]")
                        .status())
                .isEqualTo(400);
        assertThat(ask("POST", "/api/v5/small", null, "application/json", "12345")
                        .status())
                .isEqualTo(413);
    }

    @Test
    void errorsAreToldWithoutTheirText() {
        ApiAnswer.Content bug = ask("GET", "/api/v5/bug", null);
        assertThat(bug.status()).isEqualTo(500);
        assertThat(text(bug)).doesNotContain("secret");

        ApiAnswer.Content closed = ask("GET", "/api/v5/closed", null);
        assertThat(closed.status()).isEqualTo(503);
        assertThat(closed.headers()).containsEntry("Retry-After", "1");
    }

    @Test
    void observersHearOfEachAnswer() {
        ask("GET", "/api/v5/clients", "VIEWER");
        ask("GET", "/api/v5/bug", null);
        ask("GET", "/api/v5/clients", null);

        assertThat(heard).containsExactly("/clients 200", "/bug 500");
    }

    @Test
    void aRouteThatExistsTwiceIsRefused() {
        RouteGroup group = () -> List.of(Route.get("/a", null, ApiTest::echo));

        assertThatThrownBy(() -> new Api(List.of("/x"), BY_NAME, List.of(group, group), List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("GET /a");
    }
}
