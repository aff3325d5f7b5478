// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.admin.EmbeddedManagement;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The API and the dashboard in web applications of both kinds, with and without Spring Security. */
@Timeout(120)
@ExtendWith(OutputCaptureExtension.class)
class EmbeddedTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String API = "/smqtt/api/v5";

    private static String header(HttpResponse<?> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    private static void assertStreams(WebApplication application, String... headers) throws IOException {
        HttpResponse<InputStream> stream = application.send(
                application.request("GET", API + "/stream?topics=monitor", "", headers),
                HttpResponse.BodyHandlers.ofInputStream());
        assertThat(stream.statusCode()).isEqualTo(200);
        assertThat(header(stream, "content-type")).startsWith("text/event-stream");
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
            assertThat(lines.readLine()).isEqualTo(": smqtt");
            assertThat(lines.readLine()).isEmpty();
            for (int i = 0; i < 2; i++) {
                assertThat(lines.readLine()).isEqualTo("event: monitor");
                assertThat(lines.readLine()).startsWith("data: {").contains("\"connections\"");
                assertThat(lines.readLine()).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void thePageIsBelowThePathWithItsPolicy(WebApplicationType type) {
        try (WebApplication application = WebApplication.open(type)) {
            assertThat(header(application.get("/smqtt"), "location")).isEqualTo("smqtt/dashboard/");
            assertThat(header(application.get("/smqtt/"), "location")).isEqualTo("dashboard/");
            HttpResponse<String> page = application.get("/smqtt/dashboard/");

            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(header(page, "content-type")).startsWith("text/html;");
            assertThat(header(page, "content-security-policy"))
                    .startsWith("default-src 'self'; connect-src 'self' ws://*:")
                    .doesNotContain("unsafe");
            assertThat(header(page, "cache-control")).isEqualTo("no-cache");
            assertThat(application
                            .get("/smqtt/dashboard/", "If-None-Match", header(page, "etag"))
                            .statusCode())
                    .isEqualTo(304);
            Matcher script = Pattern.compile("src=\"\\./(assets/[^\"]+)\"").matcher(page.body());
            assertThat(script.find()).isTrue();
            HttpResponse<String> asset = application.get("/smqtt/dashboard/" + script.group(1));
            assertThat(asset.statusCode()).isEqualTo(200);
            assertThat(header(asset, "content-type")).startsWithIgnoringCase("text/javascript");
            assertThat(header(asset, "cache-control")).contains("immutable");
            assertThat(asset.body()).hasSizeGreaterThan(1_000);
            assertThat(application.get("/smqtt/dashboard/none.js").statusCode()).isEqualTo(404);
            assertThat(application.get("/smqtt/nothing").statusCode()).isEqualTo(404);
            assertThat(application.get("/dashboard/").statusCode()).isEqualTo(404);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void withoutSpringSecurityTheBrokerHasItsOwnUsers(WebApplicationType type, CapturedOutput output)
            throws IOException {
        try (WebApplication application = WebApplication.open(type);
                RawClient client = application.client("c1");
                RawClient slashed = application.client("a/b")) {
            slashed.ping();
            assertThat(application.get(API + "/status").body()).contains("smqtt is running");
            assertThat(application.get(API + "/login").body()).isEqualTo("{\"authentication\":\"none\"}");
            assertThat(application.get(API + "/clients").statusCode()).isEqualTo(401);
            String password = firstPassword(output.getOut());
            HttpResponse<String> login = application.send(
                    "POST", API + "/login", "{\"username\":\"admin\",\"password\":\"" + password + "\"}");
            assertThat(login.statusCode()).as(login.body()).isEqualTo(200);
            Matcher token = Pattern.compile("\"token\":\"([^\"]+)\"").matcher(login.body());
            assertThat(token.find()).isTrue();
            String[] bearer = {"Authorization", "Bearer " + token.group(1)};

            assertThat(application.get(API + "/login", bearer).body())
                    .isEqualTo("{\"authentication\":\"user\",\"username\":\"admin\",\"role\":\"administrator\"}");
            assertThat(application.get(API + "/clients", bearer).body()).contains("\"clientid\":\"c1\"");
            assertThat(application.get(API + "/clients/~?~=a%2Fb", bearer).body())
                    .contains("\"clientid\":\"a/b\"");
            assertThat(application.get(API + "/configs", bearer).body())
                    .contains("\"key\":\"management.embedded.path\",\"value\":\"/smqtt\"");
            assertStreams(application, bearer);
            assertThat(application
                            .send("POST", API + "/login", "x".repeat(20_000), bearer)
                            .statusCode())
                    .isEqualTo(413);
            assertThat(application
                            .send("DELETE", API + "/clients/c1", "", bearer)
                            .statusCode())
                    .isEqualTo(204);
            client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
            assertThat(application
                            .get(API + "/clients", "Authorization", bearer[1], "Origin", "http://elsewhere.example")
                            .statusCode())
                    .isEqualTo(403);
        }
    }

    private static String firstPassword(String output) {
        Matcher line = Pattern.compile("with the password (\\S+) and change it").matcher(output);
        assertThat(line.find()).isTrue();
        return line.group(1);
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void usersOfTheApplicationHaveTheRolesOfTheirAuthorities(WebApplicationType type) throws IOException {
        try (WebApplication application = WebApplication.secured(type);
                RawClient client = application.client("c1")) {
            String[] reader = {"Authorization", WebApplication.basic("reader")};
            String[] guest = {"Authorization", WebApplication.basic("guest")};

            assertThat(application.get(API + "/clients").statusCode()).isEqualTo(401);
            assertThat(application.get("/smqtt/dashboard/", reader).statusCode())
                    .isEqualTo(200);
            assertThat(application.get(API + "/login", reader).body())
                    .isEqualTo("{\"authentication\":\"application\",\"username\":\"reader\",\"role\":\"viewer\"}");
            assertThat(application.get(API + "/clients", reader).body()).contains("\"clientid\":\"c1\"");
            assertThat(application.get(API + "/users", reader).statusCode()).isEqualTo(403);
            HttpResponse<String> refused = application.get(API + "/clients", guest);
            assertThat(refused.statusCode()).isEqualTo(403);
            assertThat(refused.body()).contains("NO_ROLE", "guest", "management.embedded.roles");
            assertStreams(application, reader);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void changesNeedTheTokenOfTheApplicationAgainstForgery(WebApplicationType type) {
        try (WebApplication application = WebApplication.secured(type);
                RawClient client = application.client("c1")) {
            String admin = WebApplication.basic("admin");
            assertThat(application
                            .send("DELETE", API + "/clients/c1", "", "Authorization", admin)
                            .statusCode())
                    .isIn(401, 403); // the page of errors needs a login, too
            String[] token = header(application.get(API + "/login", "Authorization", admin), "smqtt-csrf")
                    .split(" ");
            assertThat(token).hasSize(2);

            assertThat(application
                            .send("DELETE", API + "/clients/c1", "", "Authorization", admin, token[0], token[1])
                            .statusCode())
                    .isEqualTo(204);
            client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void streamsEndWithTheBroker(WebApplicationType type) throws IOException {
        try (WebApplication application = WebApplication.secured(type)) {
            HttpResponse<InputStream> stream = application.send(
                    application.request(
                            "GET", API + "/stream?topics=monitor", "", "Authorization", WebApplication.basic("reader")),
                    HttpResponse.BodyHandlers.ofInputStream());
            assertThat((char) stream.body().read()).isEqualTo(':');
            BrokerLifecycle lifecycle = application.context().getBean(BrokerLifecycle.class);
            EmbeddedManagement first = lifecycle.management();
            lifecycle.stop();

            stream.body().readAllBytes(); // to the end
            HttpResponse<String> stopped =
                    application.get(API + "/clients", "Authorization", WebApplication.basic("reader"));
            assertThat(stopped.statusCode()).isEqualTo(503);
            assertThat(header(stopped, "retry-after")).isEqualTo("1");
            lifecycle.start();
            assertThat(lifecycle.management()).isNotSameAs(first);
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(application
                                    .get(API + "/clients", "Authorization", WebApplication.basic("reader"))
                                    .statusCode())
                            .isEqualTo(200));
        }
    }

    private static InputStream stream(WebApplication application) throws IOException {
        HttpResponse<InputStream> stream = application.send(
                application.request("GET", API + "/stream?topics=monitor", ""),
                HttpResponse.BodyHandlers.ofInputStream());
        assertThat(stream.statusCode()).isEqualTo(200);
        assertThat((char) stream.body().read()).isEqualTo(':');
        return stream.body();
    }

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void aStreamEndsWithTheLoginAtTheApplication(WebApplicationType type) throws IOException {
        try (WebApplication application = WebApplication.secured(type)) {
            Matcher field = Pattern.compile("name=\"_csrf\"[^>]* value=\"([^\"]+)\"")
                    .matcher(application.get("/login").body());
            assertThat(field.find()).isTrue();
            application.form("/login", "username=reader&password=secret&_csrf=" + field.group(1));
            InputStream stream = stream(application);

            String token = header(application.get(API + "/login"), "smqtt-csrf").split(" ")[1];
            HttpResponse<String> logout = application.form("/logout", "_csrf=" + token);
            assertThat(logout.statusCode()).isIn(204, 302);

            stream.readAllBytes(); // to the end
            assertThat(application.get(API + "/clients").statusCode()).isIn(302, 401);
        }
    }
}
