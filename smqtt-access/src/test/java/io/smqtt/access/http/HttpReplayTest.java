// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.smqtt.access.RuleList;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessRules;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.access.backend.TopicRequest;
import io.smqtt.access.guard.BackendBusyException;
import io.smqtt.access.guard.Guard;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.BackendOutcome;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.spi.Ticker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A real HTTP server that replays what servers written for EMQX 5 and mosquitto-go-auth answer, asked by the real backend. */
class HttpReplayTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final long EXPIRY = 4_102_444_800L; // the year 2100
    private static final BackendRequest CLIENT = new BackendRequest(
            "c1",
            "ann",
            "p&w".getBytes(StandardCharsets.UTF_8),
            new InetSocketAddress("192.0.2.7", 4711),
            "tcp",
            ProtocolVersion.MQTT_5,
            CertificateNames.NONE,
            Map.of());
    private static final TopicRequest PUBLISH =
            new TopicRequest(CLIENT, AccessAction.PUBLISH, "a/b", QoS.AT_LEAST_ONCE, true);
    private static final TopicRequest SUBSCRIBE =
            new TopicRequest(CLIENT, AccessAction.SUBSCRIBE, "a/#", QoS.AT_MOST_ONCE, false);

    /** The answer of the server. */
    private record Reply(int status, String type, String body) {}

    /** A request to the server. */
    private record Seen(String method, String uri, String type, String body) {}

    /** The ways in which a request has its fields. */
    private enum Form {
        POST_JSON,
        POST_FORM,
        GET
    }

    private final Map<String, Queue<Reply>> replies = new ConcurrentHashMap<>();
    private final List<Seen> seen = new CopyOnWriteArrayList<>();
    private final List<AccessBackend> opened = new ArrayList<>();
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::replay);
        server.start();
    }

    @AfterEach
    void stop() {
        opened.forEach(AccessBackend::close);
        server.stop(0);
    }

    /** Answers with the next reply of the path; the last one of a path is used again. */
    private void replay(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        String type = exchange.getRequestHeaders().getFirst("content-type");
        String uri = exchange.getRequestURI().toString();
        seen.add(new Seen(exchange.getRequestMethod(), uri, type == null ? "" : type, body));
        Queue<Reply> queue = replies.get(exchange.getRequestURI().getPath());
        Reply reply = queue.size() > 1 ? queue.remove() : queue.element();
        byte[] bytes = reply.body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("content-type", reply.type);
        exchange.sendResponseHeaders(reply.status, bytes.length == 0 ? -1 : bytes.length);
        if (bytes.length > 0) {
            exchange.getResponseBody().write(bytes);
        }
        exchange.close();
    }

    private void reply(String path, int status, String type, String body) {
        replies.computeIfAbsent(path, first -> new ConcurrentLinkedQueue<>()).add(new Reply(status, type, body));
    }

    private void reply(String path, int status, String body) {
        reply(path, status, "application/json", body == null ? "" : body.replace('\'', '"'));
    }

    private AccessBackend open(Map<String, String> keys) {
        Map<String, ConfigValue> values = new HashMap<>();
        keys.forEach((key, value) -> values.put(key, new ConfigValue(value, "smqtt.yaml:1", Path.of(""))));
        HttpBackendFactory factory = new HttpBackendFactory();
        AccessBackend backend = factory.open(
                BackendSettings.of("web", factory.settings(), values),
                new BackendContext("web", AccessBackendConfig.builder("http").build(), Ticker.SYSTEM));
        opened.add(backend);
        return backend;
    }

    private String url(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    private AccessBackend emqx(Form form) {
        Map<String, String> keys = new HashMap<>(Map.of("url", url("/user"), "acl.url", url("/topic")));
        for (String prefix : List.of("", "acl.")) {
            keys.put(prefix + "method", form == Form.GET ? "get" : "post");
            if (form == Form.POST_FORM) {
                keys.put(prefix + "headers.content-type", "application/x-www-form-urlencoded");
            }
        }
        keys.put("acl.body.username", "${username}");
        keys.put("acl.body.action", "${action}");
        keys.put("acl.body.topic", "${topic}");
        keys.put("acl.body.qos", "${qos}");
        keys.put("acl.body.retain", "${retain}");
        return open(keys);
    }

    private AccessBackend goAuth(String mode, String parameters) {
        return open(Map.of(
                "style", "go-auth",
                "url", url("/"),
                "getuser-uri", "/user",
                "superuser-uri", "/superuser",
                "aclcheck-uri", "/acl",
                "response-mode", mode,
                "params-mode", parameters));
    }

    private static BackendAnswer ask(AccessBackend backend) {
        return backend.authenticate(CLIENT).block(SOON);
    }

    private static AccessDecision ask(AccessBackend backend, TopicRequest request) {
        return backend.authorize(request).block(SOON);
    }

    @ParameterizedTest
    @EnumSource
    void requestsOfEmqxHaveTheirForm(Form form) {
        reply("/user", 204, "");
        reply("/topic", 204, "");
        AccessBackend backend = emqx(form);

        assertThat(ask(backend)).isInstanceOf(BackendAnswer.Allow.class);
        assertThat(ask(backend, PUBLISH)).isEqualTo(AccessDecision.ALLOW);
        assertThat(ask(backend, SUBSCRIBE)).isEqualTo(AccessDecision.ALLOW);

        assertThat(seen).extracting(Seen::method).containsOnly(form == Form.GET ? "GET" : "POST");
        switch (form) {
            case POST_JSON -> {
                assertThat(seen).extracting(Seen::type).containsOnly("application/json");
                assertThat(seen).extracting(Seen::uri).containsExactly("/user", "/topic", "/topic");
                assertThat(fields(seen.get(0).body))
                        .containsExactlyInAnyOrder("'clientid':'c1'", "'username':'ann'", "'password':'p&w'");
                assertThat(fields(seen.get(1).body))
                        .containsExactlyInAnyOrder(
                                "'username':'ann'",
                                "'action':'publish'",
                                "'topic':'a/b'",
                                "'qos':'1'",
                                "'retain':'true'");
                assertThat(fields(seen.get(2).body))
                        .containsExactlyInAnyOrder(
                                "'username':'ann'",
                                "'action':'subscribe'",
                                "'topic':'a/#'",
                                "'qos':'0'",
                                "'retain':'false'");
            }
            case POST_FORM -> {
                assertThat(seen).extracting(Seen::type).containsOnly("application/x-www-form-urlencoded");
                assertThat(seen.get(0).body.split("&"))
                        .containsExactlyInAnyOrder("clientid=c1", "username=ann", "password=p%26w");
                assertThat(seen.get(2).body.split("&"))
                        .containsExactlyInAnyOrder(
                                "username=ann", "action=subscribe", "topic=a%2F%23", "qos=0", "retain=false");
            }
            case GET -> {
                assertThat(seen)
                        .extracting(Seen::type, Seen::body)
                        .containsOnly(org.assertj.core.groups.Tuple.tuple("", ""));
                assertThat(seen.get(0).uri).startsWith("/user?");
                assertThat(seen.get(0).uri.substring("/user?".length()).split("&"))
                        .containsExactlyInAnyOrder("clientid=c1", "username=ann", "password=p%26w");
                assertThat(seen.get(1).uri.substring("/topic?".length()).split("&"))
                        .containsExactlyInAnyOrder(
                                "username=ann", "action=publish", "topic=a%2Fb", "qos=1", "retain=true");
            }
        }
    }

    private static String[] fields(String json) {
        return json.substring(1, json.length() - 1).replace('"', '\'').split(",");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "204; ; Allow[superuser=false, attributes={}, expiresAt=null, rules=null]",
                "200; {'result':'allow'}; Allow[superuser=false, attributes={}, expiresAt=null, rules=null]",
                "200; {'result':'allow','is_superuser':true}; Allow[superuser=true, attributes={}, expiresAt=null, rules=null]",
                "200; {'result':'allow','is_superuser':false,'client_attrs':{'site':'s1','n':1}}; Allow[superuser=false, attributes={site=s1}, expiresAt=null, rules=null]",
                "200; {'result':'allow','expire_at':4102444800}; Allow[superuser=false, attributes={}, expiresAt=2100-01-01T00:00:00Z, rules=null]",
                "200; {'result':'allow','expire_at':1}; Deny[]",
                "200; {'result':'deny','is_superuser':true}; Deny[]",
                "200; {'result':'ignore'}; NotMine[]",
                "200; {}; NotMine[]",
                "201; {'result':'allow'}; status 201",
                "302; ; status 302",
                "400; ; status 400",
                "401; {'result':'allow'}; status 401",
                "403; ; status 403",
                "404; ; status 404",
                "429; ; status 429",
                "500; {'result':'allow'}; status 500",
                "503; ; status 503",
                "200; {'result':'yes'}; a result that is not allow, deny or ignore",
                "200; allow; a body that is no JSON object",
            })
    void answersOfEmqxOnClients(int status, String body, String expected) {
        reply("/user", status, body);
        for (Form form : Form.values()) {
            AccessBackend backend = emqx(form);
            if (expected.endsWith("]")) {
                assertThat(ask(backend)).as("%s", form).hasToString(expected);
            } else {
                assertThatThrownBy(() -> ask(backend))
                        .as("%s", form)
                        .isInstanceOf(HttpFailedException.class)
                        .hasMessage(expected);
            }
        }
        assertThat(seen).hasSize(Form.values().length);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "204; ; ALLOW",
                "200; {'result':'allow'}; ALLOW",
                "200; {'result':'deny'}; DENY",
                "200; {'result':'ignore'}; CONTINUE",
                "200; {}; CONTINUE",
                "201; {'result':'allow'}; CONTINUE",
                "302; ; CONTINUE",
                "401; {'result':'allow'}; CONTINUE",
                "404; ; CONTINUE",
                "429; ; status 429",
                "500; {'result':'allow'}; status 500",
                "502; ; status 502",
                "200; {'result':'yes'}; a result that is not allow, deny or ignore",
                "200; deny; a body that is no JSON object",
            })
    void answersOfEmqxOnTopics(int status, String body, String expected) {
        reply("/topic", status, body);
        for (Form form : Form.values()) {
            AccessBackend backend = emqx(form);
            if (expected.equals(expected.toUpperCase(java.util.Locale.ROOT))) {
                assertThat(ask(backend, PUBLISH)).as("%s", form).hasToString(expected);
            } else {
                assertThatThrownBy(() -> ask(backend, PUBLISH))
                        .as("%s", form)
                        .isInstanceOf(HttpFailedException.class)
                        .hasMessage(expected);
            }
        }
    }

    @Test
    void anAnswerOfEmqxMayBeAForm() {
        String form = "application/x-www-form-urlencoded";
        reply("/user", 200, form, "result=allow&is_superuser=true&expire_at=" + EXPIRY);
        reply("/topic", 200, form, "result=deny");
        AccessBackend backend = emqx(Form.POST_JSON);

        assertThat(ask(backend))
                .hasToString("Allow[superuser=true, attributes={}, expiresAt=2100-01-01T00:00:00Z, rules=null]");
        assertThat(ask(backend, PUBLISH)).isEqualTo(AccessDecision.DENY);
    }

    @Test
    void theRulesOfAnAnswerOfEmqxAreInForce() {
        reply(
                "/user",
                200,
                "{'result':'allow','client_attrs':{'site':'s1'},'acl':["
                        + "{'permission':'deny','action':'publish','topic':'s/${client_attrs.site}/locked'},"
                        + "{'permission':'allow','action':'all','topic':'s/${client_attrs.site}/#'},"
                        + "{'permission':'allow','action':'publish','topic':'z','zone':'z1'}]}");
        BackendAnswer.Allow allow = (BackendAnswer.Allow) ask(emqx(Form.POST_JSON));
        RuleList rules = AccessRules.compile(allow.rules(), CLIENT.authenticated("ann", allow.attributes()));
        ClientIdentity client =
                new ClientIdentity("c1", "ann", CLIENT.remoteAddress(), "tcp", ProtocolVersion.MQTT_5, Set.of());

        assertThat(rules.decide(client, AccessAction.PUBLISH, "s/s1/x", QoS.AT_MOST_ONCE, false))
                .isEqualTo(AccessDecision.ALLOW);
        assertThat(rules.decide(client, AccessAction.PUBLISH, "s/s1/locked", QoS.AT_MOST_ONCE, false))
                .isEqualTo(AccessDecision.DENY);
        assertThat(rules.decide(client, AccessAction.PUBLISH, "z", QoS.AT_MOST_ONCE, false))
                .isEqualTo(AccessDecision.CONTINUE);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "status; 200; ; 403; ; false",
                "status; 200; {'Ok':false}; 204; ; true",
                "json; 200; {'Ok':true,'Error':''}; 200; {'Ok':true}; true",
                "json; 200; {'Ok':true}; 200; {'Ok':false,'Error':'no'}; false",
                "text; 200; ok; 200; ok; true",
                "text; 200; ok; 200; not; false",
            })
    void usersOfGoAuth(String mode, int status, String body, int superStatus, String superBody, boolean superuser) {
        reply("/user", status, body);
        reply("/superuser", superStatus, superBody);

        assertThat(ask(goAuth(mode, "json"))).isEqualTo(new BackendAnswer.Allow(superuser, Map.of(), null, null));
        assertThat(seen)
                .containsExactly(
                        new Seen(
                                "POST",
                                "/user",
                                "application/json",
                                "{\"username\":\"ann\",\"password\":\"p&w\",\"clientid\":\"c1\"}"),
                        new Seen("POST", "/superuser", "application/json", "{\"username\":\"ann\"}"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "status; 401; ok; false",
                "status; 404; ; false",
                "status; 500; ; true",
                "status; 429; ; true",
                "json; 200; {'Ok':false}; false",
                "json; 200; {}; false",
                "json; 403; {'Ok':true}; false",
                "json; 200; nonsense; true",
                "json; 503; {'Ok':true}; true",
                "text; 200; OK!; false",
                "text; 400; ok; false",
                "text; 500; ok; true",
            })
    void usersAndTopicsThatGoAuthDoesNotAccept(String mode, int status, String body, boolean fails) {
        reply("/user", status, body);
        reply("/acl", status, body);
        AccessBackend backend = goAuth(mode, "json");

        if (fails) {
            assertThatThrownBy(() -> ask(backend)).isInstanceOf(HttpFailedException.class);
            assertThatThrownBy(() -> ask(backend, PUBLISH)).isInstanceOf(HttpFailedException.class);
        } else {
            assertThat(ask(backend)).isEqualTo(BackendAnswer.NOT_MINE);
            assertThat(ask(backend, PUBLISH)).isEqualTo(AccessDecision.CONTINUE);
        }
        assertThat(seen).extracting(Seen::uri).containsExactly("/user", "/acl");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {"status; ", "json; {'Ok':true}", "text; ok"})
    void topicsOfGoAuth(String mode, String body) {
        reply("/acl", 200, body);
        AccessBackend backend = goAuth(mode, "form");

        assertThat(ask(backend, PUBLISH)).isEqualTo(AccessDecision.ALLOW);
        assertThat(ask(backend, SUBSCRIBE)).isEqualTo(AccessDecision.ALLOW);
        assertThat(seen)
                .containsExactly(
                        new Seen(
                                "POST",
                                "/acl",
                                "application/x-www-form-urlencoded",
                                "username=ann&clientid=c1&topic=a%2Fb&acc=2"),
                        new Seen(
                                "POST",
                                "/acl",
                                "application/x-www-form-urlencoded",
                                "username=ann&clientid=c1&topic=a%2F%23&acc=4"));
    }

    /** With the wire format of EMQX alone such a server would decide nothing, and would count as healthy. */
    @ParameterizedTest
    @ValueSource(ints = {429, 500, 503})
    void aServerThatDiesIsSeenByWhoAsksAboutTopics(int status) {
        reply("/topic", status, "");
        List<BackendOutcome> outcomes = new CopyOnWriteArrayList<>();
        List<Boolean> working = new CopyOnWriteArrayList<>();
        Guard guard =
                new Guard("web", AccessBackendConfig.builder("http").build(), Ticker.SYSTEM, new LifecycleObserver() {
                    @Override
                    public void backendAnswered(String backend, BackendOutcome outcome, long nanos) {
                        outcomes.add(outcome);
                    }

                    @Override
                    public void backendWorking(String backend, boolean now) {
                        working.add(now);
                    }
                });
        AccessBackend backend = emqx(Form.POST_JSON);
        for (int i = 0; i < 5; i++) {
            assertThatThrownBy(() -> guarded(guard, backend, PUBLISH)).hasMessage("status " + status);
        }

        assertThat(guard.isWorking()).isFalse();
        assertThat(working).containsExactly(true, false);
        assertThatThrownBy(() -> guarded(guard, backend, SUBSCRIBE))
                .isInstanceOfSatisfying(
                        BackendBusyException.class,
                        busy -> assertThat(busy.isDown()).isTrue());
        assertThat(seen).hasSize(5);
        assertThat(outcomes)
                .startsWith(BackendOutcome.FAILED)
                .endsWith(BackendOutcome.REFUSED_DOWN)
                .hasSize(6);
    }

    private static AccessDecision guarded(Guard guard, AccessBackend backend, TopicRequest request) {
        return guard.ask(request, () -> backend.authorize(request)).block(SOON);
    }
}
