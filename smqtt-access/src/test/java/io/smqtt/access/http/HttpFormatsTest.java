// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.CertificateNames;
import io.smqtt.access.backend.Template;
import io.smqtt.access.backend.TopicRequest;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.Ticker;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests and answers, as servers written for EMQX 5 and mosquitto-go-auth know them. */
class HttpFormatsTest {

    private static final Instant NOW = Instant.ofEpochSecond(1_000);
    private static final BackendRequest CLIENT = new BackendRequest(
            "c 1&x",
            "ann/#?",
            "p\"w".getBytes(StandardCharsets.UTF_8),
            new InetSocketAddress("192.0.2.7", 4711),
            "tcp",
            ProtocolVersion.MQTT_5,
            CertificateNames.NONE,
            Map.of());

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "204; ; Allow[superuser=false, attributes={}, expiresAt=null, rules=null]",
                "200; {'result':'allow'}; Allow[superuser=false, attributes={}, expiresAt=null, rules=null]",
                "200; {'result':'allow','is_superuser':true}; Allow[superuser=true, attributes={}, expiresAt=null, rules=null]",
                "200; {'result':'allow','client_attrs':{'a':'b','n':1}}; Allow[superuser=false, attributes={a=b}, expiresAt=null, rules=null]",
                "200; {'result':'allow','expire_at':1001}; Allow[superuser=false, attributes={}, expiresAt=1970-01-01T00:16:41Z, rules=null]",
                "200; {'result':'allow','expire_at':1000}; Deny[]",
                "200; {'result':'allow','acl':[]}; Allow[superuser=false, attributes={}, expiresAt=null, rules=[]]",
                "200; {'result':'deny'}; Deny[]",
                "200; {'result':'ignore'}; NotMine[]",
                "200; {}; NotMine[]",
                "200; {'is_superuser':true}; NotMine[]",
            })
    void answersOnClients(int status, String body, String expected) {
        assertThat(EmqxFormat.user(json(status, body), NOW)).hasToString(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "401; {'result':'allow'}; status 401",
                "500; ; status 500",
                "302; ; status 302",
                "200; nonsense secret; a body that is no JSON object",
                "200; ['allow']; a body that is no JSON object",
                "200; {'result':'maybe'}; a result that is not allow, deny or ignore",
                "200; {'result':'allow','expire_at':'soon'}; an expire_at that is no time in seconds",
                "200; {'result':'allow','acl':[{}]}; access rule 1 has no topic",
            })
    void failures(int status, String body, String expected) {
        assertThatThrownBy(() -> EmqxFormat.user(json(status, body), NOW))
                .isInstanceOf(HttpFailedException.class)
                .hasMessage(expected);
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
                "302; ; CONTINUE",
                "403; ; CONTINUE",
                "404; {'result':'allow'}; CONTINUE",
            })
    void answersOnTopics(int status, String body, String expected) {
        assertThat(EmqxFormat.topic(json(status, body))).hasToString(expected);
    }

    /** Otherwise a server that dies would decide nothing, and what follows in the chain everything. */
    @ParameterizedTest
    @ValueSource(ints = {429, 500, 502, 503, 504, 599})
    void aServerThatCannotAnswerAboutATopicHasFailed(int status) {
        assertThatThrownBy(() -> EmqxFormat.topic(json(status, "{'result':'allow'}")))
                .isInstanceOf(HttpFailedException.class)
                .hasMessage("status " + status);
        assertThatThrownBy(() -> GoAuthBackend.isYes(GoAuthBackend.ResponseMode.STATUS, json(status, "")))
                .isInstanceOf(HttpFailedException.class)
                .hasMessage("status " + status);
    }

    @Test
    void aFormIsAnAnswerToo() {
        HttpAnswer form = new HttpAnswer(
                200, "application/x-www-form-urlencoded; charset=utf-8", "result=allow&is_superuser=true");

        assertThat(EmqxFormat.user(form, NOW))
                .isInstanceOfSatisfying(
                        BackendAnswer.Allow.class,
                        allow -> assertThat(allow.superuser()).isTrue());
    }

    @ParameterizedTest
    @CsvSource({
        "STATUS,200,'',true",
        "STATUS,204,'',true",
        "STATUS,403,'',false",
        "JSON,200,{'Ok':true},true",
        "JSON,200,{'ok':true},true",
        "JSON,200,'{''Ok'':false,''Error'':''x''}',false",
        "JSON,403,{'Ok':true},false",
        "TEXT,200,ok,true",
        "TEXT,200,'no',false",
    })
    void goAuthAnswers(GoAuthBackend.ResponseMode mode, int status, String body, boolean expected) {
        assertThat(GoAuthBackend.isYes(mode, json(status, body))).isEqualTo(expected);
    }

    @Test
    void valuesAreEncodedForTheirPlace() {
        HttpQuestion question = emqx(
                "url", "http://h:1/u/${username}?c=${clientid}",
                "headers.X-User", "${username}",
                "body.username", "${username}",
                "body.password", "${password}");

        HttpQuestion.Filled filled = question.fill(CLIENT);

        assertThat(filled.url()).isEqualTo("http://h:1/u/ann%2F%23%3F?c=c%201%26x");
        assertThat(filled.headers())
                .containsEntry("x-user", "ann/#?")
                .containsEntry("content-type", "application/json");
        assertThat(filled.body()).isEqualTo("{\"username\":\"ann/#?\",\"password\":\"p\\\"w\"}");
        assertThat(filled).hasToString("POST http://h:1/u/ann%2F%23%3F?c=c%201%26x");
    }

    @Test
    void aFormIsSentIfTheContentTypeSaysSo() {
        HttpQuestion question = emqx(
                "url",
                "http://h",
                "headers.content-type",
                "application/x-www-form-urlencoded",
                "body.u",
                "${username}");

        assertThat(question.fill(CLIENT).body()).isEqualTo("u=ann%2F%23%3F");
        assertThat(question.fill(CLIENT).url()).isEqualTo("http://h/");
    }

    @Test
    void aGetHasItsFieldsInTheQuery() {
        HttpQuestion question = emqx("url", "http://h/a?x=1", "method", "get", "body.u", "${username}");

        assertThat(question.fill(CLIENT).url()).isEqualTo("http://h/a?x=1&u=ann%2F%23%3F");
        assertThat(question.fill(CLIENT).body()).isNull();
    }

    @Test
    void goAuthAsksAboutTopicsWithANumber() {
        HttpQuestion question = HttpQuestion.goAuth(
                settings("url", "http://h:1/", "aclcheck-uri", "/acl"),
                "aclcheck-uri",
                Template.Scope.TOPIC,
                Map.of("acc", "${access}"));
        TopicRequest request = new TopicRequest(CLIENT, AccessAction.PUBLISH, "a", QoS.AT_MOST_ONCE, false);

        assertThat(question.fill(request)).hasToString("POST http://h:1/acl");
        assertThat(question.fill(request).body()).isEqualTo("{\"acc\":2}");
    }

    @Test
    void aFieldOfThisNameWithAnotherValueIsText() {
        HttpQuestion question = emqx("url", "http://h", "body.acc", "${clientid}");

        assertThat(question.fill(CLIENT).body()).isEqualTo("{\"acc\":\"" + CLIENT.clientId() + "\"}");
    }

    @Test
    void authoritiesAreForTls() {
        HttpBackendFactory factory = new HttpBackendFactory();
        BackendContext context =
                new BackendContext("web", AccessBackendConfig.builder("http").build(), Ticker.SYSTEM);

        for (String style : List.of("emqx", "go-auth")) {
            BackendSettings settings = settings("url", "http://h", "style", style, "ca", "ca.pem");
            assertThatThrownBy(() -> factory.open(settings, context))
                    .hasMessage("smqtt.yaml:3: access.backends.web.ca needs a URL that begins with https://");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "http://${username}/x; has a placeholder in its host",
                "http://${username}:80; has a placeholder in its host",
                "https://h${clientid}.example?x; has a placeholder in its host",
                "ftp://h/; must begin with http:// or https://",
                "http://u:p@h/; must begin with http:// or https:// and a host, without a user",
                "/path; must begin with http:// or https://",
                "http://h/${nobody}; has the placeholder ${nobody}",
                "http://h/${topic}; has the placeholder ${topic} that has no value here",
            })
    void wrongUrlsAreRejectedWithTheirLine(String url, String expected) {
        assertThatThrownBy(() -> emqx("url", url))
                .hasMessageStartingWith("smqtt.yaml:1: access.backends.web.url " + expected);
    }

    @Test
    void aGetHasNoContentType() {
        assertThatThrownBy(() -> emqx("url", "http://h", "method", "get", "headers.content-type", "application/json"))
                .hasMessageStartingWith(
                        "smqtt.yaml:3: access.backends.web.headers.content-type cannot be set for a GET");
    }

    private static HttpAnswer json(int status, String body) {
        return new HttpAnswer(status, "application/json", body == null ? "" : body.replace('\'', '"'));
    }

    private static HttpQuestion emqx(String... keysAndValues) {
        return HttpQuestion.emqx(settings(keysAndValues), "", Template.Scope.USER, Map.of());
    }

    private static BackendSettings settings(String... keysAndValues) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            values.put(
                    keysAndValues[i], new ConfigValue(keysAndValues[i + 1], "smqtt.yaml:" + (i / 2 + 1), Path.of("")));
        }
        return BackendSettings.of("web", List.copyOf(new HttpBackendFactory().settings()), values);
    }
}
